/* What the files that make rows share. Internal to analysis/check*.c. */
#ifndef MEMSNAP_ANALYSIS_CHECK_INTERNAL_H
#define MEMSNAP_ANALYSIS_CHECK_INTERNAL_H

#include "analysis/check/check.h"
#include "analysis/check/lines.h"

/* Adds a row with limit and `passed` set from its rule, value and whole; takes over its strings,
 * also on failure. */
bool check_add(struct check_result *result, struct check_row *row, struct error *err);
/* Says why a rule was not judged. */
bool check_add_warning(struct check_result *result, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A copy, of long texts their beginning. */
bool check_copy(char **copy, const char *text, size_t size, struct error *err);
/* The same; NULL is copied as NULL. */
bool check_copy_words(char **copy, const char *words, struct error *err);

/* check_blame.c: the line of code that holds most of the rows that count, else the largest row. */
bool check_blame_rows(const struct device_report *report, const struct site_table *sites,
                      site_row_test *counts, void *self, struct check_blame *blame,
                      struct error *err);
/* The line of code, or where its function has other lines than before the largest of these, that
 * has grown most since the baseline; no one, where none has. */
bool check_blame_increase(const struct device_report *report, const struct site_table *sites,
                          const struct check_baseline *baseline,
                          const struct baseline_device *device, struct check_blame *blame,
                          struct error *err);
/* A stack's site, under a label. */
bool check_blame_site(const struct site_table *sites, stack_id stack, const struct site *site,
                      const char *label, int64_t bytes, struct check_blame *blame,
                      struct error *err);
void check_blame_release(struct check_blame *blame);

/* check_held.c: whether any allocation of the trace, or from before it, has a category, or comes
 * from a call site that a pattern means. */
bool check_category_occurs(const struct device_report *report, enum category category);
bool check_site_occurs(const struct device_report *report, struct site_table *sites,
                       const char *pattern, bool *occurs, struct error *err);

#endif
