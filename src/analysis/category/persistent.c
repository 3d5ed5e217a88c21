/* Blocks that stay: their roles, by how many blocks of each size there are. */
#include "analysis/category/traced_reason.h"
#include "analysis/phase/forward.h"

bool classifier_persistent(struct classifier *classifier, uint64_t size, uint32_t end,
                           enum reason *reason, struct error *err)
{
    struct size_tally *tally = size_tallies_at(&classifier->tallies, size, err);
    if (!tally)
        return false;
    const struct expected *expected = &tally->expected;
    uint32_t place = tally->placed++;
    bool trains = classifier->first_backward_run != NO_RUN;
    bool is_alone = expected->weights + tally->parameters == tally->persistent + tally->parameters;
    /* Blocks are in order of address. Models come first, since they are made before the first step.
     * Gradients come last, since they were made above the activations of the first step. States lie
     * in the holes that those activations left. */
    uint32_t weights = expected->weights, models = weights + expected->copies;
    uint32_t buckets = models + expected->buckets;
    uint32_t masters = buckets + expected->masters, main = masters + expected->main_gradients;
    uint32_t wide = main + expected->wide_copies, states = wide + expected->states;
    if (!trains && classifier->is_guess && classifier->phases->has_stacks && classifier->roles.few)
        *reason = REASON_PERSISTENT_DATA;
    else if (!trains)
        *reason = classifier->has_forward ? REASON_INFERENCE : REASON_NONE;
    else if (tally->flat > 0 && place < weights)
        *reason = REASON_FLAT_WEIGHTS;
    else if (place < weights)
        *reason = is_alone ? REASON_GRADIENT_SIZES : REASON_FIRST_OF_SIZE;
    else if (tally->flat > 0 && place >= masters && place < main)
        *reason = REASON_FLAT_GRADIENTS;
    else if (tally->is_factor && (place < models || tally->count == 0))
        *reason = REASON_STATE_FACTORS;
    else if (place < models)
        *reason = REASON_MODEL_COPY;
    else if (place < buckets)
        *reason = classifier->roles.in_buckets ? REASON_FLAT_GRADIENTS : REASON_COMMUNICATION;
    else if (place < masters)
        *reason = REASON_MASTER_SIZES;
    else if (place >= masters && place < main)
        *reason = REASON_MAIN_SIZES;
    else if (place >= main && place < wide)
        *reason = REASON_MODEL_COPY;
    else if ((place >= wide && place < states) || place < expected->narrow_states)
        *reason = REASON_STATE_SIZES;
    else if (place < states + expected->gradients)
        *reason = REASON_GRADIENTS_STAY;
    else if (size_tally_is_workspace(tally))
        *reason = REASON_WORKSPACE_SIZE;
    else if (expected->parts >
             0) /* the program may free an average of the weights, which has the same sizes */
        *reason = end == EVENT_NEVER || expected->parts == tally->persistent ? REASON_STATE_BYTES
                                                                             : REASON_MODEL_COPY;
    else if (classifier->roles.data && !classifier->has_sparse)
        *reason = REASON_PERSISTENT_DATA;
    else if (classifier->roles.kept && end != EVENT_NEVER)
        *reason = REASON_RELEASED_DATA;
    else
        *reason = REASON_PERSISTENT;
    return true;
}

enum reason classifier_buffer_reason(const struct classifier *classifier, uint64_t size,
                                     const struct stack_facts *facts, enum reason reason)
{
    const struct symbols *symbols = site_table_symbols(classifier->sites);
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    if (reason == REASON_MODEL_COPY && facts_are_of_plain_code(facts) &&
        facts_make_zeros(symbols, facts))
        return REASON_PLAIN_ZEROS;
    if (!facts || !tally || tally->flat == 0)
        return reason;
    if (reason == REASON_MASTER_SIZES &&
        text_equals(symbols_text(symbols, facts->site.op), "aten::zeros"))
        return REASON_FLAT_GRADIENTS;
    if (reason == REASON_FLAT_GRADIENTS && op_makes_input(symbols, facts->site.op))
        return REASON_MASTER_SIZES;
    return reason;
}
