/* State and helpers that the files which make findings share. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_FINDINGS_INTERNAL_H
#define MEMSNAP_ANALYSIS_FINDINGS_FINDINGS_INTERNAL_H

#include "analysis/findings/failed_pass.h"
#include "analysis/findings/findings.h"
#include "analysis/findings/logits.h"
#include "analysis/findings/weight_copies.h"
#include "analysis/live/sums.h"

#define FEW_RESULTS 3 /* forward passes; fewer are the running one and the one before */
#define LEAST_SHARE 2 /* in percent of the peak: smaller findings are left out */

struct findings_maker {
    const struct evidence_of_all *evidence;
    struct findings *findings;
    struct error *err;
    bool is_biased;   /* something is added to the products of attention: see attention.h */
    bool is_compiled; /* most of what waits for the backward pass is of torch.compile */
    /* The finding on growth covers the graphs that no backward pass uses, because all that they
     * hold at the peak is of lines that grow. */
    bool grows_dropped;
    const char *where; /* findings_peak.c: the line of the sum that is reported now; or NULL */
    /* Parts of the copies in another dtype: see live_is_exchanged and live_is_repeated_cast. */
    int64_t exchanged_bytes, repeated_bytes;
    int64_t concatenated_save_bytes; /* see concatenated.h */
    struct failed_pass failed;   /* see failed_pass.h; bytes 0: none, or too few for a finding */
    int64_t attempt_bytes;       /* see failed_pass.h; 0: none, or too few for a finding */
    struct weight_copies copied; /* see weight_copies.h; bytes 0: none */
    bool grows_copied;           /* the finding on growth is about them */
};

/* A size as text, returned by value for use in format arguments. */
struct size_text {
    char text[UNITS_TEXT_SIZE];
};

/* "1.24 GiB, 12.0% of the peak", in the same way. */
struct amount_text {
    char text[UNITS_TEXT_SIZE + 64];
};

struct size_text finding_size(const struct findings_maker *maker, int64_t bytes);
/* In percent of the peak. */
double finding_share(const struct findings_maker *maker, int64_t bytes);
/* What these are percent of: "the peak", or "the memory in use" where the peak is not known. */
const char *finding_whole(const struct findings_maker *maker);
struct amount_text finding_amount(const struct findings_maker *maker, int64_t bytes);
/* The bytes of a category at the moment. */
int64_t finding_live_bytes(const struct live_set *set, enum category category);
/* findings_gradients.c: true if most optimizer steps come after several backward passes. */
bool finding_of_accumulation(const struct phases *phases);
/* findings_state.c: true if a stack shows FSDP, which divides parameters, gradients and states
 * among ranks. */
bool finding_of_fsdp_program(const struct findings_maker *maker);
/* The peak of the active curve within optimizer steps, or outside of them. */
int64_t finding_peak(const struct findings_maker *maker, bool in_optimizer);
/* Adds " at train.py:20 <module>" if the stack names a line. */
bool finding_line(const struct findings_maker *maker, stack_id stack, struct buffer *text);
/* The line that finding_line() has added, without " at "; NULL if it added none. */
const char *finding_where(const struct buffer *line);
/* Adds a finding with copies of its `where` and its sentences: `next`, and `what` as printf()
 * formats it. */
bool finding_add(struct findings_maker *maker, struct finding finding, const char *next,
                 const char *what, ...) __attribute__((format(printf, 4, 5)));

void finding_release(struct finding *finding);

/* Advice on copies of the weights that the program makes and keeps. */
#define KEEP_ON_HOST "{name: tensor.cpu() for name, tensor in model.state_dict().items()}."

/* Each adds its finding, if there is one to add. False on failure. */
typedef bool finding_of(struct findings_maker *maker);
/* findings_growth.c, findings_idle.c */
finding_of finding_of_kept_gradients, finding_of_growth, finding_of_pending,
    finding_of_idle_gradients;
/* findings_growth.c: sets `grows_dropped`, `copied` and `grows_copied`, which the findings below
 * read. */
bool finding_find_grown(struct findings_maker *maker);
/* findings_reserved.c; finding_of_empty_cache() needs evidence of the peak */
finding_of finding_of_fragmentation, finding_of_empty_cache;
/* findings_gradients.c: these need evidence of the peak */
finding_of finding_of_gradient_buckets, finding_of_reduce_bucket, finding_of_table_gradients,
    finding_of_gradients;
/* findings_weights.c, findings_state.c: these need evidence of the peak */
finding_of finding_of_loaded_weights, finding_of_copied_weights, finding_of_recast_weights,
    finding_of_earlier_model, finding_of_repeated_state, finding_of_layer_buffers, finding_of_state;

/* findings_cache.c: needs evidence of the peak */
finding_of finding_of_training_cache;
/* findings_passes.c: sets `failed` and `attempt_bytes`; needs evidence of the peak */
bool finding_find_failed_pass(struct findings_maker *maker);
/* findings_passes.c: these need evidence of the peak */
finding_of finding_of_unused_pass, finding_of_retained_graph, finding_of_failed_pass,
    finding_of_failed_attempt, finding_of_uneven_steps, finding_of_summed_losses,
    finding_of_all_pairs, finding_of_unused_logits, finding_of_local_results, finding_of_benchmark;

/* findings_peak.c: findings on parts of the peak that are summed in one pass. */
bool findings_of_sums(struct findings_maker *maker);

/* findings_about.c: true if a program that trains nothing so far ran out of memory when it made
 * logits, or what a loss computes from them. */
bool finding_fails_at_logits(const struct findings_maker *maker);
/* findings_about.c: true if a sum of logits is large enough for a finding. */
bool finding_reports_logits(const struct findings_maker *maker, const struct live_sum *logits);

/* findings_about.c, findings_activations.c, findings_attention.c: each adds a finding on a part of
 * the peak, `sum`, if that is large enough. `most` is ", the largest part at model.py:39 forward
 * (1.24 GiB)", or empty. */
typedef bool finding_about(struct findings_maker *maker, const struct live_sum *sum,
                           const struct buffer *most);
finding_about finding_about_activations, finding_about_beside_logits, finding_about_derivatives,
    finding_about_transform, finding_about_recomputed, finding_about_running,
    finding_about_plain_results, finding_about_dropped, finding_about_retained,
    finding_about_kept_results, finding_about_piled_results, finding_about_multihead,
    finding_about_unfused, finding_about_attention, finding_about_logits,
    finding_about_pass_results, finding_about_concatenated, finding_about_layer_results,
    finding_about_resident_data, finding_about_elementwise, finding_about_casts,
    finding_about_widened, finding_about_optimizer_temporaries;

#endif
