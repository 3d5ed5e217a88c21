/* The layers of a model, found in an allocator snapshot. The allocations that a forward pass makes
 * for its backward pass are taken in order, and divided by the call tree of their Python stacks.
 *
 * The call tree has the Python frames of the code under study and torch's functions named forward.
 * Frames that only call those, such as nn.Module.__call__, are left out. Two allocations belong to
 * the same call if their stacks agree on every line. A snapshot does not tell two calls from the
 * same line apart, so a loop is recognised by its lines: when a line appears again after other
 * lines, the next iteration has begun. Lines are compared by the order of their first appearance
 * and not by number, because an expression may span several lines. A line that is called over and
 * over and allocates at one line only is not recognised as a loop.
 *
 * By default, the elements of the chain are the iterations of loops, and the lines before, between
 * and after these loops. A loop counts if it holds at least half of the activations of the code
 * around it. Within an iteration it takes three quarters, because the lines of a block repeat too.
 * An iteration that keeps more than half of all activations, and has loops itself, is divided. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_FORWARD_CHAIN_H
#define MEMSNAP_ANALYSIS_CHAIN_FORWARD_CHAIN_H

#include "analysis/category/category.h"
#include "analysis/phase/steps.h"

enum chain_level {
    CHAIN_BLOCKS, /* the default described above */
    CHAIN_CALLS, /* like CHAIN_BLOCKS, but an element in which both module calls and other code keep
                  * memory is divided at the module calls */
    CHAIN_LOOPS, /* like CHAIN_BLOCKS, with four differences: all allocations of a checkpointed loop
                  * count, not only those that it keeps; frozen layers at the beginning of the
                  * model are elements; modules called by a torch.nn.Sequential, or by a
                  * line in a loop, are always elements, and so are lines if several of an
                  * iteration call modules; and among similar passes, one that makes gradients is
                  * chosen */
    CHAIN_LINES, /* each stack of lines that allocates */
    CHAIN_DEPTH, /* the lines of the outermost forward (1), of the functions that they call (2), and
                  * so on */
    CHAIN_PATTERN, /* the lines whose label, such as "model.py:253 forward", matches a pattern; the
                    * code between two of them is one element */
};

struct chain_options {
    enum chain_level level;
    size_t depth;        /* >= 1 */
    const char *pattern; /* see site_pattern.h; compared from the file's base name on */
    size_t most;         /* number of elements above which neighbours are joined; >= 1 */
    size_t inner; /* CHAIN_BLOCKS, CHAIN_CALLS: levels deeper at which a model that loops hold
                     less than half of is cut (by_depth) */
};

/* A snapshot does not record the output of an element. The output is inferred from the allocations
 * of the element's last line that are live when the element ends. */
enum output_evidence {
    OUTPUT_NONE,    /* no allocation of the element is live when it ends: it passes its input on */
    OUTPUT_LAST,    /* the largest live allocation of the last line that leaves one */
    OUTPUT_REPEATS, /* the same, and most iterations of the loop have an output of this size */
};

const char *output_evidence_name(enum output_evidence evidence); /* "none", "last", "repeats" */

#define NO_LOOP UINT32_MAX

struct chain_loop {
    string_id name;      /* "model.py:253 forward": the name of an iteration without its number */
    uint32_t iterations; /* in this run of the loop */
    bool is_call;        /* each iteration is a call from one line; otherwise it is several lines */
    bool is_nested;      /* it is in an iteration of another loop */
    frame_id frame;      /* that line or, of several, one of them; NO_FRAME if unknown */
    uint32_t first_line, last_line; /* of the function of `frame` */
};

/* A node of the call tree that the chain was cut at. */
struct chain_part {
    string_id name;     /* "model.py:253 forward [3]"; unique */
    string_id inner;    /* the name without the number of the outermost loop, as in a pass that
                           lacks this loop; the name itself if the part is in no loop */
    uint32_t loop;      /* the loop of which the part is an iteration, or NO_LOOP */
    uint32_t iteration; /* counted from 0 */
    uint32_t around;    /* the outermost loop over lines of a function in an iteration of which the
                           part is one of these lines, or a piece of it: a number; or NO_LOOP */
    uint32_t around_iteration;
    frame_id around_line;          /* that line */
    bool around_calls;             /* which calls a module */
    bool around_loops;             /* or one after another, in a loop within the iteration */
    bool in_package;               /* its line is in an installed package */
    bool keeps;                    /* it keeps memory for the backward pass */
    uint32_t first_call, end_call; /* its module calls in chain->calls; empty if code outside of
                                      module calls keeps any of its memory */
};

/* A call of a module within the model. */
struct chain_call {
    string_id line; /* "model.py:50 [3/12] > block.py:12": the calling line, after the lines of the
                     * enclosing calls. "[3/12]" means call 3 of the 12 that this line makes. */
    uint32_t number, total; /* position and count among the calls of this line in the enclosing call
                             */
    uint32_t first_allocation, end_allocation; /* the allocations of the call, counted from the
                                                * first one of the run that it is in */
    uint32_t of_allocations; /* the number of allocations that these are counted among: of the run
                              * or, for another model after it, up to the end of the last model */
    uint32_t run, runs; /* the run of the model that the call is in, and the number of runs in the
                           pass; 0 runs if there is only one */
    uint32_t model; /* calls with the same number are in the same outermost forward; 0 if stacks do
                       not tell */
    bool in_container; /* a container such as torch.nn.Sequential makes it, which passes on results
                          and nothing else */
};

struct chain_element {
    uint32_t first_part, end_part; /* one part, unless neighbours were joined */
    uint32_t first_item; /* where it begins in the trace; it ends where the next one begins */
    uint32_t calls_first, calls_end; /* the items of its module calls, without other code before and
                                      * after them; the whole element if these are not known
                                      * precisely, or memory ran out in the pass */
    uint32_t allocations;            /* number of activations */
    uint32_t output_item; /* the item that allocates its output; EVENT_NEVER with OUTPUT_NONE */
    uint32_t
        reader_item; /* If the backward operator of the output reads the output, as that of ReLU
                      * does: an item that this operator allocates. Otherwise EVENT_NEVER. */
    int64_t activation_bytes; /* kept for the backward pass */
    int64_t held_bytes;       /* the part of activation_bytes that is in chain->held */
    int64_t output_bytes;
    bool output_passes; /* the next element frees the output, so it is not kept for backward */
    bool branches;      /* elements after the next one also use tensors that this one made */
    bool splits; /* it has several module calls, and later elements use a tensor of one that is not
                  * the element's output, so that the calls are no chain */
    int64_t passed_bytes; /* tensors of chain->rests that the next element gets beside the output */
    int64_t forward_extra_bytes; /* most memory during its forward, above the activations of all
                                    elements so far, its own included */
    int64_t
        backward_extra_bytes; /* the same during its backward, without the gradient of its output
                               */
    uint32_t backward_end;    /* the item at which its backward ends */
    int64_t forward_ns; /* see chain->timed; iterations of a loop that keep the same have their
                           median */
    int64_t weight;     /* see chain->weighed */
    enum output_evidence output_from;
    bool checkpointed; /* it ran within torch.utils.checkpoint */
};

/* All calls of an operator in an element. */
struct chain_operator {
    string_id name; /* "aten.addmm" */
    uint32_t element;
    int64_t kept_bytes;    /* results that are kept for the backward pass */
    int64_t held_bytes;    /* the part of kept_bytes that is in chain->held */
    int64_t passing_bytes; /* results that the forward pass frees after use */
    int64_t forward_ns;    /* its part of the element's time */
    int64_t weight;        /* see chain->weighed */
    bool must_run;         /* it draws random numbers, or may do so */
    bool is_costly;        /* its time per byte of results is far above that of a copy */
};

/* A tensor that the forward pass makes and frees, and that crosses the border of an element: the
 * element returns it besides its output, or code before the element's module calls makes it as an
 * input for them. */
struct chain_rest {
    uint32_t item; /* allocates it */
    uint32_t end;  /* frees it: after the next element has begun, or for an input, when the calls
                      have ended */
    uint32_t element;
    uint64_t bytes;
    bool passes; /* it is an input of the next element, whose backward makes a gradient for it */
    bool enters; /* it is an input of this element, made by code outside of module calls */
    bool stays;  /* an input that later elements get, too; this element is the first */
};

/* An activation to which the program may hold a reference during its forward pass, so that a
 * checkpoint may not free it. */
struct chain_doubt {
    uint32_t item;  /* allocates it */
    uint32_t until; /* the item that frees the similar tensors that the program does hold */
};

/* The allocation of an operator's result. */
struct chain_result {
    uint32_t item;
    uint32_t operator; /* index in chain->operators */
    bool is_kept;      /* for the backward pass; otherwise the forward pass frees it */
};

/* Another pass of the same step. */
struct chain_pass {
    uint32_t first, end; /* items */
    bool alike;          /* of the same model, as with gradient accumulation */
};

/* The highest memory in code that the chain's checkpoints do not change. */
struct chain_elsewhere {
    uint64_t bytes;    /* allocated, in rounded sizes; 0 if there is no such code */
    uint64_t event;    /* the allocation that reaches this: its index in the file */
    struct text at;    /* the line that called the model or, outside of the model, the line that
                          allocates; owned by the symbols */
    bool has_backward; /* of `unused`: a backward pass follows that may use the activations */
};

enum chain_absence {
    CHAIN_FOUND,
    CHAIN_NO_BACKWARD,    /* no forward pass is followed by a backward pass */
    CHAIN_NO_STACKS,      /* no Python stacks */
    CHAIN_NO_ACTIVATIONS, /* there is a backward pass, but nothing is kept for it */
    CHAIN_UNMATCHED,      /* CHAIN_PATTERN matches no line */
};

struct forward_chain {
    enum chain_absence absence; /* the other members are valid only with CHAIN_FOUND */
    int64_t retained_bytes;     /* with CHAIN_NO_ACTIVATIONS: what graphs keep beyond their backward
                                 * passes, as retain_graph=True makes them */
    struct chain_element *elements;
    size_t count;
    struct chain_part *parts;
    size_t part_count;
    struct chain_loop *loops;
    size_t loop_count;
    struct chain_call *calls;
    size_t call_count, call_capacity;
    bool calls_in_loop; /* as far as stacks tell, code outside of the model calls modules in a loop
                         */
    uint32_t allocations; /* of the model's forward, including those that it frees itself */
    bool by_depth;        /* loops hold less than half of the model, so it is cut at lines */
    size_t joined;        /* number of elements before neighbours were joined; 0 if none were */

    /* The pass that the chain is made from. Items first..backward-1 are its forward pass, items
     * backward..end-1 its backward pass. */
    uint32_t first, backward, end;
    uint32_t step_first, step_end; /* the items of its step; those of the pass if there are no steps
                                    */
    struct chain_pass *others;     /* the other passes of the step, in order */
    size_t other_count, other_capacity;
    struct chain_elsewhere elsewhere; /* code without activations, such as evaluation under no_grad:
                                         checkpoints do not change it */
    struct chain_elsewhere unused; /* code that keeps activations, but for no backward pass, or not
                                      in a pass of this kind; checkpoints lower it by an amount that
                                      is not known */
    uint32_t *kept; /* the items that allocate the activations of all elements, ascending */
    size_t kept_count, kept_capacity;
    uint32_t *casts; /* those items of `kept` that allocate autocast's copies of weights */
    size_t cast_count, cast_capacity;
    uint32_t *held; /* those items of `kept`, ascending, that no checkpoint frees, because the
                       program holds the tensor beyond the backward pass, or its code beside modules
                       reads it there; outputs of elements are left out */
    size_t held_count, held_capacity;
    struct chain_rest *rests; /* ordered by element, then item */
    size_t rest_count, rest_capacity;
    struct chain_doubt *doubts; /* ordered by item; outputs of elements are left out */
    size_t doubt_count, doubt_capacity;
    uint64_t first_event; /* index of item `first` in the file */
    bool has_step;        /* the pass is in a step, whose number is `step` */
    int64_t step;
    bool at_peak;        /* this step has the highest value of the active curve */
    bool unfinished;     /* memory ran out before the backward pass or during it, so that the trace
                            lacks the rest */
    bool stopped;        /* memory ran out during the backward pass */
    size_t other_steps;  /* other steps in which the same model has a whole pass */
    size_t unlike_steps; /* those in which every such pass makes other calls than this one */
    bool unlike_apart;   /* these come all before the like ones or all after them, as in another
                          * stage of the training */

    /* The highest value of the active curve, and where it is in the trace. */
    int64_t peak_bytes;
    enum phase peak_phase;
    bool has_peak_step;
    int64_t peak_step;

    bool timed;         /* forward_ns and backward_ns are known */
    bool kernels_timed; /* they are the time of kernels, from a profiler trace; otherwise the time
                           that passed on the host */
    int64_t backward_ns;

    int64_t activation_bytes; /* of all elements */
    int64_t largest_bytes;  /* the largest allocation that is kept, other than a copy of weights: no
                             * checkpoint divides it */
    size_t largest_element; /* that makes it */
    bool largest_recurrent; /* a recurrent layer makes it */
    /* All activations at the peak of the active curve, and those of this chain. The others belong
     * to other passes, or were recomputed in the backward pass. Activations of the chain that are
     * in neither sum were freed before the peak or allocated after it. */
    int64_t peak_category_bytes, peak_chain_bytes;
    struct text others_at;        /* the line that made most of the others; owned by the symbols */
    int64_t others_at_bytes;      /* 0 if no line is known */
    struct text layer_results_at; /* the line that made most of layer_results_bytes */
    int64_t layer_results_bytes;  /* results of layers at that peak; see growth/layer_results.h */
    int64_t cache_bytes;      /* caches of keys and values that the forward pass of the chain makes
                               * and leaves, as transformers' models do by default */
    int64_t recomputed_bytes; /* activations that the backward pass recomputed */
    size_t checkpointed;      /* number of elements that are in checkpoints already */
    bool transformed;         /* torch.func computes the gradients; checkpoints do not work there */
    bool compiled;            /* torch.compile compiled what keeps most of it */

    /* Without kernels, the time of an operator is unknown, but its name tells whether it is costly.
     * The weight of an operator estimates its time: the bytes of its kept results or, if it is
     * costly, the bytes of all its results times operator_weight(). The weight of an element is the
     * sum over its operators, plus its activations of unknown operators. */
    bool weighed;         /* there is a costly operator */
    bool operators_named; /* the operators of some activations are known */

    struct chain_operator *operators; /* ordered by element; none if no operator is known */
    size_t operator_count, operator_capacity;
    struct chain_result *results; /* of these operators, ordered by item */
    size_t result_count, result_capacity;

    size_t element_capacity, part_capacity, loop_capacity;
    struct chain_options options; /* that it was built with */
    struct budget *budget;        /* not owned */
};

/* Adds names to the symbols of the snapshot, and takes memory from the snapshot's budget. */
bool forward_chain_build(struct forward_chain *chain, const struct timeline *timeline,
                         struct site_table *sites, const struct chain_options *options,
                         struct error *err);
void forward_chain_release(struct forward_chain *chain);

/* Visits the chain, and those of all finished passes in the trace that may run its layers
 * (pass_shares_layers()), in the order of the trace. The others are built with the same options,
 * and exist only during the visit; members that concern the whole trace are not set in them. */
typedef bool chain_visitor(void *context, const struct forward_chain *chain, struct error *err);
bool forward_chain_visit(const struct forward_chain *chain, const struct timeline *timeline,
                         struct site_table *sites, chain_visitor *visitor, void *context,
                         struct error *err);

/* True if calls of modules keep all that an element keeps. Only such an element has a first and a
 * last call. */
bool chain_is_modules(const struct forward_chain *chain, size_t element);
const struct chain_call *chain_first_call(const struct forward_chain *chain, size_t element);
const struct chain_call *chain_last_call(const struct forward_chain *chain, size_t element);
/* True if one checkpoint can wrap elements i and i+1. The first call of element i+1 must be the
 * next call of the line that made the last call of element i, with no allocation in between.
 * Neither the program nor later elements may use a tensor of element i, so that element i+1 gets
 * all that element i returns. */
bool chain_can_join(const struct forward_chain *chain, size_t i);

#endif
