/* Reads the frames of one stack: its call site, and the code that was running. */
#include "analysis/code/stack_reader.h"

static bool is_forward(const struct stack_reader *reader)
{
    return reader->role == ROLE_MODULE_CALL || reader->role == ROLE_FORWARD;
}

static enum context context_of(const struct stack_reader *reader)
{
    if (reader->recomputes && (is_forward(reader) || reader->role == ROLE_RECOMPUTE))
        return CONTEXT_RECOMPUTE;
    if (reader->in_transform) /* what came before goes on */
        return CONTEXT_NONE;
    /* An optimizer may run in a hook of a node: per parameter, as soon as its gradient is there. */
    if (reader->in_hook && reader->role == ROLE_OPTIMIZER)
        return CONTEXT_OPTIMIZER;
    if (reader->in_hook && reader->role == ROLE_ZERO_GRAD)
        return CONTEXT_ZERO_GRAD;
    if (reader->facts.site.has_backward)
        return reader->role == ROLE_MODULE_CALL ? CONTEXT_RECOMPUTE : CONTEXT_BACKWARD;
    switch (reader->role) {
    case ROLE_MODULE_CALL:
    case ROLE_FORWARD:
        return CONTEXT_FORWARD;
    case ROLE_BACKWARD:
        return CONTEXT_BACKWARD;
    case ROLE_RECOMPUTE:
        return CONTEXT_RECOMPUTE;
    case ROLE_OPTIMIZER:
        return CONTEXT_OPTIMIZER;
    case ROLE_ZERO_GRAD:
        return CONTEXT_ZERO_GRAD;
    case ROLE_MODEL_INIT:
        return CONTEXT_INIT;
    case ROLE_DATA_LOADING:
        return CONTEXT_DATA;
    default:
        break;
    }
    /* Python of torch alone: the program did not call it, but a thread of autograd may have. */
    return reader->facts.site.user_frame != NO_FRAME ? CONTEXT_OTHER : CONTEXT_NONE;
}

/* Moves the call site from functions that only allocate storage to the code that called them. One
 * such function may hold all memory of a program, for as many purposes as it has callers. */
static void leave_wrappers(struct site_table *table, struct stack stack,
                           struct stack_reader *reader)
{
    struct site *site = &reader->facts.site;
    struct frame_facts spare;
    bool makes_storage = !operator_computes(symbols_text(table->symbols, site->op));
    uint32_t caller = site->user_frame;
    while (makes_storage && site->user_frame != NO_FRAME &&
           site_frame_facts(table, stack.frames[site->user_frame], &spare)->is_wrapper) {
        do
            caller++;
        while (caller < stack.count &&
               site_frame_facts(table, stack.frames[caller], &spare)->kind == FRAME_NATIVE);
        if (caller == stack.count ||
            site_frame_facts(table, stack.frames[caller], &spare)->kind != FRAME_USER)
            return;
        site->user_frame = caller;
    }
}

/* A bucket begins without values; what the same function of ZeRO fills is something else. Python
 * frames alone do not tell. */
static void leave_filled_buckets(const struct site_table *table, struct stack_facts *facts)
{
    struct text op = symbols_text(table->symbols, facts->site.op);
    if (facts->bucket != BUCKET_ZERO || op.size == 0 || text_equals(op, "aten::empty"))
        return;
    facts->bucket = BUCKET_NONE;
    facts->communicates = false;
}

bool stack_facts_compute(struct site_table *table, stack_id id, struct stack_facts *facts,
                         struct error *err)
{
    struct stack stack = symbols_stack_at(table->symbols, id);
    struct stack_reader reader = {
        .facts = {.site = {.user_frame = NO_FRAME, .any_python_frame = NO_FRAME},
                  .own = OWN_RULES_NONE}};
    for (size_t i = 0; i < stack.count; i++) {
        struct frame_facts spare, *frame = site_frame_facts(table, stack.frames[i], &spare);
        if (reader.facts.own == OWN_RULES_NONE)
            reader.facts.own = frame->own;
        if (frame->kind != FRAME_NATIVE)
            read_python_frame(&reader, (uint32_t)i, frame);
        else if (frame->role != NATIVE_PLAIN &&
                 !read_native_frame(table, &reader, stack.frames[i], frame, err))
            return false;
    }
    struct site *site = &reader.facts.site;
    site->by_node = site->by_node && site->user_frame == NO_FRAME && site->node != STRING_EMPTY;
    if (site->op == STRING_EMPTY)
        site->op = reader.factory != STRING_EMPTY ? reader.factory
                   : site->node != STRING_EMPTY   ? site->node
                                                  : reader.collective;
    leave_filled_buckets(table, &reader.facts);
    leave_wrappers(table, stack, &reader);
    reader.facts.context = (uint8_t)context_of(&reader);
    if (reader.in_module && reader.facts.context == CONTEXT_FORWARD) {
        struct frame_facts spare;
        site_frame_facts(table, stack.frames[site->user_frame], &spare)->is_of_module = true;
    }
    reader.facts.is_known = true;
    *facts = reader.facts;
    return true;
}
