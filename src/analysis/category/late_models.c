/* Models that a program makes after it has trained others, in a trace without stacks that annotates
 * the optimizer steps. The sizes of their weights are those of the gradients of later passes, as
 * those of early blocks are. */
#include "analysis/category/classifier.h"

#include "analysis/phase/births.h"

#define LEAST_BLOCKS 8 /* weights that one run of plain code makes */
#define LEAST_PART   2 /* one pass leaves gradients of at least 1/2 of their bytes */

/* True if plain code between two steps makes a block that stays, and no early block has its size.
 */
static bool may_be_weight(const struct classifier *classifier, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    const struct lifetime *lifetime = &timeline->lifetimes[index];
    uint32_t run = classifier->phases->of_lifetime[index].birth;
    return run > classifier->first_step_run && classifier_phase(classifier, run) <= PHASE_DATA &&
           classifier_stays(classifier, lifetime_end(lifetime)) &&
           !classifier_has_early(classifier, trace_size(timeline->trace, lifetime->alloc));
}

static bool is_noted(const struct classifier *classifier, size_t index)
{
    const struct timeline *timeline = classifier->timeline;
    const struct size_tally *tally = size_tallies_find(
        &classifier->tallies, trace_size(timeline->trace, timeline->lifetimes[index].alloc));
    return tally && tally->is_late;
}

/* The most bytes of weights that one run makes; 0 if runs make the same sizes again, as a leak
 * does. Notes the sizes of each run that makes enough. */
static bool find_lists(struct classifier *classifier, double *most, struct error *err)
{
    const struct phases *phases = classifier->phases;
    const struct timeline *timeline = classifier->timeline;
    for (size_t n = 0, next; n < phases->outliving_count; n = next) {
        uint32_t run = phases->of_lifetime[phases->outliving[n]].birth, blocks = 0, again = 0;
        double bytes = 0;
        for (next = n; next < phases->outliving_count &&
                       phases->of_lifetime[phases->outliving[next]].birth == run;
             next++) {
            size_t i = phases->outliving[next];
            bool counts = may_be_weight(classifier, i);
            blocks += counts;
            again += counts && is_noted(classifier, i);
            bytes += counts ? (double)trace_size(timeline->trace, timeline->lifetimes[i].alloc) : 0;
        }
        if (again * LEAST_PART >= LEAST_BLOCKS) {
            *most = 0;
            return true;
        }
        *most = blocks >= LEAST_BLOCKS && bytes > *most ? bytes : *most;
        for (size_t k = n; blocks >= LEAST_BLOCKS && k < next; k++) {
            size_t i = phases->outliving[k];
            if (!may_be_weight(classifier, i))
                continue;
            struct size_tally *tally =
                size_tallies_at(&classifier->tallies,
                                trace_size(timeline->trace, timeline->lifetimes[i].alloc), err);
            if (!tally)
                return false;
            tally->is_late = true;
        }
    }
    return true;
}

bool classifier_find_late_models(struct classifier *classifier, struct error *err)
{
    const struct phases *phases = classifier->phases;
    const struct timeline *timeline = classifier->timeline;
    double list = 0, now = 0;
    uint32_t pass = NO_RUN;
    /* without annotations, only lifetimes show the passes */
    if (classifier->phases->has_stacks || classifier->steps.count == 0)
        return true;
    if (!find_lists(classifier, &list, err))
        return false;
    for (size_t n = 0; list > 0 && n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (!classifier_outlives_backward(classifier, i))
            continue;
        uint32_t of = phases->runs[phases->of_lifetime[i].birth].pass;
        now = of == pass ? now : 0;
        pass = of;
        now += is_noted(classifier, i) ? (double)size : 0;
        if (now * LEAST_PART >= list)
            classifier->has_late_models = true;
    }
    return true;
}
