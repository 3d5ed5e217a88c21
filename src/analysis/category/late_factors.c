/* Kronecker factors that hooks or plain code make while the program trains, as K-FAC does: averages
 * of products of a layer's inputs or of its gradients, and their inverses. They look like results
 * of a forward or backward pass, but live over later passes. They have the sizes that
 * roles_factors.c describes: the product of two factors' sizes is the square of the size of a
 * weight, or of a weight together with its bias. */
#include "analysis/category/classifier.h"

#include "analysis/phase/births.h"

/* A block that lives over this many passes is neither an activation nor a gradient. */
#define LEAST_PASSES 2
#define LEAST_PART   0.5 /* part of the bytes of the weights that must have factors */
#define LEAST_SIZES  2   /* different sizes of these weights */
/* Part of the bytes that live over passes, and do not gather, that factors must account for. Graphs
 * that a program keeps, as those of an evaluation, hold all kinds of sizes. */
#define LEAST_MATCH 0.8
/* An average, its inverse and one matrix more may first be made in different passes. What gathers
 * over more passes are results that the program keeps. */
#define MOST_GATHERED 3
#define MOST_PAIRS    1000000 /* pairs of a weight's size and a factor's size that are tried */
#define MOST_WIDTH    8       /* bytes of an element */

struct late {
    const struct classifier *classifier;
    struct categories *categories;
    size_t sizes; /* number of sizes that may be those of factors */
};

/* All sizes were counted before, so the tally stays where it is. */
static struct size_tally *tally_of(const struct late *late, uint64_t size)
{
    return (struct size_tally *)size_tallies_find(&late->classifier->tallies, size);
}

/* True if a size is that of a weight. Hooks make factors in a backward pass, as if they were
 * gradients, but no weight has their size. */
static bool is_weight(const struct size_tally *tally)
{
    return tally->count > 0 && tally->early > 0;
}

static uint64_t size_at(const struct late *late, size_t index)
{
    const struct timeline *timeline = late->classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

/* True if a block was decided by a rule that only judges by phases, or by none. */
static bool may_be_factor(const struct late *late, size_t index)
{
    switch (reason_of(late->categories->why_lifetime[index])) {
    case REASON_NONE:
    case REASON_FORWARD_KEPT:
    case REASON_BACKWARD_KEPT:
    case REASON_BEFORE_FORWARD:
    case REASON_AFTER_FORWARD:
    case REASON_MAIN_GRADIENT:
    case REASON_BACKWARD_FREES:
    case REASON_PLAIN_WEIGHT:
    case REASON_PLAIN_STATE:
    case REASON_PASS_STATE:
    case REASON_HOOK_STATE:
    case REASON_ZERO_GRAD_FREED:
        return true;
    default:
        return false;
    }
}

/* The passes in which a block is made and freed; the same pass for a block of before training. */
static struct lifetime_runs passes_of(const struct late *late, size_t index)
{
    const struct phases *phases = late->classifier->phases;
    uint32_t birth = phases->of_lifetime[index].birth, end = phases->of_lifetime[index].end;
    if (birth >= phases->count || birth < late->classifier->first_step_run)
        return (struct lifetime_runs){0};
    uint32_t last = end < phases->count ? end : (uint32_t)phases->count - 1;
    return (struct lifetime_runs){phases->runs[birth].pass, phases->runs[last].pass};
}

static uint32_t passes_over(const struct late *late, size_t index)
{
    struct lifetime_runs passes = passes_of(late, index);
    return passes.end - passes.birth;
}

/* Counts the sizes of blocks that live over passes and have the size of no weight. */
static void count_sizes(struct late *late)
{
    const struct phases *phases = late->classifier->phases;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        struct lifetime_runs passes = passes_of(late, i);
        struct size_tally *tally;
        if (!may_be_factor(late, i) || passes.end - passes.birth < LEAST_PASSES)
            continue;
        tally = tally_of(late, size_at(late, i));
        if (!tally || is_weight(tally))
            continue;
        late->sizes += tally->late == 0;
        tally->late++;
        gathering_add(&tally->gathers, passes.birth, passes.end);
    }
}

/* True if blocks of a size may be factors: there are some, and they do not become more. */
static bool may_be_size_of_factors(const struct size_tally *tally)
{
    return tally->late > 0 && tally->gathers.most <= MOST_GATHERED;
}

/* The tally of the factor whose product with `factor` is the square of `size`, or NULL. */
static struct size_tally *factor_of_square(const struct late *late, double size,
                                           const struct size_tally *factor)
{
    double other = size * size / (double)factor->size;
    if (other < 1 || other >= (double)(1ull << 53) || other != (double)(uint64_t)other)
        return NULL;
    struct size_tally *tally = tally_of(late, (uint64_t)other);
    return tally && may_be_size_of_factors(tally) ? tally : NULL;
}

/* Returns the square root of a number below 2^53, found by Newton's method. Returns 0 if the root
 * is not a whole number. */
static uint64_t root_of(uint64_t square)
{
    uint64_t root = square, next = square / 2 + 1;
    while (next < root) {
        root = next;
        next = (root + square / root) / 2;
    }
    return root * root == square && square < 1ull << 53 ? root : 0;
}

/* True if a size is the product of two factors, one of which is `factor`. With `mark`, marks both.
 */
static bool have_factor(const struct late *late, uint64_t size, struct size_tally *factor,
                        bool mark)
{
    struct size_tally *other = factor_of_square(late, (double)size, factor);
    if (other && mark)
        factor->is_late_factor = other->is_late_factor = true;
    return other != NULL;
}

/* The same for the size of a weight, or of a weight together with its bias. The bias is one more
 * column, so `factor` then has as many rows and columns as the bias has elements. */
static bool weight_has_factor(const struct late *late, const struct size_tally *weight,
                              struct size_tally *factor, bool mark)
{
    bool found = have_factor(late, weight->size, factor, mark);
    for (uint64_t width = 2; width <= MOST_WIDTH; width *= 2) {
        uint64_t bias = root_of(factor->size * width);
        const struct size_tally *tally = bias > 0 ? tally_of(late, bias) : NULL;
        if (tally && is_weight(tally) && have_factor(late, weight->size + bias, factor, mark))
            found = true;
    }
    return found;
}

/* True if a weight has factors. With `mark`, marks them. */
static bool find_pair(const struct late *late, const struct size_tally *weight, bool mark)
{
    const struct size_tallies *tallies = &late->classifier->tallies;
    bool found = false;
    for (size_t i = 0; i < tallies->slot_count; i++)
        if (may_be_size_of_factors(&tallies->slots[i]) &&
            weight_has_factor(late, weight, &tallies->slots[i], mark))
            found = true;
    return found;
}

/* True if most of the model has factors. The sizes of single weights may match by chance. */
static bool most_have_factors(const struct late *late)
{
    const struct size_tallies *tallies = &late->classifier->tallies;
    double model = 0, paired = 0;
    size_t sizes = 0;
    for (size_t i = 0; i < tallies->slot_count; i++) {
        const struct size_tally *weight = &tallies->slots[i];
        if (!is_weight(weight))
            continue;
        model += (double)weight->size * weight->count;
        if (!find_pair(late, weight, false))
            continue;
        paired += (double)weight->size * weight->count;
        sizes++;
    }
    return sizes >= LEAST_SIZES && paired >= model * LEAST_PART;
}

static void mark_all(const struct late *late)
{
    const struct size_tallies *tallies = &late->classifier->tallies;
    for (size_t i = 0; i < tallies->slot_count; i++)
        if (is_weight(&tallies->slots[i]))
            find_pair(late, &tallies->slots[i], true);
}

/* True if what is marked accounts for nearly all that lives over passes and does not gather. */
static bool factors_match(const struct late *late)
{
    const struct size_tallies *tallies = &late->classifier->tallies;
    double all = 0, matched = 0;
    for (size_t i = 0; i < tallies->slot_count; i++) {
        const struct size_tally *tally = &tallies->slots[i];
        double bytes = (double)tally->size * tally->late;
        all += may_be_size_of_factors(tally) ? bytes : 0;
        matched += tally->is_late_factor || tally->is_factor ? bytes : 0;
    }
    return matched >= all * LEAST_MATCH;
}

static bool is_kept(const struct late *late, size_t index)
{
    const struct timeline *timeline = late->classifier->timeline;
    return classifier_stays(late->classifier, lifetime_end(&timeline->lifetimes[index]));
}

/* Decides the blocks of the marked sizes. Inverses may be made anew in each pass, so they need not
 * live over several. */
static void take(const struct late *late)
{
    const struct phases *phases = late->classifier->phases;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        const struct size_tally *tally = tally_of(late, size_at(late, i));
        if (!tally || tally->late == 0 || !(tally->is_factor || tally->is_late_factor) ||
            !may_be_factor(late, i) || (passes_over(late, i) == 0 && !is_kept(late, i)))
            continue;
        late->categories->of_lifetime[i] = (uint8_t)reason_category(REASON_STATE_FACTORS);
        late->categories->why_lifetime[i] = reason_byte(REASON_STATE_FACTORS, DOUBT_NONE);
    }
}

void classify_late_factors(const struct classifier *classifier, struct categories *categories)
{
    struct late late = {.classifier = classifier, .categories = categories};
    if (classifier->first_backward_run == NO_RUN)
        return;
    count_sizes(&late);
    if (late.sizes == 0 || late.sizes * classifier->tallies.slot_count > MOST_PAIRS)
        return;
    if (!most_have_factors(&late))
        return;
    mark_all(&late);
    if (factors_match(&late))
        take(&late);
}
