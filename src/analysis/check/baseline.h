/* What is kept of an older capture that others are compared with. */
#ifndef MEMSNAP_ANALYSIS_CHECK_BASELINE_H
#define MEMSNAP_ANALYSIS_CHECK_BASELINE_H

#include "analysis/report/report.h"
#include "base/arena.h"

/* A line of code that holds memory at a device's active peak. */
struct baseline_line {
    struct text file, name; /* the file's base name */
    int64_t bytes;
};

struct baseline_device {
    int64_t device; /* -1: of a file that knows no devices */
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

/* Adds a device: what lives at the moment of the report, which has all call sites. */
bool check_baseline_add(struct check_baseline *baseline, const struct device_report *report,
                        struct site_table *sites, struct error *err);
/* Adds the only "device" of a file that knows none. */
bool check_baseline_add_peak(struct check_baseline *baseline, int64_t peak_bytes,
                             struct error *err);

/* NULL: the capture does not have it. */
const struct baseline_device *check_baseline_find(const struct check_baseline *baseline,
                                                  int64_t device);
/* The lines of a function; `*count` 0 where it held nothing. */
const struct baseline_line *check_baseline_function(const struct check_baseline *baseline,
                                                    const struct baseline_device *device,
                                                    struct text file, struct text name,
                                                    size_t *count);

#endif
