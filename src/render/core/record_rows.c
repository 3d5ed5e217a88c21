#include <string.h>

#include "render/core/records.h"
#include "render/core/rows.h"

void record_cells_init(struct record_cells *cells, struct budget *budget)
{
    *cells = (struct record_cells){0};
    arena_init(&cells->arena, budget);
}

void record_cells_release(struct record_cells *cells)
{
    vec_free(cells->items, cells->capacity, sizeof(*cells->items), cells->arena.budget);
    arena_release(&cells->arena);
    *cells = (struct record_cells){0};
}

const struct text *record_cells_find(const struct record_cells *cells, uint32_t id)
{
    return id < cells->capacity && cells->items[id].bytes ? &cells->items[id] : NULL;
}

const struct text *record_cells_make(struct record_cells *cells, struct record_writer *records,
                                     uint32_t id, const char *bytes, size_t size, struct error *err)
{
    size_t before = cells->capacity;
    if (!vec_reserve(cells->items, cells->capacity, (size_t)id + 1, cells->arena.budget, err))
        return NULL;
    memset(cells->items + before, 0, (cells->capacity - before) * sizeof(*cells->items));
    struct text cell = record_cell_of(records, bytes, size);
    char *copy = arena_alloc(&cells->arena, cell.size, err);
    if (!copy)
        return NULL;
    memcpy(copy, cell.bytes, cell.size);
    cells->items[id] = (struct text){copy, cell.size};
    return &cells->items[id];
}

/* Each string's cell is made only once, because a few strings fill most rows. */
bool record_string(struct record_writer *records, const struct field_context *context, string_id id,
                   struct error *err)
{
    const struct text *cell = NULL;
    if (id == STRING_EMPTY) {
        record_none(records);
        return true;
    }
    if (records->strings)
        cell = record_cells_find(records->strings, id);
    if (!cell) {
        struct text text = symbols_text(context->symbols, id);
        if (!records->strings) {
            record_text(records, text.bytes, text.size);
            return true;
        }
        cell = record_cells_make(records->strings, records, id, text.bytes, text.size, err);
    }
    if (cell)
        record_cell(records, *cell);
    return cell;
}

static void put_text(struct record_writer *records, const struct field *field, struct text text)
{
    bool is_plain = field->kind == FIELD_NAME || field->kind == FIELD_WORD;
    if (is_plain)
        record_word(records, text.bytes);
    else
        record_text(records, text.bytes, text.size);
}

static bool put_value(struct record_writer *records, const struct field *field,
                      const struct value *value, const struct field_context *context,
                      struct error *err)
{
    switch (value->kind) {
    case VALUE_INTEGER:
        record_integer(records, value->integer);
        return true;
    case VALUE_COUNT:
        if (field->kind == FIELD_STRING || field->kind == FIELD_OPERATOR)
            return record_string(records, context, (string_id)value->count, err);
        record_count(records, value->count);
        return true;
    case VALUE_FLAG:
        record_flag(records, value->flag);
        return true;
    case VALUE_TEXT:
        put_text(records, field, value->text);
        return true;
    default:
        record_none(records);
        return true;
    }
}

static bool put_field(struct record_writer *records, const struct field *field, const void *row,
                      const struct field_context *context, struct error *err)
{
    if (field->record)
        return field->record(records, row, context, err);
    struct value value = field_value(field, row, context);
    return put_value(records, field, &value, context, err);
}

/* Fast path: most cells are a plain number or string. */
static inline bool put_member(struct record_writer *records, const struct field *field,
                              const void *row, const struct field_context *context,
                              struct error *err)
{
    const void *at = (const char *)row + field->offset;
    switch (field->kind) {
    case FIELD_BYTES:
    case FIELD_COUNT:
    case FIELD_NUMBER: {
        struct value value = field_whole(field, at);
        if (value.kind == VALUE_INTEGER)
            record_integer(records, value.integer);
        else
            record_count(records, value.count);
        return true;
    }
    case FIELD_TIME:
        if (*(const int64_t *)at == TIME_NONE)
            record_none(records);
        else
            record_integer(records, *(const int64_t *)at);
        return true;
    case FIELD_STACK:
        if (*(const stack_id *)at == STACK_NONE)
            record_none(records);
        else
            record_count(records, *(const stack_id *)at);
        return true;
    case FIELD_STRING:
        return record_string(records, context, *(const string_id *)at, err);
    default:
        return put_field(records, field, row, context, err);
    }
}

bool record_put_row(struct record_writer *records, const void *row,
                    const struct field_context *context, struct error *err)
{
    for (size_t i = 0; i < records->columns; i++) {
        const struct field *field = records->fields[i];
        if (!(records->is_member[i] ? put_member(records, field, row, context, err)
                                    : put_field(records, field, row, context, err)))
            return false;
    }
    return record_end(records, err);
}
