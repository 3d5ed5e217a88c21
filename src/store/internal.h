/* What the files of the store share. */
#ifndef MEMSNAP_STORE_INTERNAL_H
#define MEMSNAP_STORE_INTERNAL_H

#include <sqlite3.h>

#include "store/store.h"

struct store {
    sqlite3 *handle;
    int64_t deadline_s; /* when a read is given up, by the monotonic clock */
    int64_t run;        /* the number of the run that is being written */
    sqlite3_stmt *insert_rank, *insert_category, *insert_site;
};

/* Fills `*err` from the result of SQLite's last call, and returns false. */
bool store_failed(const struct store *store, struct error *err);
bool store_run_sql(struct store *store, const char *sql, struct error *err);
bool store_prepare(struct store *store, const char *sql, sqlite3_stmt **statement,
                   struct error *err);
/* Steps a statement that returns nothing, and makes it ready for the next parameters. */
bool store_step(struct store *store, sqlite3_stmt *statement, struct error *err);

#endif
