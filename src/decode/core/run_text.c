#include "decode/core/run_text.h"

#include <ctype.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text.h"
#include "decode/core/others.h"
#include "decode/core/plain.h"

static bool is_name_byte(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '.';
}

const uint8_t *find_run_moment(const uint8_t *begin, const uint8_t *end)
{
    for (const uint8_t *at = begin; (at = memchr(at, '.', (size_t)(end - at))) != NULL;) {
        const uint8_t *first = at, *last = at + 1;
        while (first > begin && ascii_is_digit(first[-1]))
            first--;
        while (last < end && is_name_byte(*last))
            last++;
        struct text rest = {(const char *)at, (size_t)(last - at)};
        size_t cut = text_ends(rest, ".start") ? 6 : text_ends(rest, ".end") ? 4 : 0;
        if (first < at && cut > 0 && rest.size > cut &&
            ascii_is_digit(rest.bytes[rest.size - cut - 1]))
            return first;
        at = last;
    }
    return NULL;
}

/* Words that FSDPMemTracker and MemTracker print. */
static const char *const table_words[] = {
    "Peak FSDP memory stats:",    "Modulewise FSDP memory stats:",
    "Device    Sharded Param ",   "Sharded Param: ",
    "_FSDPRefType.SHARDED_PARAM", "Device    Parameter  ",
    "Device    _MemRefType.",     "\tParameter: ",
};

enum file_kind kind_of_run_text(const uint8_t *p, const uint8_t *end)
{
    struct text start = text_first((struct text){(const char *)p, (size_t)(end - p)}, TEXT_BYTES);
    if (!bytes_are_text(p, end))
        return KIND_UNKNOWN;
    for (size_t i = 0; i < sizeof(table_words) / sizeof(table_words[0]); i++)
        if (text_find(start, table_words[i]) != NULL)
            return KIND_RUN_TABLES;
    end = p + start.size;
    const uint8_t *moment = find_run_moment(p, end);
    const uint8_t *colon = moment ? memchr(moment, ':', (size_t)(end - moment)) : NULL;
    const uint8_t *feed = moment ? memchr(moment, '\n', (size_t)(end - moment)) : NULL;
    return colon && (!feed || colon < feed) ? KIND_RUN_STATS : KIND_UNKNOWN;
}
