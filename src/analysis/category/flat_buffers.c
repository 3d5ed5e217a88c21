#include "analysis/category/flat_buffers.h"

#include "base/bisect.h"

#define LEAST_BUFFERS 3 /* parameters and two more */
#define MOST_BUFFERS  8
#define LEAST_SHARE   0.5       /* part of the bytes that stay, including workspaces of libraries */
#define LEAST_BUFFER  (1 << 20) /* bytes; smaller blocks have equal sizes by chance */
#define ROUNDING      1024      /* bytes: twice the unit to which the allocator rounds */

bool flat_buffer_fits(uint64_t size, uint64_t buffer, unsigned width)
{
    uint64_t whole = buffer * width;
    return whole / width == buffer && size <= whole && whole - size < ROUNDING;
}

/* The number of blocks from index `first` on that are twice as large as the buffer. */
static size_t count_doubles(const uint64_t *sizes, size_t count, size_t first, uint64_t buffer)
{
    if (buffer > UINT64_MAX / 2)
        return 0;
    size_t left = count - first;
    return bisect_less_64(&sizes[first], sizeof(*sizes), left, 2 * buffer + 1) -
           bisect_less_64(&sizes[first], sizeof(*sizes), left, 2 * buffer - ROUNDING + 1);
}

/* True if another large size has as many blocks as the size of the blocks [first, end). Then these
 * may be two weights, each with its states. */
static bool has_equals(const uint64_t *sizes, size_t count, size_t first, size_t end)
{
    for (size_t i = 0, last; i < count; i = last) {
        for (last = i + 1; last < count && sizes[last] == sizes[i];)
            last++;
        if (i != first && sizes[i] >= LEAST_BUFFER && last - i == end - first &&
            !flat_buffer_fits(sizes[i], sizes[first], 2))
            return true;
    }
    return false;
}

uint64_t flat_buffer_size(const uint64_t *sizes, size_t count)
{
    double all = 0;
    size_t large = 0;
    for (size_t i = 0; i < count; i++) {
        all += (double)sizes[i];
        large += sizes[i] >= LEAST_BUFFER;
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sizes[end] == sizes[i];)
            end++;
        if (sizes[i] < LEAST_BUFFER)
            continue;
        size_t doubles = count_doubles(sizes, count, end, sizes[i]);
        double held = (double)sizes[i] * ((double)(end - i) + 2 * (double)doubles);
        size_t buffers = end - i + doubles;
        if (buffers >= LEAST_BUFFERS && buffers <= MOST_BUFFERS && large - buffers <= buffers &&
            held >= all * LEAST_SHARE && !has_equals(sizes, count, i, end))
            return sizes[i];
    }
    return 0;
}
