/* Copies of optimizer states, such as copy.deepcopy(optimizer.state_dict()) makes, in traces whose
 * stacks do not show them. The copies are made one after another, in the order in which the first
 * step made the states, and have the same sizes. An optimizer with one state for each weight is
 * left out, because a copy of the weights looks the same. The sizes are searched for with the
 * algorithm of Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977. */
#include "analysis/category/classifier.h"

#include <string.h>

#define LEAST_STATES 6
#define MOST_RUNS    4   /* runs that make states, one for each optimizer */
#define LEAST_PART   1.5 /* times the bytes of the weights */

/* The sizes of the states that one run made, in order, and the failure function of Knuth, Morris
 * and Pratt for them. */
struct states {
    const struct classifier *classifier;
    struct categories *categories;
    uint64_t *sizes;
    uint32_t *shorter;
    size_t count, capacity, shorter_capacity;
    double bytes, model;
};

static uint64_t size_at(const struct states *states, size_t index)
{
    const struct timeline *timeline = states->classifier->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

static uint32_t run_of(const struct states *states, size_t index)
{
    return states->classifier->phases->of_lifetime[index].birth;
}

static bool is_state(const struct states *states, size_t index)
{
    return reason_of(states->categories->why_lifetime[index]) == REASON_STEP_KEPT &&
           states->categories->of_lifetime[index] == CATEGORY_OPTIMIZER_STATE;
}

/* Takes the states of the first run that makes some, from number *first of the lifetimes that
 * outlive their run. Sets *first to the number after them. */
static bool take_states(struct states *states, size_t *first, struct error *err)
{
    const struct phases *phases = states->classifier->phases;
    struct budget *budget = states->classifier->timeline->snapshot->budget;
    uint32_t run = NO_RUN;
    states->count = 0;
    states->bytes = 0;
    for (; *first < phases->outliving_count; ++*first) {
        uint32_t i = phases->outliving[*first];
        if (run != NO_RUN && run_of(states, i) != run)
            break;
        if (!is_state(states, i))
            continue;
        run = run_of(states, i);
        uint64_t size = size_at(states, i);
        states->bytes += (double)size;
        if (!vec_push(states->sizes, states->count, states->capacity, budget, err, size))
            return false;
    }
    return vec_reserve(states->shorter, states->shorter_capacity, states->count + 1, budget, err);
}

/* The length of the match after the next size, if it was `length` before. */
static uint32_t continue_match(const struct states *states, uint32_t length, uint64_t size)
{
    while (length > 0 && states->sizes[length] != size)
        length = states->shorter[length];
    return states->sizes[length] == size ? length + 1 : 0;
}

static void prepare(struct states *states)
{
    states->shorter[0] = 0;
    if (states->count > 0)
        states->shorter[1] = 0;
    for (size_t i = 1; i < states->count; i++)
        states->shorter[i + 1] = continue_match(states, states->shorter[i], states->sizes[i]);
}

static bool is_undecided(const struct states *states, size_t index)
{
    switch (reason_of(states->categories->why_lifetime[index])) {
    case REASON_NONE:
    case REASON_BEFORE_FORWARD:
    case REASON_AFTER_FORWARD:
        return true;
    default:
        return false;
    }
}

/* Marks the copies of a complete match: the last ones before number `end` of the lifetimes that
 * outlive their run. */
static void mark(struct states *states, size_t end)
{
    const uint32_t *outliving = states->classifier->phases->outliving;
    for (size_t left = states->count; left > 0;) {
        uint32_t i = outliving[--end];
        states->categories->of_lifetime[i] = (uint8_t)CATEGORY_OPTIMIZER_STATE;
        states->categories->why_lifetime[i] = (uint8_t)REASON_STATE_ORDER;
        left--;
    }
}

/* Finds all copies. Temporaries of the copying lie between the copies. */
static void find_copies(struct states *states)
{
    const struct phases *phases = states->classifier->phases;
    uint32_t length = 0, run = NO_RUN;
    prepare(states);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t i = phases->outliving[n];
        bool is_copy = is_undecided(states, i);
        if (!is_copy || run_of(states, i) != run)
            length = 0;
        run = run_of(states, i);
        if (is_copy)
            length = continue_match(states, length, size_at(states, i));
        if (length == states->count) {
            mark(states, n + 1);
            length = 0;
        }
    }
}

bool classify_state_copies(const struct classifier *classifier, struct categories *categories,
                           struct error *err)
{
    struct states states = {.classifier = classifier, .categories = categories};
    struct budget *budget = classifier->timeline->snapshot->budget;
    bool ok = true;
    unsigned runs = 0;
    states.model = size_tallies_weight_bytes(&classifier->tallies);
    for (size_t next = 0; ok && runs < MOST_RUNS && next < classifier->phases->outliving_count;
         runs++) {
        ok = take_states(&states, &next, err);
        if (ok && states.count >= LEAST_STATES && states.bytes >= LEAST_PART * states.model)
            find_copies(&states);
    }
    vec_free(states.sizes, states.capacity, sizeof(*states.sizes), budget);
    vec_free(states.shorter, states.shorter_capacity, sizeof(*states.shorter), budget);
    return ok;
}
