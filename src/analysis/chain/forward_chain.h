/* The layers of a model from an allocator snapshot: what a forward pass allocated for its backward,
 * in order of allocation, divided by the call tree of its Python stacks.
 *
 * The tree consists of the Python frames of the code under study, and of functions of torch that
 * are named forward; what only calls them (nn.Module.__call__) is left out. Two allocations belong
 * to the same call as long as their stacks agree on every line; a snapshot does not tell two calls
 * of a line apart. So a loop shows by its lines: a line that comes again after others did is the
 * next iteration. Lines are compared by when they first came, not by number: an expression may
 * span several. A call of one line that allocates at one line only, over and over, is no loop.
 *
 * Elements by default: the iterations of the loops whose activations are most of what surrounds
 * them (within an iteration, three quarters: the lines of a block repeat too), and the lines
 * before, between and behind these loops. An iteration that keeps more than half of everything is
 * divided further. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_FORWARD_CHAIN_H
#define MEMSNAP_ANALYSIS_CHAIN_FORWARD_CHAIN_H

#include "analysis/category/category.h"
#include "analysis/phase/steps.h"

enum chain_level {
    CHAIN_BLOCKS,  /* as above */
    CHAIN_CALLS,   /* the same, and what keeps memory in calls of modules and in other code is
                    * divided at these calls */
    CHAIN_LOOPS,   /* the same, where loops in checkpoints count by all that they allocate, and
                    * frozen layers before all others are iterations, too; modules that a
                    * torch.nn.Sequential calls are always elements, and of passes that are alike
                    * one is taken that makes gradients */
    CHAIN_LINES,   /* every line that allocates, with every line that calls it */
    CHAIN_DEPTH,   /* lines of the outermost forward (1), of what these call (2), and so on */
    CHAIN_PATTERN, /* lines whose "model.py:253 forward" matches; what lies between is one */
};

struct chain_options {
    enum chain_level level;
    size_t depth;        /* >= 1 */
    const char *pattern; /* site_pattern.h's, of the file's base name on */
    size_t most;         /* elements; beyond, neighbours are joined. >= 1 */
};

/* An element's output is not recorded: it is inferred from what its last line leaves behind. */
enum output_evidence {
    OUTPUT_NONE,    /* nothing that it made is live when it ends: its input is passed on */
    OUTPUT_LAST,    /* the largest allocation of its last line that is live when it ends */
    OUTPUT_REPEATS, /* the same, and equally large in most iterations of the loop */
};

const char *output_evidence_name(enum output_evidence evidence); /* "none", "last", "repeats" */

#define NO_LOOP UINT32_MAX

struct chain_loop {
    string_id name;      /* "model.py:253 forward", as of its iterations, without their number */
    uint32_t iterations; /* of this time that it ran */
    bool is_call;        /* an iteration is a call of one line, not several lines */
};

/* A stretch of the call tree. */
struct chain_part {
    string_id name;                /* "model.py:253 forward [3]"; unique */
    uint32_t loop;                 /* of which it is an iteration, or NO_LOOP */
    uint32_t iteration;            /* from 0 */
    bool keeps;                    /* something for backward */
    uint32_t first_call, end_call; /* in chain->calls: calls of modules that keep all it keeps; none
                                      if other code keeps some of it */
};

/* A call of a module within the model. */
struct chain_call {
    string_id line; /* "model.py:50 [3/12] > block.py:12": the line that made it, behind the calls
                     * around it, with the numbers of those that are one of several of their line */
    uint32_t number, total; /* among the calls of that line in the same call around it */
    uint32_t first_allocation, end_allocation; /* that it makes, among those of the model; beyond
                                                * all of them if they are not known */
    uint32_t run, runs; /* of the model: in which of them it is, and how many the pass has */
    uint32_t model; /* calls with the same number are in the same outermost forward; 0: stacks do
                       not tell */
};

struct chain_element {
    uint32_t first_part, end_part; /* one part, unless neighbours were joined */
    uint32_t first_item;           /* in the trace; it ends where the next element begins */
    uint32_t allocations;          /* activations */
    uint32_t output_item;     /* of the trace: allocates its output; EVENT_NEVER with OUTPUT_NONE */
    uint32_t reader_item;     /* allocates in the backward operator of what made the output, if that
                               * reads the output, as that of a ReLU does; else EVENT_NEVER */
    int64_t activation_bytes; /* kept for backward */
    int64_t held_bytes;       /* part of activation_bytes: of chain->held */
    int64_t output_bytes;
    bool output_passes;   /* the next element frees the output, which is no activation then */
    bool branches;        /* more than the next element uses what it made */
    int64_t passed_bytes; /* of chain->rests: what the next element gets beside its output */
    int64_t forward_extra_bytes;  /* most that is there while it runs, beyond all activations so far
                                   */
    int64_t backward_extra_bytes; /* the same of its backward, beyond the gradient of its output */
    uint32_t backward_end;        /* the item with which its backward ends */
    int64_t forward_ns; /* see chain->timed; that of the median iteration within a loop of equals
                         */
    int64_t weight;     /* see chain->weighed */
    enum output_evidence output_from;
    bool checkpointed; /* it ran within torch.utils.checkpoint */
};

/* All calls of an operator in an element. */
struct chain_operator {
    string_id name; /* "aten.addmm" */
    uint32_t element;
    int64_t kept_bytes;    /* of its results that the element keeps for backward */
    int64_t held_bytes;    /* part of kept_bytes: of chain->held */
    int64_t passing_bytes; /* of its other results, which the pass frees when it has used them */
    int64_t forward_ns;    /* part of the element's */
    int64_t weight;        /* see chain->weighed */
    bool must_run;         /* it draws random numbers, or may */
    bool is_costly;        /* it takes much more time for its bytes than others do */
};

/* A tensor that the forward pass makes and frees: a call of modules returns it besides its output,
 * or other code makes it as an input of the call. */
struct chain_rest {
    uint32_t item; /* of the trace: allocates it */
    uint32_t end;  /* frees it, after the next element has begun, or when the call is over */
    uint32_t element;
    uint64_t bytes;
    bool passes; /* the next element has a gradient for it: it is an input of that */
    bool enters; /* other code made it, for calls of this element: it is an input of this one */
};

/* An activation that the program may hold in its forward pass, whatever a checkpoint drops. */
struct chain_doubt {
    uint32_t item;  /* of the trace: allocates it */
    uint32_t until; /* the item that frees what the program holds beside it */
};

/* An allocation for a result of an operator. */
struct chain_result {
    uint32_t item;     /* of the trace */
    uint32_t operator; /* index in chain->operators */
    bool is_kept;      /* for backward; otherwise the pass frees it */
};

/* Another pass of the same step. */
struct chain_pass {
    uint32_t first, end; /* items */
    bool alike;          /* of the same model, as where gradients are accumulated */
};

/* The moment at which code outside of the step has the most memory. */
struct chain_elsewhere {
    uint64_t bytes; /* allocated at that moment, in PyTorch's blocks; 0: there is no such code */
    uint64_t event; /* the allocation that reaches it: its index in the file */
    struct text at; /* the line that called the model there, or that allocates; in the symbols */
};

enum chain_absence {
    CHAIN_FOUND,
    CHAIN_NO_BACKWARD,    /* no backward pass behind a forward pass */
    CHAIN_NO_STACKS,      /* no Python stacks */
    CHAIN_NO_ACTIVATIONS, /* a backward pass, but nothing kept for it */
    CHAIN_UNMATCHED,      /* CHAIN_PATTERN matches no line */
};

struct forward_chain {
    enum chain_absence absence; /* the rest is valid only for CHAIN_FOUND */
    struct chain_element *elements;
    size_t count;
    struct chain_part *parts;
    size_t part_count;
    struct chain_loop *loops;
    size_t loop_count;
    struct chain_call *calls;
    size_t call_count, call_capacity;
    bool calls_in_loop;   /* the program calls modules in a loop, for all that stacks tell */
    uint32_t allocations; /* of the model's forward, freed in it or not */
    size_t joined;        /* number of elements before neighbours were joined; 0 if none were */

    /* the pass: items first..backward-1 are its forward, backward..end-1 its backward */
    uint32_t first, backward, end;
    uint32_t step_first, step_end; /* its step, or the pass without steps */
    struct chain_pass *others;     /* of the step, in order */
    size_t other_count, other_capacity;
    struct chain_elsewhere elsewhere; /* checkpoints do not change it, such as evaluation under
                                         no_grad */
    struct chain_elsewhere unused;    /* it keeps activations, but no backward pass uses them: that
                                         checkpoints lower it is known, not by how much */
    uint32_t *kept; /* the items that allocate activations which its elements keep, ascending */
    size_t kept_count, kept_capacity;
    uint32_t *casts; /* those of them that allocate autocast's copies of weights */
    size_t cast_count, cast_capacity;
    uint32_t *held; /* those of them that the backward pass leaves behind, since the program holds
                       them; without outputs of elements */
    size_t held_count, held_capacity;
    struct chain_rest *rests; /* by element and item */
    size_t rest_count, rest_capacity;
    struct chain_doubt *doubts; /* by item; no outputs of elements */
    size_t doubt_count, doubt_capacity;
    uint64_t first_event; /* index of item `first` in the file */
    bool has_step;        /* it is part of a step, of that number */
    int64_t step;
    bool at_peak;    /* the step with the highest value of the active curve */
    bool unfinished; /* ran out of memory before its backward pass or in it; the rest is missing */
    bool stopped;    /* in it */

    /* the highest value of the active curve, and its place in the trace */
    int64_t peak_bytes;
    enum phase peak_phase;
    bool has_peak_step;
    int64_t peak_step;

    bool timed;         /* by the host's time from one layer to the next, unless: */
    bool kernels_timed; /* by the kernels launched in between, from a profiler trace */
    int64_t backward_ns;

    int64_t activation_bytes; /* of all elements */
    /* Category activation at the peak of the active curve, and this chain's part of it. The rest
     * belongs to other passes or was recomputed in backward. What else the chain has was freed
     * before the peak or is allocated after it. */
    int64_t peak_category_bytes, peak_chain_bytes;
    struct text others_at;        /* the line that makes most of the rest, in the symbols */
    int64_t others_at_bytes;      /* 0: no line is known */
    struct text layer_results_at; /* the line that made most of what follows, in the symbols */
    int64_t layer_results_bytes;  /* of results of layers at that peak: growth/layer_results.h */
    int64_t recomputed_bytes;     /* activations that its backward recomputed */
    size_t checkpointed;          /* elements */
    bool transformed; /* torch.func differentiates it, in which checkpoints do not work */

    /* Without kernels, the time of an operator is unknown, but not its class. Then what it makes is
     * weighed: bytes that are kept count once, and the results of costly operators, kept or not,
     * as many times as operator_weight() says. An element's weight is the sum. */
    bool weighed;
    bool operators_named; /* the operators of some activations are known */

    struct chain_operator *operators; /* by element; none unless kernels_timed or weighed */
    size_t operator_count, operator_capacity;
    struct chain_result *results; /* of these operators, by item */
    size_t result_count, result_capacity;

    size_t element_capacity, part_capacity, loop_capacity;
    struct budget *budget; /* not owned */
};

/* Names are added to the symbols of the snapshot, in whose budget all of it counts. */
bool forward_chain_build(struct forward_chain *chain, const struct timeline *timeline,
                         struct site_table *sites, const struct chain_options *options,
                         struct error *err);
void forward_chain_release(struct forward_chain *chain);

/* All that an element keeps, calls of modules keep. */
bool chain_is_modules(const struct forward_chain *chain, size_t element);
/* The calls of an element that is modules. */
const struct chain_call *chain_first_call(const struct forward_chain *chain, size_t element);
const struct chain_call *chain_last_call(const struct forward_chain *chain, size_t element);
/* One checkpoint can hold both: the calls of element i+1 are the next ones of the line that made
 * those of element i, nothing is allocated in between, and neither the program nor later elements
 * use anything that these made, so that they return only what the next ones get. */
bool chain_goes_on(const struct forward_chain *chain, size_t i);

#endif
