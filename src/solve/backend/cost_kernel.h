/* The cost kernel as every device runs it: it computes the recurrence of cost_table.h, in the
 * layout COST_ROWS. opencl/kernel.cl and cuda/kernel.cu define the words in capitals for their
 * language, so a test of one kernel also covers the algorithm of the other.
 *
 * The pairs (i, j) are cut into blocks of TILE by TILE. The blocks of a diagonal need only blocks
 * nearer to the main diagonal, so there are two launches a diagonal of blocks, from the main one
 * outwards:
 *   cost_product  the splits between a block's i and its j: a tiled min-plus product of finished
 *                 blocks, which is nearly all of the work
 *   cost_finish   the splits among the block's own i and j, and the rest of the recurrence
 * Blocks of the main diagonal have no splits of the first kind, and no first launch.
 *
 * Groups are [block of the diagonal][chunk of slots, in cost_product only][problem]. */

#define TILE     DEVICE_TILE
#define SLOTS    DEVICE_SLOTS
#define PARTS    (DEVICE_THREADS / SLOTS) /* groups of pairs that a block is divided into */
#define PART_I   8                        /* pairs of a part, computed by one thread for one slot */
#define PART_J   4
#define PARTS_J  (TILE / PART_J) /* parts side by side */
#define STEP     DEVICE_STEP     /* splits in local memory at once */
#define NO_SPLIT 0x7fffffff      /* still infinite after any P is subtracted */

struct block { /* block of a thread group: its problem, and its first i and j */
    GLOBAL int *table;
    GLOBAL const int *numbers;
    int count, stride;
    int i, j;
};

/* Returns false if this problem is smaller than the launch and has no such block. */
DEVICE bool find_block(PRIVATE struct block *block, GLOBAL int *tables, GLOBAL const int *numbers,
                       GLOBAL const struct device_problem *problems, int diagonal)
{
    struct device_problem problem = problems[GROUP(2)];
    block->table = tables + problem.table;
    block->numbers = numbers + problem.numbers;
    block->count = problem.count;
    block->stride = problem.stride;
    block->i = GROUP(0) * TILE;
    block->j = block->i + diagonal * TILE;
    return block->j < block->count;
}

DEVICE GLOBAL const int *array(PRIVATE const struct block *block, int which)
{
    return block->numbers + (WIDE)which * (block->count + 1);
}

DEVICE WIDE row_of(PRIVATE const struct block *block, int i, int j)
{
    return ((WIDE)j * (j + 1) / 2 + i) * block->stride;
}

/* H(i,j,m), for i <= j; infinite if m is out of range. */
DEVICE int value(PRIVATE const struct block *block, int i, int j, int m)
{
    return m >= 0 && m < block->stride ? block->table[row_of(block, i, j) + m] : COST_INFINITE;
}

/* Loads, for STEP splits from `split` on, H(i,s-1,m) of the block's i and H(s,j,m-x[s]) of its j,
 * for a chunk of m. Each warp copies one chunk at a time. */
DEVICE void load_step(LOCAL int *before, LOCAL int *after, PRIVATE const struct block *block,
                      int split, int m)
{
    GLOBAL const int *x = array(block, DEVICE_X);
    for (int k = THREAD / SLOTS; k < STEP * TILE; k += PARTS) {
        int s = split + k / TILE, i = block->i + k % TILE, j = block->j + k % TILE;
        int left = COST_INFINITE, right = COST_INFINITE;
        if (s <= block->j) {
            left = value(block, i, s - 1, m);
            if (j < block->count)
                right = value(block, s, j, m - x[s]);
        }
        before[k * SLOTS + THREAD % SLOTS] = left;
        after[k * SLOTS + THREAD % SLOTS] = right;
    }
}

KERNEL void cost_product(GLOBAL int *tables, GLOBAL const int *numbers,
                         GLOBAL const struct device_problem *problems, int diagonal)
{
    LOCAL_ARRAY int before[STEP * TILE * SLOTS];
    LOCAL_ARRAY int after[STEP * TILE * SLOTS];
    struct block block;
    int best[PART_I][PART_J];
    int lane = THREAD % SLOTS, part = THREAD / SLOTS, m = GROUP(1) * SLOTS + lane;
    int part_i = part / PARTS_J * PART_I, part_j = part % PARTS_J * PART_J;
    if (!find_block(&block, tables, numbers, problems, diagonal) || m - lane >= block.stride)
        return;

    UNROLL for (int a = 0; a < PART_I; a++) UNROLL for (int b = 0; b < PART_J; b++) best[a][b] =
        NO_SPLIT;
    for (int split = block.i + TILE; split <= block.j; split += STEP) {
        load_step(before, after, &block, split, m);
        BARRIER();
        UNROLL for (int s = 0; s < STEP; s++)
        {
            int left[PART_I], right[PART_J];
            UNROLL for (int a = 0; a < PART_I; a++) left[a] =
                before[(s * TILE + part_i + a) * SLOTS + lane];
            UNROLL for (int b = 0; b < PART_J; b++) right[b] =
                after[(s * TILE + part_j + b) * SLOTS + lane];
            UNROLL for (int a = 0; a < PART_I; a++) UNROLL for (int b = 0; b < PART_J; b++)
                best[a][b] = LEAST_SUM(left[a], right[b], best[a][b]);
        }
        BARRIER();
    }
    UNROLL for (int b = 0; b < PART_J; b++)
    {
        int j = block.j + part_j + b;
        UNROLL for (int a = 0; a < PART_I; a++) if (j < block.count && m < block.stride)
            block.table[row_of(&block, block.i + part_i + a, j) + m] = best[a][b];
    }
}

/* The least sum over the splits first..last. */
DEVICE int least_split(PRIVATE const struct block *block, int i, int j, int m, int first, int last,
                       int best)
{
    GLOBAL const int *x = array(block, DEVICE_X);
    for (int s = first; s <= last; s++)
        best = LEAST_SUM(value(block, i, s - 1, m), value(block, s, j, m - x[s]), best);
    return best;
}

/* least(i,j) */
DEVICE int least_slots(PRIVATE const struct block *block, int i, int j)
{
    GLOBAL const int *x = array(block, DEVICE_X);
    int most = x[i + 1] + array(block, DEVICE_FTMP)[i];
    if (j - i > 1) {
        int level = LOG2(j - i - 1);
        GLOBAL const int *peaks = array(block, DEVICE_PEAKS + level);
        most = MAX(most, MAX(peaks[i + 1], peaks[j - (1 << level)]));
    }
    return x[j + 1] + most;
}

/* H(i,j,m), once all inputs in the block and the result of cost_product in its place are available.
 */
DEVICE int finished(PRIVATE const struct block *block, int i, int j, int m)
{
    GLOBAL const int *x = array(block, DEVICE_X);
    int kept = array(block, DEVICE_XBAR)[i], before = array(block, DEVICE_BEFORE)[i];
    int all = kept +
              MAX(x[j + 1] + array(block, DEVICE_FTMP)[i], x[i + 1] + array(block, DEVICE_BTMP)[i]);
    int best = COST_INFINITE;
    if (i == j)
        return m >= all ? before : COST_INFINITE;
    if (m >= all) {
        int rest = value(block, i + 1, j, m - kept);
        if (rest < COST_INFINITE)
            best = rest - array(block, DEVICE_FORWARD)[i];
    }
    if (m >= least_slots(block, i, j)) {
        int split = NO_SPLIT, own_end = block->i + TILE - 1;
        if (block->i < block->j) {
            split = value(block, i, j, m);
            split = least_split(block, i, j, m, block->j + 1, j, split);
        }
        split = least_split(block, i, j, m, i + 1, j < own_end ? j : own_end, split);
        best = split - before < best ? split - before : best;
    }
    return best;
}

/* Pairs of a block at the same distance from its corner next to the main diagonal are independent.
 */
KERNEL void cost_finish(GLOBAL int *tables, GLOBAL const int *numbers,
                        GLOBAL const struct device_problem *problems, int diagonal)
{
    struct block block;
    if (!find_block(&block, tables, numbers, problems, diagonal))
        return;
    for (int away = diagonal ? 0 : TILE - 1; away <= 2 * (TILE - 1); away++) {
        int first = away < TILE ? 0 : away - (TILE - 1), last = away < TILE ? away : TILE - 1;
        for (int k = THREAD; k < (last - first + 1) * block.stride; k += DEVICE_THREADS) {
            int b = first + k / block.stride, m = k % block.stride;
            int i = block.i + TILE - 1 - (away - b), j = block.j + b;
            if (j < block.count)
                block.table[row_of(&block, i, j) + m] = finished(&block, i, j, m);
        }
        BARRIER();
    }
}
