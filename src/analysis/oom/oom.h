/* Why the allocator ran out of memory, for each `oom` event. */
#ifndef MEMSNAP_ANALYSIS_OOM_OOM_H
#define MEMSNAP_ANALYSIS_OOM_OOM_H

#include "analysis/pool/pinned.h"
#include "analysis/pool/pools.h"
#include "base/units.h"

enum oom_elsewhere_kind {
    ELSEWHERE_GRAPHS,  /* private pools of CUDA graphs other than the request's own */
    ELSEWHERE_DEFAULT, /* the default pool, if the request is for a private one */
    ELSEWHERE_STREAMS, /* the request's pool, for other streams */
    ELSEWHERE_SIZES,   /* the request's pool and stream, for smaller or larger requests */
    ELSEWHERE_KINDS,
};

/* Unused memory that could not serve a request because it belongs to another pool. Only the kind of
 * place that has most of it is described. A place is a private pool (GRAPHS), a stream (DEFAULT,
 * STREAMS), or the one pool (SIZES). */
struct oom_elsewhere {
    enum oom_elsewhere_kind kind;
    uint64_t bytes;  /* 0 if nothing was unused elsewhere; the other members are then 0, too */
    uint64_t places; /* number of places that have any of it */
    uint64_t least_bytes, most_bytes; /* per place */
    struct pool_key most;             /* a pool of the place that has most */
};

/* For a request of the pool `own`. Sorts `pools`; nothing can be added to them afterwards. */
void oom_find_elsewhere(struct pool_rows *pools, const struct pool_key *own,
                        struct oom_elsewhere *elsewhere);

/* Only the last OOMS_MOST events are explained. In a trace of more than OOMS_WORK / OOMS_MOST
 * events there are fewer, because each takes a few passes over the trace. */
#define OOMS_MOST 16
#define OOMS_WORK 4000000

#define OOM_SITES_MOST 10
#define OOM_PINS_MOST  3

enum oom_verdict {
    OOM_SHORTAGE,      /* too much was in use */
    OOM_FRAGMENTATION, /* enough was free in the pool and on the device, but in pieces */
    OOM_OTHER_POOL,    /* enough was free, but part of it only for another stream or pool */
    OOM_OTHER_PROCESS, /* something else holds the missing memory */
    OOM_PROCESS_LIMIT, /* the device had enough, but the process was not allowed to use it */
    OOM_TOO_LARGE,     /* the request is larger than the device */
    OOM_HOST,          /* the CPU's memory ran out, not the device's */
    OOM_ON_CHIP,       /* a kernel asked for more shared memory than a multiprocessor has */
    OOM_UNKNOWN,       /* the capture does not tell: the sentence says why */
};

/* For programs: "other_process". */
const char *oom_verdict_name(enum oom_verdict verdict);
/* For people: "memory held outside of PyTorch". */
const char *oom_verdict_text(enum oom_verdict verdict);

/* The division of reserved memory when the request failed. */
struct oom_layout {
    bool is_known;            /* if not, all members except after_range are 0 */
    bool after_range;         /* not known because --range leaves out the events that show it */
    uint64_t block_bytes;     /* active blocks, in rounded sizes */
    uint64_t inactive_bytes;  /* all holes: reserved memory without the blocks */
    uint64_t pool_bytes;      /* holes in the request's own pool */
    uint64_t largest_bytes;   /* the largest of these that could serve the request */
    uint64_t elsewhere_bytes; /* holes in other pools and streams */
    uint64_t elsewhere_largest_bytes;
    struct oom_elsewhere elsewhere; /* where most of these are */
    uint64_t unsure_bytes;          /* bytes of holes that may belong to blocks */
};

struct oom_site {
    int64_t bytes;
    uint64_t count;
    enum category category;
    struct site site; /* in the stack that the label is of */
    char *label;      /* raw bytes, NUL-terminated */
};

struct oom_row {
    int64_t item;
    struct pool_key key;      /* which pool the request was for */
    uint64_t requested_bytes; /* as a block, so rounded */
    uint64_t segment_bytes;   /* size of a new segment for it */
    uint64_t device_free_bytes;
    struct moment at;
    struct oom_layout layout;
    uint64_t device_bytes; /* the device's memory; 0 if unknown */
    bool device_is_least;  /* device_bytes is only a lower bound */
    uint64_t other_bytes;  /* device - reserved - free, if the device is known */
    enum oom_verdict verdict;
    char sentence[512], next[512]; /* raw bytes: escape them for display */
    struct oom_category {
        enum category category;
        int64_t bytes;
        uint64_t count;
    } categories[CATEGORY_LIMIT]; /* live then, largest first; sums to at.active_bytes */
    size_t category_count;
    struct oom_site *sites; /* the largest */
    size_t site_count;
    struct pin_rows pinned;
    stack_id stack; /* of the request; STACK_NONE if unknown */
    /* The highest active memory that the whole step would have reached, estimated from an earlier
     * step; 0 if not known. See oom/rest.h, and for a forward pass oom/pass.h. */
    int64_t step_bytes;
    int64_t like_step; /* the number of that step; not set if state_rest_bytes is */
    double like_times; /* how many times as many activations the step holds as that one did */
    /* The largest block that the same code allocated in earlier steps; 0: none, or the request is
     * not for what depends on the batch. See oom/larger.h. */
    uint64_t earlier_bytes;
    bool setting_fits; /* replayed with the setting that `next` names, the whole trace fits, and so
                          do the requests that failed */
    bool rest_is_unknown; /* the request is of a forward pass that keeps more and more, for a
                             backward pass or in a cache, and step_bytes is not known */
    /* The optimizer states that exist and those that the step has still to make, if the request is
     * for one of these; 0: it is not, or the rest is not known. See oom/state.h. */
    int64_t state_made_bytes, state_rest_bytes;
    bool of_temporaries; /* the request is for a list of tensors, one for each gradient, with which
                            torch.optim's foreach implementation computes a step */
    bool of_attention;   /* the request is for a matrix of attention that no fused kernel computes:
                            see findings/attention.h */
    bool of_logits;      /* the request is for logits, or for what a loss computes from them: see
                            findings/logits.h */
    /* The part of the live bytes that an earlier failed attempt still holds; 0 if it is small. See
     * oom/attempt.h. */
    int64_t attempt_bytes;
    int64_t attempt_item; /* the failed request of that attempt */
    bool tries_again;     /* the same line made the failed request before this one, and nothing was
                             allocated since */
    /* The possible saving that `next` names: its number in the list of findings, from 1 on; 0:
     * none. See findings/oom_finding.h. */
    size_t finding;
    char *asker; /* label of the call site that made the request, or NULL */
};

struct ooms {
    struct oom_row *items; /* in order */
    size_t count;
    uint64_t total; /* events in the trace */
};

/* The input that is the same for all events. */
struct oom_question {
    uint64_t device_bytes; /* according to the user; 0 if unknown */
    enum unit unit;        /* of sizes in sentences */
    bool trains;           /* the trace has a backward pass */
};

/* `set` provides the timeline, sites and categories; its items are not used. */
bool ooms_make(const struct live_set *set, const struct oom_question *question, struct ooms *ooms,
               struct error *err);
void ooms_release(struct ooms *ooms);

/* The facts that decide, from a capture or from the text of an error. */
struct oom_facts {
    uint64_t wanted_bytes;
    uint64_t segment_bytes; /* size of a new segment for it */
    uint64_t free_bytes;    /* on the device */
    bool has_fitting_hole;  /* a hole was large enough, and still not used */
    uint64_t pool_bytes;    /* unused in the request's own pool */
    uint64_t unused_bytes;  /* reserved, but unused, anywhere */
    bool unused_is_known;   /* if not, it is an upper bound, and pool_bytes is 0 */
    uint64_t device_bytes;  /* 0 if unknown */
    bool device_is_least;
    uint64_t other_bytes; /* neither free nor reserved by PyTorch */
};

enum oom_verdict oom_decide(const struct oom_facts *facts);

/* The verdict that the figures of a row support. All members except the verdict and its sentences
 * must be filled. */
enum oom_verdict oom_choose_verdict(const struct oom_row *row);
/* True if the row tells how much of the device was used in all: reserved + other_bytes. */
bool oom_used_is_known(const struct oom_row *row);
/* The part of reserved memory that is not cached: blocks in use, rounded if that is known. */
uint64_t oom_allocated_bytes(const struct oom_row *row);
/* An upper bound on memory that was reserved but unused, from the curves alone, rounding included.
 */
uint64_t oom_most_unused(const struct oom_row *row);

#endif
