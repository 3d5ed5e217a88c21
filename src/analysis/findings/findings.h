/* Findings: places where memory could be saved, the amount, and the next step.
 *
 * Findings follow from the other parts of a report. The savings are bytes of the active peak, or of
 * reserved memory where `of_reserved`. They overlap, so they do not add up. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_FINDINGS_H
#define MEMSNAP_ANALYSIS_FINDINGS_FINDINGS_H

#include "analysis/growth/dropped_graphs.h"
#include "analysis/growth/growth.h"
#include "analysis/growth/kept_results.h"
#include "analysis/growth/pending.h"
#include "analysis/growth/piled_results.h"
#include "analysis/growth/retained_graphs.h"
#include "analysis/growth/unused_passes.h"
#include "analysis/phase/rows.h"
#include "analysis/pool/fragmentation.h"
#include "base/buffer.h"

#define FINDINGS_MOST 5

enum finding_kind {
    FINDING_ACTIVATIONS,   /* kept for the backward pass; checkpoints would free them */
    FINDING_DERIVATIVES,   /* the same, of which most were made by a backward pass */
    FINDING_RECOMPUTED,    /* the same, of which most were computed again by a checkpoint */
    FINDING_NO_GRAD,       /* kept by graphs that no backward pass used */
    FINDING_RETAINED,      /* kept by graphs after the last backward pass through them */
    FINDING_UNUSED_PASS,   /* the peak lies in a pass without a backward pass */
    FINDING_FORWARD_PASS,  /* the peak lies in a pass of a program that does not train */
    FINDING_PLAIN_RESULTS, /* of code outside modules; in a program that trains, temporaries */
    FINDING_UNEVEN_STEPS,  /* the peak lies in a step with larger tensors than others */
    FINDING_SUMMED_LOSSES, /* several forward passes share a backward pass */
    FINDING_ATTENTION,     /* matrices of attention written by hand */
    FINDING_LOGITS,        /* logits of a language model, and their loss */
    FINDING_UNUSED_LOGITS, /* logits of which generation reads the last position */
    FINDING_RESIDENT_DATA, /* input that stays on the device from before training on */
    FINDING_PASS_RESULTS,  /* of passes without a graph, which the program collects */
    FINDING_PILED_RESULTS, /* of several steps, which are freed together */
    FINDING_CONCATENATED,  /* by concatenation with earlier results, again and again */
    FINDING_LAYER_RESULTS, /* that the program holds until the forward pass is over */
    FINDING_LOCAL_RESULTS, /* that variables of a function hold until it returns */
    FINDING_ELEMENTWISE,   /* intermediate results of elementwise operators */
    FINDING_ALL_PAIRS,     /* tensors of all pairs, made by broadcasting */
    FINDING_CASTS,         /* activations that are copies in another dtype */
    FINDING_BENCHMARK,     /* torch.compile or Triton times kernels */
    FINDING_OPTIMIZER_TEMPORARIES, /* that cause the peak to lie in the optimizer step */
    FINDING_REPEATED_STATE,        /* of a second optimizer for the same parameters */
    FINDING_LOADED_WEIGHTS,        /* a copy of the weights that was read from a file */
    FINDING_COPIED_WEIGHTS,        /* a copy of the weights that the program made */
    FINDING_RECAST_WEIGHTS,        /* converted to another dtype on the device */
    FINDING_EARLIER_MODEL,         /* that stays until the next one is complete */
    FINDING_LAYER_BUFFERS,         /* of one size, one or more in each layer */
    FINDING_TRAINING_CACHE,        /* of keys and values, made by a forward pass that is trained */
    FINDING_GRADIENT_BUCKETS,      /* of DistributedDataParallel, beside the gradients */
    FINDING_REDUCE_BUCKET,         /* of DeepSpeed */
    FINDING_OPTIMIZER_STATE,       /* could be sharded */
    FINDING_TABLE_GRADIENTS,       /* of embeddings, of whole tables */
    FINDING_GRADIENTS,             /* all gradients */
    FINDING_KEPT_GRADIENTS,        /* from the previous step */
    FINDING_IDLE_GRADIENTS,        /* that no optimizer uses or frees */
    FINDING_KEPT_RESULTS,          /* held by variables since the previous step */
    FINDING_GROWTH,
    FINDING_FRAGMENTATION,
    FINDING_PENDING_FREES,
    FINDING_EMPTY_CACHE, /* gave back memory that was asked for again: saves time, no bytes */
    FINDING_KINDS,
};

/* "kept_gradients" */
const char *finding_kind_name(enum finding_kind kind);

struct finding {
    enum finding_kind kind;
    int64_t save_bytes; /* above 0, but 0 for FINDING_EMPTY_CACHE */
    bool at_most;       /* save_bytes is an upper bound */
    bool at_least;      /* save_bytes is a lower bound */
    bool of_reserved;
    char *what, *next;  /* malloc'ed sentences, raw bytes: escape before showing */
    const char *where;  /* malloc'ed label of the line of code that `what` names; NULL: none */
    const char *remedy; /* in a few words, not owned; NULL: that of the kind (oom_finding.c) */
};

struct findings {
    /* Growth first, then mistakes whose saving is not an upper bound, then the others; each of
     * these with the largest saving first. */
    struct finding items[FINDING_KINDS];
    size_t count; /* at most FINDINGS_MOST */
    /* Activations live at the peak of a trace without a backward pass, made while a decorator had
     * turned autograd off: no graph keeps them. inference_mode: part of them. */
    int64_t without_grad_bytes, inference_mode_bytes;
};

/* The parts of a report that findings follow from. */
struct evidence_of_all {
    struct site_table *sites;
    const struct live_set *at_peak; /* NULL: the report describes another moment */
    const struct moment *peak;
    const struct phases *phases;
    const struct phase_rows *phase_rows;
    const struct steps *steps;
    const struct unused_passes *unused;
    const struct growth *growth;
    const struct pending_frees *pending;
    const struct attention *attention;
    const struct logits *logits;
    const struct dropped_graphs *dropped;
    const struct retained_graphs *retained;
    const struct kept_results *kept;
    const struct piled_results *piled;
    const struct fragmentation *fragmentation;
    enum unit unit; /* of sizes in sentences */
};

/* "up to ", "at least " or "", before its size */
const char *finding_bound(const struct finding *finding);

bool findings_make(struct findings *findings, const struct evidence_of_all *evidence,
                   struct error *err);
void findings_release(struct findings *findings);

#endif
