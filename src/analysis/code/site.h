/* The line of whose code an allocation belongs to.
 *
 * Site: the innermost Python frame that is neither in torch nor in a package that
 * only forwards calls; beside it the innermost operator (at::_ops::NAME, or the
 * autograd node such as MulBackward0). Never an unwinder or allocator frame.
 * Operators that only make storage (empty, resize_, ...) give way to the operator
 * that asked for it. */
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
};

/* What was running, as far as one stack tells. */
enum context {
    CONTEXT_NONE,  /* no stack, or C++ frames that prove nothing */
    CONTEXT_OTHER, /* Python code, none of the following */
    CONTEXT_INIT,  /* making, loading, converting or moving a model */
    CONTEXT_DATA,  /* a DataLoader handing out a batch */
    CONTEXT_FORWARD,
    CONTEXT_BACKWARD,
    CONTEXT_RECOMPUTE, /* the forward again, inside the backward pass (checkpointing) */
    CONTEXT_OPTIMIZER,
    CONTEXT_ZERO_GRAD,
};

/* Everything read off one stack. */
struct stack_facts {
    struct site site;
    uint8_t context;       /* enum context */
    uint8_t own;           /* category by the user's own rules, or OWN_RULES_NONE */
    bool is_known;         /* internal: computed */
    bool in_operator;      /* an at::_ops frame is in the stack */
    bool accumulates_grad; /* an AccumulateGrad frame is in the stack */
    bool communicates;     /* allocated by c10d or by FSDP's buffers */
    bool is_workspace;     /* allocated by a library for its scratch space */
};

struct site_table; /* classification of every frame and stack of a symbols, made on demand */

/* Adds operator names to `symbols`, which outlives the table. */
struct site_table *site_table_create(struct symbols *symbols, struct error *err);
/* From now on stacks are matched with a user's own rules, which stay the caller's; NULL: none. To
 * be called before anything is asked of the table. */
void site_table_set_rules(struct site_table *table, const struct own_rules *rules);
void site_table_destroy(struct site_table *table);
struct symbols *site_table_symbols(const struct site_table *table);

enum frame_kind site_frame_kind(struct site_table *table, frame_id frame);
bool site_of(struct site_table *table, stack_id stack, struct site *site, struct error *err);
/* NULL on failure. Valid until stacks are added to the symbols. */
const struct stack_facts *site_stack_facts(struct site_table *table, stack_id stack,
                                           struct error *err);

/* The frame that stands for the site: its user frame, else its innermost Python frame; false
 * without one. */
bool site_frame(const struct site_table *table, stack_id stack, const struct site *site,
                frame_id *frame);
/* The order of lines of code that hold as much as one another, wherever one is named: by file, line
 * and function. */
int site_frame_order(const struct site_table *table, frame_id a, frame_id b);

/* "model.py:39 forward"; without a user frame the innermost Python frame; else the operator;
 * else "(no stack recorded)". Raw bytes from the input: escape before showing. */
void site_label(const struct site_table *table, stack_id stack, const struct site *site,
                struct buffer *label);
/* The same with the last `file_size` bytes of the file's name instead of its base name; 0: the base
 * name. `brief`: with shorter remarks, "MulBackward0 (backward)" for "MulBackward0 (backward pass,
 * no Python stack)". */
void site_label_long(const struct site_table *table, stack_id stack, const struct site *site,
                     size_t file_size, bool brief, struct buffer *label);

#endif
