#include "render/core/rows.h"

#include <inttypes.h>

#include "render/core/json.h"

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

static enum column_kind column_kind_of(const struct field *field)
{
    switch (field->kind) {
    case FIELD_FLAG:
    case FIELD_NAME:
    case FIELD_CATEGORY:
    case FIELD_WORD:
        return COLUMN_LABEL;
    case FIELD_LABEL:
    case FIELD_CHARS:
    case FIELD_TEXT:
    case FIELD_MODULE:
    case FIELD_STRING:
    case FIELD_SITE:
    case FIELD_OPERATOR:
        return field->is_prose ? COLUMN_PROSE : COLUMN_TEXT;
    default:
        return COLUMN_NUMBER;
    }
}

void row_table_init(struct row_table *rows, const struct row_type *type, const struct page *page,
                    const struct field_context *context)
{
    *rows = (struct row_table){.context = *context};
    rows->context.page = page;
    rows->context.scratch = &rows->scratch;
    rows->field_count = fields_in_order(type, FIELDS_AS_COLUMNS, rows->fields);
    if (rows->field_count > TABLE_COLUMNS)
        rows->field_count = TABLE_COLUMNS;
    for (size_t i = 0; i < rows->field_count; i++) {
        const struct field *field = rows->fields[i];
        rows->columns[i] = (struct table_column){
            .title = field->title,
            .kind = column_kind_of(field),
            .cut = field->cut,
            .least = field->least,
            .optional = field->optional,
        };
    }
    table_init(&rows->table, rows->columns, rows->field_count);
}

/* A value as a size that fits what page_bytes() takes. */
static int64_t size_of(const struct value *value)
{
    if (value->kind == VALUE_INTEGER)
        return value->integer;
    return value->count > INT64_MAX ? INT64_MAX : (int64_t)value->count;
}

static void add_number(struct row_table *rows, const struct field *field, const struct value *value)
{
    char text[UNITS_TEXT_SIZE];
    int64_t integer = size_of(value);
    switch (field->kind) {
    case FIELD_BYTES:
        table_add(&rows->table, page_bytes(rows->context.page, text, integer));
        return;
    case FIELD_CHANGE:
        table_add(&rows->table, page_change(rows->context.page, text, integer));
        return;
    case FIELD_SHARE:
        table_add(&rows->table, page_share(text, integer, rows->context.whole));
        return;
    case FIELD_COUNT:
    case FIELD_EVENT:
        table_add(&rows->table, units_count(text, value->count)); /* not negative */
        return;
    case FIELD_DURATION:
        table_add(&rows->table, units_duration(text, integer) + 1); /* without the sign */
        return;
    default:
        snprintf(text, sizeof(text), "%" PRId64, integer);
        table_add(&rows->table, text);
    }
}

static struct text text_of(const struct row_table *rows, const struct field *field,
                           const struct value *value)
{
    if (value->kind == VALUE_TEXT)
        return value->text;
    struct text text = symbols_text(rows->context.symbols, (string_id)value->count);
    if (field->kind == FIELD_MODULE && text.size == 0)
        return (struct text){"(the model)", 11};
    return text;
}

static void add_value(struct row_table *rows, const struct field *field, const struct value *value)
{
    bool is_id = field->kind == FIELD_STRING || field->kind == FIELD_MODULE;
    if (value->kind == VALUE_NONE) {
        table_add(&rows->table, field->absent ? field->absent : "");
    } else if (value->kind == VALUE_FLAG) {
        table_add(&rows->table, value->flag ? "yes" : "no");
    } else if (value->kind == VALUE_TEXT || is_id) {
        struct text text = text_of(rows, field, value);
        table_add_input(&rows->table, text.bytes, text.size);
    } else {
        add_number(rows, field, value);
    }
}

void row_table_add(struct row_table *rows, const void *row)
{
    for (size_t i = 0; i < rows->field_count; i++) {
        buffer_clear(&rows->scratch);
        struct value value = field_value(rows->fields[i], row, &rows->context);
        add_value(rows, rows->fields[i], &value);
    }
}

bool row_table_finish(struct row_table *rows)
{
    bool ok = !table_failed(&rows->table) && !rows->scratch.failed;
    table_release(&rows->table);
    buffer_release(&rows->scratch);
    return ok;
}

bool row_table_print(struct row_table *rows, const struct page *page, size_t indent)
{
    table_print(&rows->table, page, indent);
    return row_table_finish(rows);
}

bool rows_print(const struct page *page, size_t indent, const struct row_type *type,
                const void *rows, size_t count, const struct field_context *context)
{
    struct row_table table;
    row_table_init(&table, type, page, context);
    for (size_t i = 0; i < count; i++)
        row_table_add(&table, (const char *)rows + i * type->row_size);
    return row_table_print(&table, page, indent);
}
