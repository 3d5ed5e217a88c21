/* The history of runs: an SQLite database that keeps the summaries of run after run.
 *
 * memsnap-trend(1) describes its tables. It may come from others, so nothing in its schema is
 * trusted: no triggers, no views, no functions, and limits on what SQLite may read and allocate.
 * Without SQLite, both functions that open a history fail with STATUS_USAGE. */
#ifndef MEMSNAP_STORE_STORE_H
#define MEMSNAP_STORE_STORE_H

#include "model/summary.h"
#include "model/trend.h"

struct store;

/* How long to wait for another process that writes, in milliseconds. */
#define STORE_WAIT_MS 10000

/* Opens a history, or makes one if there is no file or an empty one. STATUS_BAD_INPUT if the file
 * is something else. NULL on failure. */
struct store *store_open_to_write(const char *path, struct error *err);
/* Opens a history for reading, and begins a read transaction: SQLite opens no file after that, and
 * the history does not change until store_close(). NULL on failure. */
struct store *store_open_to_read(const char *path, struct error *err);
void store_close(struct store *store); /* discards an unfinished run; NULL is allowed */

/* A run to be stored. */
struct store_run {
    const char *name, *commit; /* commit: NULL if unknown */
    int64_t time_s;            /* since 1970 */
    uint64_t failed;           /* files that could not be read */
};

/* A run is stored in one transaction: begin, add each summary, commit. */
bool store_begin_run(struct store *store, const struct store_run *run, struct error *err);
bool store_add(struct store *store, const struct summary *summary, struct error *err);
bool store_commit_run(struct store *store, struct error *err);

#define STORE_METRIC_DEFAULT "peak_active"
#define STORE_EVERY_RANK     INT64_C(-1)

struct store_query {
    const char *metric;  /* "peak_active", "category:activation", ... */
    int64_t rank;        /* or STORE_EVERY_RANK: the highest value of all */
    const char *pattern; /* of names, with * and ?; NULL: all */
    size_t last;         /* how many of the newest runs; 0: all */
};

/* STATUS_USAGE if there is no such metric; the error lists the metrics. */
bool store_metric_check(const char *metric, struct error *err);

/* Adds one point for each run that the query selects to an empty trend, the oldest first. The trend
 * keeps query->metric, which must outlive it. */
bool store_trend(struct store *store, const struct store_query *query, struct trend *trend,
                 struct error *err);
/* Reads what the holder of a point (trend_point.holder) had at its active peak: its categories, or
 * its call sites, by name. */
enum store_shares { STORE_CATEGORIES, STORE_SITES };
bool store_shares(struct store *store, int64_t holder, enum store_shares what, struct trend *trend,
                  struct trend_shares *shares, struct error *err);

#endif
