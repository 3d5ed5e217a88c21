/* A new SQLite database, written to an open file: tables filled by prepared statements in one
 * transaction. */
#ifndef MEMSNAP_RENDER_SQLITE_DATABASE_H
#define MEMSNAP_RENDER_SQLITE_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "render/sqlite/file.h"

struct database {
    struct sqlite_file file;
    sqlite3 *handle;
};

/* Begins a database in the empty file `fd`, which must be open to read and write and stays the
 * caller's. `max_memory`: bytes that SQLite may allocate. The struct must not be moved. */
bool database_create(struct database *database, int fd, size_t max_memory, struct error *err);
/* Commits. The database must still be released. */
bool database_commit(struct database *database, struct error *err);
void database_release(struct database *database);

/* Runs statements that return nothing. */
bool database_run(struct database *database, const char *sql, struct error *err);
bool database_prepare(struct database *database, const char *sql, sqlite3_stmt **statement,
                      struct error *err);
/* Runs a statement with its parameters once, and makes it ready for the next ones. */
bool database_step(struct database *database, sqlite3_stmt *statement, struct error *err);

#endif
