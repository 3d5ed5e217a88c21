/* The sizes of blocks that were there before the first step and stay. In a trace without stacks
 * they tell which blocks that a backward pass leaves may be gradients: lifetimes alone take a batch
 * that is made right after the pass, or a result, for one. */
#include "analysis/category/classifier.h"

#include "analysis/phase/births.h"

#define LEAST_PART 4 /* of what stays, gradients of those sizes that one pass leaves */

static bool count_early(struct classifier *classifier, uint64_t size, double *bytes,
                        struct error *err)
{
    struct size_tally *tally = size_tallies_at(&classifier->tallies, size, err);
    if (!tally)
        return false;
    tally->early++;
    *bytes += (double)size;
    return true;
}

static bool outlives_backward(const struct classifier *classifier, const struct lifetime *lifetime,
                              uint32_t run)
{
    uint32_t end = phases_run_of(classifier->phases, lifetime_end(lifetime));
    return classifier_phase(classifier, run) == PHASE_BACKWARD && end != run &&
           !phases_same_backward(classifier->phases, run, end);
}

/* The most bytes that one pass leaves in blocks of early sizes, no more of a size than stay. */
static double most_left(const struct classifier *classifier)
{
    const struct timeline *timeline = classifier->timeline;
    double most = 0, now = 0;
    uint32_t pass = NO_RUN;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t run = phases_run_of(classifier->phases, lifetime->alloc);
        if (!outlives_backward(classifier, lifetime, run))
            continue;
        now = classifier->phases->runs[run].pass == pass ? now : 0;
        pass = classifier->phases->runs[run].pass;
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        struct size_tally *tally =
            (struct size_tally *)size_tallies_find(&classifier->tallies, size);
        if (!tally || tally->early == 0)
            continue;
        run_count_add(&tally->left, pass);
        now += tally->left.now <= tally->early ? (double)size : 0;
        most = now > most ? now : most;
    }
    return most;
}

bool classifier_count_early(struct classifier *classifier, struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    double bytes = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (classifier_stays(classifier, preexisting_end(&timeline->preexisting[i])) &&
            !count_early(classifier, timeline->preexisting[i].size, &bytes, err))
            return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (phases_run_of(classifier->phases, lifetime->alloc) >= classifier->first_step_run)
            break;
        if (classifier_stays(classifier, lifetime_end(lifetime)) &&
            !count_early(classifier, trace_size(timeline->trace, lifetime->alloc), &bytes, err))
            return false;
    }
    classifier->sizes_tell = bytes > 0 && most_left(classifier) * LEAST_PART >= bytes;
    return true;
}

bool classifier_is_no_gradient(const struct classifier *classifier, uint64_t size)
{
    const struct size_tally *tally =
        classifier->sizes_tell ? size_tallies_find(&classifier->tallies, size) : NULL;
    return classifier->sizes_tell && (!tally || (tally->early == 0 && !tally->is_flat));
}
