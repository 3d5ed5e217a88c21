#include "analysis/pool/device_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/device.h"

#define MEANT_MOST (UINT64_C(1) << 39) /* bytes; no device has as much */

uint64_t device_memory_least(const struct timeline *timeline)
{
    const struct trace *trace = timeline->trace;
    int64_t reserved = timeline->reserved.start_bytes;
    uint64_t least =
        timeline->reserved.peak_bytes > 0 ? (uint64_t)timeline->reserved.peak_bytes : 0;
    for (size_t i = 0; i < trace->count; i++) {
        uint64_t both;
        uint8_t action = trace->action[i];
        if (action == ACTION_SEGMENT_ALLOC || action == ACTION_SEGMENT_MAP)
            reserved += (int64_t)trace_size(trace, i);
        else if (action == ACTION_SEGMENT_FREE || action == ACTION_SEGMENT_UNMAP)
            reserved -= (int64_t)trace_size(trace, i);
        else if (action == ACTION_OOM && reserved > 0 &&
                 !__builtin_add_overflow((uint64_t)reserved, trace_addr(trace, i), &both) &&
                 both > least)
            least = both;
    }
    return least;
}

/* Writes "; did you mean 24GiB?" for 24 (without a unit) or 24 MiB; else "". */
static const char *suggest_size(char out[UNITS_TEXT_SIZE], uint64_t said_bytes, uint64_t least)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    uint64_t bytes = said_bytes, number;
    size_t unit = 0;
    while (bytes < least)
        if (__builtin_mul_overflow(bytes, 1024, &bytes))
            return "";
    if (bytes >= MEANT_MOST)
        return "";
    for (number = bytes / 1024; number % 1024 == 0 && unit < 2; number /= 1024)
        unit++;
    snprintf(out, UNITS_TEXT_SIZE, "; did you mean %" PRIu64 "%s?", number, units[unit]);
    return out;
}

bool device_memory_check(const struct timeline *timeline, uint64_t said_bytes, struct error *err)
{
    uint64_t least = said_bytes > 0 ? device_memory_least(timeline) : 0;
    char said[UNITS_TEXT_SIZE], seen[UNITS_TEXT_SIZE], more[UNITS_TEXT_SIZE];
    if (said_bytes >= least)
        return true;
    int64_t told = least < INT64_MAX ? (int64_t)least : INT64_MAX;
    units_bytes(said, (int64_t)said_bytes, UNIT_AUTO);
    units_bytes(seen, told, UNIT_AUTO);
    if (strcmp(said, seen) == 0) {
        units_bytes(said, (int64_t)said_bytes, UNIT_BYTES);
        units_bytes(seen, told, UNIT_BYTES);
    }
    return error_set(err, STATUS_USAGE,
                     "--gpu-memory %s is less than the %s that %s is seen to have%s", said, seen,
                     DEVICE_WORDS(timeline->device), suggest_size(more, said_bytes, least));
}
