/* A run of MemProfiler: its iterations, its ranks beside each other, and checks of its files
 * against each other. */
#ifndef MEMSNAP_ANALYSIS_RUN_REPORT_H
#define MEMSNAP_ANALYSIS_RUN_REPORT_H

#include "model/run.h"

/* Statistics that the text report shows. */
enum run_figure {
    RUN_ALLOCATED,
    RUN_ALLOCATED_PEAK,
    RUN_ACTIVE,
    RUN_ACTIVE_PEAK,
    RUN_REQUESTED,
    RUN_REQUESTED_PEAK,
    RUN_RESERVED,
    RUN_RESERVED_PEAK,
    RUN_RETRIES,
    RUN_OOMS,
    RUN_RSS,
    RUN_VMS,
    RUN_RSS_DIFF,
    RUN_NPP_DIFF, /* bytes that autograd packed for the backward pass, without parameters */
    RUN_FIGURES
};

/* The name of the statistic in the files. */
extern const char *const run_figure_names[RUN_FIGURES];

/* A call of a watched function. */
struct run_row {
    uint32_t rank;
    string_id function;
    uint32_t iteration;
    const struct run_point *points[RUN_SIDES]; /* NULL: not in the files */
    int64_t numbers[RUN_SIDES][RUN_FIGURES];   /* RUN_ABSENT: not in the files */
};

struct run_rank {
    uint32_t rank;
    size_t first_row, row_count;
    size_t first_table, table_count;       /* in run->tables */
    size_t first_snapshot, snapshot_count; /* in run->snapshots */
    size_t first_trace, trace_count;       /* in run->traces */
    int64_t highest[RUN_FIGURES];          /* of its rows; RUN_ABSENT if there are none */
};

/* A rank that differs from the median of a figure by more than RUN_OUTLIER_PERCENT. */
struct run_outlier {
    uint32_t rank;
    enum run_figure figure;
    int64_t number, median;
};

#define RUN_OUTLIER_PERCENT 5

enum run_check {
    RUN_CHECK_FILES,   /* two files of statistics agree about a moment */
    RUN_CHECK_CURRENT, /* a current value is not above its peak */
    RUN_CHECK_DIFF,    /* a difference is that of its two values */
    RUN_CHECK_STATE,   /* the statistics agree with the dump in the snapshot */
    RUN_CHECK_OOMS,    /* a snapshot has no more out-of-memory events than the statistics count */
    RUN_CHECK_PEAK,    /* the peak of a snapshot is not above that of the statistics */
    RUN_CHECK_TRACE,   /* the peak of a profiler trace is not above all statistics of its rank */
    RUN_CHECK_SUM,     /* the kinds in a row of a table sum to its total */
    RUN_CHECK_TRACKED, /* the peak of a table is not above that of the statistics */
    RUN_CHECKS
};

struct run_inconsistency {
    enum run_check check;
    struct run_key key;
    string_id name; /* of the statistic */
    int64_t expected, found;
    uint32_t expected_file, found_file; /* in run->files */
};

#define RUN_INCONSISTENCIES_MOST 1000 /* the most that are kept */

struct run_report {
    const struct memory_run *run; /* not owned */
    struct run_row *rows;         /* by rank, function in order of appearance, iteration */
    size_t row_count, row_capacity;
    struct run_rank *ranks; /* ascending */
    size_t rank_count, rank_capacity;
    struct run_outlier *outliers; /* by figure, then rank */
    size_t outlier_count, outlier_capacity;
    struct run_inconsistency *inconsistencies;
    size_t inconsistency_count, inconsistency_capacity;
    uint64_t inconsistency_total;     /* including those that are not kept */
    uint64_t checks_made[RUN_CHECKS]; /* comparisons */
};

/* The run must outlive the report. NULL on failure. Uses the run's budget. */
struct run_report *run_report_build(const struct memory_run *run, struct error *err);
void run_report_destroy(struct run_report *report); /* NULL is allowed */

/* Compares the files; part of run_report_build(). */
bool run_check_all(struct run_report *report, struct error *err);
bool run_check_tables(struct run_report *report, struct error *err);
/* Counts a comparison. If it does not hold, keeps `found`, as one of at most
 * RUN_INCONSISTENCIES_MOST. */
bool run_compare(struct run_report *report, const struct run_inconsistency *found, bool holds,
                 struct error *err);

#endif
