/* Completes a block of a tile after the product: adds the splits that touch the tile itself and the
 * rest of the recurrence. Part of solve/cpu/loops.h. Rows are done from the lowest up and columns
 * from the left, so that a row's own values are still in registers. */

#define CORNER_SPLITS 10 /* splits that touch the tile itself, on the diagonal */
#define REST_SPLITS   48 /* the same, for any other tile */

/* Pointers to the data around a block of a tile. They are computed once, because the compiler
 * cannot know that writing cells does not change them. */
struct SURROUNDINGS {
    size_t step;
    const int32_t *kept[COST_STRIP];   /* [r]: H(i+1, first_j, first slot - xbar[i] ..) */
    const int32_t *below[COST_STRIP];  /* [r]: H(i, first_j, first slot - x[i] ..) */
    const int32_t *beside[COST_STRIP]; /* [c]: H(j, j.., first slot - x[j] ..) */
    int32_t *rows[COST_STRIP], *cells; /* where the block's own values are stored */
    const int32_t *panel;              /* H(first_i, first_i, first slot ..) */
    int32_t all[COST_STRIP][COST_STRIP], least[COST_STRIP][COST_STRIP];
    int32_t before[COST_STRIP], gain[COST_STRIP]; /* P(i), and P(i) - uf[i] */
    int32_t whole; /* from this slot on every cell has enough memory for both terms */
    int32_t sure;  /* from this slot on H(i+1, j, m - xbar[i]) is finite, too */
};

/* Sets the members that are the same for all blocks. */
INLINED void PASTE(VARIANT, _look_up)(const struct tile *tile, struct SURROUNDINGS *around)
{
    around->step = tile->step;
    QUAD outputs = *(const QUAD *)(tile->chain->x + tile->first_j + 1), whole = {0};
    UNROLLED for (size_t r = 0; r < COST_STRIP; r++)
    {
        size_t i = tile->first_i + r;
        around->before[r] = tile->chain->before[i];
        around->gain[r] = tile->chain->before[i] - tile->chain->forward[i];
        QUAD all = outputs + tile->chain->ftmp[i];
        int32_t back = tile->chain->x[i + 1] + tile->chain->btmp[i];
        all = CHOOSE_BITS(all > back, all, (QUAD){0} + back) + tile->chain->xbar[i];
        QUAD least = *(const QUAD *)(tile->least + i * COST_STRIP);
        *(QUAD *)around->all[r] = all;
        *(QUAD *)around->least[r] = least;
        whole = CHOOSE_BITS(all > whole, all, whole);
        whole = CHOOSE_BITS(least > whole, least, whole);
    }
    around->whole = tile_larger(tile_larger(whole[0], whole[1]), tile_larger(whole[2], whole[3]));
}

INLINED void PASTE(VARIANT, _look_around)(const struct tile *tile, size_t block, bool corner,
                                          struct SURROUNDINGS *around)
{
    around->cells = tile_column(tile, block, tile->first_j);
    around->panel = tile_column(tile, block, tile->first_i);
    UNROLLED for (size_t r = 0; r < COST_STRIP; r++)
    {
        size_t i = tile->first_i + r;
        around->kept[r] = tile_kept(tile, block, i, 0);
        around->below[r] = tile_behind(tile, block, i, 0);
        around->beside[r] = tile_behind(tile, block, tile->first_j + r, 0);
        around->rows[r] = tile_row(tile, block, i, 0);
    }
    around->sure = around->whole;
    UNROLLED for (size_t r = 0; r < COST_STRIP && !corner; r++)
    {
        size_t i = tile->first_i + r;
        around->sure = tile_larger(around->sure, tile->finite[i + 1] + tile->chain->xbar[i]);
    }
}

/* clang-format off */
enum SHORTCUT { /* checks that are left out for a block */
    PASTE(VARIANT, _none),
    PASTE(VARIANT, _whole), /* that a cell has enough memory: SURROUNDINGS.whole */
    PASTE(VARIANT, _sure),  /* and that H(i+1, j, m - xbar[i]) is finite: SURROUNDINGS.sure */
};
/* clang-format on */

/* Returns H(i,j) of the cell in row r and column c for the slots `m`, from the least of its splits
 * and from the term that keeps xbar[i]. */
INLINED VECTOR PASTE(VARIANT, _finish)(const struct SURROUNDINGS *around, size_t r, size_t c,
                                       enum SHORTCUT shortcut, VECTOR m, VECTOR sum, VECTOR kept)
{
    const VECTOR infinite = (VECTOR){0} + COST_INFINITE;
    VECTOR before = (VECTOR){0} + around->before[r];
    if (shortcut == PASTE(VARIANT, _sure)) {
        kept += around->gain[r];
        return LEAST(sum, kept) - before;
    }
    VECTOR can_keep = (VECTOR)(kept < infinite);
    kept += around->gain[r] - before;
    sum -= before;
    if (shortcut == PASTE(VARIANT, _none)) {
        can_keep &= (VECTOR)(m >= around->all[r][c]);
        sum = CHOOSE((VECTOR)(m >= around->least[r][c]), sum, infinite);
    }
    kept = CHOOSE(can_keep, kept, infinite);
    sum = LEAST(sum, kept);
    return LEAST(sum, infinite);
}

/* Computes row r, and stores it in the table and in the buffer of columns. `corner`: the tile is on
 * the diagonal, so all splits touch it, and row and column r meet in H(i,i). */
INLINED void PASTE(VARIANT, _row)(const struct SURROUNDINGS *around, size_t r, bool corner,
                                  enum SHORTCUT shortcut, int32_t first_slot, const int32_t *sums)
{
    static const int32_t ascending[COST_BLOCK] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                  8, 9, 10, 11, 12, 13, 14, 15};
    const size_t step = around->step, first = corner ? r : 0;
    for (size_t slot = 0; slot < COST_BLOCK; slot += LANES) {
        VECTOR row[COST_STRIP], m = *(const LOOSE *)(ascending + slot) + first_slot;
        UNROLLED for (size_t c = first; c < COST_STRIP; c++) row[c] =
            *(const VECTOR *)(sums + (r * COST_STRIP + c) * COST_BLOCK + slot);
        UNROLLED for (size_t q = r; !corner && q < COST_STRIP - 1; q++)
        {
            const int32_t *below = around->below[q + 1] + slot;
            VECTOR left =
                *(const VECTOR *)(around->panel + slot + (q * COST_STRIP + r) * COST_BLOCK);
            UNROLLED for (size_t c = 0; c < COST_STRIP; c++)
            {
                VECTOR met = left + *(const LOOSE *)(below + c * step);
                row[c] = LEAST(row[c], met);
            }
        }
        UNROLLED for (size_t c = first; c < COST_STRIP; c++)
        {
            if (corner && c == r)
                row[c] = CHOOSE((VECTOR)(m >= around->all[r][c]), (VECTOR){0} + around->before[r],
                                (VECTOR){0} + COST_INFINITE);
            else
                row[c] =
                    PASTE(VARIANT, _finish)(around, r, c, shortcut, m, row[c],
                                            *(const LOOSE *)(around->kept[r] + c * step + slot));
            *(VECTOR *)(around->cells + (c * COST_STRIP + r) * COST_BLOCK + slot) = row[c];
            *(LOOSE *)(around->rows[r] + c * step + slot) = row[c];
            if (c == COST_STRIP - 1)
                break;
            const int32_t *beside = around->beside[c + 1] + slot;
            UNROLLED for (size_t d = c + 1; d < COST_STRIP; d++)
            {
                VECTOR met = row[c] + *(const LOOSE *)(beside + d * step);
                row[d] = LEAST(row[d], met);
            }
        }
    }
}

INLINED void PASTE(VARIANT, _rows)(const struct SURROUNDINGS *around, bool corner,
                                   enum SHORTCUT shortcut, int32_t slot, const int32_t *sums)
{
    PASTE(VARIANT, _row)(around, 3, corner, shortcut, slot, sums);
    PASTE(VARIANT, _row)(around, 2, corner, shortcut, slot, sums);
    PASTE(VARIANT, _row)(around, 1, corner, shortcut, slot, sums);
    PASTE(VARIANT, _row)(around, 0, corner, shortcut, slot, sums);
}

/* Completes the rows of a block, from the lowest up. */
INLINED void PASTE(VARIANT, _rest)(const struct tile *tile, size_t block, bool corner,
                                   struct SURROUNDINGS *around, const int32_t *sums)
{
    int32_t slot = tile_slot(tile, block);
    tile->work->splits += corner ? CORNER_SPLITS * COST_BLOCK : REST_SPLITS * COST_BLOCK;
    PASTE(VARIANT, _look_around)(tile, block, corner, around);
    if (!corner && slot >= around->sure)
        PASTE(VARIANT, _rows)(around, corner, PASTE(VARIANT, _sure), slot, sums);
    else if (slot >= around->whole)
        PASTE(VARIANT, _rows)(around, corner, PASTE(VARIANT, _whole), slot, sums);
    else
        PASTE(VARIANT, _rows)(around, corner, PASTE(VARIANT, _none), slot, sums);
    UNROLLED for (size_t r = 0; r < COST_STRIP; r++)
    {
        int32_t *tops = tile_tops(tile, block, r, tile->first_j), most = 0;
        UNROLLED for (size_t c = 0; c < COST_STRIP; c++)
        {
            tops[c] = around->cells[(c * COST_STRIP + r) * COST_BLOCK + COST_BLOCK - 1];
            most = tile_larger(most, tops[c]);
        }
        int32_t *finite = &tile->finite[tile->first_i + r], last = slot + COST_BLOCK - 1;
        if (most<COST_INFINITE && * finite> last)
            *finite = last;
    }
}

/* Copies the values of the previous slot to the whole block. */
TARGET static inline void PASTE(VARIANT, _repeat)(const struct tile *tile, size_t block,
                                                  const struct LIMITS *limits)
{
    int32_t *cells = tile_column(tile, block, tile->first_j);
    const size_t step = tile->step;
    for (size_t r = 0; r < COST_STRIP; r++) {
        QUAD start = limits->start[r] - tile->chain->before[tile->first_i + r];
        int32_t *row = tile_row(tile, block, tile->first_i + r, 0);
        UNROLLED for (size_t c = 0; c < COST_STRIP; c++)
        {
            int32_t *cell = cells + (c * COST_STRIP + r) * COST_BLOCK;
            VECTOR same = (VECTOR){0} + start[c];
            UNROLLED for (size_t slot = 0; slot < COST_BLOCK; slot += LANES)
            {
                *(VECTOR *)(cell + slot) = same;
                *(LOOSE *)(row + c * step + slot) = same;
            }
        }
        *(QUAD *)tile_tops(tile, block, r, tile->first_j) = start;
    }
}

TARGET static void PASTE(VARIANT, _corner)(const struct tile *tile)
{
    _Alignas(64) int32_t sums[TILE_CELLS];
    for (size_t k = 0; k < TILE_CELLS; k++)
        sums[k] = 2 * COST_INFINITE;
    struct SURROUNDINGS around;
    PASTE(VARIANT, _look_up)(tile, &around);
    for (size_t block = 0; block < tile->blocks; block++)
        PASTE(VARIANT, _rest)(tile, block, true, &around, sums);
}
