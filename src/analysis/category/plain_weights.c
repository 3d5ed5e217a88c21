/* Weights and states that plain code makes, as in functional training or in a model that grows.
 *
 * A block that has the size of a gradient and lives over two backward passes is neither a batch nor
 * a result. One pass is enough if one run makes a list of such blocks for most of the model. Code
 * that makes all weights and states anew computes states before the weights that need them, but
 * makes the first ones in the order of use. If the weights of a size live on, all other blocks of
 * the size are states. */
#include "analysis/category/classifier.h"

#include <string.h>

#include "analysis/phase/births.h"

/* A list with more than this part of the bytes of the weights needs to live over one pass only. */
#define MOST_PART   0.5
#define LEAST_PART  0.1 /* a list has at least this part of the bytes of the weights */
#define LEAST_SIZES 3   /* different sizes in a list */
#define LEAST_KEPT  3 /* passes over which a copy lives; states that are made anew live over one */
#define NOWHERE     UINT32_MAX

/* A weight that counts until a number of backward passes has begun. */
struct weight {
    uint64_t size;
    uint32_t next; /* the next weight that counts until the same pass */
};

struct lists {
    const struct classifier *classifier;
    struct categories *categories;
    uint32_t *begun;   /* by run: the number of backward passes that began in it or before */
    uint32_t *leaving; /* by number of passes: the first of the weights that count until then */
    struct weight *weights;
    size_t weight_count;
    uint32_t *members; /* of what one run made: candidates for a list, in order */
    size_t member_count, member_capacity;
    size_t begun_capacity, leaving_capacity, weight_capacity;
    uint32_t passes; /* number of backward passes */
    uint32_t left;   /* the number of passes that had begun when weights were last removed */
    double model;    /* bytes of the weights, by the sizes of gradients */
};

static const struct lifetime *lifetime_at(const struct lists *lists, size_t index)
{
    return &lists->classifier->timeline->lifetimes[index];
}

static uint64_t size_at(const struct lists *lists, size_t index)
{
    return trace_size(lists->classifier->timeline->trace, lifetime_at(lists, index)->alloc);
}

static uint32_t birth_run(const struct lists *lists, size_t index)
{
    return lists->classifier->phases->of_lifetime[index].birth;
}

/* The number of backward passes that ended before a run. */
static uint32_t ended_before(const struct lists *lists, uint32_t run)
{
    if (run == NO_RUN)
        return lists->passes;
    bool is_in_pass = classifier_phase(lists->classifier, run) == PHASE_BACKWARD;
    return lists->begun[run] > 0 && is_in_pass ? lists->begun[run] - 1 : lists->begun[run];
}

/* The number of whole backward passes over which a block lives. */
static uint32_t passes_over(const struct lists *lists, size_t index)
{
    struct lifetime_runs runs = lists->classifier->phases->of_lifetime[index];
    uint32_t begun = lists->begun[runs.birth], ended = ended_before(lists, runs.end);
    return ended > begun ? ended - begun : 0;
}

static struct size_tally *weight_tally(const struct lists *lists, uint64_t size)
{
    struct size_tally *tally =
        (struct size_tally *)size_tallies_find(&lists->classifier->tallies, size);
    return tally && tally->count > 0 ? tally : NULL;
}

/* True if only lifetimes show the phase of a block, or if its purpose is not known. */
static bool is_weak(const struct lists *lists, size_t index)
{
    const struct phase_run *run = &lists->classifier->phases->runs[birth_run(lists, index)];
    switch (reason_of(lists->categories->why_lifetime[index])) {
    case REASON_NONE:
    case REASON_BATCH:
    case REASON_BEFORE_FORWARD:
    case REASON_AFTER_FORWARD:
    case REASON_PLAIN_FREED:
    case REASON_BACKWARD_FREES:
        return true;
    case REASON_STEP_KEPT:
    case REASON_FORWARD_KEPT:
        return run->evidence == PHASE_BY_LIFETIMES;
    default:
        return false;
    }
}

/* Cannot fail, because classify_traced() has already looked the stack up. */
static const struct stack_facts *facts_at(const struct lists *lists, size_t index)
{
    static const struct stack_facts none = {.context = CONTEXT_NONE};
    struct error err;
    stack_id stack = lists->classifier->timeline->trace->stack[lifetime_at(lists, index)->alloc];
    const struct stack_facts *facts = site_stack_facts(lists->classifier->sites, stack, &err);
    return facts ? facts : &none;
}

/* True if plain code made a block, and it lives over a backward pass. */
static bool is_candidate(const struct lists *lists, size_t index)
{
    const struct classifier *classifier = lists->classifier;
    if (!is_weak(lists, index) || passes_over(lists, index) == 0 ||
        !weight_tally(lists, size_at(lists, index)))
        return false;
    if (!classifier->phases->has_stacks && !classifier->phases->are_renewed) /* less certain */
        return classifier_stays(classifier, lifetime_end(lifetime_at(lists, index)));
    if (!classifier->phases->has_stacks)
        return true;
    enum context context = (enum context)facts_at(lists, index)->context;
    return context == CONTEXT_OTHER || context == CONTEXT_NONE;
}

/* Counts a weight as live until as many passes have begun as it lives over. */
static bool add_weight(struct lists *lists, uint64_t size, uint32_t begun, uint32_t ended,
                       struct error *err)
{
    struct size_tally *tally = weight_tally(lists, size);
    struct weight weight = {size, NOWHERE};
    if (!tally || ended <= begun)
        return true;
    tally->live_weights++;
    weight.next = lists->leaving[ended];
    lists->leaving[ended] = (uint32_t)lists->weight_count;
    return vec_push(lists->weights, lists->weight_count, lists->weight_capacity,
                    lists->classifier->timeline->snapshot->budget, err, weight);
}

static bool add_lifetime(struct lists *lists, size_t index, struct error *err)
{
    struct lifetime_runs runs = lists->classifier->phases->of_lifetime[index];
    return add_weight(lists, size_at(lists, index), lists->begun[runs.birth],
                      ended_before(lists, runs.end), err);
}

/* Removes the weights that live over no further backward pass, once `begun` passes have begun. */
static void remove_weights(struct lists *lists, uint32_t begun)
{
    for (; lists->left < begun; lists->left++)
        for (uint32_t i = lists->leaving[lists->left + 1]; i != NOWHERE; i = lists->weights[i].next)
            weight_tally(lists, lists->weights[i].size)->live_weights--;
}

/* Lists the candidates among [first, end) of the lifetimes that outlive their run. Most runs make
 * none. */
static bool find_members(struct lists *lists, size_t first, size_t end, struct error *err)
{
    lists->member_count = 0;
    const uint32_t *outliving = lists->classifier->phases->outliving;
    for (size_t n = first; n < end; n++)
        if (is_candidate(lists, outliving[n]) &&
            !vec_push(lists->members, lists->member_count, lists->member_capacity,
                      lists->classifier->timeline->snapshot->budget, err, outliving[n]))
            return false;
    return true;
}

static struct size_tally *tally_of_member(const struct lists *lists, size_t member)
{
    return weight_tally(lists, size_at(lists, lists->members[member]));
}

/* Returns the number of passes over which a member must live to belong to the list. Returns 0 if
 * the members do not form a list. Without C++ frames, the parts of a step are less certain, and
 * more passes are asked for. */
static uint32_t least_passes(const struct lists *lists)
{
    double bytes = 0;
    uint32_t sizes = 0;
    bool has_operators = false;
    for (size_t i = 0; i < lists->member_count; i++) {
        struct size_tally *tally = tally_of_member(lists, i);
        bytes += tally->grouped < tally->count ? (double)tally->size : 0;
        sizes += tally->grouped == 0;
        has_operators = has_operators || facts_at(lists, lists->members[i])->in_operator;
        tally->grouped++;
    }
    for (size_t i = 0; i < lists->member_count; i++)
        tally_of_member(lists, i)->grouped = 0;
    if (sizes < LEAST_SIZES || bytes < lists->model * LEAST_PART)
        return 0;
    bool is_certain = has_operators || lists->classifier->phases->are_renewed;
    return bytes < lists->model * MOST_PART || !is_certain ? 2 : 1;
}

/* True if a weight of the size of some member was freed, so that the list replaces weights. */
static bool replaces_weights(const struct lists *lists)
{
    for (size_t i = 0; i < lists->member_count; i++) {
        const struct size_tally *tally = tally_of_member(lists, i);
        if (tally->live_weights < tally->count)
            return true;
    }
    return false;
}

/* True if a block is in a list that is made during training, besides complete models and states,
 * and kept. That is a copy of the weights; states begin as zeros or with the first update. */
static bool is_late_copy(const struct lists *lists, size_t index)
{
    const struct classifier *classifier = lists->classifier;
    return classifier->phases->has_stacks && passes_over(lists, index) >= LEAST_KEPT &&
           lists->begun[birth_run(lists, index)] > 1 &&
           !facts_make_zeros(site_table_symbols(classifier->sites), facts_at(lists, index));
}

/* Decides for a member of a list. True if it is a weight. Passes may leave several gradients of one
 * weight, so that the weights of a model whose making was seen count instead, once it trains. */
static bool judge_member(struct lists *lists, size_t index, bool may_copy)
{
    struct size_tally *tally = weight_tally(lists, size_at(lists, index));
    bool is_later = lists->begun[birth_run(lists, index)] > 0;
    uint32_t weights = is_later && tally->made > 0 ? tally->made : tally->count;
    uint32_t missing = weights > tally->live_weights ? weights - tally->live_weights : 0;
    bool is_weight = missing > 0 && (!is_later || tally->grouped <= missing);
    enum reason reason = is_weight ? REASON_PLAIN_WEIGHT : REASON_PLAIN_STATE;
    if (!is_weight && may_copy && is_late_copy(lists, index))
        reason = REASON_WEIGHT_LIST;
    if (lists->categories->of_lifetime[index] != reason_category(reason))
        lists->categories->why_lifetime[index] = (uint8_t)reason;
    lists->categories->of_lifetime[index] = (uint8_t)reason_category(reason);
    tally->grouped--;
    return is_weight;
}

/* Decides the blocks that one run made: [first, end) of the lifetimes that outlive their run. */
static bool judge_group(struct lists *lists, size_t first, size_t end, struct error *err)
{
    if (!find_members(lists, first, end, err))
        return false;
    uint32_t least = least_passes(lists);
    bool may_copy = least > 0 && !replaces_weights(lists);
    size_t kept = 0; /* members of a list: none without one */
    for (size_t i = 0; least > 0 && i < lists->member_count; i++)
        if (passes_over(lists, lists->members[i]) >= least) {
            tally_of_member(lists, i)->grouped++;
            lists->members[kept++] = lists->members[i];
        }
    bool ok = true;
    for (size_t n = first, next = 0; ok && n < end; n++) {
        uint32_t i = lists->classifier->phases->outliving[n];
        bool is_weight = lists->categories->of_lifetime[i] == CATEGORY_PARAMETER;
        if (next < kept && lists->members[next] == i) {
            is_weight = judge_member(lists, i, may_copy);
            next++;
        }
        ok = !is_weight || add_lifetime(lists, i, err);
    }
    return ok;
}

static bool count_passes(struct lists *lists, struct error *err)
{
    const struct phases *phases = lists->classifier->phases;
    uint32_t last = NO_RUN;
    if (!vec_reserve(lists->begun, lists->begun_capacity, phases->count, phases->budget, err))
        return false;
    for (size_t run = 0; run < phases->count; run++) {
        bool is_backward = phases->runs[run].phase == PHASE_BACKWARD;
        if (is_backward && !phases->runs[run].is_recorded && phases->runs[run].pass != last) {
            lists->passes++;
            last = phases->runs[run].pass;
        }
        lists->begun[run] = lists->passes;
    }
    size_t count = (size_t)lists->passes + 1;
    if (!vec_reserve(lists->leaving, lists->leaving_capacity, count, phases->budget, err))
        return false;
    memset(lists->leaving, 0xff, count * sizeof(*lists->leaving));
    return true;
}

static bool judge_all(struct lists *lists, struct error *err)
{
    const struct timeline *timeline = lists->classifier->timeline;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (lists->categories->of_preexisting[i] == CATEGORY_PARAMETER &&
            !add_weight(
                lists, timeline->preexisting[i].size, 0,
                ended_before(lists, phases_run_of(lists->classifier->phases,
                                                  preexisting_end(&timeline->preexisting[i]))),
                err))
            return false;
    const struct phases *phases = lists->classifier->phases;
    for (size_t first = 0, end; first < phases->outliving_count; first = end) {
        uint32_t run = birth_run(lists, phases->outliving[first]);
        for (end = first + 1;
             end < phases->outliving_count && birth_run(lists, phases->outliving[end]) == run;)
            end++;
        remove_weights(lists, lists->begun[run]);
        if (!judge_group(lists, first, end, err))
            return false;
    }
    return true;
}

bool classify_plain_weights(const struct classifier *classifier, struct categories *categories,
                            struct error *err)
{
    struct lists lists = {.classifier = classifier, .categories = categories};
    struct budget *budget = classifier->timeline->snapshot->budget;
    if (classifier->first_backward_run == NO_RUN)
        return true;
    lists.model = size_tallies_weight_bytes(&classifier->tallies);
    bool ok = lists.model == 0 || (count_passes(&lists, err) && judge_all(&lists, err));
    vec_free(lists.begun, lists.begun_capacity, sizeof(*lists.begun), budget);
    vec_free(lists.leaving, lists.leaving_capacity, sizeof(*lists.leaving), budget);
    vec_free(lists.weights, lists.weight_capacity, sizeof(*lists.weights), budget);
    vec_free(lists.members, lists.member_capacity, sizeof(*lists.members), budget);
    return ok;
}
