#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decode/rows/reader.h"

bool rows_fail(struct row_reader *rows, const char *format, ...)
{
    char text[sizeof rows->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set_at(rows->err, STATUS_BAD_INPUT, rows->offset, "%s", text);
}

bool rows_expected(struct row_reader *rows, const char *expected, value found)
{
    const struct values *values = rows->values;
    bool is_open = value_tag(found) == TAG_NODE && value_is_emptied(values, found);
    return rows_fail(rows, "expected %s, found %s%s", expected, value_kind_name(values, found),
                     is_open ? " that contains it" : "");
}

static bool intern(struct row_reader *rows, struct text text, string_id *id)
{
    return symbols_string(rows->values->symbols, text.bytes, text.size, id, rows->err);
}

/* Interns all names first, so that their ids are small and the tables can be indexed by id. */
static bool intern_all(struct row_reader *rows)
{
    string_id id;
    for (unsigned kind = 0; kind < ROW_KINDS; kind++)
        for (unsigned i = 0; i < snapshot_rows[kind].count; i++)
            if (!intern(rows, snapshot_rows[kind].fields[i].name, &id))
                return false;
    for (unsigned i = 0; i < ACTION_OTHER; i++)
        if (!intern(rows, action_texts[i], &id))
            return false;
    return true;
}

static bool fill_tables(struct row_reader *rows)
{
    struct row_words *words = &rows->words;
    string_id id;
    for (unsigned kind = 0; kind < ROW_KINDS; kind++) {
        for (unsigned i = 0; i < snapshot_rows[kind].count; i++) {
            if (!intern(rows, snapshot_rows[kind].fields[i].name, &id))
                return false;
            words->field[id][kind] = (uint8_t)i;
        }
    }
    for (unsigned i = 0; i < ACTION_OTHER; i++) {
        if (!intern(rows, action_texts[i], &id))
            return false;
        words->action[id] = (uint8_t)i;
    }
    return true;
}

bool rows_begin(struct row_reader *rows)
{
    struct row_words *words = &rows->words;
    rows->lines =
        (struct traceback_frames){.symbols = rows->values->symbols, .budget = rows->budget};
    if (!intern_all(rows))
        return false;
    size_t size = symbols_string_count(rows->values->symbols);
    if (!vec_reserve(words->field, words->field_capacity, size, rows->budget, rows->err) ||
        !vec_reserve(words->action, words->action_capacity, size, rows->budget, rows->err))
        return false;
    memset(words->field, NO_FIELD, size * sizeof *words->field);
    memset(words->action, ACTION_OTHER, size);
    words->size = size;
    return fill_tables(rows);
}

void rows_release(struct row_reader *rows)
{
    struct row_words *words = &rows->words;
    vec_free(words->field, words->field_capacity, sizeof *words->field, rows->budget);
    vec_free(words->action, words->action_capacity, 1, rows->budget);
    vec_free(words->told, words->told_capacity, 1, rows->budget);
    vec_free(rows->blocks, rows->block_capacity, sizeof *rows->blocks, rows->budget);
    vec_free(rows->frames, rows->frame_capacity, sizeof *rows->frames, rows->budget);
    traceback_frames_release(&rows->lines);
    buffer_release(&rows->text);
}

bool rows_knows_unknown_key(const struct row_reader *rows, enum row_kind kind, value key)
{
    const struct row_words *words = &rows->words;
    return value_tag(key) == TAG_STRING && value_payload(key) < words->told_size &&
           (words->told[value_payload(key)] & 1u << kind) != 0;
}

bool rows_unknown_key(struct row_reader *rows, enum row_kind kind, value key)
{
    struct row_words *words = &rows->words;
    if (value_tag(key) != TAG_STRING)
        return rows_fail(rows, "expected a string as key of %s, found %s",
                         snapshot_rows[kind].name_with_a, value_kind_name(rows->values, key));
    string_id id = value_payload(key);
    uint8_t bit = (uint8_t)(1u << kind);
    if (rows_knows_unknown_key(rows, kind, key))
        return true;
    if (!vec_reserve(words->told, words->told_capacity, (size_t)id + 1, rows->budget, rows->err))
        return false;
    while (words->told_size <= id)
        words->told[words->told_size++] = 0;
    words->told[id] |= bit;
    return rows->sink->unknown_key(rows->sink->self, snapshot_rows[kind].name, id, rows->err);
}
