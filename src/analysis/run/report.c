#include "analysis/run/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

static bool is_same_call(const struct run_row *row, const struct run_key *key)
{
    return row->rank == key->rank && row->function == key->function &&
           row->iteration == key->iteration;
}

static bool new_row(struct run_report *report, const struct run_key *key, struct error *err)
{
    struct run_row row = {key->rank, key->function, key->iteration, {NULL}, {{0}}};
    for (size_t i = 0; i < RUN_FIGURES; i++)
        row.numbers[RUN_START][i] = row.numbers[RUN_END][i] = RUN_ABSENT;
    return vec_push(report->rows, report->row_count, report->row_capacity, report->run->budget, err,
                    row);
}

/* The first file that has a moment stands for it. */
static void take_point(const struct memory_run *run, struct run_row *row,
                       const struct run_point *point)
{
    enum run_side side = point->key.side;
    if (row->points[side])
        return;
    row->points[side] = point;
    for (size_t i = 0; i < RUN_FIGURES; i++)
        row->numbers[side][i] = run_point_number(run, point, run_figure_names[i]);
}

static bool make_rows(struct run_report *report, struct error *err)
{
    const struct memory_run *run = report->run;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct run_point *point = &run->points[i];
        if ((report->row_count == 0 ||
             !is_same_call(&report->rows[report->row_count - 1], &point->key)) &&
            !new_row(report, &point->key, err))
            return false;
        take_point(run, &report->rows[report->row_count - 1], point);
    }
    return true;
}

static void raise(int64_t *highest, int64_t number)
{
    if (number > *highest) /* RUN_ABSENT is the lowest of all */
        *highest = number;
}

/* The next row, table, snapshot and trace that is not part of a rank yet. */
struct rest {
    size_t row, table, snapshot, trace;
};

static bool lowest_rank(const struct run_report *report, const struct rest *rest, uint32_t *rank)
{
    const struct memory_run *run = report->run;
    uint32_t lowest = UINT32_MAX; /* no rank is as high */
    if (rest->row < report->row_count)
        lowest = report->rows[rest->row].rank;
    if (rest->table < run->table_count && run->tables[rest->table].key.rank < lowest)
        lowest = run->tables[rest->table].key.rank;
    if (rest->snapshot < run->snapshot_count && run->snapshots[rest->snapshot].key.rank < lowest)
        lowest = run->snapshots[rest->snapshot].key.rank;
    if (rest->trace < run->trace_count && run->traces[rest->trace].rank < lowest)
        lowest = run->traces[rest->trace].rank;
    *rank = lowest;
    return lowest != UINT32_MAX;
}

static void take_rows(struct run_rank *rank, const struct run_report *report, size_t *row)
{
    rank->first_row = *row;
    for (size_t i = 0; i < RUN_FIGURES; i++)
        rank->highest[i] = RUN_ABSENT;
    for (; *row < report->row_count && report->rows[*row].rank == rank->rank; ++*row)
        for (size_t i = 0; i < RUN_FIGURES; i++) {
            raise(&rank->highest[i], report->rows[*row].numbers[RUN_START][i]);
            raise(&rank->highest[i], report->rows[*row].numbers[RUN_END][i]);
        }
    rank->row_count = *row - rank->first_row;
}

static bool make_ranks(struct run_report *report, struct error *err)
{
    const struct memory_run *run = report->run;
    struct rest rest = {0};
    struct run_rank rank = {0};
    while (lowest_rank(report, &rest, &rank.rank)) {
        take_rows(&rank, report, &rest.row);
        rank.first_table = rest.table;
        while (rest.table < run->table_count && run->tables[rest.table].key.rank == rank.rank)
            rest.table++;
        rank.table_count = rest.table - rank.first_table;
        rank.first_snapshot = rest.snapshot;
        while (rest.snapshot < run->snapshot_count &&
               run->snapshots[rest.snapshot].key.rank == rank.rank)
            rest.snapshot++;
        rank.snapshot_count = rest.snapshot - rank.first_snapshot;
        rank.first_trace = rest.trace;
        while (rest.trace < run->trace_count && run->traces[rest.trace].rank == rank.rank)
            rest.trace++;
        rank.trace_count = rest.trace - rank.first_trace;
        if (!vec_push(report->ranks, report->rank_count, report->rank_capacity, run->budget, err,
                      rank))
            return false;
    }
    return true;
}

/* The lower of two medians, so that it is a figure of some rank. Absent figures are left out. */
static int64_t median_of(const struct run_report *report, enum run_figure figure, int64_t *sorted)
{
    size_t count = 0;
    for (size_t i = 0; i < report->rank_count; i++)
        if (report->ranks[i].highest[figure] != RUN_ABSENT)
            sorted[count++] = report->ranks[i].highest[figure];
    if (count < 2)
        return RUN_ABSENT;
    qsort(sorted, count, sizeof(*sorted), compare_signed);
    return sorted[(count - 1) / 2];
}

static bool is_outlier(int64_t number, int64_t median)
{
    double difference = (double)number - (double)median;
    double most = (double)median * RUN_OUTLIER_PERCENT / 100;
    return difference > most || -difference > most;
}

static bool find_outliers(struct run_report *report, struct error *err)
{
    static const enum run_figure figures[] = {RUN_ACTIVE_PEAK, RUN_RESERVED_PEAK, RUN_RETRIES,
                                              RUN_OOMS,        RUN_RSS,           RUN_NPP_DIFF};
    struct budget *budget = report->run->budget;
    int64_t *sorted = NULL;
    size_t capacity = 0;
    if (report->rank_count < 2)
        return true;
    bool ok = vec_reserve(sorted, capacity, report->rank_count, budget, err);
    for (size_t f = 0; ok && f < sizeof(figures) / sizeof(figures[0]); f++) {
        int64_t median = median_of(report, figures[f], sorted);
        for (size_t i = 0; ok && median != RUN_ABSENT && i < report->rank_count; i++) {
            int64_t number = report->ranks[i].highest[figures[f]];
            if (number != RUN_ABSENT && is_outlier(number, median))
                ok = vec_push(
                    report->outliers, report->outlier_count, report->outlier_capacity, budget, err,
                    (struct run_outlier){report->ranks[i].rank, figures[f], number, median});
        }
    }
    vec_free(sorted, capacity, sizeof(*sorted), budget);
    return ok;
}

struct run_report *run_report_build(const struct memory_run *run, struct error *err)
{
    struct run_report *report = calloc(1, sizeof(*report));
    if (!report) {
        error_out_of_memory(err);
        return NULL;
    }
    report->run = run;
    if (make_rows(report, err) && make_ranks(report, err) && find_outliers(report, err) &&
        run_check_all(report, err) && run_check_tables(report, err))
        return report;
    run_report_destroy(report);
    return NULL;
}

void run_report_destroy(struct run_report *report)
{
    if (!report)
        return;
    struct budget *budget = report->run->budget;
    vec_free(report->rows, report->row_capacity, sizeof(*report->rows), budget);
    vec_free(report->ranks, report->rank_capacity, sizeof(*report->ranks), budget);
    vec_free(report->outliers, report->outlier_capacity, sizeof(*report->outliers), budget);
    vec_free(report->inconsistencies, report->inconsistency_capacity,
             sizeof(*report->inconsistencies), budget);
    free(report);
}
