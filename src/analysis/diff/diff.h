/* What `memsnap diff` says of one device of two captures: what is live at a moment of each, by
 * call site, category and phase. Each list's differences sum to that of the totals. */
#ifndef MEMSNAP_ANALYSIS_DIFF_DIFF_H
#define MEMSNAP_ANALYSIS_DIFF_DIFF_H

#include "analysis/diff/rows.h"
#include "analysis/diff/words.h"

enum diff_change { DIFF_SAME, DIFF_NEW, DIFF_GONE, DIFF_GROWN, DIFF_SHRUNK };

/* "new", "gone", "grown", "shrunk", "same" */
const char *diff_change_name(enum diff_change change);
/* "stack", "function", "none" */
const char *diff_matched_name(enum diff_matched matched);

/* Of side A and side B each; what is 0 on both is not listed. The largest change first. */
struct diff_pair {
    unsigned what; /* enum category; or a phase, with DIFF_PHASE_BEFORE and so on, in their order */
    struct diff_sum sums[2];
};

/* A setting that differs. */
struct diff_setting_row {
    string_id key;
    bool present[2];
    string_id values[2]; /* where present */
};

/* A call site as it is shown. */
struct diff_line {
    struct diff_row row;
    struct label label; /* as B has it, else as A */
    struct label was;   /* as A has it, where that differs; else NULLs */
    enum diff_change change;
    enum category category, was_category;
    struct site site;  /* of row.stack, and the operator of the label's site */
    bool is_remainder; /* what a limit cut, or all that did not change: label says which */
};

struct diff {
    const struct diff_side *sides; /* A, B; not owned */
    struct symbols *symbols;       /* of both; not owned */
    struct site_table *sites;      /* of these symbols; not owned */
    struct diff_rows rows;         /* all */
    struct diff_line *lines; /* of `top` rows that changed, then what was cut, then what did not */
    size_t line_count, line_capacity;
    size_t changed; /* rows that changed */
    struct diff_pair categories[CATEGORY_LIMIT], phases[DIFF_PHASES];
    size_t category_count, phase_count;
    struct diff_setting_row *settings; /* by key */
    size_t setting_count, setting_capacity;
    struct diff_words summary, warnings, next;
    struct budget *budget; /* not owned */
};

struct diff_options {
    size_t top;       /* call sites that changed; 0: all */
    enum unit unit;   /* of sizes in sentences */
    bool by_end;      /* both moments are the ends of the traces */
    const char *b_at; /* the moment of B as --at takes it; NULL: the peak */
    bool stacks;      /* they are shown: no word of how to see them */
};

/* `sites` is a table of the symbols that both sides were made with; what it counts goes to
 * `budget`. NULL on failure. */
struct diff *diff_build(const struct diff_side sides[2], struct site_table *sites,
                        const struct diff_options *options, struct budget *budget,
                        struct error *err);
void diff_destroy(struct diff *diff); /* NULL is fine */

#endif
