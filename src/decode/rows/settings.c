/* Flattens allocator_settings, a dict of scalars and dicts, to text. */
#include "decode/rows/reader.h"

/* torch writes two levels and about thirty leaves. The limits prevent shared containers from
 * multiplying. */
#define SETTINGS_DEPTH 16
#define SETTINGS_MAX   65536
#define TEXT_MAX       65536
#define ALL_TEXT_MAX   ((size_t)16 << 20) /* limit for names and values together */

struct settings {
    struct row_reader *rows;
    struct buffer key; /* path of the dict being read, with a dot at its end */
    struct buffer text;
    size_t count;     /* dict items read */
    size_t text_size; /* bytes of all names and values so far */
};

static bool emit_leaf(struct settings *settings, value v)
{
    struct row_reader *rows = settings->rows;
    struct setting_row row;
    buffer_clear(&settings->text);
    rows_python_text(rows->values, v, SETTINGS_DEPTH, TEXT_MAX, &settings->text);
    settings->text_size += settings->key.size + settings->text.size;
    if (settings->text_size > ALL_TEXT_MAX)
        return error_set_at(rows->err, STATUS_LIMIT, rows->offset,
                            "the settings are longer than %zu bytes", ALL_TEXT_MAX);
    if (settings->key.failed || settings->text.failed)
        return error_out_of_memory(rows->err);
    return symbols_string(rows->values->symbols, settings->key.bytes, settings->key.size, &row.key,
                          rows->err) &&
           symbols_string(rows->values->symbols,
                          settings->text.size > 0 ? settings->text.bytes : "", settings->text.size,
                          &row.value, rows->err) &&
           rows->sink->setting(rows->sink->self, &row, rows->err);
}

static bool add_key(struct settings *settings, value key)
{
    struct row_reader *rows = settings->rows;
    buffer_clear(&settings->text);
    rows_python_text(rows->values, key, 0, TEXT_MAX, &settings->text);
    if (settings->key.size + settings->text.size > TEXT_MAX)
        return rows_fail(rows, "the name of a setting is longer than %d bytes", TEXT_MAX);
    buffer_add(&settings->key, settings->text.bytes, settings->text.size);
    return true;
}

static bool emit_mapping(struct settings *settings, const value *pairs, size_t count,
                         unsigned depth)
{
    struct row_reader *rows = settings->rows;
    size_t path = settings->key.size;
    for (size_t i = 0; i < count; i++) {
        const value *inner;
        size_t inner_count;
        value v = pairs[2 * i + 1];
        settings->key.size = path;
        if (++settings->count > SETTINGS_MAX)
            return error_set_at(rows->err, STATUS_LIMIT, rows->offset, "more than %d settings",
                                SETTINGS_MAX);
        if (!add_key(settings, pairs[2 * i]))
            return false;
        if (!value_mapping(rows->values, v, &inner, &inner_count)) {
            if (!emit_leaf(settings, v))
                return false;
            continue;
        }
        if (depth == SETTINGS_DEPTH)
            return rows_fail(rows, "settings nest deeper than %d", SETTINGS_DEPTH);
        buffer_putc(&settings->key, '.');
        if (!emit_mapping(settings, inner, inner_count, depth + 1))
            return false;
    }
    return true;
}

bool rows_settings(struct row_reader *rows, value v)
{
    const value *pairs;
    size_t count;
    struct settings settings = {.rows = rows};
    if (v == VALUE_NONE)
        return true;
    if (!value_mapping(rows->values, v, &pairs, &count))
        return rows_expected(rows, row_field(ROW_SNAPSHOT, PART_SETTINGS)->expected, v);
    bool ok = emit_mapping(&settings, pairs, count, 1);
    buffer_release(&settings.key);
    buffer_release(&settings.text);
    return ok;
}
