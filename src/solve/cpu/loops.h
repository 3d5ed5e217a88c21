/* The loops of a CPU variant (solve/cpu/variant.h), included once for each. The includer defines
 *   VARIANT    the prefix of the functions' names
 *   TARGET     their attributes
 *   LANES      the number of int32 in a vector, a divisor of COST_BLOCK
 *   COLUMNS    the number of columns whose sums are in registers at once: 2 or 4
 *   LEAST(a,b) the lesser of two vectors, lane by lane
 *   CHOOSE(mask, a, b)  mask ? a : b, lane by lane
 *   MASK(v)    a bit for each lane of a vector whose lanes are all ones or all zeros */

#define PASTE_(a, b)  a##b
#define PASTE(a, b)   PASTE_(a, b)
#define VECTOR        PASTE(VARIANT, _vector)
#define LOOSE         PASTE(VARIANT, _loose_vector)
#define QUAD          PASTE(VARIANT, _quad)
#define LIMITS        PASTE(VARIANT, _limits)
#define SURROUNDINGS  PASTE(VARIANT, _surroundings)
#define SHORTCUT      PASTE(VARIANT, _shortcut)
#define WRAPPING      PASTE(VARIANT, _wrapping_vector)
#define WRAPPING_QUAD PASTE(VARIANT, _wrapping_quad)

#define INLINED  TARGET static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 4")

typedef int32_t VECTOR __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t LOOSE __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));
typedef uint32_t WRAPPING __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));

#include "solve/cpu/bounds.h"

#include "solve/cpu/finish.h"

/* The min-plus product of a block of a tile; part of solve/cpu/loops.h. It computes COST_STRIP x
 * COLUMNS sums at once, so that each loaded vector is used several times and arithmetic limits the
 * speed. */

#define TAKE(r, c) VECTOR sum##r##c = (VECTOR){0} + limits->start[r][first + c]
#define GIVE(r, c) *(VECTOR *)(sums + (r * COST_STRIP + first + c) * COST_BLOCK + slot) = sum##r##c
#define COLUMN(c)  VECTOR column##c = *(const LOOSE *)(column + (first + c) * step)
#define MEET(r, c)                                                                                 \
    do {                                                                                           \
        VECTOR met = row##r + column##c;                                                           \
        sum##r##c = LEAST(sum##r##c, met);                                                         \
    } while (0)
#define ROW(r) VECTOR row##r = *(const VECTOR *)(row + r * COST_BLOCK)

#if COLUMNS == 4
#define EACH(DO, r)                                                                                \
    DO(r, 0);                                                                                      \
    DO(r, 1);                                                                                      \
    DO(r, 2);                                                                                      \
    DO(r, 3)
#define EACH_COLUMN                                                                                \
    COLUMN(0);                                                                                     \
    COLUMN(1);                                                                                     \
    COLUMN(2);                                                                                     \
    COLUMN(3)
#else
#define EACH(DO, r)                                                                                \
    DO(r, 0);                                                                                      \
    DO(r, 1)
#define EACH_COLUMN                                                                                \
    COLUMN(0);                                                                                     \
    COLUMN(1)
#endif

/* sums[r][c][slot] becomes the least of limits->start and of the values of the first `count` splits
 * of the tile. */
TARGET static inline void PASTE(VARIANT, _product)(const struct tile *tile,
                                                   const struct LIMITS *limits, size_t count,
                                                   int32_t *sums)
{
    const struct tile_split *end = tile->splits + count;
    size_t step = tile->step;
    tile->work->splits += count * TILE_CELLS;
    UNROLLED for (size_t slot = 0; slot < COST_BLOCK; slot += LANES)
        UNROLLED for (size_t first = 0; first < COST_STRIP; first += COLUMNS)
    {
        EACH(TAKE, 0);
        EACH(TAKE, 1);
        EACH(TAKE, 2);
        EACH(TAKE, 3);
        for (const struct tile_split *split = tile->splits; split < end; split++) {
            const int32_t *column = split->column + slot, *row = split->row + slot;
            EACH_COLUMN;
            ROW(0);
            EACH(MEET, 0);
            ROW(1);
            EACH(MEET, 1);
            ROW(2);
            EACH(MEET, 2);
            ROW(3);
            EACH(MEET, 3);
        }
        EACH(GIVE, 0);
        EACH(GIVE, 1);
        EACH(GIVE, 2);
        EACH(GIVE, 3);
    }
}

#undef TAKE
#undef GIVE
#undef COLUMN
#undef MEET
#undef ROW
#undef EACH
#undef EACH_COLUMN

/* Prefetches the tile's cells, which are stored later. */
TARGET static inline void PASTE(VARIANT, _fetch)(const struct tile *tile)
{
    for (size_t block = 0; block < tile->blocks; block++) {
        const int32_t *cells = tile_column(tile, block, tile->first_j);
        _Pragma("GCC unroll 16") for (size_t k = 0; k < TILE_CELLS; k += COST_BLOCK)
            __builtin_prefetch(cells + k, 1);
    }
}

TARGET static inline void PASTE(VARIANT, _block)(const struct tile *tile, size_t block,
                                                 struct SURROUNDINGS *around)
{
    _Alignas(64) int32_t sums[TILE_CELLS];
    struct LIMITS limits;
    PASTE(VARIANT, _start)(tile, block, &limits);
    PASTE(VARIANT, _most)(tile, tile_slot(tile, block + 1) - 1, &limits);
    if (limits.most == INT32_MIN) {
        PASTE(VARIANT, _repeat)(tile, block, &limits);
        return;
    }
    size_t chosen = PASTE(VARIANT, _choose)(tile, block, &limits);
    PASTE(VARIANT, _product)(tile, &limits, chosen, sums);
    PASTE(VARIANT, _rest)(tile, block, false, around, sums);
}

TARGET static void PASTE(VARIANT, _tile)(const struct tile *tile)
{
    PASTE(VARIANT, _fetch)(tile);
    if (tile->first_i == tile->first_j) {
        PASTE(VARIANT, _corner)(tile);
        PASTE(VARIANT, _set_ends)(tile);
        return;
    }
    struct LIMITS limits;
    struct SURROUNDINGS around;
    PASTE(VARIANT, _start)(tile, 0, &limits);
    PASTE(VARIANT, _see_left)(tile, &limits);
    if ((tile->first_j - tile->first_i) / COST_STRIP % SHAPE_ROWS == 1)
        PASTE(VARIANT, _see_right)(tile, &limits);
    PASTE(VARIANT, _most)(tile, tile_slot(tile, tile->blocks) - 1, &limits);
    if (limits.most == INT32_MIN) {
        for (size_t block = 0; block < tile->blocks; block++)
            PASTE(VARIANT, _repeat)(tile, block, &limits);
    } else {
        PASTE(VARIANT, _look_up)(tile, &around);
        for (size_t block = 0; block < tile->blocks; block++)
            PASTE(VARIANT, _block)(tile, block, &around);
    }
    PASTE(VARIANT, _set_ends)(tile);
}

#undef PASTE
#undef PASTE_
#undef VECTOR
#undef LOOSE
#undef QUAD
#undef LIMITS
#undef SURROUNDINGS
#undef SHORTCUT
#undef WRAPPING
#undef WRAPPING_QUAD
#undef INLINED
#undef UNROLLED
#undef CORNER_SPLITS
#undef SHAPE_ROWS
#undef REST_SPLITS
#undef VARIANT
#undef TARGET
#undef LANES
#undef COLUMNS
#undef LEAST
#undef CHOOSE
#undef MASK
