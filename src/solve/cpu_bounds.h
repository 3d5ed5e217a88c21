/* Which splits cannot change a block of a tile; part of solve/cpu_loops.h.
 *
 * H never grows with m. So what a split gives at the last slot of a block bounds what it gives at
 * all of them from below, and H(i,j) at the last slot of the block before bounds the result from
 * above: a split that is not less there changes nothing and is left out. The bound above stands
 * for all splits that were, so the result is the same, bit for bit. For the cells (i,j) of a tile
 * together, with any r(i) and c(j), it is enough that
 *
 *   min over i of (H(i,s-1,last) - r(i)) + min over j of (H(s,j,last - x[s]) - c(j))
 *     >= max over (i,j) of (H(i,j,first - 1) + P(i) - r(i) - c(j))
 *
 * which takes two additions and minima a split and row or column, side by side for a vector of
 * splits. r + c follow H(i,j,first - 1) + P(i), which is nearly such a sum.
 *
 * Left out of the maximum are cells that cannot change at all: infinite up to the last slot
 * (last < least(i,j)), or at P(i) already, the least that H can be.
 *
 * OVERFLOW. r and c are in 0..COST_INFINITE, so both sides fit an int32 as H + P(i) does. */

typedef int32_t QUAD __attribute__((vector_size(16), may_alias, aligned(4)));

struct LIMITS {
    int32_t start[COST_STRIP][COST_STRIP]; /* H(i,j) at the last slot before */
    int32_t rows[COST_STRIP], columns[COST_STRIP];
    int32_t most; /* INT32_MIN: nothing can change */
};

#define CHOOSE(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))

/* H(i,j) at the last slot before the block. */
TARGET static inline void PASTE(VARIANT, _start)(const struct tile *tile, size_t block,
                                                 struct LIMITS *limits)
{
    bool first = tile_slot(tile, block) == 0;
    for (size_t r = 0; r < COST_STRIP; r++) {
        QUAD start = (QUAD){0} + COST_INFINITE;
        if (!first)
            start = *(const QUAD *)tile_tops_before(tile, block, r, tile->first_j);
        *(QUAD *)limits->start[r] = start;
    }
}

/* r and c, such that they follow the start. */
TARGET static inline void PASTE(VARIANT, _shape)(const struct tile *tile, struct LIMITS *limits)
{
    const int32_t *before = tile->chain->before + tile->first_i, *start = limits->start[0];
    int32_t least = start[0];
    for (size_t c = 1; c < COST_STRIP; c++)
        least = start[c] < least ? start[c] : least;
    *(QUAD *)limits->columns = *(const QUAD *)start - least;
    for (size_t r = 0; r < COST_STRIP; r++) {
        int32_t row = limits->start[r][0] + before[r] - limits->columns[0];
        limits->rows[r] = row < 0 ? 0 : row > COST_INFINITE ? COST_INFINITE : row;
    }
}

/* For the slots from the start to `last`. */
TARGET static inline void PASTE(VARIANT, _most)(const struct tile *tile, int32_t last,
                                                struct LIMITS *limits)
{
    const int32_t *before = tile->chain->before + tile->first_i;
    const int32_t *least = tile->least + tile->first_i * COST_STRIP;
    QUAD columns = *(const QUAD *)limits->columns, most = (QUAD){0} + INT32_MIN;
    for (size_t r = 0; r < COST_STRIP; r++) {
        QUAD start = *(const QUAD *)limits->start[r];
        QUAD open = (start > before[r]) & (*(const QUAD *)(least + r * COST_STRIP) <= last);
        QUAD over = start + (before[r] - limits->rows[r]) - columns;
        over = CHOOSE(open, over, (QUAD){0} + INT32_MIN);
        most = CHOOSE(most > over, most, over);
    }
    int32_t left = most[0] > most[1] ? most[0] : most[1];
    int32_t right = most[2] > most[3] ? most[2] : most[3];
    limits->most = left > right ? left : right;
}

/* A bit for each of the splits s.. of a group that may change something before the end of the
 * block; limits as vectors. */
TARGET static inline unsigned PASTE(VARIANT, _may_change)(const struct tile *tile, size_t block,
                                                          size_t s, const VECTOR *rows,
                                                          const VECTOR *columns, VECTOR most)
{
    const int32_t *top = tile_tops(tile, block, 0, s - 1), *end = tile_ends(tile, block, 0, s);
    unsigned found = 0;
    for (size_t k = 0; k < TILE_GROUP; k += LANES) {
        VECTOR left = *(const LOOSE *)(top + k) - rows[0];
        VECTOR right = *(const LOOSE *)(end + k) - columns[0];
        for (size_t q = 1; q < COST_STRIP; q++) {
            VECTOR row = *(const LOOSE *)(top + q * tile->width + k) - rows[q];
            VECTOR column = *(const LOOSE *)(end + q * tile->rows + k) - columns[q];
            left = LEAST(left, row);
            right = LEAST(right, column);
        }
        found |= MASK(left + right < most) << k;
    }
    return found;
}

/* Groups are named by their first split, from the tile's first on; the last one begins early
 * enough to be whole, and what it has in common with the one before is not its own. Adds those
 * of `from` (NULL: all) that have a split that may change something to `groups`, and the splits
 * to `splits`; either may be NULL. Returns how many were added. */
TARGET static inline size_t PASTE(VARIANT, _rule_out)(const struct tile *tile, size_t block,
                                                      const struct LIMITS *limits,
                                                      const uint32_t *from, size_t count,
                                                      uint32_t *groups, uint32_t *splits)
{
    VECTOR rows[COST_STRIP], columns[COST_STRIP], most = (VECTOR){0} + limits->most;
    size_t first = tile->first_i + COST_STRIP, latest = tile->first_j + 1 - TILE_GROUP, added = 0;
    for (size_t q = 0; q < COST_STRIP; q++) {
        rows[q] = (VECTOR){0} + limits->rows[q];
        columns[q] = (VECTOR){0} + limits->columns[q];
    }
    tile->work->bounds += count * (TILE_GROUP * 2 * COST_STRIP);
    for (size_t k = 0; k < count; k++) {
        size_t group = from ? from[k] : first + k * TILE_GROUP;
        size_t s = group < latest ? group : latest;
        unsigned found =
            PASTE(VARIANT, _may_change)(tile, block, s, rows, columns, most) >> (group - s);
        if (groups && found)
            groups[added++] = (uint32_t)group;
        if (!splits || !found)
            continue;
        for (unsigned q = 0; q < TILE_GROUP; q++) { /* no branch: which ones is hard to guess */
            splits[added] = (uint32_t)group + q;
            added += found >> q & 1;
        }
    }
    return added;
}
