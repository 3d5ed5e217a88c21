/* Reads a history of runs, or the trend that memsnap trend made of one. */
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "commands/cli/inputs.h"
#include "commands/plot/load.h"
#include "store/store.h"

static const char sqlite_start[] = "SQLite format 3"; /* includes the NUL byte */

/* The descriptor of the input stays open: closing it would release the locks of SQLite. */
bool plot_load_history(struct plot_load *load, const struct plot_kind *kind, struct error *err)
{
    const struct inputs *inputs = load->inputs;
    char start[sizeof(sqlite_start)];
    if (inputs->count != 1 || inputs->opened[0].fd < 0 || (kind && !kind->of_trend) ||
        pread(inputs->opened[0].fd, start, sizeof(start), 0) != sizeof(start) ||
        memcmp(start, sqlite_start, sizeof(start)) != 0)
        return true;
    load->history = store_open_to_read(inputs->paths[0], err);
    return load->history;
}

static bool read_history(const struct plot_load *load, struct trend *trend, struct error *err)
{
    const struct file_choice *files = &load->options->files;
    struct store_query query = load->options->query;
    query.metric = query.metric ? query.metric : STORE_METRIC_DEFAULT;
    query.rank = files->has_rank ? (int64_t)files->rank : STORE_EVERY_RANK;
    return store_trend(load->history, &query, trend, err) &&
           (trend->count > 0 || error_set(err, STATUS_BAD_INPUT, "the history has no such run"));
}

static bool read_trend(struct plot_load *load, const struct plot_kind *kind, struct trend *trend,
                       struct error *err)
{
    struct input input;
    enum file_kind file;
    const struct store_query *query = &load->options->query;
    if (!plot_load_open(load, kind, &input, &file, err))
        return false;
    if (query->metric || query->pattern || load->options->files.has_rank) {
        input_discard(&input);
        return error_set(err, STATUS_USAGE,
                         "--%s applies to a history; this trend is of one metric and its runs",
                         query->metric    ? "metric"
                         : query->pattern ? "run"
                                          : "rank");
    }
    return trend_load_input(trend, &input, err);
}

bool plot_load_trend(struct plot_load *load, const struct plot_kind *kind,
                     const struct plot_job *job, struct error *err)
{
    struct trend trend;
    trend_init(&trend, load->options->capture.max_memory);
    bool ok = load->history ? read_history(load, &trend, err) : read_trend(load, kind, &trend, err);
    ok = ok && kind->of_trend(job, &trend, err);
    trend_release(&trend);
    return ok;
}
