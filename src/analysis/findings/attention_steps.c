#include "analysis/findings/attention_steps.h"

#include <string.h>

#include "analysis/code/paths.h"
#include "base/text.h"

/* True if a function or its file is named after attention. */
static bool is_named(const struct symbols *symbols, frame_id id)
{
    static const char *const names[] = {"attention", "Attention", "attn", "Attn"};
    return path_frame_is_named(symbols, id, names, sizeof(names) / sizeof(names[0]));
}

/* True for a line that computes attention, where only Python frames tell. */
static bool is_named_attention(const struct symbols *symbols, stack_id id,
                               const struct stack_facts *facts)
{
    struct stack stack = symbols_stack_at(symbols, id);
    return facts->attention == ATTENTION_MULTIHEAD ||
           (facts->site.user_frame != NO_FRAME &&
            is_named(symbols, stack.frames[facts->site.user_frame]));
}

static bool find_step(struct site_table *sites, stack_id stack, enum attention_step *step,
                      struct error *err)
{
    static const struct {
        const char *op;
        enum attention_step step;
    } steps[] = {
        {"aten::bmm", ATTENTION_STEP_PRODUCT},  {"aten::baddbmm", ATTENTION_STEP_PRODUCT},
        {"aten::add", ATTENTION_STEP_ADDITION}, {"aten::exp", ATTENTION_STEP_EXP},
        {"aten::div", ATTENTION_STEP_DIVISION}, {"aten::_softmax", ATTENTION_STEP_SOFTMAX}};
    const struct stack_facts *facts = site_stack_facts(sites, stack, err);
    if (!facts)
        return false;
    const struct symbols *symbols = site_table_symbols(sites);
    struct text op = site_operator(sites, facts);
    *step = ATTENTION_STEP_OTHER;
    if (facts_are_of_python(facts)) {
        if (!facts_are_forward(facts) || !is_named_attention(symbols, stack, facts))
            return true;
        if (op.size == 0)
            *step = ATTENTION_STEP_UNKNOWN;
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (facts_are_forward(facts) && !facts->is_workspace && text_equals(op, steps[i].op))
            *step = steps[i].step;
    return true;
}

bool attention_steps_open(struct attention_steps *steps, struct site_table *sites,
                          struct budget *budget, struct error *err)
{
    struct attention_steps made = {.sites = sites, .budget = budget};
    size_t count = symbols_stack_count(site_table_symbols(sites));
    if (!vec_reserve(made.of_stack, made.capacity, count + 1, budget, err))
        return false;
    memset(made.of_stack, 0, count + 1);
    *steps = made;
    return true;
}

bool attention_step_of(struct attention_steps *steps, stack_id stack, enum attention_step *step,
                       struct error *err)
{
    if (stack == STACK_NONE) {
        *step = ATTENTION_STEP_OTHER;
        return true;
    }
    if (steps->of_stack[stack] == 0) {
        if (!find_step(steps->sites, stack, step, err))
            return false;
        steps->of_stack[stack] = (uint8_t)(1 + *step);
    }
    *step = (enum attention_step)(steps->of_stack[stack] - 1);
    return true;
}

void attention_steps_close(struct attention_steps *steps)
{
    vec_free(steps->of_stack, steps->capacity, sizeof(*steps->of_stack), steps->budget);
    *steps = (struct attention_steps){0};
}
