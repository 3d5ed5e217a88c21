#include "render/sqlite/database.h"

#include <string.h>

/* The file appears under its name only when it is complete, so it needs no journal. */
static const char settings[] = "PRAGMA page_size = 8192;"
                               "PRAGMA journal_mode = OFF;"
                               "PRAGMA synchronous = OFF;"
                               "PRAGMA locking_mode = EXCLUSIVE;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA cache_size = -16384;"
                               "BEGIN";

/* Fills `*err` by what SQLite says of its last call, and returns false. */
static bool failed(const struct database *database, struct error *err)
{
    int code = database->handle ? sqlite3_errcode(database->handle) : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM)
        return error_out_of_memory(err);
    if (database->file.write_errno)
        return error_set(err, STATUS_IO, "cannot write: %s", strerror(database->file.write_errno));
    return error_set(err, STATUS_IO, "cannot write: SQLite: %s", sqlite3_errmsg(database->handle));
}

bool database_run(struct database *database, const char *sql, struct error *err)
{
    return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK ||
           failed(database, err);
}

bool database_prepare(struct database *database, const char *sql, sqlite3_stmt **statement,
                      struct error *err)
{
    return sqlite3_prepare_v2(database->handle, sql, -1, statement, NULL) == SQLITE_OK ||
           failed(database, err);
}

bool database_step(struct database *database, sqlite3_stmt *statement, struct error *err)
{
    bool ok = sqlite3_step(statement) == SQLITE_DONE || failed(database, err);
    sqlite3_reset(statement);
    return ok;
}

bool database_create(struct database *database, int fd, size_t max_memory, struct error *err)
{
    *database = (struct database){0};
    if (sqlite3_initialize() != SQLITE_OK || !sqlite_file_init(&database->file, fd))
        return error_out_of_memory(err);
    sqlite3_hard_heap_limit64((sqlite3_int64)max_memory);
    bool ok = sqlite3_open_v2("export", &database->handle,
                              SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                              database->file.name) == SQLITE_OK ||
              failed(database, err);
    if (ok && database_run(database, settings, err))
        return true;
    database_release(database);
    return false;
}

bool database_commit(struct database *database, struct error *err)
{
    return database_run(database, "COMMIT", err);
}

void database_release(struct database *database)
{
    sqlite3_close(database->handle);
    sqlite_file_release(&database->file);
    database->handle = NULL;
}
