#include "solve/backend.h"

#include <stdio.h>

#define REFERENCE_SECONDS 1.2e-9 /* an addition and a minimum */

static bool available(struct backend_place *place)
{
    *place = (struct backend_place){.usable = true, .is_cpu = true};
    snprintf(place->what, sizeof(place->what), "plain C, 1 thread");
    return true;
}

static double seconds(const struct cost_problem *problems, size_t count, unsigned threads)
{
    (void)threads;
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        double layers = problems[k].layers;
        sum += layers * layers * layers / 6 * (problems[k].slots + 1) * REFERENCE_SECONDS;
    }
    return sum;
}

const struct backend backend_cpu = {
    .name = "cpu", .available = available, .seconds = seconds, .solve = cost_reference_solve};
