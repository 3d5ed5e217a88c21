/* Kernels belong to the calls that launched them, and those to operators. */
#include <stdlib.h>

#include "decode/profiler/operations.h"
#include "decode/profiler/profile.h"

static int by_correlation(const void *a, const void *b)
{
    const struct profile_kernel *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_launch(const void *a, const void *b)
{
    const struct profile_launch *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_thread(const void *a, const void *b)
{
    const struct profile_launch *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

void profile_join_kernels(struct profile *profile)
{
    size_t kernel = 0, kept = 0;
    if (profile->kernel_count > 1)
        qsort(profile->kernels, profile->kernel_count, sizeof(*profile->kernels), by_correlation);
    if (profile->launch_count > 1)
        qsort(profile->launches, profile->launch_count, sizeof(*profile->launches), by_launch);
    for (size_t i = 0; i < profile->launch_count; i++) {
        struct profile_launch launch = profile->launches[i];
        while (kernel < profile->kernel_count &&
               profile->kernels[kernel].correlation < launch.correlation)
            kernel++;
        for (; kernel < profile->kernel_count &&
               profile->kernels[kernel].correlation == launch.correlation;
             kernel++) {
            profile_add(&launch.kernel_ns, profile->kernels[kernel].duration_ns);
            launch.kernels++;
        }
        if (launch.kernels > 0)
            profile->launches[kept++] = launch;
    }
    profile->launch_count = kept;
    if (kept > 1)
        qsort(profile->launches, kept, sizeof(*profile->launches), by_thread);
}

static int by_time(const void *a, const void *b)
{
    const struct profile_launch *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Gives each launch its operation. The launches are in order of thread, then time. */
static void name_operations(struct profile *profile)
{
    struct operation_walk walk = {0};
    for (size_t i = 0; i < profile->launch_count; i++) {
        struct profile_launch *launch = &profile->launches[i];
        if (i == 0 || launch->thread != profile->launches[i - 1].thread)
            walk = operation_walk_begin(profile, launch->thread);
        launch->operation = operation_walk_to(&walk, launch->time_ns);
    }
}

bool profile_emit_launches(struct profile *profile, const struct row_sink *sink, struct error *err)
{
    bool ok = true;
    profile_join_kernels(profile);
    name_operations(profile);
    if (profile->launch_count > 1)
        qsort(profile->launches, profile->launch_count, sizeof(*profile->launches), by_time);
    for (size_t i = 0; ok && i < profile->launch_count; i++) {
        const struct profile_launch *launch = &profile->launches[i];
        const struct launch_row row = {(profile->base_ns + launch->time_ns) / 1000,
                                       launch->kernel_ns, launch->operation};
        ok = sink->launch(sink->self, &row, err);
    }
    return ok;
}

struct profile_walk profile_walk_begin(const struct profile *profile, size_t thread)
{
    return (struct profile_walk){.cursor = range_cursor_begin(&profile->ranges, thread),
                                 .number = PROFILE_NO_RANGE};
}

uint32_t profile_walk_to(struct profile_walk *walk, int64_t time_ns)
{
    struct range_cursor *cursor = &walk->cursor;
    for (; cursor->more && cursor->range.start_ns <= time_ns; range_cursor_step(cursor)) {
        const struct profile_range *range = &cursor->range;
        if ((range->label.kind != RANGE_OPERATOR && range->label.kind != RANGE_ENGINE) ||
            (walk->number != PROFILE_NO_RANGE && range->start_ns < range_end(&walk->outermost)))
            continue;
        walk->outermost = *range;
        walk->number = cursor->number;
    }
    return walk->number != PROFILE_NO_RANGE && time_ns <= range_end(&walk->outermost)
               ? walk->number
               : PROFILE_NO_RANGE;
}
