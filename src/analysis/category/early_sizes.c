/* The sizes of blocks that existed before the first step and stay, which are those of weights. In a
 * trace without stacks they tell which of the blocks that a backward pass leaves may be gradients.
 * Lifetimes alone would take a result, or a batch that is made right after the pass, for a
 * gradient. */
#include "analysis/category/classifier.h"

#include "analysis/phase/births.h"
#include "analysis/phase/sample_sizes.h"
#include "base/bisect.h"
#include "base/hash.h"

#define MOST_BETWEEN 4  /* items between the two states of a weight */
#define LONG_LIFE    64 /* items; temporaries of an operator are freed earlier */
/* Part of the bytes that passes leave for good, from which on they are states. */
#define MOST_STATES  0.75
#define LATEST_SIZES 256
#define LEAST_PART   4 /* gradients that one pass leaves have at least 1/4 of the bytes that stay */

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

/* The most bytes that one pass leaves in blocks of early sizes. Of each size, no more blocks count
 * than existed early. */
static double most_left(const struct classifier *classifier)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    double most = 0, now = 0;
    uint32_t pass = NO_RUN;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        uint32_t run = phases->of_lifetime[i].birth;
        if (!classifier_outlives_backward(classifier, i))
            continue;
        now = phases->runs[run].pass == pass ? now : 0;
        pass = phases->runs[run].pass;
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
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

/* Blocks of early sizes that passes leave for good. The last pass does not count. */
struct left_for_good {
    double bytes,
        paired;     /* paired: those that were made right after another block of the same size */
    double weights; /* bytes counting no more blocks of a size than existed early */
    double come_and_go; /* bytes of sizes of which later blocks live long, but do not stay */
    uint64_t last_size;
    uint32_t last_item;
};

static void add_left_for_good(struct left_for_good *left, struct size_tally *tally, uint32_t item)
{
    double size = (double)tally->size;
    bool pairs = left->last_size == tally->size && item - left->last_item <= MOST_BETWEEN;
    left->bytes += size;
    left->paired += pairs ? 2 * size : 0;
    left->weights += tally->kept < tally->early ? size : 0;
    left->last_size = pairs ? 0 : tally->size;
    left->last_item = item;
    tally->kept++;
}

/* Sets *last to the last backward pass. Returns false if optimizer steps are known, since those
 * make the states. */
static bool find_last_pass(const struct phases *phases, uint32_t *last)
{
    *last = 0;
    for (size_t run = 0; run < phases->count; run++) {
        if (phases->runs[run].phase == PHASE_BACKWARD)
            *last = phases->runs[run].pass;
        if (phases->runs[run].phase == PHASE_OPTIMIZER &&
            phases->runs[run].evidence < PHASE_BY_LIFETIMES)
            return false;
    }
    return true;
}

/* True if the optimizer seems to step in what looks like a backward pass, and to make its states
 * there. Then gradients of the same sizes come and go in later passes, or the blocks that stay come
 * in pairs and are more than there are weights. In contrast, gradients that stay are made once, and
 * later passes add to them. */
static bool makes_states(const struct classifier *classifier)
{
    const struct phases *phases = classifier->phases;
    const struct timeline *timeline = classifier->timeline;
    struct left_for_good left = {0};
    uint32_t last;
    if (!find_last_pass(phases, &last))
        return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint32_t run = phases->of_lifetime[i].birth, end = lifetime_end(lifetime);
        if (classifier_phase(classifier, run) != PHASE_BACKWARD)
            continue;
        struct size_tally *tally = (struct size_tally *)size_tallies_find(
            &classifier->tallies, trace_size(timeline->trace, lifetime->alloc));
        if (!tally || tally->early == 0)
            continue;
        if (classifier_stays(classifier, end)) {
            if (phases->runs[run].pass < last)
                add_left_for_good(&left, tally, lifetime->alloc);
        } else if (end - lifetime->alloc >= LONG_LIFE && tally->kept > tally->gone) {
            left.come_and_go += (double)tally->size * (tally->kept - tally->gone);
            tally->gone = tally->kept;
        }
    }
    return left.bytes > 0 &&
           (left.come_and_go >= left.bytes * MOST_STATES ||
            (left.paired >= left.bytes * MOST_STATES && left.bytes * 2 >= left.weights * 3));
}

/* True if a block stays, or lives over all of several backward passes, or if weights are made anew
 * in each step and the block lives over the first backward pass. */
static bool is_weight_like(const struct classifier *classifier, uint32_t end)
{
    const struct phases *phases = classifier->phases;
    if (classifier_stays(classifier, end) ||
        (classifier->last_backward_run != NO_RUN &&
         phases_run_of(phases, end) > classifier->last_backward_run))
        return true;
    if (!phases->are_renewed || classifier->first_backward_run == NO_RUN)
        return false;
    return end >= phases_run_end(phases, classifier->first_backward_run,
                                 classifier->timeline->trace->count);
}

/* Lists the sizes of the blocks that outlive their backward pass. Of equal ones, which are most,
 * only few are listed. */
static size_t list_left(const struct classifier *classifier, uint64_t *sizes)
{
    const struct timeline *timeline = classifier->timeline;
    const struct phases *phases = classifier->phases;
    uint64_t latest[LATEST_SIZES] = {0};
    size_t count = 0;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        if (!classifier_outlives_backward(classifier, i))
            continue;
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        uint64_t *same = &latest[hash_word(size, 0) % LATEST_SIZES];
        if (*same != size || size == 0)
            sizes[count++] = *same = size;
    }
    return count;
}

/* Where stacks show the passes: finds the number of samples of a batch, if passes leave a gradient
 * for each sample. */
static bool find_samples(struct classifier *classifier, struct error *err)
{
    struct budget *budget = classifier->timeline->snapshot->budget;
    uint64_t *weights = NULL, *blocks = NULL;
    size_t weight_count = 0, block_count = 0, weight_capacity = 0, block_capacity = 0;
    bool ok =
        vec_reserve(weights, weight_capacity, classifier->tallies.used + 1, budget, err) &&
        vec_reserve(blocks, block_capacity, classifier->phases->outliving_count + 1, budget, err);
    for (size_t i = 0; ok && i < classifier->tallies.slot_count; i++)
        if (classifier->tallies.slots[i].early > 0)
            weights[weight_count++] = classifier->tallies.slots[i].size;
    if (ok) {
        block_count = list_left(classifier, blocks);
        classifier->samples = samples_by_sizes(weights, weight_count, blocks, block_count);
    }
    vec_free(weights, weight_capacity, sizeof(*weights), budget);
    vec_free(blocks, block_capacity, sizeof(*blocks), budget);
    return ok;
}

bool classifier_count_early(struct classifier *classifier, struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    double bytes = 0;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (is_weight_like(classifier, preexisting_end(&timeline->preexisting[i])) &&
            !count_early(classifier, timeline->preexisting[i].size, &bytes, err))
            return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (classifier->phases->of_lifetime[i].birth >= classifier->first_step_run)
            break;
        if (is_weight_like(classifier, lifetime_end(lifetime)) &&
            !count_early(classifier, trace_size(timeline->trace, lifetime->alloc), &bytes, err))
            return false;
    }
    classifier->early_bytes = bytes;
    classifier->samples = classifier->phases->samples;
    if (classifier->phases->has_stacks)
        return find_samples(classifier, err);
    classifier->lacks_weights = bytes == 0;
    classifier->sizes_tell = bytes > 0 && most_left(classifier) * LEAST_PART >= bytes;
    classifier->passes_make_states = makes_states(classifier);
    if (!classifier->passes_make_states)
        classifier_find_leaks(classifier);
    return true;
}

bool classifier_has_early(const struct classifier *classifier, uint64_t size)
{
    uint32_t samples = classifier->samples;
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    const struct size_tally *part = samples > 0 && size % samples == 0
                                        ? size_tallies_find(&classifier->tallies, size / samples)
                                        : NULL;
    return (tally && tally->early > 0) || (part && part->early > 0);
}

bool classifier_lacks_early(const struct classifier *classifier, uint64_t size)
{
    return classifier->early_bytes > 0 && !classifier_has_early(classifier, size);
}

bool classifier_zero_grad_frees(const struct classifier *classifier, uint64_t size, uint32_t end)
{
    const struct step_marks *marks = &classifier->zero_grads;
    if (marks->count == 0 || end == EVENT_NEVER || !classifier_has_early(classifier, size))
        return false;
    size_t at = bisect_until(&marks->items->end, sizeof(*marks->items), marks->count, end);
    return at < marks->count && marks->items[at].begin <= end;
}

bool classifier_is_no_gradient(const struct classifier *classifier, uint64_t size)
{
    const struct size_tally *tally =
        classifier->sizes_tell ? size_tallies_find(&classifier->tallies, size) : NULL;
    if (tally && size_tally_leaks(tally))
        return true;
    return classifier->sizes_tell && !classifier_has_early(classifier, size) &&
           !(tally && (tally->is_flat || (classifier->has_late_models && tally->is_late)));
}
