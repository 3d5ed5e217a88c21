#include "decode/json/reader.h"
#include "decode/stats/key.h"
#include "decode/stats/stats.h"

/* The current value, which may be a counter, and its key, as in the flat form. */
struct stats_reader {
    struct json_reader json;
    struct stats_row row;
    struct stats_key key;
    size_t starts[STATS_KEY_DEPTH + 1]; /* size of `key` outside of each open dict */
    unsigned depth;
    struct error *err;
};

static bool read_value(struct stats_reader *reader, bool *entered, bool *more)
{
    const struct text key = stats_key_text(&reader->key);
    struct json_integer integer;
    uint8_t byte;
    *entered = false;
    if (!json_peek(&reader->json, &byte, reader->err))
        return false;
    if (byte == '{' && reader->depth < STATS_KEY_DEPTH) {
        *entered = true;
        return json_open(&reader->json, '{', "a dict", more, reader->err);
    }
    if (byte != '-' && (byte < '0' || byte > '9'))
        return stats_take(&reader->row, key, 0)
                   ? json_unexpected(&reader->json, "a whole number", reader->err)
                   : json_skip(&reader->json, reader->err);
    if (!json_read_integer(&reader->json, "a whole number", &integer, reader->err))
        return false;
    int64_t value = integer.magnitude > INT64_MAX ? INT64_MAX : (int64_t)integer.magnitude;
    stats_take(&reader->row, key, integer.negative ? -value : value);
    return true;
}

/* Reads the members of the outermost dict, and of those inside, without recursion. */
static bool read_dicts(struct stats_reader *reader)
{
    bool more, entered;
    if (!json_open(&reader->json, '{', "memory statistics (an object)", &more, reader->err))
        return false;
    for (reader->depth = 1;;) {
        while (!more) {
            if (--reader->depth == 0)
                return true;
            reader->key.size = reader->starts[reader->depth];
            if (!json_more(&reader->json, '{', &more, reader->err))
                return false;
        }
        struct text key;
        size_t before = reader->key.size;
        if (!json_read_key(&reader->json, &key, reader->err))
            return false;
        stats_key_add(&reader->key, key);
        if (!read_value(reader, &entered, &more))
            return false;
        if (entered) {
            reader->starts[reader->depth++] = before;
            continue;
        }
        reader->key.size = before;
        if (!json_more(&reader->json, '{', &more, reader->err))
            return false;
    }
}

bool decode_stats_json(struct source *source, const struct stats_sink *sink, struct error *err)
{
    struct stats_reader reader = {.row = {.device = -1}, .err = err};
    json_reader_init(&reader.json, source);
    bool ok = json_begin(&reader.json, err) && read_dicts(&reader) &&
              json_finish(&reader.json, err) && sink->row(sink->self, &reader.row, err);
    json_reader_release(&reader.json);
    return ok;
}
