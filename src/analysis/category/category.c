#include "analysis/category/category.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"
#include "base/text.h"

/* A block that outlives the last backward pass is like a weight, if at least this many backward
 * passes precede that one. */
#define LEAST_PASSES 2

static void summarize_runs(struct classifier *classifier)
{
    const struct phases *phases = classifier->phases;
    classifier->first_backward_run = classifier->last_backward_run = NO_RUN;
    classifier->transform_run = classifier->model_run = NO_RUN;
    classifier->first_step_run = (uint32_t)phases->count;
    for (uint32_t run = (uint32_t)phases->count; run-- > 0;) {
        if (phases->runs[run].phase > PHASE_DATA)
            classifier->first_step_run = run;
        if (phases->runs[run].phase == PHASE_BACKWARD) {
            if (classifier->first_backward_run == NO_RUN && phases->runs[run].pass >= LEAST_PASSES)
                classifier->last_backward_run = run;
            classifier->first_backward_run = run;
        }
        if (phases->runs[run].phase == PHASE_FORWARD)
            classifier->has_forward = true;
        if (phases->runs[run].evidence == PHASE_GUESSED)
            classifier->is_guess = true;
    }
}

/* The item from which on the program only frees, because it ends. Blocks that at least two passes
 * saw, and that are freed after it, count as never freed. EVENT_NEVER if there are fewer passes, or
 * if the trace ends in a backward pass. */
static uint32_t find_teardown(const struct classifier *classifier)
{
    const struct phases *phases = classifier->phases;
    uint32_t backward = 0, forward = 0, pass = 0;
    for (size_t run = 0; run < phases->count && backward < 2; run++) {
        forward += phases->runs[run].phase == PHASE_FORWARD;
        if (phases->runs[run].phase == PHASE_BACKWARD &&
            (backward == 0 || phases->runs[run].pass != pass)) {
            backward++;
            pass = phases->runs[run].pass;
        }
    }
    if (backward == 0 && (forward >= 2 || classifier->is_guess))
        return births_program_end(classifier->timeline);
    bool ends = phases->count > 0 && phases->runs[phases->count - 1].phase != PHASE_BACKWARD;
    return backward == 2 && ends ? births_end(classifier->timeline) : EVENT_NEVER;
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
    for (size_t i = 0; i < timeline->lifetime_count && !classifier->frees_have_stacks; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        classifier->frees_have_stacks =
            end != EVENT_NEVER && timeline->trace->stack[end] != STACK_NONE;
    }
    summarize_runs(classifier);
    classifier->teardown = find_teardown(classifier);
    classifier_find_workspaces(classifier);
}

struct death {
    uint32_t item;
    uint64_t size;
};

static int compare_deaths(const void *a, const void *b)
{
    const struct death *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

/* Counts the gradients of each size that are live at the same time, in order of births and deaths.
 */
static bool sweep(struct classifier *classifier, const struct categories *categories,
                  const struct death *deaths, size_t count, struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    size_t dead = 0;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (categories->of_lifetime[i] != CATEGORY_GRADIENT ||
            lifetime_end(lifetime) == EVENT_NEVER)
            continue;
        struct size_tally *tally;
        for (; dead < count && deaths[dead].item < lifetime->alloc; dead++) {
            tally = size_tallies_at(&classifier->tallies, deaths[dead].size, err);
            if (!tally)
                return false;
            tally->live--;
        }
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        tally = size_tallies_at(&classifier->tallies, size, err);
        if (!tally)
            return false;
        tally->live++;
        tally->most_live = tally->live > tally->most_live ? tally->live : tally->most_live;
    }
    return true;
}

/* The item at which a gradient counts as freed. If a later pass replaces it, that is right before
 * that pass, since a variable holds the last gradient until the next one exists. Otherwise it is
 * where the gradient is freed; also without stacks, because then it is not certain where passes
 * begin. */
static uint32_t death_of(const struct classifier *classifier, size_t index)
{
    const struct phases *phases = classifier->phases;
    const struct lifetime *lifetime = &classifier->timeline->lifetimes[index];
    uint32_t end = lifetime_end(lifetime), run = phases->of_lifetime[index].end;
    if (!phases->has_stacks)
        return end;
    if (run > 0 && phases->runs[run].phase <= PHASE_DATA)
        run--;
    if (phases->runs[run].phase != PHASE_BACKWARD || lifetime->alloc >= phases->runs[run].first)
        return end;
    return phases->runs[run].first - 1; /* this is after its birth */
}

/* Finds the highest number of live gradients of each size. It is higher than that of one pass if
 * two passes make gradients of two models. Gradients outlive the run that makes them. */
static bool count_live_gradients(struct classifier *classifier, const struct categories *categories,
                                 struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    struct budget *budget = timeline->snapshot->budget;
    const struct phases *phases = classifier->phases;
    struct death *deaths = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    for (size_t n = 0; ok && n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t end = lifetime_end(lifetime);
        if (categories->of_lifetime[i] != CATEGORY_GRADIENT || end == EVENT_NEVER)
            continue;
        struct death death = {death_of(classifier, i),
                              trace_size(timeline->trace, lifetime->alloc)};
        ok = vec_push(deaths, count, capacity, budget, err, death);
    }
    if (ok && count > 0) {
        qsort(deaths, count, sizeof(*deaths), compare_deaths);
        ok = sweep(classifier, categories, deaths, count, err);
    }
    vec_free(deaths, capacity, sizeof(*deaths), budget);
    return ok;
}

static bool assign(struct classifier *classifier, struct categories *categories, struct error *err)
{
    if (!classifier_count_early(classifier, err) || !classifier_find_late_models(classifier, err) ||
        !classify_traced(classifier, categories, err) ||
        !count_live_gradients(classifier, categories, err) ||
        !classify_preexisting(classifier, categories, err) ||
        !classify_traced_persistent(classifier, categories, err))
        return false;
    classify_plain_zeros(classifier, categories);
    if (!classify_late_copies(classifier, categories, err) ||
        !classify_constructed(classifier, categories, err) ||
        !classify_state_copies(classifier, categories, err))
        return false;
    classify_weight_lists(classifier, categories);
    if (!classify_kept_lists(classifier, categories, err) ||
        !classify_plain_weights(classifier, categories, err) ||
        !classify_swapped_weights(classifier, categories, err) ||
        !classify_replaced_gradients(classifier, categories, err))
        return false;
    classify_gradient_vectors(classifier, categories);
    classify_dropped_models(classifier, categories);
    classify_late_factors(classifier, categories);
    classify_first_states(classifier, categories);
    if (!classify_early_results(classifier, categories, err) ||
        !classify_first_batches(classifier, categories, err) ||
        !classify_last_results(classifier, categories, err) ||
        !classify_kept_scores(classifier, categories, err) ||
        !classify_epoch_results(classifier, categories, err))
        return false;
    if (!classify_held_graphs(classifier, categories, err) ||
        !classify_kv_cache(classifier, categories, err))
        return false;
    if (!classify_result_buffers(classifier, categories, err) ||
        !classify_stored_rows(classifier, categories, err))
        return false;
    classify_rebuilt_buckets(classifier, categories);
    classify_ends_again(classifier, categories);
    return classify_cast_cache(classifier, categories, err) &&
           classify_block_stacks(classifier, categories, err);
}

/* True if the first word of an annotation names a category, as in "memsnap:activation" and
 * "memsnap:parameter layers.0". */
static bool names_category(struct text note, enum category *named)
{
    static const char prefix[] = "memsnap:";
    char word[32] = ""; /* longer than any name */
    if (!text_starts(note, prefix))
        return false;
    const char *from = note.bytes + sizeof(prefix) - 1, *end = note.bytes + note.size;
    for (size_t i = 0; from + i < end && from[i] != ' ' && i + 1 < sizeof(word); i++)
        word[i] = from[i];
    return category_find(word, named);
}

/* The category that an annotation names; for other texts, that of the user's rule that matches. */
static uint8_t category_of_note(const struct own_rules *rules, struct text note)
{
    enum category named;
    if (names_category(note, &named))
        return (uint8_t)named;
    return rules ? own_rules_match_annotation(rules, note) : OWN_RULES_NONE;
}

/* Annotations that name a category outweigh all other evidence. The latest annotation of an
 * allocation counts. */
static void follow_notes(const struct classifier *classifier, struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    const struct own_rules *rules = site_table_rules(classifier->sites);
    for (size_t i = 0; i < timeline->note_count; i++) {
        const struct note *note = &timeline->notes[i];
        struct text text = symbols_text(timeline->snapshot->symbols, note->text);
        uint8_t category = category_of_note(rules, text);
        if (category == OWN_RULES_NONE)
            continue;
        (note->in_trace ? categories->of_lifetime : categories->of_preexisting)[note->index] =
            category;
        (note->in_trace ? categories->why_lifetime : categories->why_preexisting)[note->index] =
            REASON_ANNOTATED;
    }
}

/* Allocates an array and sets *capacity, which is the same for arrays of the same length. */
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
    bool ok = make_room(&made, timeline, err) &&
              step_marks_find(&classifier.steps, timeline, "Optimizer.step#", false, err) &&
              (phases->has_stacks || step_marks_find(&classifier.zero_grads, timeline,
                                                     "Optimizer.zero_grad#", false, err)) &&
              assign(&classifier, &made, err);
    step_marks_release(&classifier.zero_grads);
    step_marks_release(&classifier.steps);
    size_tallies_release(&classifier.tallies);
    if (!ok) {
        categories_release(&made);
        return false;
    }
    follow_notes(&classifier, &made);
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
