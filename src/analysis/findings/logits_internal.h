/* What logits.c, logits_forward.c and logits_failed.c share. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_LOGITS_INTERNAL_H
#define MEMSNAP_ANALYSIS_FINDINGS_LOGITS_INTERNAL_H

#include "analysis/findings/logits.h"
#include "analysis/findings/logits_parts.h"

#define LOGITS_BEFORE 12 /* allocations from the layer that makes the logits to their softmax */
#define LOGITS_NONE   SIZE_MAX

struct logits_finder {
    const struct timeline *timeline;
    struct site_table *sites;
    struct logits *logits;
    size_t softmax;    /* a softmax after which no layer came yet, or LOGITS_NONE */
    size_t latest;     /* the latest softmax or log_softmax of logits, or LOGITS_NONE */
    uint64_t whole;    /* bytes of the logits that it reads, perhaps only a part of them */
    bool in_loss;      /* since then, no layer came, and no backward pass of one */
    bool of_latest;    /* the same; the result of a loss does not end it, because a loss may be
                          computed for a part of the logits at a time */
    size_t unseen;     /* allocations without frames that may come before the gradients of the loss;
                          0: the next ones are not of its backward pass */
    bool has_gradient; /* one of these was a gradient of the loss */
};

/* A softmax, or a request for its result or for something else that is computed from logits. */
struct logits_request {
    size_t index; /* of the lifetime; of the next one if the request failed */
    uint32_t item;
    uint64_t size;
};

static inline uint64_t logits_size_of(const struct logits_finder *finder, size_t index)
{
    return trace_size(finder->timeline->trace, finder->timeline->lifetimes[index].alloc);
}

static inline stack_id logits_stack_of(const struct logits_finder *finder, size_t index)
{
    return finder->timeline->trace->stack[finder->timeline->lifetimes[index].alloc];
}

/* logits_forward.c: true if two sizes are those of as many numbers, or one of a few more, in the
 * same type or in one twice or half as wide. */
bool logits_fit(uint64_t size, uint64_t of);
/* Sets *layer to the layer that made the logits of a request. If it is found, marks what lies
 * between it and lifetime `end`; otherwise *layer is LOGITS_NONE. */
bool logits_mark_forward(struct logits_finder *finder, const struct logits_request *softmax,
                         size_t end, size_t *layer, struct error *err);

/* logits_failed.c: finds the failed requests for logits, once all others are marked. */
bool logits_find_failed(struct logits_finder *finder, struct error *err);

#endif
