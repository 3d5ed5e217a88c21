/* Compares the files of a run with each other. */
#include <string.h>

#include "analysis/run/report.h"

/* The statistic of that name, which is often just after the one asked for before. */
static int64_t find_number(const struct memory_run *run, const struct run_point *point,
                           string_id name, size_t *next)
{
    for (size_t tried = 0; tried < point->count; tried++) {
        const struct run_stat *stat = &run->stats[point->first + *next];
        if (stat->name == name)
            return stat->number;
        *next = *next + 1 == point->count ? 0 : *next + 1;
    }
    return RUN_ABSENT;
}

/* Every statistic of the second file against the first, and those that only the first has. */
static bool check_files(struct run_report *report, const struct run_point *first,
                        const struct run_point *second, struct error *err)
{
    const struct memory_run *run = report->run;
    struct run_inconsistency found = {.check = RUN_CHECK_FILES,
                                      .key = second->key,
                                      .expected_file = first->file,
                                      .found_file = second->file};
    for (size_t i = 0, next = 0; i < second->count; i++) {
        const struct run_stat *stat = &run->stats[second->first + i];
        found.name = stat->name;
        found.expected = find_number(run, first, stat->name, &next);
        found.found = stat->number;
        if (!run_compare(report, &found, found.expected == found.found, err))
            return false;
    }
    for (size_t i = 0, next = 0; i < first->count; i++) {
        const struct run_stat *stat = &run->stats[first->first + i];
        found.name = stat->name;
        found.expected = stat->number;
        found.found = find_number(run, second, stat->name, &next);
        if (found.found == RUN_ABSENT && !run_compare(report, &found, false, err))
            return false;
    }
    return true;
}

/* Pairs "NAME.current" with "NAME.peak". */
static bool check_peaks(struct run_report *report, const struct run_point *point, struct error *err)
{
    const struct memory_run *run = report->run;
    static const char current[] = ".current", peak[] = ".peak";
    for (size_t i = 0; i + 1 < point->count; i++) {
        const struct run_stat *stat = &run->stats[point->first + i];
        struct text name = symbols_text(run->symbols, stat->name);
        if (!text_ends(name, current))
            continue;
        size_t size = name.size - strlen(current);
        /* they are neighbours, or have "freed" between them */
        for (size_t k = i + 1; k < point->count && k < i + 3; k++) {
            struct text other = symbols_text(run->symbols, run->stats[point->first + k].name);
            int64_t number = run->stats[point->first + k].number;
            if (other.size != size + strlen(peak) || !text_ends(other, peak) ||
                memcmp(other.bytes, name.bytes, size) != 0)
                continue;
            const struct run_inconsistency found = {
                RUN_CHECK_CURRENT, point->key,  stat->name, number,
                stat->number,      point->file, point->file};
            if (!run_compare(report, &found, stat->number <= number, err))
                return false;
        }
    }
    return true;
}

static bool string_of(const struct memory_run *run, const char *name, string_id *id,
                      struct error *err)
{
    return symbols_string(run->symbols, name, strlen(name), id, err);
}

static bool check_difference(struct run_report *report, const struct run_point *point,
                             const char *before, const char *after, const char *difference,
                             struct error *err)
{
    const struct memory_run *run = report->run;
    int64_t from = run_point_number(run, point, before), to = run_point_number(run, point, after);
    int64_t stated = run_point_number(run, point, difference), real;
    if (from == RUN_ABSENT || to == RUN_ABSENT || stated == RUN_ABSENT ||
        __builtin_sub_overflow(to, from, &real))
        return true;
    struct run_inconsistency found = {.check = RUN_CHECK_DIFF,
                                      .key = point->key,
                                      .expected = real,
                                      .found = stated,
                                      .expected_file = point->file,
                                      .found_file = point->file};
    return string_of(run, difference, &found.name, err) &&
           run_compare(report, &found, real == stated, err);
}

static bool check_points(struct run_report *report, struct error *err)
{
    const struct memory_run *run = report->run;
    size_t first = 0;
    for (size_t i = 0; i < run->point_count; i++) {
        const struct run_point *point = &run->points[i];
        if (run_key_compare(&run->points[first].key, &point->key) != 0)
            first = i;
        if ((i > first && !check_files(report, &run->points[first], point, err)) ||
            !check_peaks(report, point, err) ||
            !check_difference(report, point, "rss_pre_forward", "rss_post_forward", "rss_diff",
                              err) ||
            !check_difference(report, point, "npp_pre_forward", "npp_post_forward", "npp_diff",
                              err))
            return false;
    }
    return true;
}

/* The statistics are those of one device, which no file names. */
static bool is_device_of(const struct memory_run *run, const struct run_snapshot *snapshot)
{
    bool is_only = true;
    for (size_t i = 0; i < run->snapshot_count && is_only; i++) {
        const struct run_snapshot *other = &run->snapshots[i];
        is_only =
            other == snapshot || other->file != snapshot->file || other->device == DEVICE_HOST;
    }
    return snapshot->device != DEVICE_HOST && (is_only || snapshot->device == snapshot->key.rank);
}

static bool check_figure(struct run_report *report, const struct run_row *row,
                         const struct run_snapshot *snapshot, enum run_check check,
                         enum run_figure figure, int64_t measured, struct error *err)
{
    int64_t stated = row->numbers[snapshot->key.side][figure];
    struct run_inconsistency found = {.check = check,
                                      .key = snapshot->key,
                                      .expected = stated,
                                      .found = measured,
                                      .found_file = snapshot->file};
    if (stated == RUN_ABSENT)
        return true;
    found.expected_file = row->points[snapshot->key.side]->file;
    bool at_most = check == RUN_CHECK_PEAK || check == RUN_CHECK_OOMS;
    bool holds = at_most ? measured <= stated : measured == stated;
    return string_of(report->run, run_figure_names[figure], &found.name, err) &&
           run_compare(report, &found, holds, err);
}

/* memory_stats() and the dump come right after each other. */
static bool check_snapshot(struct run_report *report, const struct run_row *row,
                           const struct run_snapshot *snapshot, struct error *err)
{
    const struct memory_state *state = &snapshot->state;
    return check_figure(report, row, snapshot, RUN_CHECK_STATE, RUN_ALLOCATED,
                        (int64_t)state->allocated_bytes, err) &&
           check_figure(report, row, snapshot, RUN_CHECK_STATE, RUN_ACTIVE,
                        (int64_t)state->active_bytes, err) &&
           check_figure(report, row, snapshot, RUN_CHECK_STATE, RUN_RESERVED,
                        (int64_t)state->reserved_bytes, err) &&
           check_figure(report, row, snapshot, RUN_CHECK_OOMS, RUN_OOMS, (int64_t)snapshot->ooms,
                        err) &&
           (!snapshot->knows_peak ||
            check_figure(report, row, snapshot, RUN_CHECK_PEAK, RUN_REQUESTED_PEAK,
                         snapshot->allocated_peak_bytes, err)) &&
           check_figure(report, row, snapshot, RUN_CHECK_PEAK, RUN_RESERVED_PEAK,
                        snapshot->reserved_peak_bytes, err);
}

static bool check_snapshots(struct run_report *report, struct error *err)
{
    const struct memory_run *run = report->run;
    size_t at = 0;
    for (size_t i = 0; i < report->row_count; i++) {
        const struct run_row *row = &report->rows[i];
        const struct run_key begin = {row->rank, row->function, row->iteration, RUN_START};
        const struct run_key end = {row->rank, row->function, row->iteration, RUN_END};
        while (at < run->snapshot_count && run_key_compare(&run->snapshots[at].key, &begin) < 0)
            at++;
        for (; at < run->snapshot_count && run_key_compare(&run->snapshots[at].key, &end) <= 0;
             at++)
            if (is_device_of(run, &run->snapshots[at]) &&
                !check_snapshot(report, row, &run->snapshots[at], err))
                return false;
    }
    return true;
}

/* The moment of the rank at which a statistic is highest, or NULL. */
static const struct run_point *highest_point(const struct run_report *report,
                                             const struct run_rank *rank, enum run_figure figure)
{
    const struct run_point *highest = NULL;
    for (size_t i = rank->first_row; i < rank->first_row + rank->row_count; i++)
        for (enum run_side side = 0; side < RUN_SIDES; side++)
            if (!highest && report->rows[i].numbers[side][figure] == rank->highest[figure])
                highest = report->rows[i].points[side];
    return highest;
}

static bool check_trace_figure(struct run_report *report, const struct run_rank *rank,
                               const struct run_trace *trace, enum run_figure figure,
                               int64_t measured, struct error *err)
{
    const struct run_point *point = highest_point(report, rank, figure);
    if (!point || rank->highest[figure] == RUN_ABSENT)
        return true;
    struct run_inconsistency found = {.check = RUN_CHECK_TRACE,
                                      .key = point->key,
                                      .expected = rank->highest[figure],
                                      .found = measured,
                                      .expected_file = point->file,
                                      .found_file = trace->file};
    return string_of(report->run, run_figure_names[figure], &found.name, err) &&
           run_compare(report, &found, measured <= rank->highest[figure], err);
}

/* The statistics are those of one device, which a rank's traces must agree on. */
static bool is_only_device(const struct memory_run *run, const struct run_rank *rank,
                           const struct run_trace *trace)
{
    for (size_t i = rank->first_trace; i < rank->first_trace + rank->trace_count; i++)
        if (run->traces[i].device != DEVICE_HOST && run->traces[i].device != trace->device)
            return false;
    return trace->device != DEVICE_HOST;
}

/* A peak counter of the allocator does not fall, so the last statistics are above all traces,
 * unless the trace continues beyond them or the counters were reset. */
static bool check_traces(struct run_report *report, struct error *err)
{
    for (size_t r = 0; r < report->rank_count; r++) {
        const struct run_rank *rank = &report->ranks[r];
        for (size_t i = 0; i < rank->trace_count; i++) {
            const struct run_trace *trace = &report->run->traces[rank->first_trace + i];
            if (is_only_device(report->run, rank, trace) &&
                (!check_trace_figure(report, rank, trace, RUN_ACTIVE_PEAK, trace->active_peak_bytes,
                                     err) ||
                 !check_trace_figure(report, rank, trace, RUN_RESERVED_PEAK,
                                     trace->reserved_peak_bytes, err)))
                return false;
        }
    }
    return true;
}

bool run_check_all(struct run_report *report, struct error *err)
{
    return check_points(report, err) && check_snapshots(report, err) && check_traces(report, err);
}
