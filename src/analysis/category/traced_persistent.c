/* Blocks that are made before the first step of the trace and stay, such as parameters that plain
 * code makes. Their sizes decide, once those of all blocks are counted. */
#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
#include "base/text.h"

/* Cannot fail, because classify_traced() has already looked the stack up. */
static const struct stack_facts *birth_facts(const struct classifier *classifier,
                                             const struct lifetime *lifetime)
{
    struct error err;
    return site_stack_facts(classifier->sites, classifier->timeline->trace->stack[lifetime->alloc],
                            &err);
}

/* True if plain code copied an allocation to the device, or drew it there at random. What it
 * converts there to another type may be a weight, such as a quantized one, if the trace shows the
 * batches of later passes. */
static bool is_copied(const struct classifier *classifier, const struct stack_facts *facts)
{
    const struct symbols *symbols = site_table_symbols(classifier->sites);
    if (!facts_are_of_plain_code(facts))
        return false;
    bool is_converted = classifier->shows_copies && !facts->to_device &&
                        text_equals(symbols_text(symbols, facts->site.op), "aten::_to_copy");
    return facts->context == CONTEXT_DATA || (op_makes_input(symbols, facts->site.op) &&
                                              !(is_converted && classifier->batch_run > 0));
}

/* True if plain code made an allocation that cannot be a workspace of cuBLAS: an operator other
 * than a matrix product made it, or no result of a product was made right before it. C++ frames of
 * a product would have told earlier. */
static bool is_no_workspace(const struct classifier *classifier, const struct stack_facts *facts,
                            size_t index)
{
    return facts_are_of_plain_code(facts) &&
           (facts->in_operator || !classifier_follows_result(classifier, index));
}

bool classify_traced_persistent(struct classifier *classifier, struct categories *categories,
                                struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    bool seen_model = false;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        enum reason reason;
        seen_model = seen_model || reason_of(categories->why_lifetime[i]) == REASON_MODEL_MADE;
        if (phases_run_of(classifier->phases, lifetime->alloc) >= classifier->first_step_run)
            break;
        if (reason_of(categories->why_lifetime[i]) != REASON_NONE ||
            !classifier_stays(classifier, lifetime_end(lifetime)))
            continue;
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        if (!classifier_persistent(classifier, size, lifetime_end(lifetime), &reason, err))
            return false;
        const struct stack_facts *facts = birth_facts(classifier, lifetime);
        reason = classifier_buffer_reason(classifier, size, facts, reason);
        if (reason == REASON_WORKSPACE_SIZE && is_no_workspace(classifier, facts, i))
            reason = REASON_PREPARED;
        if (reason == REASON_PERSISTENT && facts_are_of_plain_code(facts))
            reason = REASON_PREPARED;
        if (reason == REASON_INFERENCE && seen_model && is_copied(classifier, facts))
            reason = REASON_COPIED; /* the batch of a first forward pass that did not end */
        categories->of_lifetime[i] = (uint8_t)reason_category(reason);
        /* Plain code also makes other things that stay, such as caches. Buckets are only known by
         * their sizes. */
        categories->why_lifetime[i] =
            reason_byte(reason, reason == REASON_COMMUNICATION ? DOUBT_GUESS
                                : reason == REASON_INFERENCE   ? DOUBT_INFERRED
                                                               : DOUBT_NONE);
    }
    return true;
}
