/* Why the allocator ran out of memory, an `oom` event at a time. */
#ifndef MEMSNAP_ANALYSIS_POOL_OOM_H
#define MEMSNAP_ANALYSIS_POOL_OOM_H

#include "analysis/pool/oom_elsewhere.h"
#include "analysis/pool/pinned.h"
#include "analysis/pool/pools.h"
#include "base/units.h"

#define OOMS_MOST      16      /* the last ones; fewer in a trace of more than 250,000 events.. */
#define OOMS_WORK      4000000 /* ..for each takes a few passes over it */
#define OOM_SITES_MOST 10
#define OOM_PINS_MOST  3

enum oom_verdict {
    OOM_SHORTAGE,      /* too much was in use */
    OOM_FRAGMENTATION, /* enough was free in the pool and on the device, but in pieces */
    OOM_OTHER_POOL,    /* enough was free, but part of it for another stream or pool only */
    OOM_OTHER_PROCESS, /* something else holds what was wanting */
    OOM_PROCESS_LIMIT, /* the device had enough, the process was not allowed it */
    OOM_UNKNOWN,       /* the capture does not tell: the sentence says why */
};

/* "other_process", for programs */
const char *oom_verdict_name(enum oom_verdict verdict);
/* "held by others", for people */
const char *oom_verdict_text(enum oom_verdict verdict);

/* How the memory was cut up when the request failed. */
struct oom_layout {
    bool is_known;            /* false: all others are zero.. */
    bool after_range;         /* ..for --range leaves out what tells */
    uint64_t block_bytes;     /* of what was active: blocks, as rounded */
    uint64_t inactive_bytes;  /* all holes: reserved but for the blocks */
    uint64_t pool_bytes;      /* those of the request's own pool */
    uint64_t largest_bytes;   /* the largest of those that could serve the request */
    uint64_t elsewhere_bytes; /* those of other pools and streams.. */
    uint64_t elsewhere_largest_bytes;
    struct oom_elsewhere elsewhere; /* ..and where most of them are */
    uint64_t unsure_bytes;          /* of the holes: may belong to blocks */
};

struct oom_site {
    int64_t bytes;
    uint64_t count;
    enum category category;
    char *label; /* raw bytes, NUL-terminated */
};

struct oom_row {
    int64_t item;
    struct pool_key key;      /* which pool the request was for */
    uint64_t requested_bytes; /* as a block: rounded */
    uint64_t segment_bytes;   /* what a new segment for it would have taken */
    uint64_t device_free_bytes;
    struct moment at;
    struct oom_layout layout;
    uint64_t device_bytes; /* the device's memory; 0: not known */
    bool device_is_least;  /* no more is known than that it has at least so much */
    uint64_t other_bytes;  /* device - reserved - free, where the device is known */
    enum oom_verdict verdict;
    char sentence[512], next[512]; /* raw bytes: escape before showing */
    struct oom_category {
        enum category category;
        int64_t bytes;
        uint64_t count;
    } categories[CATEGORY_LIMIT]; /* live then, largest first; sums to at.active_bytes */
    size_t category_count;
    struct oom_site *sites; /* the largest */
    size_t site_count;
    struct pin_rows pinned;
    stack_id stack; /* that asked; STACK_NONE where unknown */
    char *asker;    /* its label, or NULL */
};

struct ooms {
    struct oom_row *items; /* in order */
    size_t count;
    uint64_t total; /* events in the trace */
};

/* What is the same for all of them. */
struct oom_question {
    uint64_t device_bytes; /* as the user says; 0: not known */
    enum unit unit;        /* of sizes in sentences */
};

/* `set` tells of timeline, sites and categories; its items do not matter. */
bool ooms_make(const struct live_set *set, const struct oom_question *question, struct ooms *ooms,
               struct error *err);
void ooms_release(struct ooms *ooms);

/* The verdict that the figures of a row support; all but the verdict and its sentences are filled.
 */
enum oom_verdict oom_choose_verdict(const struct oom_row *row);
/* An upper bound on what was reserved but unused, by the curves alone: rounding included. */
uint64_t oom_most_unused(const struct oom_row *row);

#endif
