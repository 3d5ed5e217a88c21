/* Sums over those live allocations that pass a test, and which line of code holds most of them. */
#ifndef MEMSNAP_ANALYSIS_LIVE_SUMS_H
#define MEMSNAP_ANALYSIS_LIVE_SUMS_H

#include "analysis/live/source.h"
#include "analysis/phase/failures.h"
#include "analysis/phase/phases.h"

struct live_sum {
    int64_t bytes;
    uint64_t count;
    int64_t largest_bytes;   /* of one allocation */
    struct buffer top_label; /* of the line of code that holds most; empty if none has a stack, or
                                if a node of a backward pass, without a line, holds more */
    int64_t top_bytes;       /* bytes that the line holds */
    bool top_is_shared;      /* the line also called the model for allocations that do not count */
};

/* Facts about the trace and the moment that tests use. Nothing is owned. */
struct live_facts {
    const struct phases *phases;
    const struct failures *failures;
    const uint8_t *is_dropped;      /* by lifetime: see growth/dropped_graphs.h; NULL: none is */
    const uint8_t *is_kept;         /* by lifetime: see growth/kept_results.h; NULL: none is */
    const uint8_t *is_retained;     /* by lifetime: see growth/retained_graphs.h; NULL: none is */
    const uint8_t *is_piled;        /* by lifetime: see growth/piled_results.h; NULL: none is */
    const uint8_t *is_result;       /* by lifetime: see growth/pass_results.h; NULL: none is */
    const uint8_t *is_layer_result; /* by lifetime: see growth/layer_results.h; NULL: none is */
    const uint8_t *is_concatenated; /* by lifetime: see findings/concatenated.h; NULL: none is */
    const uint8_t *is_attention;    /* by lifetime: see findings/attention.h; NULL: none is */
    const uint8_t *is_logits;       /* by lifetime: see findings/logits.h; NULL: none is */
    const uint8_t *is_elementwise;  /* by lifetime: see findings/elementwise.h; NULL: none is */
    const uint8_t *is_freed_stack;  /* by stack: see findings/freed_stacks.h; NULL: none is */
    uint32_t run;                   /* of phases in which the moment lies, or NO_RUN */
    bool trains;                    /* there is a backward pass */
    bool fails_at_logits;    /* trains nothing, and ran out of memory when it made logits: then
                                other sums of what may be activations leave them out */
    bool in_unused_pass;     /* the moment lies in a forward pass that none uses */
    bool passes_share_graph; /* no graph that is kept for nothing is live: retained_graphs.h */
    bool is_last_pass;       /* no backward pass begins after the moment */
    uint32_t first_forward;  /* first item of the first forward pass; 0: there is none */
    uint32_t last_backward;  /* first item of the last backward pass; EVENT_NEVER if there are fewer
                                than two */
    uint32_t last_pass; /* first item of the last backward pass that ended before the moment; 0 if
                           there is none */
};

/* The phase in which an allocation was made: enum phase, or this if it is older than the recording.
 */
#define LIVE_PHASE_BEFORE PHASE_COUNT
unsigned live_phase(const struct live_set *set, const struct phases *phases,
                    const struct live *live);
/* "forward", "before_recording" */
const char *live_phase_name(unsigned phase);

/* True if an allocation counts. */
typedef bool live_test(const struct live_set *set, const struct live_facts *facts,
                       const struct live *live, const struct live_source *source);

/* A sum to make: which allocations count, and by which line of code their bytes are divided. */
struct live_question {
    live_test *counts;
    bool by_model_call; /* by the line that called the model, not by the line inside it */
    /* With by_model_call: if the line with most of the bytes also called the model for what a
     * backward pass frees at any time, bytes are divided by the line inside it after all, unless
     * that line is shared in the same way, as if one line calls the model twice. Where no backward
     * pass has ended before the moment, what waits for one counts instead. */
    bool unless_used;
};

/* One sum per question, at most LIVE_SUMS_MOST, in one pass over the set. On failure there is
 * nothing to release. */
#define LIVE_SUMS_MOST 30
bool live_sums(const struct live_set *set, const struct live_facts *facts,
               const struct live_question *questions, size_t count, struct live_sum *sums,
               struct error *err);
void live_sum_release(struct live_sum *sum);

/* Tests. */
live_test live_is_dropped;      /* kept by a graph that no backward pass used */
live_test live_is_retained;     /* kept by a graph after the last backward pass through it */
live_test live_is_kept;         /* a result of an earlier step that a variable still holds */
live_test live_is_piled;        /* a result that is freed together with those of other steps, and
                                   none of live_is_pass_result */
live_test live_is_concatenated; /* any other result that a loop gathers by concatenation */
live_test live_is_activation;   /* any other activation */
/* Such an activation that a backward pass frees, or would have freed if no request had failed; or,
 * where passes_share_graph, that its graph holds while several backward passes go through parts of
 * it. */
live_test live_waits_for_backward;
/* The same, and made by a backward pass that builds a graph of its own (create_graph=True). */
live_test live_is_derivative;
/* live_waits_for_backward, and made by a function that torch.func.grad() differentiates. */
live_test live_is_transformed;
live_test live_is_compiled;
/* Made by a checkpoint that computes a part of the forward pass again. */
live_test live_is_recomputed;
/* A matrix of attention by hand, and live_waits_for_backward; live_is_running if no backward pass
 * uses the forward pass of the moment. */
live_test live_is_attention;
live_test live_is_multihead;      /* the same, but made by torch.nn.MultiheadAttention */
live_test live_is_unfused;        /* the same, but made by scaled_dot_product_attention() */
live_test live_is_logits;         /* logits, or their loss or gradient */
live_test live_is_logits_of_loss; /* the same, but not live_is_pass_result */
/* live_waits_for_backward, but not live_is_logits. */
live_test live_waits_beside_logits;
/* live_waits_for_backward, and an intermediate result of elementwise operators, but neither a
 * matrix of attention nor logits. */
live_test live_is_elementwise;
/* An activation that is not freed in the trace, and that no decorator shows to be without a graph.
 */
live_test live_may_have_graph;
live_test live_is_without_grad; /* an activation that was made while a decorator had turned autograd
                                   off */
live_test live_is_inference;    /* the same, where the decorator is torch.inference_mode() */
live_test live_is_layer_result; /* see growth/layer_results.h: no backward pass frees it */
live_test live_is_plain_result; /* what code outside modules computed, if nothing is trained */
live_test live_is_running; /* an activation or scratch space that the forward phase of the moment
                              makes and frees, or makes if the trace ends in it */
live_test live_is_resident_data;  /* input that is made before the first forward pass and not freed
                                     before the last backward pass begins; only if there are two or
                                     more backward passes */
live_test live_is_pass_result;    /* of a forward pass that kept no graph, and not freed by a later
                                     backward pass */
live_test live_is_movable_result; /* the same, outside of private pools: a CUDA graph writes its
                                     results to the same memory again */
live_test live_is_cast;          /* live_waits_for_backward, and a copy in another dtype, but not of
                                    logits, nor the first of a larger tensor that is not kept. What may
                                    come from another device does not count */
live_test live_is_repeated_cast; /* live_is_cast: a copy of what another operator has had converted
                                    just before, as three layers that read one tensor have */
live_test live_is_exchanged; /* live_is_widened, from a smaller tensor that the forward pass frees:
                                without the conversion, autograd would keep that instead */
live_test live_is_widened; /* live_is_cast, made by autocast, and not from a larger tensor: autocast
                              computes the operator that reads it in float32 */
live_test live_is_optimizer_temporary;

#endif
