/* The store of a memsnap that was built without SQLite. */
#include "store/store.h"

static struct store *fail(struct error *err)
{
    error_set(err, STATUS_USAGE, "memsnap was built without SQLite");
    return NULL;
}

struct store *store_open_to_write(const char *path, struct error *err)
{
    (void)path;
    return fail(err);
}

struct store *store_open_to_read(const char *path, struct error *err)
{
    (void)path;
    return fail(err);
}

void store_close(struct store *store)
{
    (void)store;
}

bool store_begin_run(struct store *store, const struct store_run *run, struct error *err)
{
    (void)store, (void)run;
    return fail(err);
}

bool store_add(struct store *store, const struct summary *summary, struct error *err)
{
    (void)store, (void)summary;
    return fail(err);
}

bool store_commit_run(struct store *store, struct error *err)
{
    (void)store;
    return fail(err);
}

bool store_metric_check(const char *metric, struct error *err)
{
    (void)metric, (void)err;
    return true; /* opening the history says what is wrong */
}

bool store_trend(struct store *store, const struct store_query *query, struct trend *trend,
                 struct error *err)
{
    (void)store, (void)query, (void)trend;
    return fail(err);
}

bool store_shares(struct store *store, int64_t holder, enum store_shares what, struct trend *trend,
                  struct trend_shares *shares, struct error *err)
{
    (void)store, (void)holder, (void)what, (void)trend, (void)shares;
    return fail(err);
}
