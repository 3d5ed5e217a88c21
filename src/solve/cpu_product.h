/* The loops of a CPU variant (solve/cpu_variant.h), included once for each. Before it are defined
 *   VARIANT    the prefix of the functions' names
 *   TARGET     their attributes
 *   LANES      int32 in a vector, a divisor of COST_BLOCK
 *   COLUMNS    columns whose sums are held in registers at a time: 2 or 4
 *   LEAST(a,b) the lesser of two vectors, lane by lane
 * The product works on COST_STRIP x COLUMNS sums at a time, so that each vector loaded is used
 * several times and the loop is bound by arithmetic. */

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define VECTOR       PASTE(VARIANT, _vector)
#define LOOSE        PASTE(VARIANT, _loose_vector)

typedef int32_t VECTOR __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t LOOSE __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));

#define TAKE(r, c)                                                                                 \
    VECTOR sum##r##c = *(const VECTOR *)(at + (r * COST_STRIP + first + c) * COST_BLOCK)
#define GIVE(r, c) *(VECTOR *)(at + (r * COST_STRIP + first + c) * COST_BLOCK) = sum##r##c
#define COLUMN(c)  VECTOR column##c = *(const LOOSE *)(column + c * step)
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

TARGET static void PASTE(VARIANT, _product)(const int32_t *rows, const int32_t *columns,
                                            const size_t *offsets, size_t step, size_t count,
                                            int32_t *sums)
{
    for (size_t slot = 0; slot < COST_BLOCK; slot += LANES)
        for (size_t first = 0; first < COST_STRIP; first += COLUMNS) {
            int32_t *at = sums + slot;
            const int32_t *row = rows + slot;
            EACH(TAKE, 0);
            EACH(TAKE, 1);
            EACH(TAKE, 2);
            EACH(TAKE, 3);
            for (size_t k = 0; k < count; k++, row += COST_STRIP * COST_BLOCK) {
                const int32_t *column = columns + offsets[k] + slot + first * step;
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

/* The splits from..to of the cell of row i and column c. */
TARGET static inline void PASTE(VARIANT, _splits)(const struct tile *tile, size_t i, size_t c,
                                                  size_t from, size_t to, int32_t *sums)
{
    const int32_t *left = tile->panel + (from - 1 - tile->first_i) * COST_STRIP * COST_BLOCK +
                          (i - tile->first_i) * COST_BLOCK;
    for (size_t s = from; s <= to; s++, left += COST_STRIP * COST_BLOCK) {
        const int32_t *right = tile->columns + tile->offsets[s] + c * tile->step;
        for (size_t slot = 0; slot < COST_BLOCK; slot += LANES) {
            VECTOR met = *(const VECTOR *)(left + slot) + *(const LOOSE *)(right + slot);
            VECTOR *sum = (VECTOR *)(sums + slot);
            *sum = LEAST(*sum, met);
        }
    }
}

#define CHOOSE(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))

/* sums -> H(i,j), into the table and the buffer of columns; i < j. */
TARGET static inline void PASTE(VARIANT, _finish)(const struct tile *tile, size_t i, size_t c,
                                                  const int32_t *sums)
{
    static const int32_t ascending[COST_BLOCK] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                  8, 9, 10, 11, 12, 13, 14, 15};
    const VECTOR infinite = (VECTOR){0} + COST_INFINITE;
    struct cell_terms terms = tile_terms(tile, i, c);
    int32_t *cells = tile_cells(tile, i, c), *row = tile_row(tile, i, c);
    const int32_t *kept = tile_kept(tile, i, c);
    for (size_t slot = 0; slot < COST_BLOCK; slot += LANES) {
        VECTOR m = *(const LOOSE *)(ascending + slot) + tile->slot;
        VECTOR split = *(const VECTOR *)(sums + slot), keep = *(const LOOSE *)(kept + slot);
        VECTOR can_keep = (VECTOR)(m >= terms.all) & (VECTOR)(keep < infinite);
        split = CHOOSE((VECTOR)(m >= terms.least), split - terms.before, infinite);
        keep = CHOOSE(can_keep, keep - terms.forward, infinite);
        split = LEAST(split, keep);
        split = LEAST(split, infinite);
        *(VECTOR *)(cells + slot) = split;
        *(LOOSE *)(row + slot) = split;
    }
}

/* Splits that touch the tile itself, then the rest of the recurrence; lower rows and columns to the
 * left first. */
TARGET static void PASTE(VARIANT, _tile)(const struct tile *tile)
{
    _Alignas(64) int32_t sums[TILE_CELLS];
    size_t below = tile->first_i + COST_STRIP - 1;
    for (size_t k = 0; k < TILE_CELLS; k += LANES)
        *(VECTOR *)(sums + k) = (VECTOR){0} + 2 * COST_INFINITE;
    if (tile->product)
        for (size_t s = below + 1; s <= tile->first_j; s += TILE_CHUNK) {
            size_t rest = tile->first_j + 1 - s;
            PASTE(VARIANT, _product)
            (tile->panel + (s - 1 - tile->first_i) * COST_STRIP * COST_BLOCK, tile->columns,
             tile->offsets + s, tile->step, rest < TILE_CHUNK ? rest : TILE_CHUNK, sums);
        }
    for (size_t r = COST_STRIP; r-- > 0;)
        for (size_t c = 0; c < COST_STRIP; c++) {
            size_t i = tile->first_i + r, j = tile->first_j + c;
            int32_t *cell = sums + (r * COST_STRIP + c) * COST_BLOCK;
            if (j <= i) {
                if (j == i)
                    tile_single(tile, i, c);
                continue;
            }
            PASTE(VARIANT, _splits)(tile, i, c, i + 1, below < j ? below : j, cell);
            if (tile->first_j > below)
                PASTE(VARIANT, _splits)(tile, i, c, tile->first_j + 1, j, cell);
            PASTE(VARIANT, _finish)(tile, i, c, cell);
        }
}

#undef PASTE
#undef PASTE_
#undef VECTOR
#undef LOOSE
#undef TAKE
#undef GIVE
#undef COLUMN
#undef MEET
#undef ROW
#undef EACH
#undef EACH_COLUMN
#undef CHOOSE
#undef VARIANT
#undef TARGET
#undef LANES
#undef COLUMNS
#undef LEAST
