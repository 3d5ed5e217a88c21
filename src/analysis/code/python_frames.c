/* Reads Python frames: they name the line of the user that allocates, and what calls it. */
#include "analysis/code/stack_reader.h"

/* Handles the roles that are facts of their own, and say that a model is being made as well. */
static enum frame_role read_model_fact(struct stack_facts *facts, enum frame_role role)
{
    facts->is_loaded = facts->is_loaded || role == ROLE_LOAD_WEIGHTS;
    facts->is_deep_copy = facts->is_deep_copy || role == ROLE_COPY_MODEL;
    return role == ROLE_LOAD_WEIGHTS || role == ROLE_COPY_MODEL ? ROLE_MODEL_INIT : role;
}

/* Handles the roles that are facts of their own, beside what the code does. */
static bool read_fact(struct stack_facts *facts, enum frame_role role, bool is_innermost)
{
    static const uint8_t modes[] = {
        [ROLE_NO_GRAD] = GRAD_NO_GRAD,
        [ROLE_INFERENCE_MODE] = GRAD_INFERENCE_MODE,
        [ROLE_ENABLE_GRAD] = GRAD_ON,
        [ROLE_SOME_GRAD_MODE] = GRAD_PROBABLY_OFF,
    };
    switch (role) {
    case ROLE_COMMUNICATION:
        facts->communicates = facts->communicates || is_innermost;
        return true;
    case ROLE_BUCKETS:
    case ROLE_ZERO_BUCKET:
        if (facts->site.any_python_frame == NO_FRAME) {
            facts->bucket = role == ROLE_BUCKETS ? BUCKET_DDP : BUCKET_ZERO;
            facts->communicates = true;
        }
        return true;
    case ROLE_LOAD:
        facts->is_loaded = facts->is_loaded || is_innermost;
        return true;
    case ROLE_EMPTY_CACHE:
        facts->empties_cache = true;
        return true;
    case ROLE_CAPTURE:
        facts->empties_cache = false;
        return true;
    case ROLE_AUTOCAST_END:
        facts->ends_autocast = facts->ends_autocast || is_innermost;
        return true;
    case ROLE_KV_CACHE:
        facts->is_kv_cache = facts->is_kv_cache || is_innermost;
        return true;
    case ROLE_BENCHMARK:
        facts->is_workspace = facts->is_benchmark = true;
        return true;
    case ROLE_COMPILED:
        facts->is_compiled = true;
        return true;
    case ROLE_GRAPH_CODE:
    case ROLE_OF_DYNAMO:
        return true;
    case ROLE_COPY_TENSOR:
        facts->copies_tensor = true;
        return true;
    case ROLE_COPY_DICT:
        if (facts->copied_in == COPIED_IN_DICT)
            facts->copied_in = COPIED_IN_DICTS;
        else if (facts->copies_tensor && facts->copied_in == COPIED_ALONE)
            facts->copied_in = COPIED_IN_DICT;
        return true;
    case ROLE_COPY_OBJECT:
        if (facts->copies_tensor && facts->copied_in == COPIED_ALONE)
            facts->copied_in = COPIED_IN_OBJECT;
        return true;
    case ROLE_ALL_GRADIENTS:
        facts->takes_all_gradients = true;
        return true;
    case ROLE_MULTIHEAD:
        if (facts->attention == ATTENTION_BY_HAND)
            facts->attention = ATTENTION_MULTIHEAD;
        return true;
    case ROLE_NO_GRAD:
    case ROLE_INFERENCE_MODE:
    case ROLE_ENABLE_GRAD:
    case ROLE_SOME_GRAD_MODE:
        if (facts->grad_mode == GRAD_UNKNOWN)
            facts->grad_mode = modes[role];
        return true;
    default:
        return false;
    }
}

/* torch.compile runs the graphs that it makes without compiling them further (backend="eager"), as
 * code of torch.fx. A traced model is such code as well, but calls its modules. */
static void read_graph_code(struct stack_reader *reader, enum frame_role role)
{
    bool is_inner = reader->facts.site.user_frame == NO_FRAME;
    reader->in_graph_code |= is_inner && role == ROLE_GRAPH_CODE;
    reader->facts.is_compiled |= is_inner && reader->in_graph_code && role == ROLE_OF_DYNAMO;
}

/* True for the code of one optimizer of torch.optim. */
static bool is_own_step(enum frame_role role)
{
    return role == ROLE_OWN_STEP || role == ROLE_HISTORY || role == ROLE_SPARSE;
}

/* The role of a frame that belongs to an optimizer step. An optimizer of torch.optim calls no code
 * of the user's but the closure, which computes the loss. */
static enum frame_role optimizer_role(struct stack_reader *reader, enum frame_role role)
{
    if (is_own_step(role) && reader->facts.site.user_frame != NO_FRAME) {
        reader->in_closure = true;
        /* the optimizer has turned autograd on again, although its step() runs without */
        if (reader->facts.grad_mode <= GRAD_PROBABLY_OFF)
            reader->facts.grad_mode = GRAD_ON;
    }
    reader->facts.is_history |= role == ROLE_HISTORY && !reader->in_closure;
    reader->facts.is_sparse_adam |= role == ROLE_SPARSE && !reader->in_closure;
    return reader->in_closure ? ROLE_NONE : ROLE_OPTIMIZER;
}

/* The role of a frame outside of a transform of torchvision. Transforms prepare batches, but are
 * modules, and so are containers of them. Only a forward() of other code shows that a model runs
 * them. */
static enum frame_role role_outside_transform(struct stack_reader *reader,
                                              const struct frame_facts *facts, enum frame_role role)
{
    if (role == ROLE_DATA_TRANSFORM) {
        reader->in_data_transform |= reader->role == ROLE_NONE;
        return ROLE_NONE;
    }
    if (!reader->in_data_transform || (role != ROLE_MODULE_CALL && role != ROLE_FORWARD))
        return role;
    if (role == ROLE_MODULE_CALL || facts->is_torch)
        return ROLE_NONE;
    reader->in_data_transform = false;
    return role;
}

void read_python_frame(struct stack_reader *reader, uint32_t index, const struct frame_facts *facts)
{
    struct site *site = &reader->facts.site;
    enum frame_role role = (enum frame_role)facts->role;
    reader->in_module |= role == ROLE_MODULE_CALL && site->user_frame != NO_FRAME;
    if (role == ROLE_OPTIMIZER || is_own_step(role))
        role = optimizer_role(reader, role);
    role = role_outside_transform(reader, facts, role);
    reader->facts.is_transformed |= role == ROLE_TRANSFORM;
    if (role == ROLE_TRANSFORM) /* the forward pass is the user's function */
        role = site->user_frame == NO_FRAME ? ROLE_BACKWARD : ROLE_FORWARD;
    if (role == ROLE_COMPILED_BACKWARD)
        role = reader->role = ROLE_BACKWARD;
    if (role == ROLE_TRANSFORM_END) {
        reader->in_transform = reader->in_transform || site->any_python_frame == NO_FRAME;
        role = ROLE_NONE;
    }
    read_graph_code(reader, role);
    role = read_model_fact(&reader->facts, role);
    if (read_fact(&reader->facts, role, site->user_frame == NO_FRAME && reader->role == ROLE_NONE))
        role = ROLE_NONE;
    if (reader->role == ROLE_NONE && role != ROLE_NONE)
        reader->in_hook = !site->has_backward;
    if (reader->role == ROLE_NONE || (reader->role == ROLE_FORWARD && role == ROLE_MODULE_CALL))
        reader->role = role;
    reader->recomputes = reader->recomputes || role == ROLE_RECOMPUTE ||
                         (role == ROLE_BACKWARD && reader->role == ROLE_MODULE_CALL);
    reader->facts.in_main = reader->facts.in_main || facts->is_top_level;
    if (site->any_python_frame == NO_FRAME) {
        site->any_python_frame = index;
        site->by_node = facts->is_torch;
        if (index == 0)
            reader->facts.function = facts->function;
    }
    if (site->user_frame == NO_FRAME && facts->kind == FRAME_USER)
        site->user_frame = index;
    /* Operators outside of this Python frame did not ask for the storage. */
    reader->op_closed = reader->op_closed || reader->factory != STRING_EMPTY;
}
