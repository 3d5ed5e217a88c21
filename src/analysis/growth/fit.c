#include "analysis/growth/fit.h"

#include <stdlib.h>

#include "base/bisect.h"

#define STEADY_LEAST 8 /* steps that grew; with fewer, the growth must be linear */
#define JUMP         4 /* times the median: more is a jump */
#define JUMPS_LEAST  3
#define LIMIT_LEAST  4 /* steps that added an allocation, before those that replace one */

static const char *const kind_names[] = {
    [GROWTH_GROWING] = "growing",           [GROWTH_KEPT_GRADIENTS] = "kept_gradients",
    [GROWTH_STOPPED] = "grew_then_stopped", [GROWTH_UNCLEAR] = "unclear",
    [GROWTH_ONE_OFF] = "one_off",           [GROWTH_VARYING] = "varying",
    [GROWTH_CONSTANT] = "constant",
};

const char *growth_kind_name(enum growth_kind kind)
{
    return kind_names[kind];
}

/* The differences between consecutive steps. */
struct changes {
    int64_t up[GROWTH_STEPS]; /* the positive differences */
    size_t grown;             /* their number */
    size_t more_blocks;       /* number of steps in which the number of allocations grew */
    size_t last;              /* the last step that grew; 0 if none */
    size_t pause;             /* the longest distance between two steps that grew */
    double risen, fallen;     /* sums of bytes */
};

static void find_changes(const struct growth_series *series, struct changes *found)
{
    size_t grown = 0, more_blocks = 0, last = 0, pause = 0;
    double risen = 0, fallen = 0;
    for (size_t k = 1; k < series->count; k++) {
        int64_t change = series->bytes[k] - series->bytes[k - 1];
        if (change < 0)
            fallen -= (double)change;
        if (change <= 0)
            continue;
        risen += (double)change;
        found->up[grown++] = change;
        more_blocks += series->blocks[k] > series->blocks[k - 1];
        pause = k - last > pause ? k - last : pause;
        last = k;
    }
    found->grown = grown;
    found->more_blocks = more_blocks;
    found->last = last;
    found->pause = pause;
    found->risen = risen;
    found->fallen = fallen;
}

/* R^2 of the least-squares line; 1 if all values are equal. */
static double r_squared(const struct growth_series *series)
{
    double n = (double)series->count, middle = (n - 1) / 2, mean = 0;
    double xx = 0, xy = 0, yy = 0;
    for (size_t k = 0; k < series->count; k++)
        mean += (double)series->bytes[k] / n;
    for (size_t k = 0; k < series->count; k++) {
        double x = (double)k - middle, y = (double)series->bytes[k] - mean;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    return yy > 0 && xx > 0 ? xy * xy / (xx * yy) : 1;
}

/* True if most of the bytes were added in a few steps, again and again: a server keeps the cache of
 * each request, which grows by a token in most steps and by a prompt in some. */
static bool jumps(const struct growth_series *series, const struct changes *changes, int64_t median)
{
    size_t count = 0, first = 0, last = 0;
    double bytes = 0;
    for (size_t k = 1; k < series->count; k++) {
        int64_t change = series->bytes[k] - series->bytes[k - 1];
        if (change / JUMP <= median)
            continue;
        first = count > 0 ? first : k;
        last = k;
        count++;
        bytes += (double)change;
    }
    return count >= JUMPS_LEAST && bytes * 2 > changes->risen &&
           (last - first) * 2 >= series->count - 1;
}

/* The median of all differences if more than half of them are positive, and none is an exception
 * that comes again; otherwise their mean. */
static int64_t slope(const struct growth_series *series, struct changes *changes)
{
    size_t differences = series->count - 1, rest = differences - changes->grown;
    int64_t mean = (series->bytes[series->count - 1] - series->bytes[0]) / (int64_t)differences;
    if (changes->grown <= differences / 2)
        return mean;
    qsort(changes->up, changes->grown, sizeof(changes->up[0]), compare_signed);
    int64_t median = changes->up[differences / 2 - rest];
    return jumps(series, changes, median) ? mean : median;
}

/* True for what keeps all that it has, or has as many allocations as it may have: a cache with a
 * limit frees one for each that it adds. Two buffers that take turns look like a small one. */
static bool stays_full(const struct growth_series *series, const struct changes *changes)
{
    return series->freed == 0 || (changes->fallen == 0 && changes->more_blocks >= LIMIT_LEAST);
}

static enum growth_kind kind_of(const struct growth_series *series, const struct changes *changes,
                                double straight)
{
    size_t differences = series->count - 1, since = differences - changes->last;
    if (changes->risen == 0 && changes->fallen == 0)
        return series->before_bytes < series->bytes[0] ? GROWTH_ONE_OFF : GROWTH_CONSTANT;
    if (changes->fallen * 10 > changes->risen)
        return GROWTH_VARYING;
    if (since >= 2 && since > changes->pause)
        return stays_full(series, changes) ? GROWTH_STOPPED : GROWTH_VARYING;
    if (changes->more_blocks >= 2)
        return GROWTH_GROWING;
    if (changes->grown >= 4 && changes->grown * 5 >= differences * 4 && straight >= 0.9)
        return GROWTH_GROWING;
    return GROWTH_UNCLEAR;
}

void growth_fit(const struct growth_series *series, struct growth_fit *fit)
{
    struct changes changes;
    find_changes(series, &changes);
    double straight = r_squared(series);
    *fit = (struct growth_fit){
        .kind = kind_of(series, &changes, straight),
        .steps_grown = (uint32_t)changes.grown,
        .steps_compared = (uint32_t)series->count - 1,
        .r_squared = straight,
    };
    bool is_steady = changes.grown >= STEADY_LEAST &&
                     changes.grown * 10 >= (series->count - 1) * 9; /* whatever the amounts */
    if (is_steady || (changes.grown >= 4 && straight >= 0.95))
        fit->confidence = CONFIDENCE_HIGH;
    else if (changes.grown >= 3 && straight >= 0.8)
        fit->confidence = CONFIDENCE_MEDIUM;
    if (fit->kind != GROWTH_GROWING)
        return;
    fit->replaced = changes.more_blocks * 2 < changes.grown;
    fit->bytes_per_step = slope(series, &changes);
}
