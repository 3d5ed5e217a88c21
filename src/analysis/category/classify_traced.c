#include "analysis/category/classifier.h"

#include <string.h>
#include <strings.h>

#include "analysis/category/traced_reason.h"
#include "analysis/phase/births.h"
#include "base/text.h"

/* Runs from a backward pass to the end of its gradients that are looked at. */
#define MOST_RUNS_BETWEEN 16

/* The category that the file gives, as a converted torch.profiler run does, or CATEGORY_COUNT. */
static enum category category_in_file(const struct timeline *timeline, uint32_t item)
{
    const struct snapshot *snapshot = timeline->snapshot;
    uint32_t extra = trace_extra(timeline->trace, item);
    if (extra >= snapshot->extra_count || snapshot->extras[extra].category == STRING_EMPTY)
        return CATEGORY_COUNT;
    struct text label = symbols_text(snapshot->symbols, snapshot->extras[extra].category);
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        const char *name = category_name((enum category)i);
        if (label.size == strlen(name) && strncasecmp(label.bytes, name, label.size) == 0)
            return (enum category)i;
    }
    return CATEGORY_COUNT;
}

static bool gather_evidence(const struct classifier *classifier, size_t index,
                            struct evidence *evidence, struct error *err)
{
    const struct trace *trace = classifier->timeline->trace;
    const struct lifetime *lifetime = &classifier->timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime);
    *evidence = (struct evidence){.index = index, .birth_stack = trace->stack[lifetime->alloc]};
    evidence->birth_run = classifier->phases->of_lifetime[index].birth;
    evidence->end_run = classifier->phases->of_lifetime[index].end;
    evidence->birth = site_stack_facts(classifier->sites, evidence->birth_stack, err);
    if (!evidence->birth)
        return false;
    evidence->end_stack = end == EVENT_NEVER ? STACK_NONE : trace->stack[end];
    if (evidence->end_stack == STACK_NONE)
        return true;
    evidence->end = site_stack_facts(classifier->sites, evidence->end_stack, err);
    return evidence->end != NULL;
}

static bool is_staying(const struct classifier *classifier, const struct evidence *evidence)
{
    return classifier_stays(classifier,
                            lifetime_end(&classifier->timeline->lifetimes[evidence->index]));
}

/* True if plain code made an allocation before the first step, and it stays. Its size may show that
 * it is a parameter. */
static bool may_be_parameter(const struct classifier *classifier, const struct evidence *evidence)
{
    return is_staying(classifier, evidence) && evidence->birth_run < classifier->first_step_run;
}

static void add_left(struct classifier *classifier, const struct evidence *evidence)
{
    struct left_gradients *left = &classifier->left;
    if (left->run != evidence->birth_run)
        left->count = 0;
    left->run = evidence->birth_run;
    left->sizes[left->count++ % FLAT_MOST] = evidence_size(classifier, evidence);
}

/* Remembers the size of a vector of several gradients, unless a single gradient has this size. */
static bool mark_flat(struct classifier *classifier, const struct evidence *evidence,
                      struct error *err)
{
    struct size_tally *tally =
        size_tallies_at(&classifier->tallies, evidence_size(classifier, evidence), err);
    if (tally && tally->gradients.most == 0 && tally->accumulated.most == 0)
        tally->is_flat = true;
    return tally != NULL;
}

/* True if Python code frees a gradient inside AccumulateGrad. That node runs no Python itself, so
 * it is a hook. */
static bool is_freed_by_hook(const struct evidence *evidence)
{
    return evidence->end && evidence->end->accumulates_grad &&
           evidence->end->site.any_python_frame != NO_FRAME;
}

static bool is_freed_by_zero_grad(const struct evidence *evidence)
{
    return evidence->end && evidence->end->context == CONTEXT_ZERO_GRAD;
}

/* True if a gradient of an embedding has only some rows of the table. */
static bool is_sparse_gradient(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct symbols *symbols = site_table_symbols(classifier->sites);
    return text_starts(symbols_text(symbols, evidence->birth->site.node), "EmbeddingB") &&
           text_equals(symbols_text(symbols, evidence->birth->site.op), "aten::index_select");
}

/* True if an allocation is freed before another backward pass begins, as gradients are. */
static bool ends_before_next_pass(const struct classifier *classifier,
                                  const struct evidence *evidence)
{
    if (evidence->end_run == NO_RUN)
        return false;
    for (uint32_t run = evidence->end_run; run > evidence->birth_run; run--)
        if (classifier_phase(classifier, run) == PHASE_BACKWARD ||
            evidence->end_run - run > MOST_RUNS_BETWEEN)
            return false;
    return true;
}

/* Adds a gradient to the bytes that are live in the next optimizer step, or to those that are freed
 * before. */
static void count_use(struct classifier *classifier, const struct evidence *evidence)
{
    double size = (double)evidence_size(classifier, evidence);
    for (uint32_t run = evidence->birth_run + 1; run - evidence->birth_run <= MOST_RUNS_BETWEEN;
         run++) {
        if (classifier_phase(classifier, run) != PHASE_OPTIMIZER)
            continue;
        bool is_used = evidence->end_run == NO_RUN || evidence->end_run >= run;
        *(is_used ? &classifier->used : &classifier->dropped) += size;
        return;
    }
}

/* Counts the passes that leave an activation or an input of a size for good, as a leak does. */
static bool count_kept(struct classifier *classifier, const struct evidence *evidence,
                       enum category category, struct error *err)
{
    uint32_t pass = classifier->phases->runs[evidence->birth_run].pass;
    if ((category != CATEGORY_ACTIVATION && category != CATEGORY_INPUT) ||
        !is_staying(classifier, evidence) || evidence->birth_run < classifier->first_step_run)
        return true;
    struct size_tally *tally =
        size_tallies_at(&classifier->tallies, evidence_size(classifier, evidence), err);
    if (!tally)
        return false;
    tally->kept_passes += tally->kept_last != pass + 1;
    tally->kept_last = pass + 1;
    tally->kept_category = (uint8_t)category;
    return true;
}

/* Notes the category of the first allocation of a size that ends in a phase, as that of other
 * blocks that end there. It is replaced if it was a gradient although no weight has the size: then
 * it may have been the gradient of an input or an activation, which tells less. */
static void note_twin(const struct classifier *classifier, struct size_tally *tally, enum phase end,
                      enum category category)
{
    uint8_t *twin = &tally->twin[end];
    bool is_weak =
        *twin == 1 + CATEGORY_GRADIENT && tally->early == 0 && classifier->phases->has_stacks;
    if (*twin == 0 || is_weak)
        *twin = (uint8_t)(1 + category);
}

/* Counts a block with the gradients of each sample of a batch as one gradient of the weight. */
static bool count_sample_gradients(struct classifier *classifier, uint64_t size, uint32_t pass,
                                   struct error *err)
{
    uint32_t samples = classifier->samples;
    if (samples == 0 || size % samples != 0)
        return true;
    struct size_tally *tally = size_tallies_at(&classifier->tallies, size / samples, err);
    if (tally && tally->early > 0)
        run_count_add(&tally->gradients, pass);
    return tally != NULL;
}

/* Counts a buffer of several gradients of a rank, which no weight has the size of. */
static bool count_reduced(struct classifier *classifier, const struct evidence *evidence,
                          struct error *err)
{
    if (!mark_flat(classifier, evidence, err))
        return false;
    struct size_tally *tally =
        size_tallies_at(&classifier->tallies, evidence_size(classifier, evidence), err);
    if (tally && evidence->end_run != NO_RUN)
        note_twin(classifier, tally, classifier_phase(classifier, evidence->end_run),
                  CATEGORY_GRADIENT);
    return tally != NULL;
}

/* True if another allocation is made while this one is live. */
static bool is_made_use_of(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    size_t next = evidence->index + 1;
    return next < timeline->lifetime_count &&
           timeline->lifetimes[next].alloc < lifetime_end(&timeline->lifetimes[evidence->index]);
}

static void note_batch(struct classifier *classifier, const struct evidence *evidence,
                       enum reason reason)
{
    uint32_t run = evidence->birth_run;
    /* The copy of a batch may be freed as soon as it is converted or normalized. The shape of a
     * tensor, which distributed code copies to send it to other ranks, becomes nothing else. */
    bool is_copied = evidence->birth->to_device && facts_are_of_plain_code(evidence->birth) &&
                     is_made_use_of(classifier, evidence) &&
                     !plain_replaces_result(classifier, evidence);
    if (reason == REASON_BATCH || reason == REASON_COPIED || is_copied)
        classifier->batch_run = run;
    if (!is_copied)
        return;
    double before = classifier->copied_run == run ? classifier->copied_bytes : 0;
    classifier->copied_run = run;
    classifier->copied_bytes = before + (double)evidence_size(classifier, evidence);
}

/* Counts what the size and the end of an allocation imply for other blocks. */
static bool count_sizes(struct classifier *classifier, const struct evidence *evidence,
                        enum category category, enum reason reason, struct error *err)
{
    bool undecided = reason == REASON_NONE && may_be_parameter(classifier, evidence);
    bool is_parameter = category == CATEGORY_PARAMETER && is_staying(classifier, evidence);
    bool accumulated =
        reason == REASON_BACKWARD_PASSED_ON && (!evidence->end || evidence->end->accumulates_grad);
    bool is_replaced = category == CATEGORY_PARAMETER && !is_parameter &&
                       classifier_phase(classifier, evidence->end_run) == PHASE_FORWARD;
    bool crosses = evidence->end_run != NO_RUN && !evidence_ends_in_run(evidence);
    if (category == CATEGORY_PARAMETER && !is_parameter &&
        evidence->end_run < classifier->first_step_run) {
        classifier->replaced.bytes += (double)evidence_size(classifier, evidence);
        classifier->replaced.count++;
    }
    if (reason ==
        REASON_UNFINISHED_GRADIENT) /* the block that it is passed on to may have the same size */
        return true;
    if (reason == REASON_WEIGHT_VECTOR) {
        struct size_tally *tally =
            size_tallies_at(&classifier->tallies, evidence_size(classifier, evidence), err);
        if (!tally)
            return false;
        tally->is_vector = true;
        return true;
    }
    if (category == CATEGORY_GRADIENT && evidence->birth->communicates)
        return count_reduced(classifier, evidence, err);
    if (reason == REASON_MAIN_GRADIENT) /* it exists besides the gradient of the pass itself */
        return mark_flat(classifier, evidence, err);
    if (reason == REASON_BACKWARD_KEPT &&
        classifier_is_no_gradient(classifier, evidence_size(classifier, evidence)) &&
        !mark_flat(classifier, evidence, err))
        return false;
    if (!undecided && !is_parameter && !accumulated && !crosses && category != CATEGORY_GRADIENT &&
        category != CATEGORY_OPTIMIZER_STATE)
        return true;
    struct size_tally *tally =
        size_tallies_at(&classifier->tallies, evidence_size(classifier, evidence), err);
    if (!tally)
        return false;
    uint32_t pass = classifier->phases->runs[evidence->birth_run].pass;
    if (category == CATEGORY_GRADIENT) {
        classifier->has_sparse = classifier->has_sparse || is_sparse_gradient(classifier, evidence);
        run_count_add(&tally->gradients, pass);
        if (reason == REASON_BACKWARD_KEPT && ends_before_next_pass(classifier, evidence))
            run_count_add(&tally->fleeting, pass);
        add_left(classifier, evidence);
        count_use(classifier, evidence);
    } else if (category == CATEGORY_OPTIMIZER_STATE) {
        tally->made_in_step += is_staying(classifier, evidence);
        if (classifier_phase(classifier, evidence->end_run) == PHASE_OPTIMIZER)
            run_count_add(&tally->renewed, pass);
    } else if (accumulated) {
        run_count_add(&tally->accumulated, pass);
        tally->is_dropped = tally->is_dropped || is_freed_by_hook(evidence);
    }
    tally->parameters += is_parameter;
    tally->made += is_parameter;
    tally->weights_replaced += is_replaced;
    tally->persistent += undecided;
    tally->released += undecided && evidence->end_run != NO_RUN;
    if (crosses)
        note_twin(classifier, tally, classifier_phase(classifier, evidence->end_run), category);
    return category != CATEGORY_GRADIENT ||
           count_sample_gradients(classifier, evidence_size(classifier, evidence), pass, err);
}

/* The reason byte, with a doubt in four cases. Without stacks, an allocation between passes may be
 * a result or a weight instead of a batch, and one that is freed there may belong to a pass that
 * keeps nothing, such as an evaluation. What a pass leaves may be a tensor that is saved for a
 * later pass: if the pass is itself recorded, unless C++ frames show otherwise, or if no weight has
 * its size. And a backward() of the user's may compute something other than gradients, such as a
 * state that it goes through again. */
static uint8_t byte_of(const struct classifier *classifier, const struct evidence *evidence,
                       enum reason reason)
{
    bool may_be_other = (reason == REASON_BEFORE_FORWARD || reason == REASON_PLAIN_FREED) &&
                        evidence->birth_stack == STACK_NONE && !classifier->phases->has_stacks;
    bool is_recorded = classifier->phases->runs[evidence->birth_run].is_recorded;
    bool may_be_saved = reason == REASON_BACKWARD_KEPT &&
                        ((is_recorded && !evidence->birth->in_operator) ||
                         classifier_lacks_early(classifier, evidence_size(classifier, evidence)));
    bool may_be_state = reason == REASON_BACKWARD_PASSED_ON && !evidence->birth->by_hook &&
                        evidence->birth->site.user_frame != NO_FRAME;
    if (reason == REASON_ZERO_GRAD_FREED) /* certain, wherever it was made */
        return reason_byte(reason, DOUBT_NONE);
    uint8_t byte = classifier_doubt(classifier, reason, evidence->birth_run);
    return (may_be_other || may_be_saved || may_be_state) && byte == reason_byte(reason, DOUBT_NONE)
               ? reason_byte(reason, DOUBT_INFERRED)
               : byte;
}

/* Doubts what optimizer steps keep, if only lifetimes show the steps and later ones free it, or
 * others of its size: then each may make the weights anew. */
static void doubt_renewed(const struct classifier *classifier, struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    uint8_t inferred = reason_byte(REASON_STEP_KEPT, DOUBT_INFERRED);
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (categories->why_lifetime[i] != inferred)
            continue;
        const struct size_tally *tally =
            size_tallies_find(&classifier->tallies, trace_size(timeline->trace, lifetime->alloc));
        if (!classifier_stays(classifier, lifetime_end(lifetime)) ||
            (tally && tally->renewed.most > 0))
            categories->why_lifetime[i] = reason_byte(REASON_STEP_KEPT, DOUBT_GUESS);
    }
}

bool classify_traced(struct classifier *classifier, struct categories *categories,
                     struct error *err)
{
    for (size_t i = 0; i < classifier->timeline->lifetime_count; i++) {
        struct evidence evidence;
        if (!gather_evidence(classifier, i, &evidence, err))
            return false;
        classifier->shows_copies = classifier->shows_copies || evidence.birth->to_device;
        if (evidence.birth->is_transformed && evidence.birth->context == CONTEXT_BACKWARD)
            classifier->transform_run = evidence.birth_run;
        plain_note_model(classifier, &evidence);
        enum reason reason = REASON_FILE;
        enum category category = CATEGORY_COUNT;
        if (evidence.birth->own != OWN_RULES_NONE) {
            reason = REASON_RULE;
            category = (enum category)evidence.birth->own;
        } else if (classifier->has_file_categories) {
            category =
                category_in_file(classifier->timeline, classifier->timeline->lifetimes[i].alloc);
        }
        if (category == CATEGORY_COUNT) {
            reason = traced_reason(classifier, &evidence);
            category = reason_category(reason);
        }
        classifier->has_model = classifier->has_model || reason == REASON_MODEL_MADE;
        classifier->zero_grad_frees +=
            reason == REASON_ZERO_GRAD_FREED ||
            (category == CATEGORY_GRADIENT && is_freed_by_zero_grad(&evidence));
        note_batch(classifier, &evidence, reason);
        plain_note_line(classifier, &evidence, reason);
        plain_note_input(classifier, &evidence, reason);
        if (!count_sizes(classifier, &evidence, category, reason, err) ||
            !count_kept(classifier, &evidence, category, err))
            return false;
        categories->of_lifetime[i] = (uint8_t)category;
        categories->why_lifetime[i] = byte_of(classifier, &evidence, reason);
    }
    doubt_renewed(classifier, categories);
    return true;
}
