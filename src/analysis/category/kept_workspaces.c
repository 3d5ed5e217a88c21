/* Workspaces of cuBLAS that stay. Up to version 2.14, PyTorch gives each handle of cuBLAS one at
 * its first matrix product, right after the product's result, and keeps it (getNewWorkspace() in
 * aten/src/ATen/cuda/CublasHandlePool.cpp). A handle belongs to a thread, so a program has one for
 * its forward passes and one for autograd's thread. C++ frames name them; without those, their size
 * and their place tell. */
#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

#define THREADS 2

/* Blocks of one size, by where they are made and whether they stay. */
struct standing {
    uint64_t size;
    uint32_t early, backward, others; /* early: in a forward pass, or in what may be one */
    uint32_t freed;
    uint32_t last_early, last_backward;
    uint32_t last[THREADS]; /* of both; these are numbers of lifetimes, number n at n % THREADS */
};

bool classifier_follows_result(const struct classifier *classifier, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    const struct trace *trace = timeline->trace;
    if (index == 0)
        return false;
    const struct lifetime *result = &timeline->lifetimes[index - 1];
    uint32_t birth = timeline->lifetimes[index].alloc;
    return trace->stack[result->alloc] == trace->stack[birth] &&
           trace_size(trace, result->alloc) != trace_size(trace, birth) &&
           lifetime_end(result) != EVENT_NEVER;
}

static enum phase phase_of(const struct classifier *classifier, size_t index)
{
    return classifier_phase(classifier, classifier->phases->of_lifetime[index].birth);
}

static void count_traced(const struct classifier *classifier, size_t index,
                         struct standing *standing)
{
    enum phase phase = phase_of(classifier, index);
    /* without stacks, the first forward pass seems to begin late */
    bool is_early =
        phase == PHASE_FORWARD || (!classifier->phases->has_stacks && phase <= PHASE_DATA);
    if (lifetime_end(&classifier->timeline->lifetimes[index]) != EVENT_NEVER) {
        standing->freed++;
        return;
    }
    if (phase == PHASE_BACKWARD || is_early)
        standing->last[(standing->early + standing->backward) % THREADS] = (uint32_t)index;
    if (phase == PHASE_BACKWARD) {
        standing->backward++;
        standing->last_backward = (uint32_t)index;
    } else if (is_early) {
        standing->early++;
        standing->last_early = (uint32_t)index;
    } else {
        standing->others++;
    }
}

/* NULL if the size is not that of a workspace. */
static struct standing *standing_of(struct standing *both, uint64_t size)
{
    return size == both[0].size ? &both[0] : size == both[1].size ? &both[1] : NULL;
}

static void add(struct classifier *classifier, uint32_t index)
{
    classifier->workspaces[classifier->workspace_count++] = index;
}

/* A weight of the size makes each block doubtful: its gradient may stay, too. But then each pass
 * makes others of the size, which are added to it. */
static void add_found(struct classifier *classifier, const struct standing *standing)
{
    uint32_t early = standing->last_early;
    bool is_alone = standing->others == 0 && standing->freed == 0;
    bool is_pair = standing->early == 1 && standing->backward == 1 && standing->others == 0;
    bool has_early = standing->early == 1 &&
                     (classifier_follows_result(classifier, early) ||
                      (is_pair && (is_alone || phase_of(classifier, early) == PHASE_FORWARD)));
    /* without stacks, passes may be taken for each other */
    if (!is_pair && standing->early + standing->backward == THREADS && is_alone &&
        classifier_follows_result(classifier, standing->last[0]) &&
        classifier_follows_result(classifier, standing->last[1])) {
        add(classifier, standing->last[0]);
        add(classifier, standing->last[1]);
        return;
    }
    if (has_early)
        add(classifier, early);
    if (standing->backward == 1 && standing->others == 0 && (has_early || standing->early == 0))
        add(classifier, standing->last_backward);
}

void classifier_find_workspaces(struct classifier *classifier)
{
    const struct timeline *timeline = classifier->timeline;
    struct standing both[] = {{.size = CUBLAS_WORKSPACE}, {.size = HOPPER_WORKSPACE}}, *standing;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        standing = standing_of(both, timeline->preexisting[i].size);
        if (standing)
            standing->others++;
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        standing = standing_of(both, trace_size(timeline->trace, timeline->lifetimes[i].alloc));
        if (standing)
            count_traced(classifier, i, standing);
    }
    add_found(classifier, &both[0]);
    add_found(classifier, &both[1]);
}

bool classifier_is_workspace(const struct classifier *classifier, size_t index)
{
    for (size_t i = 0; i < classifier->workspace_count; i++)
        if (classifier->workspaces[i] == index)
            return true;
    return false;
}
