#include "solve/choice/choice.h"

#include <string.h>

#include "solve/cuda/cuda.h"
#include "solve/opencl/opencl.h"

const struct backend *const backends[] = {&backend_cpu, &backend_cuda, &backend_opencl, NULL};

const struct backend *backend_find(const char *name)
{
    for (size_t i = 0; backends[i]; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}

const struct backend *backend_choose(const struct cost_problem *problems, size_t count,
                                     unsigned threads)
{
    const struct backend *best = &backend_cpu;
    double least = best->seconds(problems, count, threads);
    for (size_t i = 0; backends[i]; i++) {
        struct backend_place place;
        double seconds = backends[i]->seconds(problems, count, threads);
        if (seconds > least - BACKEND_WORTH_SECONDS || !backends[i]->available(&place) ||
            place.is_cpu)
            continue;
        best = backends[i];
        least = seconds;
    }
    return best;
}
