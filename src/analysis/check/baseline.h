/* The lines of code of a report, and the older capture that `memsnap check --max-increase` compares
 * with. */
#ifndef MEMSNAP_ANALYSIS_CHECK_BASELINE_H
#define MEMSNAP_ANALYSIS_CHECK_BASELINE_H

#include "analysis/diff/side.h"
#include "analysis/report/report.h"

struct code_line {
    struct text file, name; /* the file's base name; long names are cut as in labels */
    uint32_t line;
    frame_id frame;
    int64_t bytes;
    size_t row; /* the largest of them, in report->sites */
};

/* The call sites of a report, summed by line of code and sorted by function. */
struct code_lines {
    struct code_line *items; /* by file, name and line */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Decides which rows count. */
typedef bool site_row_test(void *self, const struct site_row *row);

/* True if `counts` accepts the row. The remainders of a report never count. If `counts` is NULL,
 * all other rows do. */
bool code_lines_counts(const struct site_row *row, site_row_test *counts, void *self);

bool code_lines_make(struct code_lines *lines, const struct device_report *report,
                     const struct site_table *sites, site_row_test *counts, void *self,
                     struct error *err);
void code_lines_release(struct code_lines *lines);

#define BASELINE_NO_DEVICE INT64_C(-1) /* the "device" of a file that knows no devices */
#define BASELINE_NO_RANK   INT64_C(-1) /* unknown, or of no concern */

struct baseline_device {
    int64_t rank;   /* of its capture, if there are several */
    int64_t device; /* or BASELINE_NO_DEVICE, without call sites */
    int64_t peak_bytes;
    struct diff_side side; /* its call sites at the active peak, in check_baseline.symbols; in_phase
                              is set if that peak is in a phase of a step */
};

/* The parts of an older capture that are compared. */
struct check_baseline {
    struct baseline_device *devices;
    size_t device_count, device_capacity;
    struct symbols *symbols; /* NULL: no call sites */
    bool by_rank;            /* it is several captures: each is compared with that of its rank */
    struct budget budget;
};

void check_baseline_init(struct check_baseline *baseline, size_t max_memory);
void check_baseline_release(struct check_baseline *baseline);

/* Adds a device, with what is live at the moment of the report. The report has all call sites. */
bool check_baseline_add(struct check_baseline *baseline, const struct device_report *report,
                        struct site_table *sites, struct error *err);
/* Adds a device, or BASELINE_NO_DEVICE, without call sites. */
bool check_baseline_add_peak(struct check_baseline *baseline, int64_t rank, int64_t device,
                             int64_t peak_bytes, struct error *err);

/* NULL: the capture has no such device. */
const struct baseline_device *check_baseline_find(const struct check_baseline *baseline,
                                                  int64_t rank, int64_t device);

#endif
