/* Compares the ranks of one run by the summaries of their captures.
 *
 * Two ranks are alike if the same code holds the same memory at their peaks: the memory of each
 * call site that both have in common, summed up, is at least RANKS_ALIKE of the higher peak. Ranks
 * that are alike form a group, for example a stage of a pipeline; each group is led by its first
 * rank, in the order of ranks. */
#ifndef MEMSNAP_ANALYSIS_RANKS_RANKS_H
#define MEMSNAP_ANALYSIS_RANKS_RANKS_H

#include "model/summary.h"

#define RANKS_ALIKE         0.95
#define RANKS_GROUPS_MOST   64   /* all further ranks are in one more group */
#define RANKS_OUTLIER_LEAST 0.02 /* distance to the median of the group, as a share of it */
#define RANKS_OUTLIER_BYTES ((int64_t)1 << 20)
#define RANKS_OUTLIER_SITES 5

/* One device of one capture. */
struct rank_row {
    const struct summary *summary;
    const struct summary_device *device;
    size_t group;
};

struct rank_spread {
    int64_t min_bytes, median_bytes, max_bytes; /* of an even number, the lower one of the middle */
    size_t min_row, max_row;                    /* the first of equal ones */
};

struct rank_group {
    size_t *rows; /* ascending; part of ranks->members */
    size_t count;
    struct rank_spread peak, reserved;
    size_t ooms;   /* rows that ran out of memory */
    bool is_mixed; /* the group of all ranks that do not fit into RANKS_GROUPS_MOST groups */
};

/* A call site by which an outlier differs. */
struct outlier_site {
    const struct summary_site *site;
    int64_t bytes, usual_bytes; /* of the outlier; the median of the group */
};

/* A rank whose peak is far from the median of its group; or a rank alone in its group, compared
 * with the group of at least three ranks that it is most like. */
struct rank_outlier {
    size_t row, group; /* group: the one compared with */
    int64_t usual_bytes;
    struct outlier_site sites[RANKS_OUTLIER_SITES]; /* most different first */
    size_t site_count;
};

struct ranks {
    struct rank_row *rows; /* by rank, path and device */
    size_t row_count;
    struct rank_spread peak, reserved;
    struct rank_group *groups;
    size_t group_count;
    struct rank_outlier *outliers; /* most different first */
    size_t outlier_count;
    size_t *members;
    size_t host_rows; /* devices of pinned host memory, which are left out */
};

/* Ranks from 0 to the highest that have no capture, and ranks that have several. */
#define RANK_GAPS 12

struct rank_gap {
    int64_t first, last;
};

struct rank_gaps {
    uint64_t missing;                 /* number of ranks */
    struct rank_gap items[RANK_GAPS]; /* the first ones */
    size_t count;
    size_t repeated;    /* number of ranks */
    int64_t repeats_of; /* the last rank that has several captures, plus 1; 0: none */
};

void ranks_find_missing(const struct ranks *ranks, struct rank_gaps *gaps);

/* The summaries must outlive the result. Host memory and devices without any
 * memory are left out unless there is nothing else. */
bool ranks_make(struct ranks *ranks, struct summary *const *summaries, size_t count,
                struct error *err);
void ranks_release(struct ranks *ranks);

#endif
