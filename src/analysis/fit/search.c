#include "analysis/fit/search.h"

#include <math.h>
#include <string.h>

#define GUESSES_MOST 8
#define DOWN_SHARE   256
#define BEYOND_MOST  3    /* values tried above one that does not fit */
#define NEAR         0.95 /* share of available memory beyond which a line tells little more */

void fit_search_begin(struct fit_search *search, const struct fit_values *values,
                      uint64_t available)
{
    *search = (struct fit_search){
        .values = values,
        .available = (double)available,
        .fits = -1,
        .fails = (int64_t)values->count,
    };
}

static void add_point(struct fit_points *points, uint64_t value, struct fit_peaks peaks)
{
    size_t at = points->count;
    const struct fit_point point = {(double)value, {(double)peaks.reserved, (double)peaks.active}};
    if (points->count == FIT_POINTS_MOST || peaks.reserved == 0)
        return;
    while (at > 0 && points->items[at - 1].value > point.value)
        at--;
    if (at > 0 && points->items[at - 1].value == point.value)
        return;
    memmove(&points->items[at + 1], &points->items[at], (points->count - at) * sizeof(point));
    points->items[at] = point;
    points->count++;
}

void fit_search_hint(struct fit_search *search, uint64_t value, struct fit_peaks peaks)
{
    add_point(&search->hints, value, peaks);
}

/* A line through two points, or through one and the origin. */
struct line {
    double value, bytes; /* a point */
    double slope;        /* bytes per value */
};

/* The points are two of which one is below the available memory and the other above it, or else the
 * two highest. */
static bool choose_line(const struct fit_search *search, unsigned measure, struct line *line)
{
    bool use_hints = search->own.count < 2 && search->hints.count > 1;
    const struct fit_points *points = use_hints ? &search->hints : &search->own;
    struct fit_point low = {0, {0, 0}};
    size_t at = 1;
    if (points->count == 0)
        return false;
    while (at + 1 < points->count && points->items[at].bytes[measure] <= search->available)
        at++;
    if (points->count > 1)
        low = points->items[at - 1];
    const struct fit_point *high = &points->items[points->count > 1 ? at : 0];
    double distance = high->value > low.value ? high->value - low.value : 1;
    *line = (struct line){high->value, high->bytes[measure],
                          (high->bytes[measure] - low.bytes[measure]) / distance};
    return true;
}

/* The value at which the points predict that memory is full. */
static double predict_value(const struct fit_search *search)
{
    struct line line;
    if (!choose_line(search, search->measure, &line))
        return 0;
    return line.slope > 0 ? line.value + (search->available - line.bytes) / line.slope : HUGE_VAL;
}

struct fit_peaks fit_search_predict(const struct fit_search *search, size_t index)
{
    double peaks[FIT_MEASURES] = {0}, value = (double)fit_value(search->values, index);
    struct line line;
    for (unsigned measure = 0; measure < FIT_MEASURES; measure++)
        if (choose_line(search, measure, &line))
            peaks[measure] = line.bytes + line.slope * (value - line.value);
    return (struct fit_peaks){.active = peaks[FIT_ACTIVE] > 0 ? (uint64_t)peaks[FIT_ACTIVE] : 0,
                              .reserved =
                                  peaks[FIT_RESERVED] > 0 ? (uint64_t)peaks[FIT_RESERVED] : 0};
}

/* The index of the largest value that is not above `value`, within the open interval. */
static int64_t index_of(const struct fit_search *search, double value)
{
    int64_t low = search->fits + 1, high = search->fails - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if ((double)fit_value(search->values, (size_t)middle) <= value)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int64_t untried(const struct fit_search *search)
{
    int64_t index = 0;
    while (search->tried >> index & 1)
        index++;
    return index;
}

static bool is_told(const struct fit_search *search, int64_t index)
{
    for (size_t i = 0; i < search->told_count && i < FIT_POINTS_MOST; i++)
        if (search->told[i] == index)
            return true;
    return false;
}

/* A value above the smallest that does not fit, whose active memory should fit. */
static bool next_beyond(const struct fit_search *search, size_t *index)
{
    int64_t next = search->fails + 1, end = next + BEYOND_MOST;
    if (search->fits < 0)
        return false;
    while (next < end && is_told(search, next))
        next++;
    if (next == end || next >= (int64_t)search->values->count)
        return false;
    *index = (size_t)next;
    return (double)fit_search_predict(search, *index).active <= search->available;
}

bool fit_search_next(const struct fit_search *search, size_t *index)
{
    int64_t low = search->fits, high = search->fails, middle = low + (high - low) / 2, next;
    if (search->values->is_list) {
        size_t first = search->tried == UINT64_MAX ? FIT_LISTED_MOST : (size_t)untried(search);
        *index = first;
        return first < search->values->count;
    }
    if (high - low <= 1)
        return next_beyond(search, index);
    if (search->mode == FIT_UP)
        next = low + search->stride < high ? low + search->stride : high - 1;
    else if (search->mode == FIT_DOWN)
        next = high - search->stride > low ? high - search->stride : low + 1;
    else if (search->mode == FIT_BISECT || search->is_guess_far)
        next = middle;
    else
        next = index_of(search, predict_value(search));
    bool is_bracketed = high < (int64_t)search->values->count;
    if (is_bracketed &&
        ((search->mode == FIT_UP && next > middle) || (search->mode == FIT_DOWN && next < middle)))
        next = middle > low ? middle : low + 1;
    *index = (size_t)next;
    return true;
}

static bool is_near(const struct fit_search *search)
{
    const struct fit_points *points = &search->own;
    return points->count > 0 &&
           points->items[points->count - 1].bytes[FIT_RESERVED] >= NEAR * search->available;
}

static void start_strides(struct fit_search *search, enum fit_mode mode)
{
    search->mode = mode;
    /* a guess that is too high is so by some share of it */
    search->stride = mode == FIT_DOWN ? 1 + search->fails / DOWN_SHARE : 1;
}

/* Chooses how to go on after a guess. */
static void judge_guess(struct fit_search *search, bool fits)
{
    bool was_hinted = search->own.count < 2 && search->hints.count > 1;
    bool is_exhausted = index_of(search, predict_value(search)) <= search->fits + 1;
    if (++search->guesses >= GUESSES_MOST)
        search->mode = FIT_BISECT;
    else if (fits && is_exhausted)
        start_strides(search, FIT_UP);
    else if (!fits && (is_near(search) || was_hinted || search->measure == FIT_ACTIVE))
        start_strides(search, FIT_DOWN);
    else
        search->is_guess_far = !fits;
}

/* Chooses how to go on after a stride. */
static void judge_stride(struct fit_search *search, bool fits)
{
    if (fits != (search->mode == FIT_UP)) {
        search->mode = FIT_BISECT;
    } else if (fits && search->measure == FIT_RESERVED) {
        search->measure = FIT_ACTIVE; /* the allocator must have released cached memory */
        search->mode = FIT_GUESS;
    } else if (search->stride < INT64_MAX / 4) {
        search->stride *= 2;
    }
}

/* The index of the largest value below `fails` that a run fitted with. */
static int64_t largest_below(const struct fit_search *search)
{
    double limit = (double)fit_value(search->values, (size_t)search->fails);
    size_t i = search->own.count;
    while (i > 0 && search->own.items[i - 1].value >= limit)
        i--;
    int64_t low = -1, high = search->fails;
    while (i > 0 && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if ((double)fit_value(search->values, (size_t)middle) <= search->own.items[i - 1].value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void fit_search_tell(struct fit_search *search, size_t index, bool fits, struct fit_peaks peaks)
{
    int64_t at = (int64_t)index;
    if (index < FIT_LISTED_MOST)
        search->tried |= UINT64_C(1) << index;
    if (fits)
        add_point(&search->own, fit_value(search->values, index), peaks);
    search->told[search->told_count++ % FIT_POINTS_MOST] = at;
    if (at > search->fails)
        return;
    if (fits && at > search->fits)
        search->fits = at;
    if (!fits && at < search->fails)
        search->fails = at;
    if (search->fits > search->fails)
        search->fits = largest_below(search);
    if (search->mode == FIT_GUESS)
        judge_guess(search, fits);
    else if (search->mode != FIT_BISECT)
        judge_stride(search, fits);
}
