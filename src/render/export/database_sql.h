/* The SQL that makes the tables and the views of an exported database, as text. The build embeds
 * database_tables.sql and database_views.sql. */
#ifndef MEMSNAP_RENDER_EXPORT_DATABASE_SQL_H
#define MEMSNAP_RENDER_EXPORT_DATABASE_SQL_H

#include <stddef.h>

extern const unsigned char export_database_tables[], export_database_views[];
extern const size_t export_database_tables_size, export_database_views_size;

#endif
