/* `memsnap diff`: two captures compared, as text, as JSON (memsnap.diff/1) or as CSV.
 *
 * All write to a stream; the caller looks at ferror(). False means out of memory: what was written
 * is not whole. */
#ifndef MEMSNAP_RENDER_DIFF_DIFF_H
#define MEMSNAP_RENDER_DIFF_DIFF_H

#include "analysis/diff/diff.h"
#include "analysis/diff/layers.h"
#include "analysis/diff/summaries.h"
#include "render/analyze/analyze.h"
#include "render/core/input_line.h"
#include "render/core/page.h"

enum diff_by { DIFF_BY_ALL, DIFF_BY_SITE, DIFF_BY_CATEGORY, DIFF_BY_PHASE, DIFF_BY_ANNOTATION };

struct diff_limit {
    bool given, exceeded;
    const char *text; /* as the user gave it */
    int64_t bytes;    /* how much B may exceed A */
};

/* One device of each capture. */
struct diff_view {
    const struct diff *diff;
    const struct diff *like; /* if the peaks of `diff` are in different phases: the comparison of
                                both peaks within the phase of B's peak; else NULL */
    struct diff_limit limit; /* of `diff` */
};

struct diff_report {
    struct input_line inputs[2];
    const char *at[2]; /* the moments as the user named them: "peak", "end", "+1.5s" */
    const struct diff_view *devices; /* the device with the highest peak first */
    size_t device_count;             /* at least 1 */
    const char *remark; /* says which devices were compared if that is not obvious; or NULL */
    enum diff_by by;
    enum stack_detail stacks; /* text: below the call sites */
};

bool diff_text(const struct page *page, const struct diff_report *report);
bool diff_json(FILE *out, const struct diff_report *report);
/* Writes one table; for DIFF_BY_ALL, that of DIFF_BY_SITE. Sets `err` on failure. */
bool diff_csv(FILE *out, const struct diff_report *report, struct error *err);

/* Two layer traces. */
struct layers_diff_report {
    struct input_line inputs[2];
    const struct layers_diff *diff;
    struct diff_limit limit;
    size_t top; /* modules that changed; 0: all */
};

bool layers_diff_text(const struct page *page, const struct layers_diff_report *report);
/* The same schema as of two snapshots, with modules in place of call sites. */
bool layers_diff_json(FILE *out, const struct layers_diff_report *report);
bool layers_diff_csv(FILE *out, const struct layers_diff_report *report, struct error *err);

/* Captures of which at least one is a summary. */
struct summaries_diff_report {
    struct input_line inputs[2];
    const struct summaries_diff *diff;
    struct diff_limit limit;
    size_t top; /* call sites that changed; 0: all */
};

bool summaries_diff_text(const struct page *page, const struct summaries_diff_report *report);
/* The same schema, without the members that a summary does not know. */
bool summaries_diff_json(FILE *out, const struct summaries_diff_report *report);
bool summaries_diff_csv(FILE *out, const struct summaries_diff_report *report, struct error *err);

#endif
