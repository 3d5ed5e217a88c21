#include <string.h>

#include "store/internal.h"

#define CATEGORY_PREFIX "category:"

/* A metric, and its value for a row of `ranks`. */
struct metric {
    const char *name, *value;
    enum trend_unit unit;
};

static const struct metric metrics[] = {
    {"peak_active", "peak_bytes", TREND_BYTES},
    {"peak_allocated", "allocated_peak_bytes", TREND_BYTES},
    {"peak_reserved", "reserved_peak_bytes", TREND_BYTES},
    {"fragmentation", "unused_bytes", TREND_BYTES},
    {"end_active", "end_bytes", TREND_BYTES},
    {"growth", "growth_bytes", TREND_BYTES_A_STEP},
    {"ooms", "ooms", TREND_EVENTS},
};

static const struct metric of_category = {
    CATEGORY_PREFIX,
    "coalesce((SELECT bytes FROM categories WHERE categories.id = ranks.id AND category = ?4), 0)",
    TREND_BYTES,
};

/* The metrics, as messages list them. */
static const char metric_words[] = "peak_active, peak_allocated, peak_reserved, fragmentation, "
                                   "end_active, growth, ooms or category:NAME";

static const struct metric *find_metric(const char *name)
{
    size_t prefix = sizeof(CATEGORY_PREFIX) - 1;
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        if (strcmp(metrics[i].name, name) == 0)
            return &metrics[i];
    return strncmp(name, CATEGORY_PREFIX, prefix) == 0 && name[prefix] ? &of_category : NULL;
}

bool store_metric_check(const char *metric, struct error *err)
{
    return find_metric(metric) ||
           error_set(err, STATUS_USAGE, "invalid metric '%.60s' (expected %s)", metric,
                     metric_words);
}

/* max() also selects the row that holds it, for the other columns. The host's memory is left out.
 */
static bool prepare_points(struct store *store, const struct store_query *query,
                           const struct metric *metric, sqlite3_stmt **statement, struct error *err)
{
    char sql[1000];
    sqlite3_snprintf(sizeof(sql), sql,
                     "SELECT runs.run, name, commit_id, time, failed, count(ranks.id), max(%s),"
                     " rank, ranks.id FROM runs LEFT JOIN ranks ON ranks.run = runs.run"
                     " AND device >= 0 AND (?1 < 0 OR rank = ?1)"
                     " WHERE name GLOB ?2 GROUP BY runs.run ORDER BY runs.run DESC LIMIT ?3",
                     metric->value);
    if (!store_prepare(store, sql, statement, err))
        return false;
    sqlite3_bind_int64(*statement, 1, query->rank);
    sqlite3_bind_text(*statement, 2, query->pattern ? query->pattern : "*", -1, SQLITE_STATIC);
    sqlite3_bind_int64(*statement, 3, query->last ? (int64_t)query->last : -1);
    if (metric == &of_category)
        sqlite3_bind_text(*statement, 4, query->metric + sizeof(CATEGORY_PREFIX) - 1, -1,
                          SQLITE_STATIC);
    return true;
}

static struct text column_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *bytes = sqlite3_column_text(statement, column);
    return (struct text){(const char *)bytes, (size_t)sqlite3_column_bytes(statement, column)};
}

static int64_t column_or(sqlite3_stmt *statement, int column, int64_t unknown)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? unknown
               : sqlite3_column_int64(statement, column);
}

static bool take_point(struct trend *trend, sqlite3_stmt *row, struct error *err)
{
    struct trend_point point = {
        .run = sqlite3_column_int64(row, 0),
        .name = column_text(row, 1),
        .commit = column_text(row, 2),
        .time_s = sqlite3_column_int64(row, 3),
        .failed = (uint64_t)sqlite3_column_int64(row, 4),
        .ranks = (uint64_t)sqlite3_column_int64(row, 5),
        .is_known = sqlite3_column_type(row, 6) != SQLITE_NULL,
        .value = sqlite3_column_int64(row, 6),
        .rank = column_or(row, 7, -1),
        .holder = sqlite3_column_int64(row, 8),
    };
    return trend_text(trend, &point.name, err) && trend_text(trend, &point.commit, err) &&
           vec_push(trend->points, trend->count, trend->capacity, &trend->budget, err, point);
}

static void turn_round(struct trend *trend)
{
    for (size_t i = 0; i < trend->count / 2; i++) {
        struct trend_point *a = &trend->points[i], *b = &trend->points[trend->count - 1 - i];
        struct trend_point kept = *a;
        *a = *b;
        *b = kept;
    }
}

bool store_trend(struct store *store, const struct store_query *query, struct trend *trend,
                 struct error *err)
{
    const struct metric *metric = find_metric(query->metric);
    sqlite3_stmt *statement;
    int code = SQLITE_ROW;
    if (!metric)
        return store_metric_check(query->metric, err);
    trend->metric = query->metric;
    trend->unit = metric->unit;
    if (!prepare_points(store, query, metric, &statement, err))
        return false;
    bool ok = true;
    while (ok && (code = sqlite3_step(statement)) == SQLITE_ROW)
        ok = take_point(trend, statement, err);
    ok = ok && (code == SQLITE_DONE || store_failed(store, err));
    sqlite3_finalize(statement);
    turn_round(trend);
    return ok;
}

bool store_shares(struct store *store, int64_t holder, enum store_shares what, struct trend *trend,
                  struct trend_shares *shares, struct error *err)
{
    static const char *const queries[] = {
        [STORE_CATEGORIES] = "SELECT category, bytes FROM categories WHERE id = ? ORDER BY 1",
        [STORE_SITES] = "SELECT coalesce(site, ''), sum(bytes) FROM sites WHERE id = ?"
                        " AND category IS NOT NULL GROUP BY 1 ORDER BY 1",
    };
    sqlite3_stmt *statement;
    int code = SQLITE_ROW;
    if (!store_prepare(store, queries[what], &statement, err))
        return false;
    sqlite3_bind_int64(statement, 1, holder);
    bool ok = true;
    while (ok && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct trend_share share = {column_text(statement, 0), sqlite3_column_int64(statement, 1)};
        ok = trend_text(trend, &share.name, err) &&
             vec_push(shares->items, shares->count, shares->capacity, &trend->budget, err, share);
    }
    ok = ok && (code == SQLITE_DONE || store_failed(store, err));
    sqlite3_finalize(statement);
    return ok;
}
