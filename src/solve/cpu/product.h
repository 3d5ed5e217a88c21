/* The min-plus product of a block of a tile; part of solve/cpu/loops.h. It works on COST_STRIP x
 * COLUMNS sums at a time, so that each vector loaded is used several times and the loop is bound by
 * arithmetic. */

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

/* sums[r][c][slot] = the least of the splits listed and of what H(i,j) was before, P(i) added. */
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
