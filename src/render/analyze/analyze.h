/* `memsnap analyze`: the report of one file as text or as JSON, and the table that compares
 * several.
 *
 * Both forms print from the same device reports. All write to a stream; the caller looks at
 * ferror(). False means out of memory: what was written is not whole. */
#ifndef MEMSNAP_RENDER_ANALYZE_ANALYZE_H
#define MEMSNAP_RENDER_ANALYZE_ANALYZE_H

#include "analysis/joint/match.h"
#include "analysis/report/report.h"
#include "render/core/page.h"

enum stack_detail {
    STACKS_NONE,
    STACKS_FOLDED, /* below each call site: its operator and its Python frames */
    STACKS_ALL,    /* every frame */
};

/* What a profiler trace adds to the report of a device. */
struct joined_trace {
    struct joint joint;
    uint64_t live_matched; /* as in joint_sites() */
};

struct analysis {
    const char *path; /* as the user named it; "-" for standard input */
    const struct snapshot *snapshot;
    struct site_table *sites;
    struct device_report *const *devices; /* ascending by device */
    size_t device_count;
    const struct error *left_out; /* why another device is not among them, for each */
    size_t left_out_count;
    const char *trace_path;            /* of --with-trace */
    const struct joined_trace *joined; /* one per device; NULL without --with-trace */
    bool at_given, at_end;             /* as in struct report_options */
    bool verbose;                      /* also print the keys that memsnap does not know */
    bool allocations;                  /* JSON: also write every allocation */
    enum stack_detail stacks;          /* text: which stacks to print below the call sites */
    size_t largest; /* text: how many single allocations to print; 0: all that the report has */
};

bool analyze_text(const struct page *page, const struct analysis *analysis);
bool analyze_json(FILE *out, const struct analysis *analysis);

/* The figures kept from a file after its report is printed: one row for each device. */
struct comparison_row {
    const char *path;
    bool failed;    /* could not be read, so there are no figures */
    bool no_device; /* this kind of file has neither devices nor a baseline */
    uint32_t device;
    int64_t peak_bytes, baseline_bytes, reserved_bytes; /* reserved: its peak */
};

bool comparison_text(const struct page *page, const struct comparison_row *rows, size_t count);

#endif
