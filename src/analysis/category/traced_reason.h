/* The rules that find the category of one allocation of the trace. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_TRACED_REASON_H
#define MEMSNAP_ANALYSIS_CATEGORY_TRACED_REASON_H

#include "analysis/category/classifier.h"

/* The facts about one allocation of the trace that the rules use. */
struct evidence {
    size_t index; /* in timeline->lifetimes */
    stack_id birth_stack, end_stack;
    const struct stack_facts *birth;
    const struct stack_facts *end; /* of the stack that frees; NULL if there is none */
    uint32_t birth_run, end_run;   /* end_run is NO_RUN if it is never freed */
};

static inline uint64_t evidence_size(const struct classifier *classifier,
                                     const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[evidence->index].alloc);
}

static inline bool evidence_ends_in_run(const struct evidence *evidence)
{
    return evidence->end_run == evidence->birth_run;
}

/* saved_again.c: true if autograd saved an allocation, because the pass that made it was itself
 * recorded (create_graph=True). C++ frames show that a graph releases what it saved. Without them,
 * torch.func must have begun the pass, a later backward pass must free it, or the program drops the
 * graph before the next forward pass. A thread of autograd that holds the results of a pass frees
 * them in the next pass; C++ frames tell those from saved ones. */
bool saved_again(const struct classifier *classifier, const struct evidence *evidence);

/* The reason for a category, by stack, phases and lifetime; REASON_NONE if they do not tell. Uses
 * the sizes counted so far, so allocations must be taken in order of time. */
enum reason traced_reason(const struct classifier *classifier, const struct evidence *evidence);

/* plain_reason.c: for other Python code and unknown code, outside of the phases of a step. */
enum reason plain_reason(const struct classifier *classifier, const struct evidence *evidence);

/* plain_results.c, for what plain code makes from the results of passes. */

/* True if an allocation copies the result of a forward pass that no backward pass uses, perhaps to
 * another type: the result, which has as many elements, is freed before the next pass. So
 * generation copies the scores of each token. A batch takes the place of nothing. */
bool plain_replaces_result(const struct classifier *classifier, const struct evidence *evidence);

/* True if plain code makes an allocation from the results of a forward pass that no backward pass
 * uses. It must be kept over the next forward pass, or have the stack of an earlier kept result,
 * because the last result of a list may be freed sooner. What plain code makes from a new batch
 * goes into the next pass instead. A sum or a concatenation of all results so far lives until the
 * next one is made, right after that pass, and is made before the next batch. */
bool plain_is_kept_result(const struct classifier *classifier, const struct evidence *evidence);

/* True if plain code makes an allocation after a step, before it makes the next batch, and keeps it
 * over the next two forward passes, or is the last of such: a metric that collects the results of
 * each step. A batch, and what is computed from one, goes into one step. */
bool plain_is_collected_result(const struct classifier *classifier,
                               const struct evidence *evidence);

/* True for the last of the results that plain_note_line() notes, which the program reads and
 * drops before another pass. */
bool plain_is_last_result(const struct classifier *classifier, const struct evidence *evidence);

#define MOST_BEFORE_BATCH 64 /* allocations between a result and the next batch */

/* plain_batches.c, for what tells batches. */

/* The last of the noted lines with a stack, or NULL. */
const struct last_line *plain_line_of(const struct last_lines *lines, stack_id stack);

/* True if a stack makes batches: by its operator, or, if that is not known, because its line has
 * made one before. */
bool plain_makes_batch(const struct classifier *classifier, stack_id stack);

/* False if a forward pass in run `pass` would have no input unless what plain code makes before it
 * is its batch: no other allocation may be one, and no earlier batch since the last backward pass
 * is live. Only known for programs that train, since they show the lines of batches. */
bool plain_has_input(const struct classifier *classifier, const struct evidence *evidence,
                     uint32_t pass);

/* Notes the line of an allocation, if plain_reason() has found it to be a kept result or a batch,
 * so that a later one of the same line counts as one more. */
void plain_note_line(struct classifier *classifier, const struct evidence *evidence,
                     enum reason reason);

/* Notes until when an allocation lives, if it is a batch. */
void plain_note_input(struct classifier *classifier, const struct evidence *evidence,
                      enum reason reason);

/* plain_models.c, for what plain code computes by a model without calling a module. */

/* True if the line that makes an allocation also computes for modules that are called. */
bool plain_is_of_module(const struct classifier *classifier, const struct evidence *evidence);

/* Notes the run of plain code in which an allocation shows that a model runs there. */
void plain_note_model(struct classifier *classifier, const struct evidence *evidence);

/* True if a model has run in the same run of plain code before an allocation, which is not just
 * storage. Only known for programs that train. */
bool plain_runs_model(const struct classifier *classifier, const struct evidence *evidence);

/* True if an allocation is still live when the batch for the forward pass in run `pass` has been
 * used up and its line makes another one, after which the next pass begins. The batch must be
 * made after the allocation, and not of it. */
bool plain_outlives_batch(const struct classifier *classifier, const struct evidence *evidence,
                          uint32_t pass);

/* True if plain code after a step computes an allocation by a model, and keeps it longer than the
 * next batch, or its line has made a result before that was kept so. */
bool plain_is_model_result(const struct classifier *classifier, const struct evidence *evidence);

#define MOST_PLAIN_RUNS 4 /* runs that are searched for the next phase of a step */

/* The phase of the nearest run of a step before or after `run`, and its number in *near;
 * PHASE_UNKNOWN if none is near. */
static inline enum phase step_near(const struct classifier *classifier, uint32_t run, int by,
                                   uint32_t *near)
{
    for (int i = 1; i <= MOST_PLAIN_RUNS; i++) {
        *near = run + (uint32_t)(by * i); /* may wrap around to a run that does not exist */
        enum phase phase = classifier_phase(classifier, *near);
        if (phase > PHASE_DATA)
            return phase;
    }
    return PHASE_UNKNOWN;
}

#define MOST_RUNS_KEPT 256 /* runs after a pass that are searched for what comes after it */

/* The first run that such a search leaves out: the one that frees the allocation, unless that is
 * too far from the pass in run `pass`. */
static inline uint32_t runs_kept(const struct classifier *classifier,
                                 const struct evidence *evidence, uint32_t pass)
{
    uint32_t limit = (uint32_t)classifier->phases->count;
    limit = evidence->end_run < limit ? evidence->end_run : limit;
    return limit > pass + MOST_RUNS_KEPT ? pass + MOST_RUNS_KEPT : limit;
}

/* flat_vectors.c: true if an annotated optimizer step lies between the last allocation of the
 * backward run `pass` and this allocation. Steps of SGD allocate nothing, so no run shows them. */
bool has_stepped_since(const struct classifier *classifier, const struct evidence *evidence,
                       uint32_t pass);

/* True if an allocation lives into the next forward pass, with only other code and data loading in
 * between. */
bool goes_into_forward(const struct classifier *classifier, const struct evidence *evidence);

/* True if an allocation is a batch, made by other code within what looks like its update of the
 * weights. It must be a copy or a random draw, live into the next forward pass, and have another
 * size than gradients. */
bool is_batch_after_update(const struct classifier *classifier, const struct evidence *evidence);

/* collected.c: true for what plain code puts together from stored data, or copies from what it has
 * just put together; also if the operator is not known. */
bool plain_collects(const struct classifier *classifier, const struct evidence *evidence);

/* collected.c: true for operators that take rows of a tensor. */
bool op_picks_rows(struct text op);

/* True if a backward pass left gradients of the size. With `or_used`, also if a backward pass made
 * blocks of the size and used them up, which may have been gradients. */
static inline bool classifier_has_gradient_size(const struct classifier *classifier, uint64_t size,
                                                bool or_used)
{
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    return tally && (tally->gradients.most > 0 || (or_used && tally->accumulated.most > 0));
}

/* True if a block of the size and the category was freed earlier, after the phase that made it. */
bool classifier_has_twin(const struct classifier *classifier, uint64_t size,
                         enum category category);

/* True if the size is the sum of the last gradients that a backward run left, of at least two of
 * them. */
bool joins_gradients(const struct classifier *classifier, uint64_t size, uint32_t run);

/* True if plain code after a backward pass joins at least two of its gradients in one vector, or
 * computes another vector of that size. */
bool is_flat_gradient(const struct classifier *classifier, const struct evidence *evidence);

/* True if plain code joins the weights in one vector after an optimizer step, or computes another
 * vector of that size then or later. The gradients are often still live, and have the same sizes as
 * the weights. */
bool is_flat_weight(const struct classifier *classifier, const struct evidence *evidence);

#endif
