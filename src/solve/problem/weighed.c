#include "solve/problem/weighed.h"

#define LOW_BITS  22
#define MOST_RUNS 16 /* forward passes whose bytes fit below */

static const double weight_units = 1 << 23; /* units of weight in a forward pass */
static const double byte_units = (1 << LOW_BITS) / MOST_RUNS;

static int64_t units(double sum, double whole, double count)
{
    return whole > 0 ? (int64_t)(sum / whole * count + 0.5) : 0;
}

int64_t weighed_cost(struct weighed_sum from, struct weighed_sum to, struct weighed_sum whole)
{
    int64_t weight = units(to.weight, whole.weight, weight_units) -
                     units(from.weight, whole.weight, weight_units);
    int64_t bytes =
        units(to.bytes, whole.bytes, byte_units) - units(from.bytes, whole.bytes, byte_units);
    return weight * (INT64_C(1) << LOW_BITS) + bytes;
}

int64_t weighed_less(int64_t cost, int64_t part)
{
    const int64_t low = (INT64_C(1) << LOW_BITS) - 1;
    int64_t weight = (cost >> LOW_BITS) - (part >> LOW_BITS), bytes = (cost & low) - (part & low);
    return (weight > 0 ? weight : 0) * (INT64_C(1) << LOW_BITS) + (bytes > 0 ? bytes : 0);
}

static double weight_share(int64_t cost)
{
    return (double)(cost >> LOW_BITS) / weight_units;
}

double weighed_share(int64_t cost)
{
    double by_weight = weight_share(cost);
    if (by_weight >= MOST_RUNS / 2) /* so many runs carry: all layers run about as often */
        return by_weight;
    return (double)(cost & ((INT64_C(1) << LOW_BITS) - 1)) / byte_units;
}

bool weighed_is_cheap(int64_t cost, struct weighed_sum whole)
{
    double weight = weight_share(cost) * whole.weight, bytes = weighed_share(cost) * whole.bytes;
    return weight <= bytes + whole.weight / 1000;
}
