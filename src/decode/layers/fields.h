/* The fields of a layer trace's row, whatever encoding they come in. Internal to decode/layers. */
#ifndef MEMSNAP_DECODE_LAYERS_FIELDS_H
#define MEMSNAP_DECODE_LAYERS_FIELDS_H

#include "decode/layers/rows.h"

enum layer_kind {
    LAYER_KIND_NAME,
    LAYER_KIND_FLAG,
    LAYER_KIND_SIZE,   /* from 0 */
    LAYER_KIND_SIGNED, /* memory_diff */
    LAYER_KIND_TIME,
};

/* By the key in the file: LAYER_FIELDS where there is no such field. */
enum layer_field layer_field_find(struct text key);
enum layer_kind layer_field_kind(enum layer_field field);

#define LAYER_WHAT_SIZE 80
/* "a size in bytes for allocated": what belongs there, for "expected ..., found ...". */
const char *layer_field_what(enum layer_field field, char out[LAYER_WHAT_SIZE]);

/* These fill in a value that the file has, and check its range; `offset` is the value's. */
void layer_set_name(struct layer_row *row, string_id name);
void layer_set_flag(struct layer_row *row, bool flag);
bool layer_set_integer(struct layer_row *row, enum layer_field field, bool negative,
                       uint64_t magnitude, uint64_t offset, struct error *err);
/* LAYER_KIND_TIME only. */
bool layer_set_real(struct layer_row *row, enum layer_field field, double value, uint64_t offset,
                    struct error *err);

/* "expected ..., found FOUND": always false. */
bool layer_expected(enum layer_field field, const char *found, uint64_t offset, struct error *err);

/* Whether all is there that such a row must have; `offset` is the row's. */
bool layer_row_check(const struct layer_row *row, uint64_t offset, struct error *err);

#endif
