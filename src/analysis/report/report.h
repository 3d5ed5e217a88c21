/* The report of `memsnap analyze` on one device: everything that the renderers need, computed once,
 * so that text and JSON cannot differ. */
#ifndef MEMSNAP_ANALYSIS_REPORT_REPORT_H
#define MEMSNAP_ANALYSIS_REPORT_REPORT_H

#include "analysis/category/category.h"
#include "analysis/code/labels.h"
#include "analysis/code/site.h"
#include "analysis/findings/attention.h"
#include "analysis/findings/findings.h"
#include "analysis/findings/logits.h"
#include "analysis/growth/dropped_graphs.h"
#include "analysis/growth/growth.h"
#include "analysis/growth/pending.h"
#include "analysis/growth/piled_results.h"
#include "analysis/growth/retained_graphs.h"
#include "analysis/live/sites.h"
#include "analysis/live/when.h"
#include "analysis/oom/oom.h"
#include "analysis/phase/rows.h"
#include "analysis/pool/fragmentation.h"
#include "analysis/report/open_annotations.h"
#include "base/units.h"
#include "model/timeline.h"

struct category_row {
    enum category category;
    int64_t bytes;
    uint64_t count;
    int64_t low_bytes;    /* part of bytes: categorised with low confidence */
    int64_t unseen_bytes; /* part of low_bytes: without a stack, or older than the trace. A better
                             recording would help */
};

/* Memory that is older than the first event, by category and reason. */
struct baseline_row {
    uint8_t category; /* enum category; CATEGORY_COUNT: bytes that no allocation explains, because
                         frees before the range differ in size from their allocations */
    uint8_t reason;   /* a reason byte; REASON_NONE where it is unexplained */
    int64_t bytes;
    uint64_t count;
};

/* The key by which the table of live memory is grouped. */
enum group_by {
    BY_SITE,
    BY_CATEGORY,
    BY_METADATA,
    BY_MODULE,
    BY_POOL,
    BY_STREAM,
    BY_PHASE,
    BY_ANNOTATION,
    BY_COMPILE, /* the region of torch.compile that allocated */
};

/* Live allocations of one group; see report/grouping.h. */
struct group_row {
    const char *name; /* raw bytes, in symbols */
    int64_t bytes;
    uint64_t count;
    bool is_remainder; /* the sum of rows beyond a limit, or what the trace does not explain */
};

/* What a profiler trace says of the allocations of a call site. */
struct site_joint {
    bool is_joined;    /* some of them are in the trace */
    string_id module;  /* the one with the most bytes; * for a number in which several differ */
    uint64_t matched;  /* allocations that are in the trace */
    uint64_t kernels;  /* launched by the operators that made them, each counted once */
    int64_t kernel_us; /* of these; -1 if the trace has no kernels at all */
    int64_t host_us;   /* of these operators on the CPU; -1 if the trace has kernels */
};

/* Live allocations of one call site, operator and category. */
struct site_row {
    /* source.shown is STACK_NONE if there is no call site. */
    struct site_group group;
    struct label label;
    bool is_remainder; /* rows that a limit cut, or memory that the trace does not explain; see
                          label */
    struct site_joint joint; /* set by joint_sites(); otherwise empty */
};

/* One large allocation. */
struct live_row {
    struct live live;
    enum category category;
    struct site site;
    struct label label;
    int64_t born_item;  /* trace item, -1: before the trace */
    int64_t freed_item; /* free_completed, -1: never in the trace */
    string_id annotation;
};

enum notice_kind {
    NOTICE_NO_EVENTS,  /* recording was off, or on too late */
    NOTICE_UNRECORDED, /* kinds of events were left out on purpose (skip_actions) */
    NOTICE_OVERFLOW,   /* the ring buffer lost the oldest events */
    NOTICE_NO_STACKS,  /* events without frames */
    NOTICE_UNKNOWN_ACTION,
    NOTICE_ORDER,              /* times that go back */
    NOTICE_CONTRADICTION,      /* parts do not add up */
    NOTICE_SEGMENTS,           /* the blocks do not fill their segments exactly */
    NOTICE_MORE_THAN_RESERVED, /* active above reserved: the file was edited or is damaged */
    NOTICE_RESERVED_BELOW_ZERO,
    NOTICE_CUT,      /* the file ends early */
    NOTICE_MATCHED,  /* by size, since the file has no addresses */
    NOTICE_OOM_TOLD, /* out of memory, but the file does not say more */
    /* of memory timelines */
    NOTICE_SUMS,          /* no allocations, only sums of categories */
    NOTICE_RECATEGORIZED, /* freed in another category than allocated */
    NOTICE_UNMATCHED,     /* freed, but never allocated */
};

struct notice {
    enum notice_kind kind;
    char text[512]; /* raw bytes: escape before showing */
};

struct report_options {
    struct when at;
    size_t top;            /* rows of call sites and of largest allocations; 0: all */
    enum group_by by;      /* BY_SITE: report->groups stays empty */
    enum unit unit;        /* of sizes in sentences */
    uint64_t device_bytes; /* memory of the device, as given by the user; 0: unknown */
};

struct device_report {
    const struct timeline *timeline; /* not owned */
    int64_t at_item; /* the moment described by sites, categories and largest: trace item or -1 */
    struct moment at;
    struct moment peak;                             /* the active peak */
    struct category_row categories[CATEGORY_LIMIT]; /* largest first; sums to at.active_bytes */
    size_t category_count;
    struct categories all;         /* of every allocation */
    struct baseline_row *baseline; /* largest first */
    size_t baseline_count;
    struct phases phases;
    struct phase_rows phase_rows;
    /* Call sites, largest first; then rows without a stack, largest first and never cut; then the
     * remainders. The sum is at.active_bytes. */
    struct site_row *sites;
    size_t site_count, site_capacity;
    /* The same memory grouped by `by`, largest first, then the remainders; empty if `by` is
     * BY_SITE. The sum is at.active_bytes. */
    enum group_by by;
    struct group_row *groups;
    size_t group_count, group_capacity;
    struct live_row *largest;
    size_t largest_count, largest_capacity;
    struct steps steps;
    struct growth growth;
    struct pending_frees pending;
    struct attention attention;
    struct logits logits;
    struct dropped_graphs dropped;
    struct retained_graphs retained;
    struct kept_results kept;
    struct piled_results piled;
    struct unused_passes unused;
    struct open_annotations annotations;      /* open at the moment */
    struct open_annotations peak_annotations; /* open at the active peak */
    struct fragmentation fragmentation;
    struct ooms ooms;
    struct findings findings; /* some kinds only if the moment is the active peak */
    struct notice *notices;
    size_t notice_count;
};

/* NULL on failure. The report of DEVICE_HOST has no pending frees, which are normal there, and no
 * findings, since all advice is about GPUs. */
struct device_report *device_report_build(const struct timeline *timeline, struct site_table *sites,
                                          const struct report_options *options, struct error *err);
void device_report_destroy(struct device_report *report);

#endif
