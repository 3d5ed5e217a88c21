/* Walks over the members of an object, and over the items of an array. */
#ifndef MEMSNAP_DECODE_JSON_MEMBERS_H
#define MEMSNAP_DECODE_JSON_MEMBERS_H

#include "decode/json/reader.h"

/* Called with the reader in front of a value, which they must consume. On failure they set the
 * error that belongs to `self`, and return false. */
typedef bool json_member_taker(void *self, struct text key, void *to);
typedef bool json_item_taker(void *self);

/* Calls `take` for each key of an object, passing on `self` and `to`. `what` describes the object
 * in errors. */
bool json_each_member(struct json_reader *reader, const char *what, json_member_taker *take,
                      void *self, void *to, struct error *err);
/* Calls `take` for each item of an array, which `what` describes in errors. */
bool json_each_item(struct json_reader *reader, const char *what, json_item_taker *take, void *self,
                    struct error *err);

/* json_open() if the next value is an object. Otherwise skips the value and sets `*more` to false.
 * `what` is as in json_open(). */
bool json_open_if_object(struct json_reader *reader, const char *what, bool *more,
                         struct error *err);

#endif
