#include "render/sqlite/table.h"

#include <string.h>

static struct database_table *table_of(struct record_sink *sink)
{
    return (struct database_table *)sink;
}

static void put_integer(struct record_sink *sink, size_t column, int64_t value)
{
    struct database_table *table = table_of(sink);
    sqlite3_bind_int64(table->insert, table->parameters[column], value);
}

static void keep(struct text *kept, struct buffer *copy, struct text text, bool lasts)
{
    *kept = text;
    if (lasts || text.size == 0)
        return;
    buffer_clear(copy);
    buffer_add(copy, text.bytes, text.size);
    *kept = (struct text){copy->bytes, copy->size};
}

static void put_text(struct record_sink *sink, size_t column, struct text text, bool lasts)
{
    struct database_table *table = table_of(sink);
    if (column == table->site_column)
        keep(&table->site, &table->site_copy, text, lasts);
    else if (column == table->operator_column)
        keep(&table->op, &table->operator_copy, text, lasts);
    else if (!text.bytes)
        sqlite3_bind_null(table->insert, table->parameters[column]);
    else
        sqlite3_bind_text(table->insert, table->parameters[column], text.bytes, (int)text.size,
                          lasts ? SQLITE_STATIC : SQLITE_TRANSIENT);
}

static bool bind_site(struct database_table *table, struct error *err)
{
    int64_t number;
    if (table->site_copy.failed || table->operator_copy.failed)
        return error_out_of_memory(err);
    if (table->site.size == 0 && table->op.size == 0) {
        sqlite3_bind_null(table->insert, table->site_parameter);
        return true;
    }
    if (!database_site_number(table->sites, table->site, table->op, &number, err))
        return false;
    sqlite3_bind_int64(table->insert, table->site_parameter, number);
    return true;
}

static bool put_row(struct record_sink *sink, struct error *err)
{
    struct database_table *table = table_of(sink);
    return (!table->site_parameter || bind_site(table, err)) &&
           database_step(table->sites->database, table->insert, err);
}

/* "INSERT INTO name(column, ...) VALUES(?, ...)", with the constant last. */
static void make_insert(struct buffer *sql, const struct record_writer *records, const char *name,
                        const struct database_constant *constant,
                        const struct database_table *table)
{
    int parameters = 0;
    buffer_printf(sql, "INSERT INTO %s(", name);
    for (size_t i = 0; i < records->columns; i++)
        if (i != table->operator_column)
            buffer_printf(sql, "%s%s", parameters++ ? ", " : "", records->fields[i]->key);
    if (constant)
        buffer_printf(sql, "%s%s", parameters++ ? ", " : "", constant->column);
    buffer_puts(sql, ") VALUES(");
    for (int i = 0; i < parameters; i++)
        buffer_puts(sql, i ? ", ?" : "?");
    buffer_puts(sql, ")");
}

static void number_columns(struct database_table *table, const struct record_writer *records)
{
    int next = 1;
    table->site_column = table->operator_column = SIZE_MAX;
    for (size_t i = 0; i < records->columns; i++) {
        if (strcmp(records->fields[i]->key, "operator") == 0) {
            table->operator_column = i;
            continue;
        }
        if (strcmp(records->fields[i]->key, "site") == 0) {
            table->site_column = i;
            table->site_parameter = next;
        }
        table->parameters[i] = next++;
    }
}

bool database_table_begin(struct database_table *table, struct database_sites *sites,
                          const char *name, const struct database_constant *constant,
                          struct record_writer *records, const struct row_type *type,
                          struct error *err)
{
    struct buffer sql = BUFFER_INIT;
    *table = (struct database_table){.sink = {put_integer, put_text, put_row}, .sites = sites};
    records_begin_sink(records, &table->sink, type);
    number_columns(table, records);
    make_insert(&sql, records, name, constant, table);
    bool ok = !sql.failed || error_out_of_memory(err);
    ok = ok && database_prepare(sites->database, sql.bytes, &table->insert, err);
    if (ok && constant)
        sqlite3_bind_text(table->insert, sqlite3_bind_parameter_count(table->insert),
                          constant->value, -1, SQLITE_STATIC);
    buffer_release(&sql);
    return ok;
}

void database_table_release(struct database_table *table)
{
    sqlite3_finalize(table->insert);
    buffer_release(&table->site_copy);
    buffer_release(&table->operator_copy);
}
