/* The parts of an older capture that `memsnap check --max-increase` compares with. */
#ifndef MEMSNAP_ANALYSIS_CHECK_BASELINE_H
#define MEMSNAP_ANALYSIS_CHECK_BASELINE_H

#include "analysis/report/report.h"
#include "base/arena.h"

#define BASELINE_NO_DEVICE INT64_C(-1) /* the "device" of a file that knows no devices */

/* A line of code that holds memory at a device's active peak. */
struct baseline_line {
    struct text file, name; /* the file's base name */
    int64_t bytes;
};

struct baseline_device {
    int64_t device; /* or BASELINE_NO_DEVICE */
    int64_t peak_bytes;
    size_t first, count; /* in check_baseline.lines, by file, name and line */
};

struct check_baseline {
    struct baseline_device *devices;
    size_t device_count;
    struct baseline_line *lines;
    size_t line_count, device_capacity, line_capacity;
    struct arena arena; /* the names */
    struct budget budget;
};

void check_baseline_init(struct check_baseline *baseline, size_t max_memory);
void check_baseline_release(struct check_baseline *baseline);

/* Adds a device, with what is live at the moment of the report. The report has all call sites. */
bool check_baseline_add(struct check_baseline *baseline, const struct device_report *report,
                        struct site_table *sites, struct error *err);
/* Adds BASELINE_NO_DEVICE. */
bool check_baseline_add_peak(struct check_baseline *baseline, int64_t peak_bytes,
                             struct error *err);

/* NULL: the capture has no such device. */
const struct baseline_device *check_baseline_find(const struct check_baseline *baseline,
                                                  int64_t device);
/* The lines of a function; *count is 0 if it held nothing. */
const struct baseline_line *check_baseline_function(const struct check_baseline *baseline,
                                                    const struct baseline_device *device,
                                                    struct text file, struct text name,
                                                    size_t *count);

#endif
