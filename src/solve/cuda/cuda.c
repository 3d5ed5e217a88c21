#include "solve/cuda/cuda.h"

#include <stdio.h>

#include "solve/backend/remote.h"

static bool available(struct backend_place *place)
{
    struct cuda_place found;
    struct error err;
    if (remote_is_connected())
        return remote_available(&backend_cuda, place);
    *place = (struct backend_place){.usable = cuda_find(&found, &err)};
    if (place->usable)
        snprintf(place->what, sizeof(place->what), "%s, compute capability %d.%d, %d processors",
                 found.name, found.major, found.minor, found.processors);
    else
        snprintf(place->what, sizeof(place->what), "%.*s", (int)sizeof(place->what) - 1, err.text);
    return place->usable;
}

/* The driver takes long to start. The rate is a half of what an H200 could do at its best, and the
 * tables come back through pageable memory. */
static double seconds(const struct cost_problem *problems, size_t count, unsigned threads)
{
    (void)threads;
    return device_seconds(problems, count, 0.3, 4e12, 2e9);
}

static bool solve(const struct cost_problem *problems, struct cost_table *tables, size_t count,
                  const struct backend_options *options, struct error *err)
{
    static struct cuda_device opened; /* open once `context` is set */
    struct cuda_place place;
    struct device device = {
        .self = &opened,
        .load = cuda_load,
        .launch = cuda_launch,
        .fetch = cuda_fetch,
        .unload = cuda_unload,
    };
    if (remote_is_connected())
        return remote_solve(&backend_cuda, problems, tables, count, options, err);
    return cuda_find(&place, err) && (opened.context || cuda_open(&opened, &place, err)) &&
           cuda_free_bytes(&device.most_bytes, err) &&
           device_solve(&device, problems, tables, count, options, err);
}

const struct backend backend_cuda = {
    .name = "cuda", .available = available, .seconds = seconds, .solve = solve};
