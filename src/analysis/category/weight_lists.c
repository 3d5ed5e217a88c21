/* Lists that plain code makes, with one tensor for each weight: a copy of the model, or gradients
 * of a pass that was not found. A batch has other sizes, and not enough of them to sum up to the
 * model. Gradients are made in the order of a backward pass, copies in the order of the model.
 * copy.deepcopy() copies no gradients, but also copies the states of an optimizer. */
#include "analysis/category/classifier.h"

#define LEAST_PART 0.9 /* part of the bytes of the weights that are trained */
/* The same part of what copy.deepcopy() copies, which may be one model of several. */
#define COPIED_PART 0.1
#define LEAST_SIZES 3 /* different sizes in a list */

enum copy { COPY_NONE, COPY_OF_WEIGHTS, COPY_OF_STATES };

/* Sums over members, to tell whether their ranks rise or fall. A layer makes the gradient of its
 * weight before that of its bias, as it makes the two themselves, so that neighbours tell little.
 */
struct order {
    double count, places, ranks, products;
};

struct lists {
    const struct classifier *classifier;
    struct categories *categories;
    double model;   /* bytes of the weights that are trained */
    uint32_t group; /* the number of the list being examined */
    size_t first;   /* the number of its first lifetime among those that outlive their
                       run */
    uint32_t run;   /* the run in which it was made */
    uint8_t copy;   /* enum copy: what made it */
    double bytes;   /* of its members, no more of a size than there are weights */
    uint32_t sizes; /* number of different sizes; for states, number of members */
    uint32_t last;  /* rank of the last member that has one */
    struct order order;
};

static uint64_t size_at(const struct lists *lists, size_t index)
{
    const struct timeline *timeline = lists->classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

/* All sizes were counted before, so the tally stays where it is. */
static struct size_tally *weight_tally(const struct lists *lists, size_t index)
{
    struct size_tally *tally =
        (struct size_tally *)size_tallies_find(&lists->classifier->tallies, size_at(lists, index));
    return tally && tally->count > 0 ? tally : NULL;
}

static uint32_t birth_run(const struct lists *lists, size_t index)
{
    return lists->classifier->phases->of_lifetime[index].birth;
}

/* Numbers the sizes in the order in which the first pass that leaves gradients makes them. */
static void rank_gradients(const struct lists *lists)
{
    const struct classifier *classifier = lists->classifier;
    uint32_t first_run = NO_RUN, rank = 0;
    for (size_t n = 0; n < classifier->phases->outliving_count; n++) {
        size_t i = classifier->phases->outliving[n];
        struct size_tally *tally;
        if (lists->categories->of_lifetime[i] != CATEGORY_GRADIENT)
            continue;
        uint32_t run = birth_run(lists, i);
        first_run = first_run == NO_RUN ? run : first_run;
        if (classifier->phases->runs[run].pass != classifier->phases->runs[first_run].pass)
            return;
        tally = weight_tally(lists, i);
        rank++;
        if (tally && tally->count == 1)
            tally->rank = rank;
    }
}

static const struct stack_facts *facts_of(const struct lists *lists, size_t index)
{
    const struct timeline *timeline = lists->classifier->timeline;
    struct error err; /* cannot fail, because the stack was looked up before */
    return site_stack_facts(lists->classifier->sites,
                            timeline->trace->stack[timeline->lifetimes[index].alloc], &err);
}

static enum copy copy_of(const struct lists *lists, size_t index)
{
    const struct stack_facts *facts = facts_of(lists, index);
    if (!facts || !facts->copies_tensor)
        return COPY_NONE;
    return facts->copied_in == COPIED_IN_DICTS ? COPY_OF_STATES : COPY_OF_WEIGHTS;
}

/* True for what was taken for a batch, and for copies that no rule decided or that were taken for
 * results of a pass. Without stacks, also for what plain code makes and a backward pass frees,
 * because a variable may hold a list until then. */
static bool is_undecided(const struct lists *lists, size_t index)
{
    const struct classifier *classifier = lists->classifier;
    enum reason reason = reason_of(lists->categories->why_lifetime[index]);
    bool may_be_held = reason == REASON_BACKWARD_FREES && !classifier->phases->has_stacks &&
                       classifier_phase(classifier, birth_run(lists, index)) <= PHASE_DATA;
    return reason == REASON_BEFORE_FORWARD || may_be_held ||
           ((reason == REASON_NONE || reason == REASON_AFTER_FORWARD) &&
            copy_of(lists, index) != COPY_NONE);
}

/* Adds a member to the list. For states, no weight needs to have the size, because weights may
 * share one block. */
static void add_member(struct lists *lists, size_t index)
{
    struct size_tally *tally = weight_tally(lists, index);
    if (lists->copy == COPY_OF_STATES) {
        lists->bytes += (double)size_at(lists, index);
        lists->sizes++;
        return;
    }
    if (!tally)
        return;
    run_count_add(&tally->listed, lists->group);
    lists->sizes += tally->listed.now == 1;
    lists->bytes += tally->listed.now <= tally->count ? (double)tally->size : 0;
    /* There are more members of this size than weights, such as a batch that happens to be as large
     * as one. */
    if (tally->listed.now > tally->count || tally->rank == 0 || tally->rank == lists->last)
        return;
    lists->last = tally->rank;
    struct order *order = &lists->order;
    double place = ++order->count;
    order->places += place;
    order->ranks += tally->rank;
    order->products += place * tally->rank;
}

/* True if the members are in the order of gradients: the covariance of their places and ranks is
 * positive. */
static bool rises(const struct order *order)
{
    return order->count * order->products > order->places * order->ranks;
}

/* True if an allocation is made of zeros, as states begin. A copy of a model is not. */
static bool is_zeros(const struct lists *lists, size_t index)
{
    const struct stack_facts *facts = facts_of(lists, index);
    return facts && facts_make_zeros(site_table_symbols(lists->classifier->sites), facts);
}

static enum reason list_reason(const struct lists *lists)
{
    if (lists->copy == COPY_OF_STATES)
        return REASON_STATE_COPY;
    bool is_copy = lists->copy == COPY_OF_WEIGHTS || !rises(&lists->order);
    return is_copy ? REASON_WEIGHT_LIST : REASON_GRADIENT_LIST;
}

/* Judges the list that ends before number `end` of the lifetimes that outlive their run, and begins
 * another one there. */
static void end_list(struct lists *lists, size_t end)
{
    double least = lists->copy == COPY_NONE ? LEAST_PART : COPIED_PART;
    bool is_list = lists->sizes >= LEAST_SIZES && lists->bytes >= lists->model * least;
    enum reason reason = list_reason(lists);
    for (size_t n = lists->first; is_list && n < end; n++) {
        size_t i = lists->classifier->phases->outliving[n];
        bool is_member = lists->copy == COPY_NONE ? weight_tally(lists, i) != NULL
                                                  : copy_of(lists, i) == lists->copy;
        if (!is_member || !is_undecided(lists, i))
            continue;
        enum reason why =
            reason == REASON_WEIGHT_LIST && is_zeros(lists, i) ? REASON_PLAIN_ZEROS : reason;
        lists->categories->of_lifetime[i] = (uint8_t)reason_category(why);
        lists->categories->why_lifetime[i] = (uint8_t)why;
    }
    lists->first = end;
    lists->group++;
    lists->bytes = 0;
    lists->sizes = lists->last = 0;
    lists->order = (struct order){0};
}

void classify_weight_lists(const struct classifier *classifier, struct categories *categories)
{
    struct lists lists = {.classifier = classifier, .categories = categories, .run = NO_RUN};
    const struct phases *phases = classifier->phases;
    lists.model = size_tallies_weight_bytes(&classifier->tallies);
    if (lists.model == 0)
        return;
    rank_gradients(&lists);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        size_t i = phases->outliving[n];
        if (!is_undecided(&lists, i))
            continue;
        uint32_t run = birth_run(&lists, i);
        enum copy copy = copy_of(&lists, i);
        if (run != lists.run || copy != lists.copy)
            end_list(&lists, n);
        lists.run = run;
        lists.copy = (uint8_t)copy;
        add_member(&lists, i);
    }
    end_list(&lists, phases->outliving_count);
}
