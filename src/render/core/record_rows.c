#include "render/core/rows.h"

/* The cell of a string is made once: the same few stand in many rows. */
bool record_string(struct record_writer *records, const struct field_context *context, string_id id,
                   struct error *err)
{
    struct text text = symbols_text(context->symbols, id);
    const struct text *cell;
    if (id == STRING_EMPTY || !records->strings) {
        record_text(records, text.bytes, text.size);
        return true;
    }
    cell = record_cells_find(records->strings, id);
    if (!cell)
        cell = record_cells_make(records->strings, records, id, text.bytes, text.size, err);
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

bool record_put_row(struct record_writer *records, const void *row,
                    const struct field_context *context, struct error *err)
{
    for (size_t i = 0; i < records->columns; i++) {
        const struct field *field = records->fields[i];
        if (field->record) {
            if (!field->record(records, row, context, err))
                return false;
            continue;
        }
        struct value value = field_value(field, row, context);
        if (!put_value(records, field, &value, context, err))
            return false;
    }
    return record_end(records, err);
}
