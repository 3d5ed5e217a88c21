/* The tables and views of an exported database, as SQL. */
#ifndef MEMSNAP_RENDER_EXPORT_DATABASE_SCHEMA_H
#define MEMSNAP_RENDER_EXPORT_DATABASE_SCHEMA_H

extern const char export_database_tables[], export_database_views[];

#endif
