#include "analysis/findings/attention.h"

#include <string.h>

#include "analysis/findings/attention_steps.h"
#include "analysis/findings/failed_requests.h"
#include "analysis/phase/births.h"
#include "analysis/phase/failures.h"
#include "model/peak_without.h"

#define WINDOW 24 /* allocations from one matrix product to the next */

#define TINY 64 /* times: a tensor so much smaller than the matrices is not their product */

/* The latest steps; SIZE_MAX: there is none. */
struct search {
    size_t product, addition, exp, softmax;
};

#define NOTHING_FOUND                                                                              \
    {                                                                                              \
        SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX                                                     \
    }

static uint64_t size_of(const struct timeline *timeline, size_t index)
{
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

static stack_id stack_of(const struct timeline *timeline, size_t index)
{
    return timeline->trace->stack[timeline->lifetimes[index].alloc];
}

/* True if a block has as many elements as the result of softmax: in its type, in half or twice the
 * width, or one byte each as for a mask. With short sequences, queries and values are as large too.
 */
static bool is_matrix(uint64_t size, uint64_t softmax)
{
    return size == softmax || size == softmax / 2 || size / 2 == softmax || size == softmax / 4;
}

/* True if a softmax may be that of a product: it has as many elements, in the same type or in one
 * twice or half as wide. */
static bool fits(uint64_t product, uint64_t softmax)
{
    return product == softmax || product == softmax / 2 || product / 2 == softmax;
}

static void mark(struct attention *attention, const struct timeline *timeline, size_t first,
                 size_t softmax, size_t end)
{
    uint64_t size = size_of(timeline, softmax);
    for (size_t i = first; i < end; i++)
        if (is_matrix(size_of(timeline, i), size))
            attention->is_part[i] = true;
}

static bool is_near(const struct search *search, size_t index)
{
    return search->product != SIZE_MAX && index - search->product <= WINDOW;
}

/* True if the program reads the result of softmax after the pass, which no backward pass frees. */
static bool is_returned(const struct phases *phases, size_t softmax)
{
    struct lifetime_runs runs = phases->of_lifetime[softmax];
    return runs.end != NO_RUN && runs.end != runs.birth &&
           phases->runs[runs.end].phase != PHASE_BACKWARD;
}

/* Marks the matrices from one product to the next, lifetime `index`, if a softmax is between them.
 */
static void take_product(struct search *search, struct attention *attention,
                         const struct timeline *timeline, const struct phases *phases, size_t index)
{
    size_t addition = search->addition;
    if (search->softmax != SIZE_MAX && is_near(search, index) &&
        !is_returned(phases, search->softmax)) {
        mark(attention, timeline, search->product, search->softmax, index);
        attention->is_biased |= addition != SIZE_MAX && addition > search->product &&
                                addition < search->softmax && attention->is_part[addition];
    }
    *search = (struct search){index, addition, SIZE_MAX, SIZE_MAX};
}

/* Takes a tensor that may be anything: the first of several as large as the softmax is the product,
 * those after it are masks, and the next one of another size is the second product. */
static void take_unknown(struct search *search, struct attention *attention,
                         const struct timeline *timeline, const struct phases *phases, size_t index)
{
    uint64_t size = size_of(timeline, index);
    if (search->softmax != SIZE_MAX) {
        uint64_t matrix = size_of(timeline, search->softmax);
        if (!is_matrix(size, matrix) && size > matrix / TINY)
            take_product(search, attention, timeline, phases, index);
    } else if (!is_near(search, index) || !fits(size_of(timeline, search->product), size)) {
        search->product = index;
    }
}

static void take(struct search *search, struct attention *attention,
                 const struct timeline *timeline, const struct phases *phases, size_t index,
                 enum attention_step step)
{
    bool may_be_softmax = is_near(search, index) &&
                          fits(size_of(timeline, search->product), size_of(timeline, index));
    switch (step) {
    case ATTENTION_STEP_PRODUCT:
        take_product(search, attention, timeline, phases, index);
        break;
    case ATTENTION_STEP_ADDITION:
        search->addition = index;
        break;
    case ATTENTION_STEP_EXP:
        search->exp = may_be_softmax ? index : SIZE_MAX;
        break;
    case ATTENTION_STEP_DIVISION:
        if (may_be_softmax && search->exp != SIZE_MAX)
            search->softmax = index;
        break;
    case ATTENTION_STEP_SOFTMAX:
        search->softmax = may_be_softmax ? index : SIZE_MAX;
        break;
    case ATTENTION_STEP_UNKNOWN:
        take_unknown(search, attention, timeline, phases, index);
        break;
    case ATTENTION_STEP_OTHER:
        break;
    }
}

/* Looks at a request that failed. If it is for a matrix, those before it, from the product on, are
 * matrices as well, although the second product never came. */
static bool look_at_failed(struct attention *attention, const struct timeline *timeline,
                           struct attention_steps *steps, const struct phases *phases,
                           uint32_t item, struct error *err)
{
    struct search search = NOTHING_FOUND;
    size_t index = births_from(timeline, item);
    uint64_t size = trace_size(timeline->trace, item);
    enum attention_step step;
    for (size_t i = index > WINDOW ? index - WINDOW : 0; i < index; i++) {
        if (!attention_step_of(steps, stack_of(timeline, i), &step, err))
            return false;
        take(&search, attention, timeline, phases, i, step);
    }
    if (!attention_step_of(steps, timeline->trace->stack[item], &step, err))
        return false;
    bool is_known = failed_request_is_known(timeline, attention->is_part, item);
    bool may_be_part = is_near(&search, index) && fits(size_of(timeline, search.product), size);
    if (!is_known &&
        !(may_be_part && (step == ATTENTION_STEP_SOFTMAX || search.softmax != SIZE_MAX)))
        return true;
    attention->failed[attention->failed_count++] = item;
    for (size_t i = search.product; may_be_part && i < index; i++)
        attention->is_part[i] |= is_matrix(size_of(timeline, i), size);
    return true;
}

static bool find_failed(struct attention *attention, const struct timeline *timeline,
                        struct attention_steps *steps, const struct phases *phases,
                        struct error *err)
{
    struct failures failures;
    if (!failures_find(&failures, timeline, err))
        return false;
    bool ok = true;
    for (size_t i = failures.count > OOMS_MOST ? failures.count - OOMS_MOST : 0;
         ok && i < failures.count; i++)
        ok = look_at_failed(attention, timeline, steps, phases, failures.items[i], err);
    failures_release(&failures);
    return ok;
}

bool attention_find(struct attention *attention, const struct timeline *timeline,
                    struct site_table *sites, const struct phases *phases, struct error *err)
{
    struct attention made = {.budget = timeline->snapshot->budget};
    struct search search = NOTHING_FOUND;
    struct attention_steps steps;
    if (!attention_steps_open(&steps, sites, made.budget, err))
        return false;
    bool ok =
        vec_reserve(made.is_part, made.capacity, timeline->lifetime_count + 1, made.budget, err);
    if (ok)
        memset(made.is_part, 0, timeline->lifetime_count + 1);
    for (size_t i = 0; ok && i < timeline->lifetime_count; i++) {
        enum attention_step step;
        ok = attention_step_of(&steps, stack_of(timeline, i), &step, err);
        if (ok)
            take(&search, &made, timeline, phases, i, step);
    }
    ok = ok && find_failed(&made, timeline, &steps, phases, err);
    attention_steps_close(&steps);
    if (!ok) {
        attention_release(&made);
        return false;
    }
    *attention = made;
    return true;
}

void attention_mark_ooms(const struct attention *attention, struct ooms *ooms)
{
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        row->of_attention = failed_request_counts(row, attention->failed, attention->failed_count);
    }
}

bool attention_saving(const struct attention *attention, const struct timeline *timeline,
                      struct site_table *sites, enum attention_code code, int64_t *save_bytes,
                      struct error *err)
{
    struct absence *absences = NULL;
    size_t count = 0, capacity = 0;
    int64_t peak = timeline->active.peak_bytes;
    bool ok = true;
    for (size_t i = 0; ok && i < timeline->lifetime_count; i++) {
        if (!attention->is_part[i])
            continue;
        const struct stack_facts *facts = site_stack_facts(sites, stack_of(timeline, i), err);
        ok = facts &&
             (facts->attention != code || vec_push(absences, count, capacity, attention->budget,
                                                   err, absence_of_lifetime(timeline, i)));
    }
    ok = ok && timeline_peak_without(timeline, absences, count, &peak, err);
    *save_bytes = timeline->active.peak_bytes - peak;
    vec_free(absences, capacity, sizeof(*absences), attention->budget);
    return ok;
}

void attention_release(struct attention *attention)
{
    vec_free(attention->is_part, attention->capacity, sizeof(*attention->is_part),
             attention->budget);
    *attention = (struct attention){0};
}
