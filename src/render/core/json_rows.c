#include "render/core/json.h"
#include "render/core/rows.h"

static void put_pair(struct json_writer *json, const char *key, const uint64_t pair[2])
{
    json_put_open(json, key, '[');
    json_put_count(json, NULL, pair[0]);
    json_put_count(json, NULL, pair[1]);
    json_put_close(json, ']');
}

static void put_text(struct json_writer *json, const struct field *field, struct text text)
{
    if (field->kind == FIELD_TEXT)
        json_put_text(json, field->key, text);
    else
        json_put_bytes(json, field->key, text.bytes, text.size);
}

static void put_value(struct json_writer *json, const struct field *field,
                      const struct value *value, const struct field_context *context)
{
    switch (value->kind) {
    case VALUE_NONE:
        if (field->flags & FIELD_NULL)
            json_put_null(json, field->key);
        return;
    case VALUE_INTEGER:
        json_put_integer(json, field->key, value->integer);
        return;
    case VALUE_COUNT:
        if (field->kind == FIELD_STRING || field->kind == FIELD_OPERATOR)
            json_put_name(json, field->key,
                          symbols_text(context->symbols, (string_id)value->count));
        else if (field->kind == FIELD_MODULE)
            json_put_text(json, field->key,
                          symbols_text(context->symbols, (string_id)value->count));
        else if (field->kind == FIELD_FRAMES)
            json_put_frames(json, field->key, context->symbols, (stack_id)value->count);
        else
            json_put_count(json, field->key, value->count);
        return;
    case VALUE_REAL:
        json_put_real(json, field->key, value->real);
        return;
    case VALUE_FLAG:
        json_put_bool(json, field->key, value->flag);
        return;
    case VALUE_TEXT:
        put_text(json, field, value->text);
        return;
    }
}

void json_put_fields(struct json_writer *json, const struct row_type *type, const void *row,
                     const struct field_context *context)
{
    for (const struct field *field = type->fields; !field_is_end(field); field++) {
        if (!field->key || field->flags & FIELD_NOT_JSON)
            continue;
        if (field->kind == FIELD_CUSTOM || field->kind == FIELD_PAIR) {
            if (!field_is_present(field, row, context))
                continue;
            if (field->kind == FIELD_CUSTOM)
                field->json(json, row, context);
            else
                put_pair(json, field->key, (const void *)((const char *)row + field->offset));
            continue;
        }
        struct value value = field_value(field, row, context);
        put_value(json, field, &value, context);
    }
}

void json_put_row(struct json_writer *json, const char *key, const struct row_type *type,
                  const void *row, const struct field_context *context)
{
    json_put_open(json, key, '{');
    json_put_fields(json, type, row, context);
    json_put_close(json, '}');
}

void json_put_rows(struct json_writer *json, const struct row_type *type, const void *rows,
                   size_t count, const struct field_context *context)
{
    json_put_open(json, type->name, '[');
    for (size_t i = 0; i < count; i++)
        json_put_row(json, NULL, type, (const char *)rows + i * type->row_size, context);
    json_put_close(json, ']');
}
