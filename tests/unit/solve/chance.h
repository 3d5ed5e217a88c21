/* Random numbers that are the same on every machine (SplitMix64). */
#ifndef MEMSNAP_TESTS_UNIT_SOLVE_CHANCE_H
#define MEMSNAP_TESTS_UNIT_SOLVE_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance)
{
    uint64_t z = chance->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* From low to high, inclusive. */
static inline int32_t chance_in(struct chance *chance, int32_t low, int32_t high)
{
    return low + (int32_t)(chance_next(chance) % (uint64_t)(high - low + 1));
}

#endif
