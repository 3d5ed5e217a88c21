/* Batches that plain code puts together from stored data, as after rollouts. */
#include "analysis/category/traced_reason.h"

#include "analysis/phase/births.h"
#include "base/text.h"

/* True if a function of torch.nn.functional makes an allocation. Python frames show no other
 * operators. */
static bool is_functional(const struct classifier *classifier, stack_id id)
{
    const struct symbols *symbols = site_table_symbols(classifier->sites);
    struct stack stack = symbols_stack_at(symbols, id);
    if (id == STACK_NONE || stack.count == 0)
        return false;
    struct text file = symbols_text(symbols, symbols_frame_at(symbols, stack.frames[0]).file);
    return text_ends(file, "torch/nn/functional.py") || text_ends(file, "torch\\nn\\functional.py");
}

bool op_picks_rows(struct text op)
{
    static const char *const names[] = {"aten::index", "aten::index_select", "aten::gather"};
    return text_is_one_of(op, names, sizeof(names) / sizeof(names[0]));
}

/* True for operators that put a batch together from stored data. */
static bool op_collects(struct text op)
{
    return text_equals(op, "aten::stack") || text_equals(op, "aten::cat") || op_picks_rows(op);
}

/* True if an allocation is a copy, in another type or layout, of a tensor that was put together
 * right before it, and that the program drops then. */
static bool copies_collected(const struct classifier *classifier, const struct evidence *evidence)
{
    const struct timeline *timeline = classifier->timeline;
    size_t index = evidence->index;
    if (index == 0 || classifier->phases->of_lifetime[index - 1].birth != evidence->birth_run)
        return false;
    const struct lifetime *copied = &timeline->lifetimes[index - 1];
    uint32_t next =
        index + 1 < timeline->lifetime_count ? timeline->lifetimes[index + 1].alloc : EVENT_NEVER;
    uint32_t end = lifetime_end(copied);
    struct error err; /* cannot fail, because that allocation was classified before */
    const struct stack_facts *facts =
        site_stack_facts(classifier->sites, timeline->trace->stack[copied->alloc], &err);
    return facts && facts->context == CONTEXT_OTHER && end > timeline->lifetimes[index].alloc &&
           end < next &&
           op_collects(symbols_text(site_table_symbols(classifier->sites), facts->site.op));
}

bool plain_collects(const struct classifier *classifier, const struct evidence *evidence)
{
    struct text op = symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op);
    if (op.size == 0)
        return !is_functional(classifier, evidence->birth_stack);
    return op_collects(op) || copies_collected(classifier, evidence);
}
