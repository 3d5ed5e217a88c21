/* The state of the search for roles (see roles.h), for the roles_*.c files only. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_ROLES_INTERNAL_H
#define MEMSNAP_ANALYSIS_CATEGORY_ROLES_INTERNAL_H

#include "analysis/category/roles.h"

/* States for each parameter, taken for an optimizer without a known name: those of Adam. */
#define DEFAULT_STATES 2

struct solver {
    struct size_tallies *tallies;
    struct size_tally **sizes; /* in ascending order */
    size_t count;
    struct optimizers optimizers;
    struct size_sum replaced; /* parameters that were made and freed before the first step */
    bool makes_states;        /* optimizer steps of the trace make the states */
    bool in_buckets;          /* gradients are views of buckets */
    bool begins_late;         /* blocks of unknown role from before the trace stay */
    bool wide_average;        /* the copies in a wider type are an average, and no masters */
    struct roles *roles;
};

static inline double bytes_of(uint64_t size, uint64_t count)
{
    return (double)size * (double)count;
}

static inline bool is_left_over(const struct size_tally *tally)
{
    return tally->flat == 0 && tally->count == 0 && tally->expected.masters == 0 &&
           tally->expected.buckets == 0 && tally->expected.narrow_states == 0 &&
           tally->expected.wide_copies == 0 && !size_tally_is_workspace(tally);
}

/* The blocks of unknown role that are not freed when the program ends; if all are freed then, all
 * of them. */
static inline uint32_t kept_blocks(const struct size_tally *tally)
{
    return tally->released < tally->persistent ? tally->persistent - tally->released
                                               : tally->persistent;
}

/* The largest difference, as a part of the bytes of states that are looked for. */
#define MOST_OFF 0.02

static inline bool sums_agree(double missing, double found)
{
    double off = found > missing ? found - missing : missing - found;
    return missing > 0 && off < missing * MOST_OFF;
}

static inline uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* The tally of a size. It may be changed and stays where it is, because no size is added while
 * roles are solved. */
static inline struct size_tally *tally_of(const struct solver *solver, uint64_t size)
{
    return (struct size_tally *)size_tallies_find(solver->tallies, size);
}

/* The number of blocks of a size that stay. */
static inline uint64_t staying(const struct size_tally *tally)
{
    return (uint64_t)tally->persistent + tally->parameters;
}

static inline uint32_t most_states_of(const struct solver *solver)
{
    uint32_t most = solver->optimizers.most_states;
    return most > 0 ? most : DEFAULT_STATES;
}

/* roles_flat.c: roles_find_flat() marks the sizes of flat buffers, in `flat` of their tallies.
 * roles_share_flat() decides the roles of the blocks of those sizes. */
bool roles_find_flat(struct solver *solver, struct error *err);
void roles_share_flat(struct solver *solver);

/* roles_buckets.c: true if gradients are views of buckets, judged before gradients are counted: of
 * most sizes, multiples of `copies` stay, and the other blocks are as large as one copy. */
bool roles_lie_in_buckets(const struct solver *solver, uint32_t copies);
/* The same file: decides the roles of buckets, also of those that gradients are copied to. Only
 * once the other roles are decided. */
void roles_share_buckets(const struct solver *solver);

/* roles_narrow.c: decides the roles of optimizer states in a narrower type than the weights, where
 * weights have no others. Only once the roles of blocks of the weights' sizes are decided. */
void roles_share_narrow(const struct solver *solver);

/* roles_factors.c: marks the sizes that are those of Kronecker factors of the weights. */
void roles_find_factors(const struct solver *solver);

/* roles_tables.c: the number of gradients that a pass leaves for the optimizer step and that have
 * the size of no block that stays. These are gradients of the rows of embedding tables that a batch
 * reads. */
uint64_t roles_row_gradients(const struct solver *solver);
/* roles_unseen.c: true if passes leave gradients of half the size, but none of the size. Then the
 * size is that of masters, and the blocks of it that passes use up are something else. */
bool roles_are_masters(const struct solver *solver, const struct size_tally *tally);
/* The same file: counts weights whose gradients are sparse, or are not seen. A size of which the
 * steps make states is trained, even if its gradients are sparse. If hardly any byte that stays has
 * the size of a gradient, the name of an optimizer tells how many copies there are; gradients that
 * stay are one more. But gradients that explain their sizes are all there are: the rest is frozen.
 * So it is if the steps of the trace make states (`makes_states`). */
void roles_count_unseen(struct solver *solver, bool makes_states);

/* Counts the embedding tables of which passes leave such gradients. If all sizes without a gradient
 * have equally many blocks, no more than a weight and its states, then each size is that of one
 * table. */
void roles_count_tables(const struct solver *solver);

/* roles_masters.c: weights that each step makes anew, from masters in a wider type that stay, count
 * as parameters of their sizes, which get `is_renewed`. */
void roles_find_renewed(const struct solver *solver);
/* The number of copies of the model in a wider type, with their states, by the `count` of every
 * size; and corrects that where these copies show that a size has other weights. */
uint32_t roles_count_masters(struct solver *solver);
/* True if the optimizer keeps its states in the type of the weights, and so updates the weights
 * themselves. Then one copy of each weight in a wider type is not its master, but an average.
 * `masters`: the number of those copies. Only once solver->makes_states is known. */
bool roles_are_averages(const struct solver *solver, uint32_t masters);

/* The same file: the choice that most bytes agree on. */
#define MOST_COPIES 8
struct ballot {
    double bytes[MOST_COPIES + 1]; /* of gradients, by the number of blocks for each gradient */
};
void ballot_vote(struct ballot *ballot, const struct size_tally *tally, uint64_t blocks);
uint32_t ballot_elected(const struct ballot *ballot);

/* roles_count.c: sets `count` and `wide` of every size, and the numbers for the whole model in
 * solver->roles. Returns the number of copies of the model in a wider type, their states included.
 */
uint32_t roles_count(struct solver *solver);

#endif
