#ifndef MEMSNAP_TESTS_UNIT_MODEL_RANDOM_SCRIPT_H
#define MEMSNAP_TESTS_UNIT_MODEL_RANDOM_SCRIPT_H

#include "unit/model/script.h"

struct dice {
    uint64_t state;
};

struct dice dice_init(uint64_t seed);
/* 0 .. sides - 1 */
uint64_t dice_roll(struct dice *dice, uint64_t sides);

/* What an allocator could have recorded: the end of a longer history, and its dump. */
void random_valid_script(struct dice *dice, struct script *script);
/* Rows drawn blindly from few addresses and sizes: every contradiction there is. */
void random_wild_script(struct dice *dice, struct script *script);

#endif
