/* Rules out splits that cannot change a block of a tile. Part of solve/cpu/loops.h.
 *
 * H never grows with m. So the value of a split at the last slot of a block is a lower bound of its
 * values in the whole block, and H(i,j) at the last slot of the previous block is an upper bound of
 * the result: a split whose lower bound is not less changes nothing and is left out. The upper
 * bound holds for every split that was taken, so the result is the same, bit for bit. For all cells
 * (i,j) of a tile together, and any r(i) and c(j), it is sufficient that
 *
 *   min over i of (H(i,s-1,last) - r(i)) + min over j of (H(s,j,last - x[s]) - c(j))
 *     >= max over (i,j) of (H(i,j,first - 1) + P(i) - r(i) - c(j))
 *
 * The first minimum, `left`, is shared by all tiles of a row strip in a pass, and the second one,
 * `right`, by the rows above. So a split costs an addition and a comparison, vectorized over
 * splits. The closer r + c approximates H(i,j,first - 1) + P(i), which is nearly such a sum, the
 * more splits are ruled out: r is recomputed for every row strip, and c from time to time on the
 * way up.
 *
 * The maximum leaves out cells that cannot change at all: those that are infinite up to the last
 * slot (last < least(i,j)), and those at P(i), the minimum of H.
 *
 * OVERFLOW. r and c are in 0..COST_INFINITE, so both sides fit an int32, as H + P(i) does. Vectors
 * may contain unspecified values from beyond the end of the data, so their sums wrap around. */

#define SHAPE_ROWS 4 /* row strips that share c */

typedef int32_t QUAD __attribute__((vector_size(16), may_alias, aligned(4)));
typedef uint32_t WRAPPING_QUAD __attribute__((vector_size(16)));

struct LIMITS {
    QUAD start[COST_STRIP]; /* H(i,j) at the last slot of the previous block, + P(i) */
    int32_t most;           /* INT32_MIN: nothing can change */
};

/* Sets limits->start: the values before the block. */
TARGET static inline void PASTE(VARIANT, _start)(const struct tile *tile, size_t block,
                                                 struct LIMITS *limits)
{
    bool first = tile_slot(tile, block) == 0;
    UNROLLED for (size_t r = 0; r < COST_STRIP; r++)
    {
        QUAD start = (QUAD){0} + COST_INFINITE;
        if (!first)
            start = *(const QUAD *)tile_tops_before(tile, block, r, tile->first_j);
        limits->start[r] = start + tile->chain->before[tile->first_i + r];
    }
}

/* Computes the maximum for the slots from the start to `last`. */
TARGET static inline void PASTE(VARIANT, _most)(const struct tile *tile, int32_t last,
                                                struct LIMITS *limits)
{
    const int32_t *before = tile->chain->before + tile->first_i;
    const int32_t *least = tile->least + tile->first_i * COST_STRIP;
    QUAD columns = *(const QUAD *)tile->shape_columns, most = (QUAD){0} + INT32_MIN;
    UNROLLED for (size_t r = 0; r < COST_STRIP; r++)
    {
        QUAD start = limits->start[r];
        QUAD open = (start > 2 * before[r]) & (*(const QUAD *)(least + r * COST_STRIP) <= last);
        QUAD over = start - tile->shape_rows[r] - columns;
        over = CHOOSE_BITS(open, over, (QUAD){0} + INT32_MIN);
        most = CHOOSE_BITS(most > over, most, over);
    }
    int32_t left = most[0] > most[1] ? most[0] : most[1];
    int32_t right = most[2] > most[3] ? most[2] : most[3];
    limits->most = left > right ? left : right;
}

/* The minimum over four arrays, `apart` from each other, after subtracting the items of `shape`. */
TARGET static inline void PASTE(VARIANT, _reduce)(const int32_t *from, size_t apart,
                                                  const int32_t *shape, size_t count, int32_t *to)
{
    for (size_t k = 0; k < count; k += LANES) {
        VECTOR least = (VECTOR)(*(const WRAPPING *)(from + k) - (uint32_t)shape[0]);
        UNROLLED for (size_t q = 1; q < COST_STRIP; q++)
        {
            const WRAPPING *other = (const WRAPPING *)(from + q * apart + k);
            VECTOR less = (VECTOR)(*other - (uint32_t)shape[q]);
            least = LEAST(least, less);
        }
        *(LOOSE *)(to + k) = least;
    }
}

/* Updates `left` for the splits added since the previous tile, or for all splits in the first tile.
 */
TARGET static inline void PASTE(VARIANT, _see_left)(const struct tile *tile,
                                                    const struct LIMITS *limits)
{
    size_t from = tile->first_j - COST_STRIP + 1, first = tile->first_i + COST_STRIP;
    if (tile->is_first) {
        from = first;
        for (size_t r = 0; r < COST_STRIP; r++) {
            int32_t row = limits->start[r][0];
            tile->shape_rows[r] = row > COST_INFINITE ? COST_INFINITE : row;
        }
    }
    size_t count = tile->first_j + 1 - from;
    for (size_t block = 0; block < tile->blocks; block++)
        PASTE(VARIANT, _reduce)
    (tile_tops(tile, block, 0, from - 1), tile->width, tile->shape_rows, count,
     tile_left(tile, block, from));
    tile->work->bounds += tile->blocks * COST_STRIP * count;
}

/* Computes `right` of all splits, for a shape that fits the tile. */
TARGET static inline void PASTE(VARIANT, _see_right)(const struct tile *tile,
                                                     const struct LIMITS *limits)
{
    size_t first = tile->first_i + COST_STRIP, count = tile->first_j + 1 - first;
    QUAD start = limits->start[0];
    int32_t least = start[0];
    for (size_t c = 1; c < COST_STRIP; c++)
        least = start[c] < least ? start[c] : least;
    *(QUAD *)tile->shape_columns = start - least;
    for (size_t block = 0; block < tile->blocks; block++)
        PASTE(VARIANT, _reduce)
    (tile_ends(tile, block, 0, first), tile->rows, tile->shape_columns, count,
     tile_right(tile, block, first));
    tile->work->bounds += tile->blocks * COST_STRIP * count;
}

/* Stores the values of this tile's rows at the ends of blocks, for the tiles above. */
TARGET static inline void PASTE(VARIANT, _set_ends)(const struct tile *tile)
{
    for (size_t block = 0; block < tile->blocks; block++) {
        const int32_t *from[COST_STRIP];
        QUAD least = (QUAD){0} + INT32_MAX;
        for (size_t r = 0; r < COST_STRIP; r++)
            from[r] = tile_behind(tile, block, tile->first_i + r, 0) + COST_BLOCK - 1;
        UNROLLED for (size_t c = 0; c < COST_STRIP; c++)
        {
            size_t at = c * tile->step;
            QUAD ends = {from[0][at], from[1][at], from[2][at], from[3][at]};
            *(QUAD *)tile_ends(tile, block, c, tile->first_i) = ends;
            ends = (QUAD)((WRAPPING_QUAD)ends - (uint32_t)tile->shape_columns[c]);
            least = CHOOSE_BITS(ends < least, ends, least);
        }
        *(QUAD *)tile_right(tile, block, tile->first_i) = least;
    }
}

/* Fills `splits` with those that may change the block, and returns their number. Split s reads
 * column s - 1 of the panel, and row s of the columns. */
TARGET static inline size_t PASTE(VARIANT, _choose)(const struct tile *tile, size_t block,
                                                    const struct LIMITS *limits)
{
    size_t first = tile->first_i + COST_STRIP, count = tile->first_j + 1 - first, chosen = 0;
    const int32_t *left = tile_left(tile, block, first), *right = tile_right(tile, block, first);
    VECTOR most = (VECTOR){0} + limits->most;
    tile->work->bounds += count;
    for (size_t k = 0; k < count; k += TILE_GROUP) {
        unsigned found = 0;
        for (size_t q = 0; q < TILE_GROUP; q += LANES) {
            VECTOR sum =
                (VECTOR)(*(const WRAPPING *)(left + k + q) + *(const WRAPPING *)(right + k + q));
            found |= MASK(sum < most) << q;
        }
        found &= 0xffu >> (count - k < TILE_GROUP ? TILE_GROUP - (count - k) : 0);
        if (!found)
            continue;
        const struct tile_places *places = &tile->places[found];
        int32_t column = (int32_t)(COST_STRIP - 1 + k);
        for (size_t q = 0; q < TILE_GROUP; q += LANES)
            *(LOOSE *)(tile->chosen + chosen + q) = *(const LOOSE *)(places->of + q) + column;
        chosen += places->count;
    }
    const size_t *offsets = tile->offsets + block * tile->rows + tile->first_i + 1;
    const int32_t *rows = tile_column(tile, block, tile->first_i), *columns = tile->columns;
    for (size_t k = 0; k < chosen; k++) {
        size_t column = tile->chosen[k];
        tile->splits[k] = (struct tile_split){rows + column * (COST_STRIP * COST_BLOCK),
                                              columns + offsets[column]};
    }
    return chosen;
}
