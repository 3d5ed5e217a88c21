/* Random chains, and an independent step-by-step account of the memory of a placement. */
#ifndef MEMSNAP_TESTS_UNIT_SOLVE_CHAINS_H
#define MEMSNAP_TESTS_UNIT_SOLVE_CHAINS_H

#include "solve/chain/chain.h"
#include "unit/solve/chance.h"

/* Sizes up to `size`, times up to `time`. The caller releases it. */
struct chain random_chain(struct chance *chance, size_t layers, int32_t size, int32_t time,
                          struct budget *budget);

/* Bit i of `cuts`: a part begins at layer i. Bit i of `wrapped`: the part that begins at layer i is
 * checkpointed. Layer 0 always begins a part. */
int64_t account_peak(const struct chain *chain, unsigned cuts, unsigned wrapped);
int64_t account_extra_time(const struct chain *chain, unsigned cuts, unsigned wrapped);
unsigned account_count(const struct chain *chain, unsigned cuts, unsigned wrapped);

#endif
