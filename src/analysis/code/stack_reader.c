/* Reads the frames of one stack: its call site, and the code that was running. */
#include <string.h>

#include "analysis/code/frames.h"
#include "analysis/code/site_table.h"

/* Sets *name to the string id of an operator's or node's name. */
static bool native_name(struct site_table *table, frame_id id, struct frame_facts *facts,
                        string_id *name, struct error *err)
{
    if (facts->name == STRING_EMPTY) {
        char text[NATIVE_NAME_SIZE];
        struct frame frame = symbols_frame_at(table->symbols, id);
        native_classify(symbols_text(table->symbols, frame.name), text);
        if (!symbols_string(table->symbols, text, strlen(text), &facts->name, err))
            return false;
    }
    *name = facts->name;
    return true;
}

/* State while the frames of a stack are read, innermost first. */
struct stack_reader {
    struct stack_facts facts;
    string_id factory;    /* the outermost operator so far that only allocates storage */
    string_id collective; /* the innermost collective that has a name */
    enum frame_role
        role; /* of the innermost Python evidence; a module's call outranks its forward */
    bool
        recomputes; /* further out is torch.utils.checkpoint's backward half, or another backward */
    bool op_closed; /* no operator further out may replace `factory` */
    bool in_hook;   /* `role` was found inside of everything that autograd runs */
    bool in_transform;      /* torch.func itself runs, not the user's function in it */
    bool in_data_transform; /* a transform of torchvision runs; no model outside it is known yet */
    bool in_graph_code; /* torch.fx generated the code, and no code of the user's is known yet */
    bool in_module;     /* the user frame is part of a module that is called */
    bool in_closure;    /* the code runs in a closure, which an optimizer step calls */
};

/* Code of the user's that autograd runs, without a backward() in between, is a hook. */
static void enter_backward(struct stack_reader *reader)
{
    struct site *site = &reader->facts.site;
    reader->facts.by_hook |=
        !site->has_backward && site->user_frame != NO_FRAME && reader->role == ROLE_NONE;
    site->has_backward = true;
}

/* Reads an operator. The innermost one names what is allocated; those further out may show that it
 * is their result: one_hot() makes zeros, and then sets the ones. */
static bool read_operator(struct site_table *table, struct stack_reader *reader, frame_id id,
                          struct frame_facts *facts, struct error *err)
{
    struct site *site = &reader->facts.site;
    string_id name;
    if (reader->op_closed)
        return true;
    if (site->op == STRING_EMPTY)
        return native_name(table, id, facts, &site->op, err);
    if (reader->facts.fills_result ||
        !operator_makes_storage(symbols_text(table->symbols, site->op)))
        return true;
    if (!native_name(table, id, facts, &name, err))
        return false;
    reader->facts.fills_result = operator_computes(symbols_text(table->symbols, name));
    return true;
}

static bool evaluates_node(const struct site_table *table, frame_id id)
{
    struct frame frame = symbols_frame_at(table->symbols, id);
    struct text name = symbols_text(table->symbols, frame.name);
    return text_starts(name, "torch::autograd::Engine::evaluate_function") ||
           text_starts(name, "torch::autograd::Node::operator()");
}

static bool read_native(struct site_table *table, struct stack_reader *reader, frame_id id,
                        struct frame_facts *facts, struct error *err)
{
    struct site *site = &reader->facts.site;
    bool no_python = site->any_python_frame == NO_FRAME;
    switch ((enum native_role)facts->role) {
    case NATIVE_TO_DEVICE:
    case NATIVE_OPERATOR:
        reader->facts.to_device = reader->facts.to_device || facts->role == NATIVE_TO_DEVICE;
        reader->facts.in_operator = true;
        return read_operator(table, reader, id, facts, err);
    case NATIVE_FACTORY:
        reader->facts.in_operator = true;
        return site->op != STRING_EMPTY || reader->op_closed ||
               native_name(table, id, facts, &reader->factory, err);
    case NATIVE_NODE: {
        string_id name;
        enter_backward(reader);
        reader->facts.evaluates = true;
        if (!native_name(table, id, facts, &name, err))
            return false;
        if (site->node == STRING_EMPTY)
            site->node = name;
        if (text_equals(symbols_text(table->symbols, name), "AccumulateGrad"))
            reader->facts.accumulates_grad = true;
        return true;
    }
    case NATIVE_ENGINE:
        enter_backward(reader);
        reader->facts.evaluates |= evaluates_node(table, id);
        return true;
    case NATIVE_AUTOCAST:
        reader->facts.is_autocast = true;
        return true;
    case NATIVE_AUTOCAST_END:
        reader->facts.ends_autocast = true;
        return true;
    case NATIVE_SAVED_RELEASE:
        reader->facts.releases_saved = true;
        reader->facts.releases_graph = true;
        return true;
    case NATIVE_GRAPH_RELEASE:
        reader->facts.releases_graph = true;
        return true;
    case NATIVE_COMMUNICATION:
        reader->facts.communicates = reader->facts.communicates || no_python;
        return reader->collective != STRING_EMPTY ||
               native_name(table, id, facts, &reader->collective, err);
    case NATIVE_UNFUSED:
        reader->facts.attention = ATTENTION_UNFUSED;
        return true;
    case NATIVE_WORKSPACE:
        reader->facts.is_workspace = reader->facts.is_workspace || no_python;
        return true;
    case NATIVE_PLAIN:
        break;
    }
    return true;
}

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

static bool is_forward(const struct stack_reader *reader)
{
    return reader->role == ROLE_MODULE_CALL || reader->role == ROLE_FORWARD;
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

static void read_python(struct stack_reader *reader, uint32_t index,
                        const struct frame_facts *facts)
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
    }
    if (site->user_frame == NO_FRAME && facts->kind == FRAME_USER)
        site->user_frame = index;
    /* Operators outside of this Python frame did not ask for the storage. */
    reader->op_closed = reader->op_closed || reader->factory != STRING_EMPTY;
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
            read_python(&reader, (uint32_t)i, frame);
        else if (frame->role != NATIVE_PLAIN &&
                 !read_native(table, &reader, stack.frames[i], frame, err))
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
