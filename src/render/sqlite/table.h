/* A table of a database as the target of a record writer's rows.
 *
 * The columns of the table have the names of the writer's columns, but for `site` and `operator`,
 * which become one column, the number of the site in the table of sites. */
#ifndef MEMSNAP_RENDER_SQLITE_TABLE_H
#define MEMSNAP_RENDER_SQLITE_TABLE_H

#include "render/core/records.h"
#include "render/sqlite/sites.h"

struct database_table {
    struct record_sink sink; /* first: the table is found from it */
    struct database_sites *sites;
    sqlite3_stmt *insert;
    int parameters[FIELDS_MOST]; /* by column; 0: part of a site */
    size_t site_column, operator_column;
    int site_parameter;
    struct text site, op;                   /* of the row */
    struct buffer site_copy, operator_copy; /* of texts that do not last */
};

/* Columns with the same value in all rows. */
struct database_constant {
    const char *column, *value;
};

/* Makes `records` write into the table `name`. `constant` may be NULL. */
bool database_table_begin(struct database_table *table, struct database_sites *sites,
                          const char *name, const struct database_constant *constant,
                          struct record_writer *records, const struct row_type *type,
                          struct error *err);
void database_table_release(struct database_table *table);

#endif
