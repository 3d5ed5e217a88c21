/* libFuzzer entry: any bytes as the counters of the allocator, in every form, reported both ways
 * under a small memory budget. */
#include <stdio.h>

#include "render/stats/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *out;
    struct input input;
    struct error err;
    if (!out)
        out = fopen("/dev/null", "w");
    if (!out || !input_from_memory(&input, data, size, (size_t)8 << 20, &err))
        return 0;
    struct memory_stats *stats = memory_stats_load_input(&input, &err);
    if (!stats)
        return 0;
    const struct page page = {.out = out, .width = 80};
    const struct stats_analysis analysis = {.path = "fuzz", .stats = stats};
    stats_text(&page, &analysis);
    stats_json(out, &analysis);
    memory_stats_destroy(stats);
    return 0;
}
