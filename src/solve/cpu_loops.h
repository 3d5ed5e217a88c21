/* The loops of a CPU variant (solve/cpu_variant.h), included once for each. Before it are defined
 *   VARIANT    the prefix of the functions' names
 *   TARGET     their attributes
 *   LANES      int32 in a vector, a divisor of COST_BLOCK
 *   COLUMNS    columns whose sums are held in registers at a time: 2 or 4
 *   LEAST(a,b) the lesser of two vectors, lane by lane
 *   MASK(v)    a bit for each lane of a vector whose lanes are all ones or none */

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define VECTOR       PASTE(VARIANT, _vector)
#define LOOSE        PASTE(VARIANT, _loose_vector)
#define QUAD         PASTE(VARIANT, _quad)
#define LIMITS       PASTE(VARIANT, _limits)
#define SURROUNDINGS PASTE(VARIANT, _surroundings)

typedef int32_t VECTOR __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t LOOSE __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));

#include "solve/cpu_bounds.h"

#include "solve/cpu_product.h"

#include "solve/cpu_finish.h"

/* Fills splits with those that may change the block. */
TARGET static inline size_t PASTE(VARIANT, _choose)(const struct tile *tile, size_t block,
                                                    const struct LIMITS *limits, size_t group_count)
{
    size_t first = tile->first_i + COST_STRIP, count = tile->first_j + 1 - first;
    if (count >= TILE_GROUP)
        return PASTE(VARIANT, _rule_out)(tile, block, limits, tile->groups, group_count, NULL,
                                         tile->splits);
    for (size_t k = 0; k < count; k++)
        tile->splits[k] = (uint32_t)(first + k);
    return count;
}

/* Groups of splits are ruled out for the span, then splits for each of its blocks. */
TARGET static void PASTE(VARIANT, _tile)(const struct tile *tile)
{
    _Alignas(64) int32_t sums[TILE_CELLS];
    size_t count = tile->first_j + 1 - COST_STRIP - tile->first_i, group_count = 0;
    int32_t last = tile_slot(tile, tile->blocks) - 1;
    struct LIMITS limits;
    if (tile->first_i == tile->first_j) {
        PASTE(VARIANT, _corner)(tile);
        return;
    }
    PASTE(VARIANT, _start)(tile, 0, &limits);
    PASTE(VARIANT, _shape)(tile, &limits);
    PASTE(VARIANT, _most)(tile, last, &limits);
    bool shapeless = limits.start[0][0] == COST_INFINITE;
    if (limits.most > INT32_MIN && count >= TILE_GROUP)
        group_count =
            PASTE(VARIANT, _rule_out)(tile, tile->blocks - 1, &limits, NULL,
                                      (count + TILE_GROUP - 1) / TILE_GROUP, tile->groups, NULL);
    struct SURROUNDINGS around;
    PASTE(VARIANT, _look_up)(tile, &around);
    for (size_t block = 0; block < tile->blocks; block++) {
        PASTE(VARIANT, _start)(tile, block, &limits);
        if (shapeless)
            PASTE(VARIANT, _shape)(tile, &limits);
        PASTE(VARIANT, _most)(tile, tile_slot(tile, block + 1) - 1, &limits);
        if (limits.most == INT32_MIN) {
            PASTE(VARIANT, _repeat)(tile, block, &limits);
            continue;
        }
        size_t chosen = PASTE(VARIANT, _choose)(tile, block, &limits, group_count);
        PASTE(VARIANT, _product)(tile, block, &limits, tile->splits, chosen, sums);
        PASTE(VARIANT, _rest)(tile, block, false, &around, sums);
    }
}

#undef PASTE
#undef PASTE_
#undef VECTOR
#undef LOOSE
#undef QUAD
#undef LIMITS
#undef SURROUNDINGS
#undef CHOOSE
#undef INLINED
#undef UNROLLED
#undef CORNER_SPLITS
#undef REST_SPLITS
#undef VARIANT
#undef TARGET
#undef LANES
#undef COLUMNS
#undef LEAST
#undef MASK
