#include "analysis/code/site.h"

#include "analysis/code/frames.h"
#include "analysis/code/site_table.h"
#include "analysis/code/torch_functions.h"

const struct stack_facts *site_stack_facts(struct site_table *table, stack_id stack,
                                           struct error *err)
{
    if (stack >= table->stack_count &&
        !site_cache_cover(&table->stacks, &table->stack_count, symbols_stack_count(table->symbols),
                          sizeof(*table->stacks))) {
        error_out_of_memory(err);
        return NULL;
    }
    struct stack_facts *facts = &table->stacks[stack];
    if (!facts->is_known && !stack_facts_compute(table, stack, facts, err))
        return NULL;
    return facts;
}

bool site_stacks_include(struct site_table *table, struct stacks_include *include,
                         struct error *err)
{
    for (; table->included < symbols_stack_count(table->symbols); table->included++) {
        const struct stack_facts *facts = site_stack_facts(table, table->included, err);
        if (!facts)
            return false;
        if (facts->is_autocast || facts->ends_autocast)
            table->include.autocast = true;
        if (facts->is_kv_cache)
            table->include.kv_cache = true;
        if (facts->is_benchmark)
            table->include.benchmark = true;
    }
    *include = table->include;
    return true;
}

struct text site_operator(const struct site_table *table, const struct stack_facts *facts)
{
    return facts->site.op != STRING_EMPTY ? symbols_text(table->symbols, facts->site.op)
                                          : torch_function_op((enum torch_function)facts->function);
}

bool site_is_hook_copy(struct site_table *table, stack_id stack)
{
    struct error err; /* cannot fail: the stack was looked up before */
    const struct stack_facts *facts = site_stack_facts(table, stack, &err);
    return facts && facts->by_hook;
}

bool site_of(struct site_table *table, stack_id stack, struct site *site, struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(table, stack, err);
    if (!facts)
        return false;
    *site = facts->site;
    return true;
}

void site_at_model_call(struct site_table *table, stack_id id, struct site *site)
{
    struct stack stack = symbols_stack_at(table->symbols, id);
    size_t caller = stack.count, i = stack.count;
    while (i-- > 0) {
        struct frame_facts spare, *frame = site_frame_facts(table, stack.frames[i], &spare);
        if (frame->kind == FRAME_NATIVE)
            continue;
        if (frame->role == ROLE_MODULE_CALL || frame->role == ROLE_FORWARD)
            break;
        if (frame->kind == FRAME_USER)
            caller = i;
    }
    if (i < stack.count && caller < stack.count)
        site->user_frame = (uint32_t)caller;
}

bool site_is_of_module(struct site_table *table, stack_id stack, const struct site *site)
{
    struct frame_facts spare;
    return site->user_frame != NO_FRAME &&
           site_frame_facts(table, symbols_stack_at(table->symbols, stack).frames[site->user_frame],
                            &spare)
               ->is_of_module;
}

bool site_in_function(struct site_table *table, stack_id id, const struct site *site)
{
    struct stack stack = symbols_stack_at(table->symbols, id);
    struct frame_facts spare;
    if (site->user_frame == NO_FRAME)
        return false;
    struct frame frame = symbols_frame_at(
        table->symbols, site_original_frame(table, stack.frames[site->user_frame]));
    if (!text_equals(symbols_text(table->symbols, frame.name), "forward"))
        return false;
    size_t i = (size_t)site->user_frame + 1;
    while (i < stack.count &&
           site_frame_facts(table, stack.frames[i], &spare)->kind == FRAME_NATIVE)
        i++;
    return i < stack.count && site_frame_facts(table, stack.frames[i], &spare)->kind == FRAME_USER;
}

static bool is_in_package(struct site_table *table, struct stack stack, const struct site *site)
{
    struct frame_facts spare;
    return site->user_frame != NO_FRAME &&
           site_frame_facts(table, stack.frames[site->user_frame], &spare)->is_package;
}

bool site_at_package_call(struct site_table *table, stack_id id, struct site *site)
{
    struct stack stack = symbols_stack_at(table->symbols, id);
    struct site call = *site;
    if (!is_in_package(table, stack, site))
        return false;
    do
        if (!site_at_caller(table, id, &call))
            return false;
    while (is_in_package(table, stack, &call));
    *site = call;
    return true;
}

bool site_at_caller(struct site_table *table, stack_id id, struct site *site)
{
    struct stack stack = symbols_stack_at(table->symbols, id);
    size_t i = site->user_frame == NO_FRAME ? stack.count : (size_t)site->user_frame + 1;
    while (i < stack.count && site_frame_kind(table, stack.frames[i]) != FRAME_USER)
        i++;
    if (i >= stack.count)
        return false;
    site->user_frame = (uint32_t)i;
    return true;
}
