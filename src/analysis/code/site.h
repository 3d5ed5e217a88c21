/* The call site of an allocation: which line of code it belongs to.
 *
 * The site is the innermost Python frame that is neither in torch nor in a package that only
 * forwards calls, with the innermost operator (at::_ops::NAME, or the autograd node such as
 * MulBackward0) beside it; never an unwinder or allocator frame. If that operator only allocates
 * storage (empty, resize_, ...), the operator that called it is taken instead. */
#ifndef MEMSNAP_ANALYSIS_CODE_SITE_H
#define MEMSNAP_ANALYSIS_CODE_SITE_H

#include "analysis/code/own_rules.h"
#include "base/buffer.h"
#include "base/symbols.h"

enum frame_kind {
    FRAME_USER,    /* Python code under study */
    FRAME_LIBRARY, /* Python in torch or in a package that only forwards calls, or the interpreter's
                      own */
    FRAME_NATIVE,  /* C and C++ frames: unwinder, allocator, operators, interpreter */
};

#define NO_FRAME UINT32_MAX

struct site {
    uint32_t user_frame;       /* index in the stack, NO_FRAME where there is none */
    uint32_t any_python_frame; /* innermost Python frame of any kind, or NO_FRAME */
    string_id op;              /* "aten::mul", "MulBackward0", or STRING_EMPTY */
    string_id node;            /* innermost autograd node, "MulBackward0", or STRING_EMPTY */
    bool has_backward;         /* an autograd engine or node frame is in the stack */
    bool by_node; /* `node` names the site: no user frame, and torch's own Python runs the node */
};

/* The index of the frame that names the site, or NO_FRAME. */
static inline uint32_t site_line(const struct site *site)
{
    return site->user_frame != NO_FRAME ? site->user_frame
           : site->by_node              ? NO_FRAME
                                        : site->any_python_frame;
}

/* The code that was running, according to one stack. */
enum context {
    CONTEXT_NONE,  /* no stack, or C++ frames that prove nothing */
    CONTEXT_OTHER, /* Python code, none of the following */
    CONTEXT_INIT,  /* making, loading, converting or moving a model */
    CONTEXT_DATA,  /* a DataLoader handing out a batch */
    CONTEXT_FORWARD,
    CONTEXT_BACKWARD,
    CONTEXT_RECOMPUTE, /* the forward pass recomputed in the backward pass (checkpointing) */
    CONTEXT_OPTIMIZER,
    CONTEXT_ZERO_GRAD,
};

/* Whether autograd was on, according to decorators in one stack. A `with` statement leaves no
 * frame. */
enum grad_mode {
    GRAD_UNKNOWN,
    GRAD_ON,           /* torch.enable_grad() */
    GRAD_PROBABLY_OFF, /* a decorator of PyTorch before 2.10, whose frame does not name the mode */
    GRAD_NO_GRAD,
    GRAD_INFERENCE_MODE,
};

/* What contains a tensor that copy.deepcopy() copies. Optimizer.state_dict() returns dictionaries
 * within dictionaries, Module.state_dict() an OrderedDict. */
enum copied_in {
    COPIED_ALONE,
    COPIED_IN_OBJECT,
    COPIED_IN_DICT,
    COPIED_IN_DICTS, /* a dictionary in a dictionary */
};

/* The code that computes attention with whole matrices. */
enum attention_code {
    ATTENTION_BY_HAND,   /* none of the following */
    ATTENTION_MULTIHEAD, /* torch.nn.MultiheadAttention, to return its weights */
    ATTENTION_UNFUSED, /* scaled_dot_product_attention(), if no fused kernel takes its arguments */
    ATTENTION_CODES,
};

/* Whose bucket an allocation is: gradients are copied to a bucket, and reduced there. */
enum bucket {
    BUCKET_NONE,
    BUCKET_DDP,  /* DistributedDataParallel */
    BUCKET_ZERO, /* DeepSpeed's ZeRO */
};

/* Everything that can be inferred from one stack. */
struct stack_facts {
    struct site site;
    uint8_t context;       /* enum context */
    uint8_t own;           /* category by the user's own rules, or OWN_RULES_NONE */
    bool is_known;         /* internal: computed */
    bool in_operator;      /* an at::_ops frame is in the stack */
    bool fills_result;     /* site.op only makes storage, for an operator that computes in it */
    bool accumulates_grad; /* an AccumulateGrad frame is in the stack */
    bool communicates;     /* allocated by c10d, by FSDP's buffers, or for `bucket` */
    uint8_t bucket;        /* enum bucket */
    bool is_transformed;   /* in a function that torch.func.grad() differentiates */
    bool by_hook;          /* the user's code allocates it in a hook of autograd, such as a copy of
                              a gradient, and not in the backward() of a function */
    bool is_history;       /* torch.optim.LBFGS allocates it, not its closure */
    bool is_sparse_adam;   /* torch.optim.SparseAdam allocates it, not its closure */
    bool is_loaded;        /* torch.load() or a library reads it from a file */
    bool is_deep_copy;     /* copy.deepcopy() copies a parameter */
    bool copies_tensor;    /* copy.deepcopy() copies a tensor */
    uint8_t copied_in;     /* enum copied_in, if it does */
    bool is_workspace;     /* allocated by a library for its scratch space */
    bool is_benchmark;     /* the same, of torch.compile or Triton, which times kernels on it */
    bool is_compiled;      /* allocated by a graph that torch.compile compiled */
    bool in_main;          /* a Python frame is a script's top level: not a thread of autograd */
    bool empties_cache;    /* torch.cuda.empty_cache(), called by the program */
    bool to_device;        /* Tensor.to(device) copies: the dtype may be the same */
    bool is_autocast;      /* autocast converts an argument of an operator */
    bool ends_autocast;    /* autocast drops its copies of weights */
    uint8_t attention; /* enum attention_code: what computes attention there, if anything does */
    bool takes_all_gradients; /* clip_grad_norm_() or GradScaler.unscale_() */
    bool is_kv_cache;         /* allocated by a library's own cache of keys and values */
    bool releases_graph;      /* a node of an autograd graph, or what it saved, is released */
    bool releases_saved;      /* a tensor that a node saved is released */
    bool evaluates;           /* a node of a graph runs, unlike where autograd's thread drops what
                                 the pass before has left to it */
    uint8_t grad_mode;        /* enum grad_mode */
    uint8_t function; /* enum torch_function, if no C++ frame is inside of the innermost Python
                         frame */
};

/* True for what a forward pass computes, or a checkpoint that repeats part of one inside a backward
 * pass. */
static inline bool facts_are_forward(const struct stack_facts *facts)
{
    return !facts->site.has_backward || facts->context == CONTEXT_RECOMPUTE;
}

/* True if Python's frames were recorded, but not the C++ frames inside of them. */
static inline bool facts_are_of_python(const struct stack_facts *facts)
{
    return facts->site.any_python_frame == 0 && facts->site.op == STRING_EMPTY;
}

struct site_table; /* the classification of every frame and stack in some symbols, made on demand */

/* Adds operator names to `symbols`, which outlives the table. */
struct site_table *site_table_create(struct symbols *symbols, struct error *err);
/* Sets the user's own rules, which stay the caller's; NULL: none. Call it before any other query of
 * the table. */
void site_table_set_rules(struct site_table *table, const struct own_rules *rules);
/* Takes the callers of a function as the call sites of what it allocates without computing
 * anything, from now on. Facts that were looked up before become invalid. Only the first few
 * functions count. */
void site_table_leave(struct site_table *table, string_id file, string_id name);
/* NULL: none. */
const struct own_rules *site_table_rules(const struct site_table *table);
void site_table_destroy(struct site_table *table);
struct symbols *site_table_symbols(const struct site_table *table);

enum frame_kind site_frame_kind(struct site_table *table, frame_id frame);
bool site_of(struct site_table *table, stack_id stack, struct site *site, struct error *err);
/* Makes the line that called the model the user frame of `site`: the innermost user frame outside
 * of every module. Leaves `site` alone if the stack has none. */
void site_at_model_call(struct site_table *table, stack_id stack, struct site *site);
/* If the user frame of `site` is in an installed package, makes the line of the program that called
 * the package the user frame; false if it is in none, or no such line is known. */
bool site_at_package_call(struct site_table *table, stack_id stack, struct site *site);
/* True if the user frame of `site` is a function named forward that other user code calls, and no
 * module: perhaps that of a torch.autograd.Function, whose apply() has no Python frame. */
bool site_in_function(struct site_table *table, stack_id stack, const struct site *site);
/* Makes the next user frame that is outward of the one of `site` its user frame; false if there is
 * none. */
bool site_at_caller(struct site_table *table, stack_id stack, struct site *site);
/* True if the line of a site also computes for a module that is called, in a stack that was looked
 * up before: then it is part of a model, whoever calls it. */
bool site_is_of_module(struct site_table *table, stack_id stack, const struct site *site);
/* True for the stack of a copy of a gradient that a hook makes: the copy is not in .grad, and
 * no zero_grad() frees it. Only for stacks that were looked up before, because it reports no
 * errors. */
bool site_is_hook_copy(struct site_table *table, stack_id stack);
/* The operator of an allocation: `site.op` or, without C++ frames, the one that torch's innermost
 * Python function calls; "" if neither is known. */
struct text site_operator(const struct site_table *table, const struct stack_facts *facts);
/* NULL on failure. Valid until stacks are added to the symbols. */
const struct stack_facts *site_stack_facts(struct site_table *table, stack_id stack,
                                           struct error *err);

/* Tells which kinds of stack occur in the symbols, so that a search for another kind can be
 * skipped. */
struct stacks_include {
    bool autocast, kv_cache,
        benchmark; /* is_autocast or ends_autocast; is_kv_cache; is_benchmark */
};

/* Fills `*include`. Looks up only stacks that were added since the last call. */
bool site_stacks_include(struct site_table *table, struct stacks_include *include,
                         struct error *err);

/* The line of the model that torch.fx generated the code of a frame from, if the file names it
 * (fx_original_trace); else the frame itself. */
frame_id site_original_frame(const struct site_table *table, frame_id frame);
/* The frame that represents the site, as site_line() says; false if it has none. */
bool site_frame(const struct site_table *table, stack_id stack, const struct site *site,
                frame_id *frame);
/* Orders lines of code that hold equally many bytes: by file, line and function. */
int site_frame_order(const struct site_table *table, frame_id a, frame_id b);

/* "model.py:39 forward"; without a user frame, the node of a backward pass that torch's Python
 * runs, or the innermost Python frame; else the operator; else "(no stack recorded)". Raw bytes
 * from the input: escape them for display. */
void site_label(const struct site_table *table, stack_id stack, const struct site *site,
                struct buffer *label);
/* The same with the last `file_size` bytes of the file's name; 0 means its base name. `brief`
 * shortens remarks: "MulBackward0 (backward)" for "MulBackward0 (backward pass,
 * no Python stack)". */
void site_label_long(const struct site_table *table, stack_id stack, const struct site *site,
                     size_t file_size, bool brief, struct buffer *label);

#endif
