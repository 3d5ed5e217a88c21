#ifndef MEMSNAP_TESTS_UNIT_MODEL_RANDOM_SCRIPT_H
#define MEMSNAP_TESTS_UNIT_MODEL_RANDOM_SCRIPT_H

#include "unit/model/script.h"

struct dice {
    uint64_t state;
};

struct dice dice_init(uint64_t seed);
/* 0 .. sides - 1 */
uint64_t dice_roll(struct dice *dice, uint64_t sides);

/* A trace that a real allocator could have recorded: the end of a longer history, and its dump. */
void random_valid_script(struct dice *dice, struct script *script);
/* Random rows with few addresses and sizes, so that every kind of contradiction occurs. */
void random_wild_script(struct dice *dice, struct script *script);

#endif
