/* Writes rows from the description of their fields (render/core/fields.h). */
#ifndef MEMSNAP_RENDER_CORE_ROWS_H
#define MEMSNAP_RENDER_CORE_ROWS_H

#include "render/core/fields.h"
#include "render/core/json.h"
#include "render/core/page.h"
#include "render/core/records.h"
#include "render/core/table.h"

/* JSON: the members of one row, into an object that is open. */
void json_put_fields(struct json_writer *json, const struct row_type *type, const void *row,
                     const struct field_context *context);
/* An object; `key` is NULL inside an array. */
void json_put_row(struct json_writer *json, const char *key, const struct row_type *type,
                  const void *row, const struct field_context *context);
/* An array of objects under the name of the row type. */
void json_put_rows(struct json_writer *json, const struct row_type *type, const void *rows,
                   size_t count, const struct field_context *context);

/* A text table of rows. It must not be moved. */
struct row_table {
    struct table table;
    struct table_column columns[TABLE_COLUMNS];
    const struct field *fields[FIELDS_MOST];
    size_t field_count;
    struct field_context context;
    struct buffer scratch;
};

void row_table_init(struct row_table *rows, const struct row_type *type, const struct page *page,
                    const struct field_context *context);
void row_table_add(struct row_table *rows, const void *row);
/* Both release the table, and return false if out of memory. */
bool row_table_finish(struct row_table *rows);
bool row_table_print(struct row_table *rows, const struct page *page, size_t indent);
/* The rows of an array, titles first. */
bool rows_print(const struct page *page, size_t indent, const struct row_type *type,
                const void *rows, size_t count, const struct field_context *context);

/* CSV, JSON lines, msgpack: writes a whole record. False if nothing more can be written. */
bool record_put_row(struct record_writer *records, const void *row,
                    const struct field_context *context, struct error *err);

/* The cell of a string; absent for STRING_EMPTY. */
bool record_string(struct record_writer *records, const struct field_context *context, string_id id,
                   struct error *err);

#endif
