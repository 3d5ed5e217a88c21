/* Shared by the files that judge rules. Internal to analysis/check. */
#ifndef MEMSNAP_ANALYSIS_CHECK_INTERNAL_H
#define MEMSNAP_ANALYSIS_CHECK_INTERNAL_H

#include "analysis/check/baseline.h"
#include "analysis/check/check.h"

/* The judgement of one capture, or of one device of a snapshot, by one rule. */
struct judge {
    const struct check_question *question;
    const struct check_rule *rule;
    unsigned capture; /* one of CHECK_OF_*; says which of the reports are set */
    const struct device_report *at, *peak; /* as in check_device() */
    const struct layers_report *layers;
    const struct curves_report *curves;
    const struct check_history *history;
    const struct summary_device *summary;
    struct check_result *result;
    struct buffer scratch;
    struct error *err;
    /* Set by the kind's judge function. */
    const char *not_judged; /* why the rule does not apply here; NULL: it does */
    char words[264];        /* for `not_judged` */
    uint32_t point;         /* of curves: the peak that is judged */
    bool is_absent;         /* the rule's category or call sites occur nowhere here */
};

/* check.c */
void check_row_release(struct check_row *row);
/* Judges by judge->rule, and adds a row. */
bool check_judge_rule(struct judge *judge, int64_t device, check_function *blame);
bool check_add_warning(struct check_result *result, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Copies the beginning of a text, up to a few thousand bytes. */
bool check_copy(char **copy, const char *text, size_t size, struct error *err);
/* The same; NULL is copied as NULL. */
bool check_copy_words(char **copy, const char *words, struct error *err);

/* judge_peaks.c */
check_function check_judge_peak, check_blame_peak, check_judge_reserved, check_blame_reserved,
    check_judge_increase, check_blame_increase, check_judge_after_suggest;

/* judge_allocator.c */
check_function check_judge_fragmentation, check_blame_fragmentation, check_judge_oom,
    check_blame_oom;

/* judge_steps.c */
check_function check_judge_growth, check_blame_growth, check_judge_leaks;

/* judge_contents.c */
check_function check_judge_category, check_blame_category, check_judge_site, check_blame_site;

/* history.c */
check_function check_judge_jump, check_blame_jump;

/* blame.c */
/* Blames the line of code that holds the most over all rows that `counts` accepts; if they have no
 * line of code, the largest row. */
bool check_blame_rows(struct judge *judge, const struct device_report *report,
                      site_row_test *counts, struct check_row *row);
/* Blames the line of code that has grown the most since the baseline, over all its operators. Call
 * sites are matched as in `memsnap diff` (analysis/diff/rows.h). If no line of code has grown, the
 * call site without one that has grown the most is blamed, if any. */
bool check_blame_most_grown(struct judge *judge, const struct baseline_device *device,
                            struct check_row *row);
/* Blames the call site of a stack. */
bool check_blame_stack(struct judge *judge, stack_id stack, const struct site *site,
                       const char *label, int64_t bytes, struct check_row *row);
/* If the row failed: copies the sentences of a finding of the kind, if the report has one.
 * FINDING_KINDS: the first that lowers the active peak. */
bool check_advise(struct judge *judge, const struct device_report *report, enum finding_kind kind,
                  struct check_row *row);

/* summary.c */
/* Bytes of a category at the peak. */
int64_t check_summary_category(const struct summary_device *device, enum category category,
                               bool *found);

/* Tell whether any allocation, in the trace or older than it, has the category, or comes from a
 * call site that matches the pattern. */
bool check_category_occurs(const struct device_report *report, enum category category);
bool check_site_occurs(const struct device_report *report, struct site_table *sites,
                       const char *pattern, bool *occurs, struct error *err);

#endif
