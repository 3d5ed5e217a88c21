/* Flattens allocator_settings: {"a": {"b": 1}} is the setting "a.b". */
#include "base/hash.h"
#include "decode/json/decoder.h"

#define MAX_PATH_BYTES  ((size_t)64 << 10)
#define MAX_VALUE_BYTES ((size_t)1 << 20)

struct settings {
    struct json_decoder *decoder;
    struct setting_row *rows; /* in the order in which their keys first occurred */
    size_t count, capacity;
    struct idtable index; /* finds rows by key: the last of equal keys counts */
    struct buffer path, value;
    size_t parents[JSON_MAX_DEPTH]; /* length of the path before each open object */
    size_t depth;
};

static bool has_key(const void *rows, uint32_t index, const void *wanted)
{
    return ((const struct setting_row *)rows)[index].key ==
           ((const struct setting_row *)wanted)->key;
}

static bool settle(struct settings *settings, const struct setting_row *row, struct error *err)
{
    struct budget *budget = settings->decoder->budget;
    uint32_t tag = (uint32_t)hash_word(row->key, hash_seed()), found;

    if (idtable_find(&settings->index, tag, has_key, settings->rows, row, &found)) {
        settings->rows[found].value = row->value;
        return true;
    }
    return vec_push(settings->rows, settings->count, settings->capacity, budget, err, *row) &&
           idtable_add(&settings->index, tag, (uint32_t)settings->count - 1, budget, err);
}

static bool read_leaf(struct settings *settings, struct error *err)
{
    struct json_decoder *decoder = settings->decoder;
    struct setting_row row;

    return json_python_text(&decoder->reader, MAX_VALUE_BYTES, &settings->value, err) &&
           symbols_string(decoder->symbols, settings->path.bytes, settings->path.size, &row.key,
                          err) &&
           symbols_string(decoder->symbols, settings->value.bytes, settings->value.size, &row.value,
                          err) &&
           settle(settings, &row, err);
}

static void shorten_path(struct settings *settings, size_t size)
{
    settings->path.size = size;
    settings->path.bytes[size] = '\0';
}

/* Adds a key to the path. */
static bool read_key(struct settings *settings, struct error *err)
{
    struct json_reader *reader = &settings->decoder->reader;
    struct text key;
    uint64_t start;

    if (!json_offset(reader, &start, err) || !json_read_key(reader, &key, err))
        return false;
    if (settings->path.size + key.size >= MAX_PATH_BYTES)
        return error_set_at(err, STATUS_LIMIT, start, "a setting's name of more than %zu bytes",
                            MAX_PATH_BYTES);
    if (settings->depth > 1)
        buffer_putc(&settings->path, '.');
    buffer_add(&settings->path, key.bytes, key.size);
    return !settings->path.failed || error_out_of_memory(err);
}

static bool enter(struct settings *settings, bool *more, struct error *err)
{
    struct json_reader *reader = &settings->decoder->reader;

    if (settings->depth == JSON_MAX_DEPTH)
        return json_too_deep(reader, err);
    if (!json_open(reader, '{', "allocator_settings (an object)", more, err))
        return false;
    settings->parents[settings->depth++] = settings->path.size;
    return true;
}

/* Reads a key, and enters its object or reads its value. */
static bool read_item(struct settings *settings, bool *more, struct error *err)
{
    uint8_t byte;

    if (!read_key(settings, err) || !json_peek(&settings->decoder->reader, &byte, err))
        return false;
    if (byte == '{')
        return enter(settings, more, err);
    *more = false; /* then continue after this item */
    if (!read_leaf(settings, err))
        return false;
    shorten_path(settings, settings->parents[settings->depth - 1]);
    return json_more(&settings->decoder->reader, '{', more, err);
}

static bool read_all(struct settings *settings, struct error *err)
{
    bool more;

    if (!enter(settings, &more, err))
        return false;
    for (;;) {
        while (more)
            if (!read_item(settings, &more, err))
                return false;
        shorten_path(settings, settings->parents[--settings->depth]);
        if (settings->depth == 0)
            return true;
        shorten_path(settings, settings->parents[settings->depth - 1]);
        if (!json_more(&settings->decoder->reader, '{', &more, err))
            return false;
    }
}

bool json_decode_settings(struct json_decoder *decoder, struct error *err)
{
    struct settings settings = {.decoder = decoder};
    const struct row_sink *sink = decoder->sink;
    bool ok;

    buffer_puts(&settings.path, "");
    ok = !settings.path.failed || error_out_of_memory(err);
    ok = ok && read_all(&settings, err);
    for (size_t i = 0; ok && i < settings.count; i++)
        ok = sink->setting(sink->self, &settings.rows[i], err);
    vec_free(settings.rows, settings.capacity, sizeof(*settings.rows), decoder->budget);
    idtable_release(&settings.index, decoder->budget);
    buffer_release(&settings.path);
    buffer_release(&settings.value);
    return ok;
}
