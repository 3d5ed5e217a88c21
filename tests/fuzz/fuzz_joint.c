/* libFuzzer entry: a Chrome trace and a snapshot, joined up to the call sites, under a small memory
 * budget. A line "---" separates the two. Without it, the trace stands for both: it is a snapshot
 * of its own allocations. */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>

#include "analysis/joint/sites.h"
#include "model/snapshot.h"

#define SEPARATOR "\n---\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void join(const struct profiled *profiled, const struct timeline *timeline,
                 struct site_table *sites)
{
    static const struct report_options options = {.top = 10};
    struct joint joint;
    struct error err;
    uint64_t live;
    struct device_report *report = device_report_build(timeline, sites, &options, &err);
    if (report && joint_make(&joint, profiled, timeline, &err)) {
        if (joint.matched > joint.inside || joint.inside > joint.profiled_count)
            __builtin_trap();
        for (size_t i = 0; i < timeline->lifetime_count; i++)
            if (joint.allocation[i] != JOINT_NONE && joint.allocation[i] >= profiled->count)
                __builtin_trap();
        joint_sites(report, &joint, sites, &live, &err);
        joint_release(&joint);
    }
    device_report_destroy(report);
}

static void join_devices(const struct profiled *profiled, const struct snapshot *snapshot)
{
    struct error err;
    uint32_t *devices = NULL;
    size_t count;
    struct site_table *sites = site_table_create(snapshot->symbols, &err);
    if (sites && snapshot_devices(snapshot, &devices, &count, &err))
        for (size_t i = 0; i < count && i < 4; i++) {
            struct timeline *timeline = timeline_build(snapshot, devices[i], &err);
            if (timeline)
                join(profiled, timeline, sites);
            timeline_destroy(timeline);
        }
    free(devices);
    site_table_destroy(sites);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct load_options options = {.max_memory = (size_t)32 << 20};
    struct error err;
    struct input input;
    const uint8_t *at = memmem(data, size, SEPARATOR, strlen(SEPARATOR));
    size_t trace_size = at ? (size_t)(at - data) : size;
    const uint8_t *other = at ? at + strlen(SEPARATOR) : data;
    if (size > 0 && data[size - 1] % 4 == 0) /* one in four with a part of the snapshot */
        options.window = (struct window){{POINT_EVENT, data[size - 1] % 16}, {POINT_EVENT, 200}};
    if (!input_from_memory(&input, data, trace_size, (size_t)32 << 20, &err))
        return 0;
    struct profiled *profiled = profiled_load_input(&input, &err);
    struct snapshot *snapshot =
        profiled ? snapshot_load_memory(other, (size_t)(data + size - other), &options, &err)
                 : NULL;
    if (snapshot)
        join_devices(profiled, snapshot);
    snapshot_destroy(snapshot);
    profiled_destroy(profiled);
    return 0;
}
