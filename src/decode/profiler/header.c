/* The keys of a Chrome trace beside its events. */
#include <string.h>

#include "decode/json/members.h"
#include "decode/profiler/chrome.h"

static bool read_base_time(struct chrome *chrome)
{
    struct json_integer integer;
    uint64_t offset;
    if (!json_offset(&chrome->reader, &offset, chrome->err) ||
        !json_read_integer(&chrome->reader, "nanoseconds", &integer, chrome->err))
        return false;
    if (integer.negative || integer.magnitude > INT64_MAX / 2)
        return error_set_at(chrome->err, STATUS_BAD_INPUT, offset,
                            "expected nanoseconds since 1970 for baseTimeNanoseconds");
    chrome->profile->base_ns = (int64_t)integer.magnitude;
    return true;
}

/* distributedInfo: {backend, rank, world_size, ...} */
static bool read_distributed(struct chrome *chrome)
{
    struct json_reader *reader = &chrome->reader;
    struct profile_facts *facts = &chrome->profile->facts;
    uint8_t byte;
    bool more;
    if (!json_open_if_object(reader, "distributedInfo (an object)", &more, chrome->err))
        return false;
    while (more) {
        struct text key;
        struct json_integer integer;
        if (!json_read_key(reader, &key, chrome->err))
            return false;
        int64_t *to = text_equals(key, "rank")         ? &facts->rank
                      : text_equals(key, "world_size") ? &facts->world_size
                                                       : NULL;
        if (!json_peek(reader, &byte, chrome->err))
            return false;
        if (to == NULL || byte < '0' || byte > '9') {
            if (!json_skip(reader, chrome->err))
                return false;
        } else {
            if (!json_read_integer(reader, "a rank", &integer, chrome->err))
                return false;
            *to = integer.magnitude <= INT32_MAX ? (int64_t)integer.magnitude : -1;
        }
        if (!json_more(reader, '{', &more, chrome->err))
            return false;
    }
    return true;
}

bool chrome_read_header(struct chrome *chrome, struct text key)
{
    if (text_equals(key, "baseTimeNanoseconds"))
        return read_base_time(chrome);
    if (text_equals(key, "distributedInfo"))
        return read_distributed(chrome);
    return json_skip(&chrome->reader, chrome->err);
}
