/* The comparison of `memsnap diff` on one device of two captures: the memory that is live at a
 * moment of each, by call site, category and phase. The differences of each list sum to that of the
 * totals. */
#ifndef MEMSNAP_ANALYSIS_DIFF_DIFF_H
#define MEMSNAP_ANALYSIS_DIFF_DIFF_H

#include "analysis/diff/rows.h"
#include "analysis/diff/words.h"

enum diff_change { DIFF_SAME, DIFF_NEW, DIFF_GONE, DIFF_GROWN, DIFF_SHRUNK };

/* "new", "gone", "grown", "shrunk", "same" */
const char *diff_change_name(enum diff_change change);
/* "stack", "function", "none" */
const char *diff_matched_name(enum diff_matched matched);

/* The sums of side A and side B. Pairs that are 0 on both sides are left out. */
struct diff_pair {
    unsigned what; /* enum category; or enum phase, DIFF_PHASE_BEFORE and so on */
    struct diff_sum sums[2];
};

/* The memory with one annotation, or without any. */
struct diff_annotation_row {
    const char *name; /* raw bytes */
    struct diff_sum sums[2];
    bool is_remainder; /* the sum of rows beyond a limit, or what the traces do not explain */
};

/* A setting of the allocator that differs. */
struct diff_setting_row {
    string_id key;
    bool present[2];
    string_id values[2]; /* meaningful where present */
};

/* A call site with its labels. */
struct diff_line {
    struct diff_row row;
    struct label label; /* in B, or in A if B does not have it */
    struct label was;   /* in A if it differs from that in B; else NULLs */
    enum diff_change change;
    enum category category, was_category;
    struct site site;  /* of row.stack, but with the operator of the label's site */
    bool is_remainder; /* rows that a limit cut, or all rows without a change; see label */
};

struct diff {
    const struct diff_side *sides; /* A, B; not owned */
    struct symbols *symbols;       /* shared by both sides; not owned */
    struct site_table *sites;      /* of these symbols; not owned */
    struct diff_rows rows;         /* all rows, also those without a line */
    struct diff_line *lines;       /* `top` rows that changed, then up to two remainders */
    size_t line_count, line_capacity;
    size_t changed;                              /* number of rows that changed */
    struct diff_pair categories[CATEGORY_LIMIT]; /* the largest change first */
    struct diff_pair phases[DIFF_PHASES];        /* in the order of the phases */
    size_t category_count, phase_count;
    struct diff_annotation_row *annotations; /* the largest change first, remainders last */
    size_t annotation_count, annotation_capacity;
    bool is_annotated;                 /* some memory of a side has an annotation */
    struct diff_setting_row *settings; /* by key */
    size_t setting_count, setting_capacity;
    struct diff_words summary, warnings, next;
    struct budget *budget; /* not owned */
};

struct diff_options {
    size_t top;     /* the most call sites with a change, and annotations, that are shown; 0: all */
    enum unit unit; /* of sizes in sentences */
    bool by_end;    /* both moments are the ends of the traces */
    const char *b_at; /* the moment of B as --at takes it; NULL: the peak */
    bool stacks;      /* stacks are shown, so the advice does not mention --stacks */
    /* The two sides at their peaks, if these are in different phases, and the peaks of one phase
     * are compared instead; else NULL. */
    const struct diff_side *peaks;
};

/* `sites` is a table of the symbols that both sides were made with. Memory is counted in `budget`.
 * NULL on failure. */
struct diff *diff_build(const struct diff_side sides[2], struct site_table *sites,
                        const struct diff_options *options, struct budget *budget,
                        struct error *err);
void diff_destroy(struct diff *diff); /* NULL is fine */

#endif
