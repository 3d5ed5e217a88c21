#include "analysis/growth/larger_batch.h"

#include "analysis/code/operators.h"
#include "analysis/phase/forward.h"

bool is_larger_batch(const struct growth_fit *fit, const struct site_group *group,
                     const struct stack_facts *facts, const struct symbols *symbols)
{
    if (fit->kind != GROWTH_GROWING || !fit->replaced)
        return false;
    struct text op = symbols_text(symbols, facts->site.op);
    if (op.size == 0)
        return group->category == CATEGORY_INPUT && group->source.own != STACK_NONE;
    return op_makes_input(symbols, facts->site.op) || operator_makes_storage(op);
}
