/* The facts about all allocations of one size. Parameters, gradients and optimizer states have
 * equal sizes and counts, which distinguishes them without stacks. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_SIZE_TALLY_H
#define MEMSNAP_ANALYSIS_CATEGORY_SIZE_TALLY_H

#include "analysis/phase/phases.h"

/* The maximum count of a size within one backward pass. */
struct run_count {
    uint32_t most, now, pass;
};

/* How many of the blocks of one size that stay have each role; see roles.h. In the order in which
 * they usually lie. */
struct expected {
    uint32_t weights, copies, masters, main_gradients, wide_copies, states, gradients;
    uint32_t parts; /* states of parts of a weight that lies in one block */
};

struct size_tally {
    uint64_t size;
    struct run_count gradients; /* left by one backward pass */
    struct run_count fleeting;  /* of those, freed before the next backward pass */
    uint32_t live, most_live;   /* such gradients at one time, of those that are freed */
    struct run_count
        accumulated;           /* made in one backward pass and used up there by AccumulateGrad */
    uint32_t parameters;       /* known parameters: made while a model was built */
    uint32_t made;             /* how many of those are made in the trace */
    uint32_t weights_replaced; /* parameters that a forward pass freed */
    uint32_t persistent;       /* of unknown role: from the start, never freed */
    uint32_t released;         /* how many of those are freed when the program ends */
    uint32_t placed;           /* how many of those have been given a role */
    uint32_t early;            /* all blocks that stay and were there before the first step */
    uint32_t replaced;         /* preexisting, no stack, freed in an optimizer step */
    uint32_t made_in_step;     /* made by an optimizer step and kept */
    struct run_count renewed;  /* made by one step and freed in a later one */
    uint32_t count;            /* gradients, as roles_solve() takes them */
    uint32_t wide;             /* and gradients that are copies of those of half the size */
    struct run_count left;     /* without stacks, by one backward pass; for early_sizes.c */
    uint32_t kept, gone;       /* left for good by passes; of those, before others came and went */
    struct run_count listed;   /* in a list of tensors that plain code makes */
    uint32_t late;             /* made while the program trains; for late_factors.c */
    uint32_t live_weights, grouped; /* for plain_weights.c */
    uint32_t kept_passes;           /* in which steps made activations or inputs that stay */
    uint32_t kept_last;             /* 1 + the last of them */
    uint8_t kept_category;          /* of what that made */
    uint32_t rank;                  /* in the order in which a pass makes gradients; 0 if unknown */
    struct expected expected;
    uint8_t flat;              /* of a flat buffer of all weights: 1, in a wider type: 2; else 0 */
    uint8_t twin[PHASE_COUNT]; /* by phase: 1 + category of the first that was made in the trace,
                                  outlived its phase and was freed in this one; 0 if none */
    bool is_dropped; /* a hook of the program frees gradients of this size in the backward pass */
    bool is_renewed; /* each step makes the weights of this size anew, from masters */
    bool is_factor;  /* blocks that neither weights nor states need are Kronecker factors */
    bool used;
    bool is_flat; /* plain code joined gradients to a vector of this size */
};

/* cuBLAS's workspace on Hopper, which weights may be as large as: PyTorch makes one for a stream.
 */
#define HOPPER_WORKSPACE (4096u * 1024 * 8)
#define MOST_WORKSPACES  2

/* True if the blocks of this size that stay look like workspaces: so few, and without gradients. */
static inline bool size_tally_is_workspace(const struct size_tally *tally)
{
    return tally->size == HOPPER_WORKSPACE && tally->gradients.most == 0 &&
           tally->accumulated.most == 0 && tally->parameters == 0 && tally->made_in_step == 0 &&
           tally->persistent <= MOST_WORKSPACES;
}

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
/* The bytes of the weights, from the sizes and counts of their gradients. */
double size_tallies_weight_bytes(const struct size_tallies *tallies);

/* Counts one in a pass. */
void run_count_add(struct run_count *count, uint32_t pass);

/* Number of gradients of this size that one backward pass makes, or several of different models.
 * `stay`: gradients are never freed, but added to. */
uint32_t size_tally_gradients(const struct size_tally *tally, bool stay);

#endif
