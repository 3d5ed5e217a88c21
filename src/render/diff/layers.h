/* The rows of two layer traces compared, as all formats print them. */
#ifndef MEMSNAP_RENDER_DIFF_LAYERS_H
#define MEMSNAP_RENDER_DIFF_LAYERS_H

#include "render/diff/rows.h"

/* A module that changed, or the sum of those that are not listed. */
struct layers_diff_line {
    struct diff_amounts amounts; /* activations and runs of row */
    struct layers_diff_row row;
    bool is_remainder; /* row.name is `label` */
    char label[UNITS_TEXT_SIZE + 64];
    const char *change; /* "grown" */
};

extern const struct row_type layers_diff_type;

/* Number of lines. */
size_t layers_diff_lines(const struct layers_diff_report *report);
/* Line `i`: the modules that changed, then what a limit cut, then what did not change. Names of a
 * remainder point into `line`. */
void layers_diff_line(const struct layers_diff_report *report, size_t i,
                      struct layers_diff_line *line);

#endif
