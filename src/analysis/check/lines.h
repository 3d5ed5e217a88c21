/* The call sites of a report, summed by line of code and sorted by function. */
#ifndef MEMSNAP_ANALYSIS_CHECK_LINES_H
#define MEMSNAP_ANALYSIS_CHECK_LINES_H

#include "analysis/report/report.h"

struct code_line {
    struct text file, name; /* the file's base name; long names are cut as in labels */
    uint32_t line;
    frame_id frame;
    int64_t bytes;
    size_t row; /* the largest of them, in report->sites */
};

struct code_lines {
    struct code_line *items; /* by file, name and line */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Decides which rows count. */
typedef bool site_row_test(void *self, const struct site_row *row);

/* The remainder of a report never counts. counts NULL: all other rows do. */
bool code_lines_counts(const struct site_row *row, site_row_test *counts, void *self);

bool code_lines_make(struct code_lines *lines, const struct device_report *report,
                     const struct site_table *sites, site_row_test *counts, void *self,
                     struct error *err);
void code_lines_release(struct code_lines *lines);

/* The end of the lines, from item `first` on, that have its file and function name. */
size_t code_lines_function(const struct code_lines *lines, size_t first);

#endif
