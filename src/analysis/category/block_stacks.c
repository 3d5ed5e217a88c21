#include "analysis/category/classifier.h"
#include "analysis/category/traced_reason.h"

/* True if a stack alone tells what an allocation is for. Without stacks, forward passes are not
 * certain: what lifetimes show to be a cache stays one. */
static bool decides(const struct stack_facts *facts, enum category category)
{
    switch ((enum context)facts->context) {
    case CONTEXT_INIT:
    case CONTEXT_DATA:
    case CONTEXT_OPTIMIZER:
    case CONTEXT_BACKWARD:
    case CONTEXT_RECOMPUTE:
        return true;
    case CONTEXT_FORWARD:
        return category != CATEGORY_KV_CACHE && category != CATEGORY_CAST_CACHE;
    case CONTEXT_OTHER:
    case CONTEXT_ZERO_GRAD:
    case CONTEXT_NONE:
        break;
    }
    return facts->is_workspace || facts->communicates;
}

/* The reason for the category by the stack; REASON_NONE if it does not tell. */
static enum reason reason_by_stack(const struct classifier *classifier,
                                   const struct evidence *evidence, enum category category)
{
    const struct stack_facts *facts = evidence->birth;
    if (facts->own != OWN_RULES_NONE)
        return REASON_RULE;
    if (decides(facts, category))
        return traced_reason(classifier, evidence);
    bool is_result = category == CATEGORY_ACTIVATION || category == CATEGORY_TEMPORARY ||
                     category == CATEGORY_UNKNOWN;
    return is_result && facts->to_device && facts_are_of_plain_code(facts) ? REASON_BATCH
                                                                           : REASON_NONE;
}

bool classify_block_stacks(struct classifier *classifier, struct categories *categories,
                           struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    for (size_t i = 0; i < timeline->block_stack_count; i++) {
        const struct block_stack *made = &timeline->block_stacks[i];
        const struct lifetime_runs *runs = &classifier->phases->of_lifetime[made->lifetime];
        const struct stack_facts *facts = site_stack_facts(classifier->sites, made->stack, err);
        if (!facts)
            return false;
        const struct evidence evidence = {.index = made->lifetime,
                                          .birth_stack = made->stack,
                                          .birth = facts,
                                          .end_stack = STACK_NONE,
                                          .birth_run = runs->birth,
                                          .end_run = runs->end};
        enum reason reason = reason_by_stack(
            classifier, &evidence, (enum category)categories->of_lifetime[made->lifetime]);
        if (reason == REASON_NONE)
            continue;
        categories->of_lifetime[made->lifetime] =
            reason == REASON_RULE ? facts->own : (uint8_t)reason_category(reason);
        categories->why_lifetime[made->lifetime] = reason_byte(reason, DOUBT_NONE);
    }
    return true;
}
