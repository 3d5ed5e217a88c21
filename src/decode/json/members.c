#include "decode/json/members.h"

bool json_open_if_object(struct json_reader *reader, const char *what, bool *more,
                         struct error *err)
{
    uint8_t byte;
    *more = false;
    if (!json_peek(reader, &byte, err))
        return false;
    return byte == '{' ? json_open(reader, '{', what, more, err) : json_skip(reader, err);
}

bool json_each_member(struct json_reader *reader, const char *what, json_member_taker *take,
                      void *self, void *to, struct error *err)
{
    struct text key;
    bool more;
    if (!json_open(reader, '{', what, &more, err))
        return false;
    while (more)
        if (!json_read_key(reader, &key, err) || !take(self, key, to) ||
            !json_more(reader, '{', &more, err))
            return false;
    return true;
}

bool json_each_item(struct json_reader *reader, const char *what, json_item_taker *take, void *self,
                    struct error *err)
{
    bool more;
    if (!json_open(reader, '[', what, &more, err))
        return false;
    while (more)
        if (!take(self) || !json_more(reader, '[', &more, err))
            return false;
    return true;
}
