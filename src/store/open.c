#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/internal.h"

#define APPLICATION_ID 1836281458 /* "msnr" */
#define SCHEMA_VERSION 1

#define READ_SECONDS    60
#define HEAP_MOST       ((sqlite3_int64)256 << 20) /* bytes that SQLite may allocate */
#define STEPS_A_CHECK   100000                     /* steps of SQLite's virtual machine */
#define LONGEST_CELL    (1 << 20)
#define LONGEST_PATTERN 256

static const char schema[] =
    "CREATE TABLE runs("
    " run INTEGER PRIMARY KEY, name TEXT NOT NULL, commit_id TEXT, time INTEGER NOT NULL,"
    " failed INTEGER NOT NULL);"
    "CREATE TABLE ranks("
    " id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs, rank INTEGER, path TEXT,"
    " device INTEGER, knows_peak INTEGER, events INTEGER, steps INTEGER, ooms INTEGER,"
    " start_bytes INTEGER, peak_bytes INTEGER, end_bytes INTEGER, allocated_peak_bytes INTEGER,"
    " reserved_peak_bytes INTEGER, reserved_at_peak_bytes INTEGER, unused_bytes INTEGER,"
    " growth_bytes INTEGER, peak_event INTEGER, peak_us INTEGER, duration_us INTEGER,"
    " phase TEXT, oom TEXT);"
    "CREATE INDEX ranks_of_run ON ranks(run);"
    "CREATE TABLE categories("
    " id INTEGER REFERENCES ranks, category TEXT, bytes INTEGER, count INTEGER,"
    " PRIMARY KEY(id, category)) WITHOUT ROWID;"
    "CREATE TABLE sites("
    " id INTEGER REFERENCES ranks, place INTEGER, site TEXT, operator TEXT, category TEXT,"
    " bytes INTEGER, count INTEGER, stack TEXT, PRIMARY KEY(id, place)) WITHOUT ROWID;";

bool store_failed(const struct store *store, struct error *err)
{
    int code = store->handle ? sqlite3_extended_errcode(store->handle) : SQLITE_NOMEM;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return error_set(err, STATUS_LIMIT, "the history needs more memory than allowed");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(err, STATUS_IO, "locked by another process for %d s",
                         STORE_WAIT_MS / 1000);
    case SQLITE_NOTADB:
        return error_set(err, STATUS_BAD_INPUT, "expected a history of runs, found no database");
    case SQLITE_CORRUPT:
        return error_set(err, STATUS_BAD_INPUT, "the database is damaged: %.120s",
                         sqlite3_errmsg(store->handle));
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        if (sqlite3_system_errno(store->handle) != 0)
            return error_set(err, STATUS_IO, "%s", strerror(sqlite3_system_errno(store->handle)));
        return error_set(err, STATUS_IO, "SQLite: %.120s", sqlite3_errmsg(store->handle));
    case SQLITE_INTERRUPT:
        return error_set(err, STATUS_LIMIT, "reading the history took longer than %d s",
                         READ_SECONDS);
    case SQLITE_FULL:
        return error_set(err, STATUS_IO, "cannot write: the disk is full");
    case SQLITE_READONLY:
        if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)
            return error_set(err, STATUS_IO,
                             "a process that wrote was interrupted; the next 'memsnap ranks "
                             "--into' repairs the file");
        return error_set(err, STATUS_IO, "cannot write: the file is read-only");
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:
        return error_set(err, STATUS_BAD_INPUT, "expected a history of runs: %.120s",
                         sqlite3_errmsg(store->handle));
    default:
        return error_set(err, STATUS_IO, "SQLite: %.120s", sqlite3_errmsg(store->handle));
    }
}

bool store_run_sql(struct store *store, const char *sql, struct error *err)
{
    return sqlite3_exec(store->handle, sql, NULL, NULL, NULL) == SQLITE_OK ||
           store_failed(store, err);
}

bool store_prepare(struct store *store, const char *sql, sqlite3_stmt **statement,
                   struct error *err)
{
    return sqlite3_prepare_v2(store->handle, sql, -1, statement, NULL) == SQLITE_OK ||
           store_failed(store, err);
}

bool store_step(struct store *store, sqlite3_stmt *statement, struct error *err)
{
    bool ok = sqlite3_step(statement) == SQLITE_DONE || store_failed(store, err);
    sqlite3_reset(statement);
    return ok;
}

static int64_t now_s(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static int is_late(void *self)
{
    const struct store *store = self;
    return store->deadline_s > 0 && now_s() > store->deadline_s;
}

/* Nothing that a foreign schema defines may run, and no statement or cell may be huge. */
static bool harden(struct store *store, struct error *err)
{
    static const struct {
        int limit, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, LONGEST_CELL},
        {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
        {SQLITE_LIMIT_COLUMN, 64},
        {SQLITE_LIMIT_EXPR_DEPTH, 50},
        {SQLITE_LIMIT_COMPOUND_SELECT, 4},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    sqlite3_hard_heap_limit64(HEAP_MOST);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        sqlite3_limit(store->handle, limits[i].limit, limits[i].value);
    sqlite3_progress_handler(store->handle, STEPS_A_CHECK, is_late, store);
    sqlite3_busy_timeout(store->handle, STORE_WAIT_MS);
    bool ok =
        sqlite3_db_config(store->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) == SQLITE_OK &&
        sqlite3_db_config(store->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) == SQLITE_OK &&
        sqlite3_db_config(store->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK &&
        sqlite3_db_config(store->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL) == SQLITE_OK;
    return (ok || store_failed(store, err)) &&
           store_run_sql(store, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;", err);
}

static struct store *open_file(const char *path, int flags, struct error *err)
{
    struct store *store = calloc(1, sizeof(*store));
    if (!store) {
        error_out_of_memory(err);
        return NULL;
    }
    bool ok =
        sqlite3_open_v2(path, &store->handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                        NULL) == SQLITE_OK;
    if ((ok || store_failed(store, err)) && harden(store, err))
        return store;
    store_close(store);
    return NULL;
}

/* The one number that a statement returns. */
static bool ask(struct store *store, const char *sql, int64_t *number, struct error *err)
{
    sqlite3_stmt *statement;
    if (!store_prepare(store, sql, &statement, err))
        return false;
    bool ok = sqlite3_step(statement) == SQLITE_ROW || store_failed(store, err);
    if (ok)
        *number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return ok;
}

/* `*is_empty`: a database without anything, as of an empty file. */
static bool identify(struct store *store, bool *is_empty, struct error *err)
{
    int64_t id = 0, version = 0, things = 0;
    if (!ask(store, "PRAGMA application_id", &id, err) ||
        !ask(store, "PRAGMA user_version", &version, err) ||
        !ask(store, "SELECT count(*) FROM sqlite_master", &things, err))
        return false;
    *is_empty = id == 0 && version == 0 && things == 0;
    if (*is_empty)
        return true;
    if (id != APPLICATION_ID)
        return error_set(err, STATUS_BAD_INPUT,
                         "expected a history of runs, found another program's database");
    return version == SCHEMA_VERSION ||
           error_set(err, STATUS_BAD_INPUT,
                     "the history has version %lld, but this memsnap knows version %d",
                     (long long)version, SCHEMA_VERSION);
}

static bool make_schema(struct store *store, struct error *err)
{
    char identity[100];
    sqlite3_snprintf(sizeof(identity), identity,
                     "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
                     SCHEMA_VERSION);
    return store_run_sql(store, schema, err) && store_run_sql(store, identity, err);
}

/* Another process may make the schema meanwhile: each look at the file is one transaction. Two
 * processes may find the file empty, so it is looked at again under the lock. */
static bool prepare_to_write(struct store *store, struct error *err)
{
    bool is_empty;
    if (!store_run_sql(store, "BEGIN", err) || !identify(store, &is_empty, err) ||
        !store_run_sql(store, "COMMIT", err))
        return false;
    if (!is_empty)
        return true;
    return store_run_sql(store, "BEGIN IMMEDIATE", err) && identify(store, &is_empty, err) &&
           (!is_empty || make_schema(store, err)) && store_run_sql(store, "COMMIT", err);
}

struct store *store_open_to_write(const char *path, struct error *err)
{
    struct store *store = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (store && prepare_to_write(store, err))
        return store;
    store_close(store);
    return NULL;
}

static bool begin_reading(struct store *store, struct error *err)
{
    bool is_empty;
    store->deadline_s = now_s() + READ_SECONDS;
    return store_run_sql(store, "BEGIN", err) && identify(store, &is_empty, err) &&
           (!is_empty ||
            error_set(err, STATUS_BAD_INPUT, "expected a history of runs, found an empty file"));
}

struct store *store_open_to_read(const char *path, struct error *err)
{
    struct store *store = open_file(path, SQLITE_OPEN_READONLY, err);
    if (store && begin_reading(store, err))
        return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    sqlite3_finalize(store->insert_rank);
    sqlite3_finalize(store->insert_category);
    sqlite3_finalize(store->insert_site);
    sqlite3_close(store->handle);
    free(store);
}
