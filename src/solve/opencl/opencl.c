#include "solve/opencl/opencl.h"

#include <stdio.h>

#include "solve/backend/remote.h"

static bool available(struct backend_place *place)
{
    struct opencl_place found = {0};
    struct error err;
    if (remote_is_connected())
        return remote_available(&backend_opencl, place);
    bool there = opencl_find(&found, &err);
    *place = (struct backend_place){.usable = there, .is_cpu = found.is_cpu};
    if (there)
        snprintf(place->what, sizeof(place->what), "%.55s, %.80s, %u compute unit%s",
                 found.platform, found.name, found.units, found.units == 1 ? "" : "s");
    else
        snprintf(place->what, sizeof(place->what), "%.*s", (int)sizeof(place->what) - 1, err.text);
    return there;
}

/* The estimate for a GPU: the time to load and compile, and the rate of an average card. */
static double seconds(const struct cost_problem *problems, size_t count, unsigned threads)
{
    (void)threads;
    return device_seconds(problems, count, 0.5, 4e11, 2e9);
}

static bool solve(const struct cost_problem *problems, struct cost_table *tables, size_t count,
                  const struct backend_options *options, struct error *err)
{
    static struct opencl_device opened; /* open once `context` is set */
    struct opencl_place place;
    if (remote_is_connected())
        return remote_solve(&backend_opencl, problems, tables, count, options, err);
    if (!opencl_find(&place, err) || (!opened.context && !opencl_open(&opened, &place, err)))
        return false;
    const struct device device = {
        .self = &opened,
        .most_bytes = (size_t)place.most_bytes,
        .load = opencl_load,
        .launch = opencl_launch,
        .fetch = opencl_fetch,
        .unload = opencl_unload,
    };
    return device_solve(&device, problems, tables, count, options, err);
}

const struct backend backend_opencl = {
    .name = "opencl", .available = available, .seconds = seconds, .solve = solve};
