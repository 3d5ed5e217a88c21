#include "analysis/check/check.h"
#include "base/budget.h"
#include "commands/check/options.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/sandbox/sandbox.h"
#include "store/store.h"

#define GROWN_MOST 3 /* categories, and call sites, that are named */

static size_t find_grown(struct store *store, enum store_shares what, struct trend *trend,
                         const struct trend_jump *jump, struct trend_share grown[GROWN_MOST],
                         bool *ok, struct error *err)
{
    struct trend_shares before = {0}, after = {0};
    size_t count = 0;
    *ok = *ok && store_shares(store, jump->usual->holder, what, trend, &before, err) &&
          store_shares(store, jump->newest->holder, what, trend, &after, err);
    if (*ok)
        count = trend_grown(&before, &after, grown, GROWN_MOST);
    trend_shares_release(&before, trend);
    trend_shares_release(&after, trend);
    return count;
}

static bool judge(const struct check_options *options, struct store *store, struct trend *trend,
                  struct check_result *result, struct error *err)
{
    const struct check_question question = {.rules = &options->rules, .unit = options->unit};
    struct trend_share categories[GROWN_MOST], sites[GROWN_MOST];
    struct check_history history = {.trend = trend, .categories = categories, .sites = sites};
    bool ok = trend_judge(trend, options->last, &history.jump, err);
    if (ok && history.jump.usual) {
        history.category_count =
            find_grown(store, STORE_CATEGORIES, trend, &history.jump, categories, &ok, err);
        history.site_count = find_grown(store, STORE_SITES, trend, &history.jump, sites, &ok, err);
    }
    return ok && check_runs(&question, &history, result, err);
}

static bool check_store(const struct check_options *options, struct store *store,
                        struct check_result *result, struct error *err)
{
    const char *metric = options->look.metric;
    const struct store_query query = {.metric = metric ? metric : STORE_METRIC_DEFAULT,
                                      .rank = STORE_EVERY_RANK};
    size_t most = options->capture.max_memory;
    struct trend trend;
    trend_init(&trend, most ? most : budget_default_limit());
    bool ok = store_trend(store, &query, &trend, err);
    if (ok && trend.unit == TREND_EVENTS)
        ok = error_set(err, STATUS_USAGE, "--max-jump compares bytes, which %s are not",
                       query.metric);
    ok = ok && judge(options, store, &trend, result, err);
    trend_release(&trend);
    return ok;
}

static enum status verdict(const struct checked_file *file)
{
    if (file->failed)
        return file->err.status;
    if (!check_result_holds(&file->result))
        return STATUS_CHECK_FAILED;
    return file->result.is_incomplete ? STATUS_USAGE : STATUS_OK;
}

/* The history is open, and locked against changes, before the sandbox is entered. */
enum status check_trend(const struct check_options *options)
{
    const struct error no_memory = {.status = STATUS_LIMIT, .text = "out of memory"};
    struct checked_file file = {.path = options->trend};
    struct output output;
    struct error err;
    struct store *store = store_open_to_read(options->trend, &err);
    if (!store)
        return complain_error(options->trend, &err);
    if (!output_open(&output, options->output, &err)) {
        store_close(store);
        return complain_failure(&err);
    }
    sandbox_enter(output.file.path);
    file.failed = !check_store(options, store, &file.result, &file.err);
    store_close(store);
    if (file.failed)
        complain_error(options->trend, &file.err);
    enum status status = verdict(&file);
    if (file.failed && !check_is_for_ci(options->format)) {
        output_discard(&output);
    } else {
        bool ok = check_print(options, &file, 1, output.stream);
        enum status closed = files_close(&output, ok, NULL, &no_memory);
        status = closed == STATUS_OK ? status : closed;
    }
    check_result_release(&file.result);
    return status;
}
