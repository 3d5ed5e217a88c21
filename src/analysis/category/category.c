#include "analysis/category/category.h"

#include <stdlib.h>

#include "analysis/category/classifier.h"

static void summarize_runs(struct classifier *classifier)
{
    const struct phases *phases = classifier->phases;
    classifier->first_backward_run = NO_RUN;
    classifier->first_step_run = (uint32_t)phases->count;
    for (uint32_t run = (uint32_t)phases->count; run-- > 0;) {
        if (phases->runs[run].phase > PHASE_DATA)
            classifier->first_step_run = run;
        if (phases->runs[run].phase == PHASE_BACKWARD)
            classifier->first_backward_run = run;
        if (phases->runs[run].phase == PHASE_FORWARD)
            classifier->has_forward = true;
        if (phases->runs[run].evidence == PHASE_GUESSED)
            classifier->is_guess = true;
    }
}

static void classifier_init(struct classifier *classifier, const struct timeline *timeline,
                            struct site_table *sites, const struct phases *phases)
{
    *classifier = (struct classifier){.timeline = timeline, .sites = sites, .phases = phases};
    size_tallies_init(&classifier->tallies, timeline->snapshot->budget);
    classifier->is_cut =
        timeline->by_action[ACTION_OOM] > 0 || timeline->trace->edge.skipped_after > 0;
    for (size_t i = 0; i < timeline->snapshot->extra_count; i++)
        if (timeline->snapshot->extras[i].category != STRING_EMPTY)
            classifier->has_file_categories = true;
    summarize_runs(classifier);
}

static bool leaves_no_gradient(const struct size_tallies *tallies)
{
    for (size_t i = 0; i < tallies->slot_count; i++)
        if (tallies->slots[i].used && tallies->slots[i].gradients.most > 0)
            return false;
    return true;
}

static bool assign(struct classifier *classifier, struct categories *categories, struct error *err)
{
    if (!classify_traced(classifier, categories, err))
        return false;
    classifier->gradients_stay = leaves_no_gradient(&classifier->tallies);
    return classify_preexisting(classifier, categories, err) &&
           classify_traced_persistent(classifier, categories, err);
}

/* Allocates an array and sets `*capacity`, which arrays of the same length share. */
static bool make_array(uint8_t **array, size_t *capacity, size_t count, struct budget *budget,
                       struct error *err)
{
    size_t made = 0;
    if (!vec_grow((void **)array, &made, count + 1, 1, budget, err))
        return false;
    *capacity = made;
    return true;
}

static bool make_room(struct categories *made, const struct timeline *timeline, struct error *err)
{
    size_t *lifetimes = &made->lifetime_capacity, *preexisting = &made->preexisting_capacity;
    size_t born = timeline->lifetime_count, before = timeline->preexisting_count;
    return make_array(&made->of_lifetime, lifetimes, born, made->budget, err) &&
           make_array(&made->why_lifetime, lifetimes, born, made->budget, err) &&
           make_array(&made->of_preexisting, preexisting, before, made->budget, err) &&
           make_array(&made->why_preexisting, preexisting, before, made->budget, err);
}

bool categories_assign(const struct timeline *timeline, struct site_table *sites,
                       const struct phases *phases, struct categories *categories,
                       struct error *err)
{
    struct classifier classifier;
    classifier_init(&classifier, timeline, sites, phases);
    struct categories made = {.budget = timeline->snapshot->budget};
    bool ok = make_room(&made, timeline, err) && assign(&classifier, &made, err);
    size_tallies_release(&classifier.tallies);
    if (!ok) {
        categories_release(&made);
        return false;
    }
    *categories = made;
    return true;
}

void categories_release(struct categories *categories)
{
    size_t lifetimes = categories->lifetime_capacity,
           preexisting = categories->preexisting_capacity;
    vec_free(categories->of_lifetime, lifetimes, 1, categories->budget);
    vec_free(categories->why_lifetime, lifetimes, 1, categories->budget);
    vec_free(categories->of_preexisting, preexisting, 1, categories->budget);
    vec_free(categories->why_preexisting, preexisting, 1, categories->budget);
    *categories = (struct categories){0};
}
