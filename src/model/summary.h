/* Summaries of captures: what `memsnap ranks` compares, in a size that does not depend on the
 * number of events.
 *
 * A file of summaries is a msgpack map {"schema": "memsnap.summary/2"}, followed by one msgpack bin
 * (with a 32-bit size) for each capture, which holds a map with the members below. The order of the
 * members is fixed, so equal summaries have equal bytes. Files are merged by sorting the bins
 * (summary_compare), and keeping one of equal ones: any order and grouping gives the same file.
 *
 * Version 1 lacks some members. Its files are read, and its bins may stand in files of version 2.
 */
#ifndef MEMSNAP_MODEL_SUMMARY_H
#define MEMSNAP_MODEL_SUMMARY_H

#include "base/arena.h"
#include "base/text.h"
#include "decode/core/input.h"

#define SUMMARY_SCHEMA    "memsnap.summary/2"
#define SUMMARY_VERSIONS  "12"              /* the last letter of the schemas that are read */
#define SUMMARY_COLUMNS   2000              /* the most columns of a curve */
#define SUMMARY_SITES     64                /* the most call sites of a device */
#define SUMMARY_STEPS     256               /* the most steps of a device, half of them the last */
#define SUMMARY_BIN_MOST  ((size_t)4 << 20) /* bytes of a bin */
#define SUMMARY_TEXT_MOST ((size_t)4096)    /* bytes of a text */
#define SUMMARY_UNKNOWN   INT64_C(-1)       /* of members that cannot be negative */
#define SUMMARY_BIN       0xc6              /* the first byte of a bin; its size follows */
#define SUMMARY_HEADER    "\x81\xa6schema\xb1" SUMMARY_SCHEMA

/* Texts are valid UTF-8 that may hold control characters: escape before showing. */

/* Memory of one category at the active peak. */
struct summary_category {
    const char *name;
    int64_t bytes;
    uint64_t count; /* allocations */
};

/* Memory of one call site, operator and category at the active peak. */
struct summary_site {
    const char *site, *op, *category; /* op and category: "" for the sum of what a limit cut */
    const char *stack;                /* a line per Python frame, innermost first; "" if unknown */
    int64_t bytes;
    uint64_t count;
};

/* One step of the trace (analysis/phase/steps.h). */
struct summary_step {
    int64_t number;
    int64_t event; /* its first, in the file */
    int64_t us;    /* from the first event of the trace to that one; SUMMARY_UNKNOWN */
    int64_t peak_bytes, end_bytes; /* active: the highest, and after the last event */
    bool complete;                 /* the trace has all of it */
};

struct summary_finding {
    const char *kind, *what, *next;
    int64_t save_bytes;
};

/* Each column stands for an equal part of the events, or of the time. Bytes. */
struct summary_curve {
    bool by_time;
    uint64_t columns;
    int64_t *high, *low; /* of active memory; the summary has them from summary_curve_make() */
    int64_t *reserved;   /* the highest */
};

struct summary_device {
    int64_t device; /* as torch numbers it; -1: the host */
    bool knows_peak;
    uint64_t events, steps, ooms;
    int64_t start_bytes, peak_bytes, end_bytes; /* active */
    int64_t allocated_peak_bytes, reserved_peak_bytes, reserved_at_peak_bytes;
    int64_t unused_bytes;   /* at the active peak, reserved but unused; SUMMARY_UNKNOWN */
    int64_t growth_bytes;   /* per step */
    int64_t peak_event;     /* in the file; -1: before the first */
    int64_t peak_us;        /* since the first event; SUMMARY_UNKNOWN */
    int64_t duration_us;    /* of the trace; SUMMARY_UNKNOWN */
    const char *phase;      /* of the peak */
    const char *steps_from; /* steps_source_name(); "" in version 1, which has no step_list */
    const char *oom;        /* the verdict on the last out-of-memory error; "" for none */
    struct summary_category *categories; /* largest first; sums to peak_bytes */
    struct summary_site *sites;          /* as in a report, sums to peak_bytes */
    struct summary_finding *findings;
    struct summary_step *step_list; /* if there are more than SUMMARY_STEPS, those in the middle are
                                       left out */
    size_t category_count, site_count, finding_count, step_list_count;
    struct summary_curve curve;
};

struct summary {
    int64_t rank;          /* SUMMARY_UNKNOWN */
    const char *rank_from; /* what told the rank: rank_source_name(); "" in version 1 */
    const char *path;      /* as the user named it */
    const char *encoding;  /* of the capture, for people */
    uint64_t input_bytes;
    struct summary_device *devices; /* those that have any memory, ascending */
    size_t device_count;
    struct arena arena; /* holds everything it points to, except the curves */
    struct budget budget;
};

/* Empty, with rank SUMMARY_UNKNOWN. NULL if out of memory. */
struct summary *summary_create(size_t max_memory, struct error *err);
void summary_destroy(struct summary *summary); /* NULL is allowed */

/* `count` cleared items of `size` bytes each (one item if `count` is 0), which the summary owns.
 * NULL if out of memory. */
void *summary_items(struct summary *summary, size_t count, size_t size, struct error *err);
/* A NUL-terminated copy that the summary owns, of `size` bytes of valid UTF-8. NULL if out of
 * memory. */
const char *summary_text(struct summary *summary, const char *bytes, size_t size,
                         struct error *err);

/* Gives a device a curve of zeros, which it must not have yet. */
bool summary_curve_make(struct summary *summary, struct summary_device *device, size_t columns,
                        struct error *err);
/* Reduces curves to at most `columns` columns, at least one. */
void summary_shrink_curves(struct summary *summary, size_t columns);
/* Removes all curves, which are most of a summary. */
void summary_forget_curves(struct summary *summary);

/* What a device's complete steps have in common, or all of them if none is complete. */
struct summary_step_figures {
    size_t count;    /* steps looked at; 0: none, or not known */
    size_t complete; /* complete ones */
    int64_t median_peak_bytes,
        median_end_bytes; /* of an even number, the lower one of the middle */
};

void summary_measure_steps(const struct summary_device *device,
                           struct summary_step_figures *figures);

/* The order within a file: by rank, then by path. */
int summary_compare(const struct summary *a, const struct summary *b);

/* The members of each struct, as the file has them. Members that are not whole numbers, flags or
 * texts are not listed: they follow the others. */
enum summary_kind { SUMMARY_INTEGER, SUMMARY_COUNT, SUMMARY_FLAG, SUMMARY_TEXT };

struct summary_member {
    const char *key; /* NULL: the last */
    enum summary_kind kind;
    size_t offset;
    bool is_new; /* version 1 does not have it */
};

extern const struct summary_member summary_members[], summary_device_members[],
    summary_category_members[], summary_site_members[], summary_finding_members[],
    summary_step_members[];

/* The arrays of a device, in the order of the file. */
enum summary_array {
    SUMMARY_CATEGORIES,
    SUMMARY_SITE_LIST,
    SUMMARY_FINDINGS,
    SUMMARY_STEP_LIST,
    SUMMARY_ARRAYS
};

struct summary_array_type {
    const char *key;
    const struct summary_member *members;
    size_t item_size, items_offset, count_offset; /* in struct summary_device */
    bool is_new;                                  /* version 1 does not have it */
};

extern const struct summary_array_type summary_arrays[SUMMARY_ARRAYS];

/* Called for each summary of a file. It takes over the summary, also on failure. `bin` is the form
 * of the summary in the file, and valid only during the call. */
typedef bool summary_taker(void *self, struct summary *summary, struct text bin, struct error *err);

/* Reads an input that has not been read yet, and closes it, also on failure. The limit of each
 * summary's own budget is what the input's budget has left. */
bool summaries_load_input(struct input *input, summary_taker *take, void *self, struct error *err);

#endif
