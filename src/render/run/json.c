#include "render/run/internal.h"
#include "render/run/operators.h"

#define SCHEMA "memsnap.run/1"

/* True if a later statistic of the point has the same name, and counts in its place. */
static bool is_replaced(const struct memory_run *run, const struct run_point *point, size_t at)
{
    for (size_t i = at + 1; i < point->count; i++)
        if (run->stats[point->first + i].name == run->stats[point->first + at].name)
            return true;
    return false;
}

static void put_number(struct json_writer *json, const struct memory_run *run, string_id name,
                       int64_t number)
{
    json_put_text_key(json, symbols_text(run->symbols, name));
    json_put_integer(json, NULL, number);
}

/* The statistics under the names they have in the file. */
static void put_point(struct json_writer *json, const char *key, const struct memory_run *run,
                      const struct run_point *point)
{
    json_put_open(json, key, '{');
    for (size_t i = 0; point && i < point->count; i++)
        if (!is_replaced(run, point, i))
            put_number(json, run, run->stats[point->first + i].name,
                       run->stats[point->first + i].number);
    json_put_close(json, '}');
}

/* End minus start, of the statistics that both have. */
static void put_difference(struct json_writer *json, const struct memory_run *run,
                           const struct run_row *row)
{
    const struct run_point *start = row->points[RUN_START], *end = row->points[RUN_END];
    size_t next = 0;
    json_put_open(json, "diff", '{');
    for (size_t i = 0; start && end && i < end->count; i++) {
        const struct run_stat *stat = &run->stats[end->first + i];
        size_t tried = 0;
        int64_t difference;
        while (tried < start->count && run->stats[start->first + next].name != stat->name) {
            next = next + 1 == start->count ? 0 : next + 1;
            tried++;
        }
        if (tried < start->count && !is_replaced(run, end, i) &&
            !__builtin_sub_overflow(stat->number, run->stats[start->first + next].number,
                                    &difference))
            put_number(json, run, stat->name, difference);
    }
    json_put_close(json, '}');
}

static void put_call(struct json_writer *json, const struct memory_run *run,
                     const struct run_row *row)
{
    json_put_open(json, NULL, '{');
    json_put_text(json, "function", symbols_text(run->symbols, row->function));
    json_put_count(json, "iteration", row->iteration);
    put_point(json, "start", run, row->points[RUN_START]);
    put_point(json, "end", run, row->points[RUN_END]);
    put_difference(json, run, row);
    json_put_close(json, '}');
}

static bool put_rank(struct json_writer *json, const struct run_report *report,
                     const struct run_rank *rank)
{
    const struct memory_run *run = report->run;
    const struct field_context context = run_context(report);
    json_put_open(json, NULL, '{');
    json_put_count(json, "rank", rank->rank);
    json_put_row(json, run_rank_type.name, &run_rank_type, rank, &context);
    json_put_open(json, "iterations", '[');
    for (size_t i = 0; i < rank->row_count; i++)
        put_call(json, run, &report->rows[rank->first_row + i]);
    json_put_close(json, ']');
    if (!run_put_tables(json, report, rank))
        return false;
    /* without any in the run, the arrays are NULL */
    json_put_rows(json, &run_snapshot_type,
                  rank->snapshot_count > 0 ? run->snapshots + rank->first_snapshot : NULL,
                  rank->snapshot_count, &context);
    json_put_rows(json, &run_trace_type,
                  rank->trace_count > 0 ? run->traces + rank->first_trace : NULL, rank->trace_count,
                  &context);
    json_put_close(json, '}');
    return true;
}

static struct text path_of(const void *self, uint32_t file)
{
    const struct memory_run *run = self;
    return symbols_text(run->symbols, run->files[file].path);
}

static void put_checks(struct json_writer *json, const struct run_report *report)
{
    json_put_open(json, "checks", '{');
    for (unsigned i = 0; i < RUN_CHECKS; i++)
        json_put_count(json, run_check_name(i), report->checks_made[i]);
    json_put_close(json, '}');
}

bool run_json(FILE *out, const struct run_analysis *analysis)
{
    const struct run_report *report = analysis->report;
    const struct memory_run *run = report->run;
    const struct field_context context = run_context(report);
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_open(&json, "input", '{');
    json_put_string(&json, "path", analysis->path);
    json_put_string(&json, "format", "memprofiler");
    json_put_rows(&json, &run_file_type, run->files, run->file_count, &context);
    json_put_close(&json, '}');
    json_put_open(&json, "ranks", '[');
    for (size_t i = 0; i < report->rank_count; i++)
        if (!put_rank(&json, report, &report->ranks[i])) {
            json_writer_release(&json);
            return false;
        }
    json_put_close(&json, ']');
    if (!operators_put(&json, &run->operators, path_of, run)) {
        json_writer_release(&json);
        return false;
    }
    json_put_rows(&json, &run_outlier_type, report->outliers, report->outlier_count, &context);
    put_checks(&json, report);
    json_put_rows(&json, &run_inconsistency_type, report->inconsistencies,
                  report->inconsistency_count, &context);
    json_put_count(&json, "inconsistency_count", report->inconsistency_total);
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
