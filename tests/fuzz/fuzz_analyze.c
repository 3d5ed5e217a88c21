/* libFuzzer entry: any bytes through all of `memsnap analyze`, text and JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/report/report.h"
#include "model/snapshot.h"
#include "render/analyze/analyze.h"

#define DEVICES_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const struct analysis *analysis)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);
    if (stream == NULL)
        return;
    struct page page = page_for(stream, UNIT_AUTO);
    analyze_text(&page, analysis);
    analyze_json(stream, analysis);
    fclose(stream);
    free(bytes);
}

static void report(const struct snapshot *snapshot, const uint32_t *devices, size_t count,
                   struct site_table *sites)
{
    static const struct report_options options = {.top = 10};
    struct timeline *timelines[DEVICES_MAX] = {0};
    struct device_report *reports[DEVICES_MAX] = {0};
    struct error err;
    size_t built = 0;
    while (built < count && built < DEVICES_MAX) {
        timelines[built] = timeline_build(snapshot, devices[built], &err);
        if (timelines[built] != NULL)
            reports[built] = device_report_build(timelines[built], sites, &options, &err);
        if (reports[built] == NULL)
            break;
        built++;
    }
    const struct analysis analysis = {.path = "fuzz",
                                      .snapshot = snapshot,
                                      .sites = sites,
                                      .devices = reports,
                                      .device_count = built,
                                      .stacks = true,
                                      .verbose = true,
                                      .largest = 5};
    render(&analysis);
    for (size_t i = 0; i < DEVICES_MAX; i++) {
        device_report_destroy(reports[i]);
        timeline_destroy(timelines[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct load_options options = {.max_memory = (size_t)32 << 20};
    struct error err;
    uint32_t *devices;
    size_t count;
    if (size > 0 && data[size - 1] % 4 == 0) /* one in four through the range cutter */
        options.window = (struct window){{POINT_EVENT, data[size - 1] % 16}, {POINT_EVENT, 40}};
    struct snapshot *snapshot = snapshot_load_memory(data, size, &options, &err);
    if (snapshot == NULL)
        return 0;
    struct site_table *sites = site_table_create(snapshot->symbols, &err);
    if (sites != NULL && snapshot_devices(snapshot, &devices, &count, &err)) {
        report(snapshot, devices, count, sites);
        free(devices);
    }
    site_table_destroy(sites);
    snapshot_destroy(snapshot);
    return 0;
}
