/* Facts about all allocations of one size. Without stacks, parameters, gradients and optimizer
 * states are told apart by the sizes that they share, and by the number of blocks of each size. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_SIZE_TALLY_H
#define MEMSNAP_ANALYSIS_CATEGORY_SIZE_TALLY_H

#include "analysis/category/category.h"
#include "analysis/phase/phases.h"

/* A count of the blocks of a size in each backward pass: the highest of any pass, that of the
 * present pass, and the number of the present pass. */
struct run_count {
    uint32_t most, now, pass;
};

/* Blocks of one size that gather: the number of passes, one after the other, that make such blocks
 * while those that they found are all still live. `last` is the last of them, and `until` the first
 * pass that frees one of their blocks. */
struct gathering {
    uint32_t most, now, last, until;
};

/* The number of blocks of one size that have each role, of the blocks that stay; see roles.h. The
 * members are in the order in which the blocks usually lie in memory. */
struct expected {
    uint32_t weights, copies, buckets, masters, main_gradients, wide_copies, states, gradients;
    uint32_t narrow_states; /* in a narrower type than the weights */
    uint32_t parts;         /* states of the parts of a weight that lies in one block */
};

struct size_tally {
    uint64_t size;
    struct run_count gradients; /* left by one backward pass */
    struct run_count fleeting;  /* those that are freed before the next backward pass */
    uint32_t live,
        most_live; /* gradients that are freed: the number that is live, and the highest */
    struct run_count accumulated; /* made in a backward pass and freed in it by AccumulateGrad */
    uint32_t parameters;          /* known to be parameters: made while a model was built */
    uint32_t made;                /* the parameters that are made in the trace */
    uint32_t weights_replaced;    /* parameters that a forward pass freed */
    uint32_t
        persistent;    /* blocks of unknown role from the start of the trace that are never freed */
    uint32_t released; /* the persistent ones that are freed when the program ends */
    uint32_t placed;   /* the persistent ones whose role has been decided */
    bool is_late;      /* of blocks that may be weights of a later model; for late_models.c */
    uint32_t early;    /* all blocks that existed before the first step and stay */
    uint32_t ended;    /* from before the trace, without a stack, freed in it */
    uint32_t replaced; /* from before the trace, without a stack, freed in an optimizer step */
    uint32_t made_in_step;    /* made by an optimizer step, and stay */
    uint32_t made_in_earlier; /* by their stacks, made by optimizer steps before the trace; stay */
    struct run_count renewed; /* made by an optimizer step and freed in a later one */
    uint32_t count;           /* number of gradients, as decided by roles_count() */
    uint32_t wide; /* number of further gradients that are copies of gradients of half the size */
    struct run_count left;  /* left by a backward pass, without stacks; for early_sizes.c */
    uint32_t leaves_passes; /* passes but the last that leave blocks of the size for good */
    uint32_t leaves_last;   /* 1 + the last such pass */
    uint32_t kept,
        gone; /* left for good by passes; and `kept` when others of the size last came and went */
    struct run_count listed;        /* members of the list of tensors that plain code made last */
    uint32_t late;                  /* made while the program trains; for late_factors.c */
    struct gathering gathers;       /* of the late ones */
    uint32_t oldest;                /* index of the first lifetime; for held_graphs.c */
    uint32_t live_weights, grouped; /* for plain_weights.c */
    uint32_t kept_passes;  /* number of passes whose step made activations or inputs that stay */
    uint32_t kept_last;    /* 1 + the last such pass */
    uint8_t kept_category; /* the category of what that pass made */
    uint32_t rank; /* position in the order in which a pass makes gradients; 0 if not known */
    struct expected expected;
    uint8_t flat; /* 1 if the size is that of a flat buffer of all weights, 2 if of one in a wider
                     type; else 0 */
    uint8_t
        twin[PHASE_COUNT]; /* by phase: 1 + the category of the first block made in the trace that
                              outlived its own phase and was freed in this phase; 0 if none */
    bool leaves_freed;     /* a block that a pass leaves is freed later, but before the end */
    bool has_input, has_activation; /* in the end, outlives its run; for preexisting_ends.c */
    bool is_dropped;     /* a hook frees gradients of this size during the backward pass */
    bool is_renewed;     /* each step makes the weights of this size anew, from masters */
    bool is_factor;      /* blocks that are neither weights nor states are Kronecker factors */
    bool is_late_factor; /* late ones have the size of such a factor */
    bool is_from_before; /* a block is older than the trace; for held_graphs.c */
    bool used;
    bool is_flat;   /* plain code joined gradients to a vector of this size */
    bool is_vector; /* plain code joined weights to a vector of this size */
};

/* PyTorch makes a workspace of cuBLAS for each stream. Weights may have the same size. */
#define MOST_WORKSPACES 2

/* True if the blocks of this size that stay look like workspaces: there are only a few, and no
 * gradients of this size. */
static inline bool size_tally_is_workspace(const struct size_tally *tally)
{
    return tally->size == HOPPER_WORKSPACE && tally->gradients.most == 0 &&
           tally->accumulated.most == 0 && tally->parameters == 0 && tally->made_in_step == 0 &&
           tally->persistent <= MOST_WORKSPACES;
}

/* leaked_sizes.c: true if several passes leave blocks of the size, and none is freed. */
bool size_tally_leaks(const struct size_tally *tally);

struct size_tallies {
    struct size_tally *slots; /* open addressing, a power of two */
    size_t slot_count, used, capacity;
    uint64_t seed;
    struct budget *budget; /* not owned */
};

void size_tallies_init(struct size_tallies *tallies, struct budget *budget);
void size_tallies_release(struct size_tallies *tallies);
/* The tally of a size, added if absent; valid until the next call. NULL on failure. */
struct size_tally *size_tallies_at(struct size_tallies *tallies, uint64_t size, struct error *err);
/* The tally of a size, or NULL. */
const struct size_tally *size_tallies_find(const struct size_tallies *tallies, uint64_t size);
/* The bytes of all weights, by the sizes and counts of their gradients. */
double size_tallies_weight_bytes(const struct size_tallies *tallies);

/* Counts one block in a pass. */
void run_count_add(struct run_count *count, uint32_t pass);
/* Adds a block that one pass makes and another frees. The blocks come in the order of their making.
 */
void gathering_add(struct gathering *gathering, uint32_t made, uint32_t freed);

/* The number of gradients of this size that one backward pass makes, or several passes of different
 * models. `stay`: gradients are never freed, but added to. */
uint32_t size_tally_gradients(const struct size_tally *tally, bool stay);

#endif
