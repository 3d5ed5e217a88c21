#include "analysis/findings/summed_losses.h"

#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
#include "base/budget.h"
#include "base/hash.h"

#define LEAST_BYTES  513 /* sums of losses take fewer */
#define LEAST_BIRTHS 8   /* of a pass */
#define MOST_SHARED  4   /* before the first pass, which all passes may use */

/* An allocation, with a hash of the lines of code and the operator that made it. Native frames of
 * the Python interpreter differ from one turn of a loop to the next. */
struct birth {
    uint64_t code;
    uint32_t lifetime;
};

struct finder {
    const struct live_set *set;
    const struct phases *phases;
    struct birth *births; /* from the pass or step before on, up to the backward pass */
    size_t count, capacity;
    struct budget *budget;
};

static enum phase phase_of(const struct finder *finder, uint32_t run)
{
    return run < finder->phases->count ? (enum phase)finder->phases->runs[run].phase
                                       : PHASE_UNKNOWN;
}

/* The run of the backward pass in which the peak lies, or that follows the forward passes in which
 * it lies; NO_RUN: it lies elsewhere. */
static uint32_t backward_run(const struct finder *finder, int64_t peak)
{
    uint32_t run = peak < 0 ? NO_RUN : phases_run_of(finder->phases, (uint32_t)peak);
    while (run < finder->phases->count && phase_of(finder, run) <= PHASE_FORWARD)
        run++;
    return phase_of(finder, run) == PHASE_BACKWARD ? run : NO_RUN;
}

/* The last backward pass before the next optimizer step. Others come before it where the forward
 * pass needs derivatives, as in meta-learning. */
static uint32_t last_backward_run(const struct finder *finder, uint32_t run)
{
    uint32_t last = run;
    for (; run < finder->phases->count && phase_of(finder, run) != PHASE_OPTIMIZER; run++)
        if (phase_of(finder, run) == PHASE_BACKWARD)
            last = run;
    return last;
}

static bool add(struct finder *finder, size_t index, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    struct site_table *sites = finder->set->sites;
    stack_id stack = timeline->trace->stack[timeline->lifetimes[index].alloc];
    const struct stack_facts *facts = site_stack_facts(sites, stack, err);
    if (!facts)
        return false;
    struct birth birth = {.code = facts->site.op, .lifetime = (uint32_t)index};
    struct stack frames = symbols_stack_at(site_table_symbols(sites), stack);
    for (uint32_t i = 0; i < frames.count; i++)
        if (site_frame_kind(sites, frames.frames[i]) != FRAME_NATIVE)
            birth.code = hash_word(frames.frames[i], birth.code);
    return vec_push(finder->births, finder->count, finder->capacity, finder->budget, err, birth);
}

/* Collects what is made before the backward pass since the last run of a later phase than `most`.
 */
static bool collect(struct finder *finder, uint32_t backward, enum phase most, struct error *err)
{
    const struct timeline *timeline = finder->set->timeline;
    uint32_t run = backward, end = finder->phases->runs[backward].first;
    while (run > 0 && phase_of(finder, run - 1) <= most)
        run--;
    finder->count = 0;
    for (size_t i = births_from(timeline, finder->phases->runs[run].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++)
        if (trace_size(timeline->trace, timeline->lifetimes[i].alloc) >= LEAST_BYTES &&
            !add(finder, i, err))
            return false;
    return true;
}

static stack_id stack_at(const struct finder *finder, size_t i)
{
    const struct timeline *timeline = finder->set->timeline;
    return timeline->trace->stack[timeline->lifetimes[finder->births[i].lifetime].alloc];
}

/* True if the births are those of `length` births again and again. */
static bool repeats(const struct finder *finder, size_t length)
{
    for (size_t i = 0; i + length < finder->count; i++)
        if (stack_at(finder, i) == STACK_NONE ||
            finder->births[i].code != finder->births[i + length].code)
            return false;
    return true;
}

/* Sets `first` to the first birth from `from` on that is a batch that the program makes, or to the
 * number of births. */
static bool find_batch(const struct finder *finder, size_t from, size_t *first, struct error *err)
{
    struct site_table *sites = finder->set->sites;
    size_t i = from;
    for (; i < finder->count; i++) {
        const struct stack_facts *facts = site_stack_facts(sites, stack_at(finder, i), err);
        if (!facts)
            return false;
        enum category category =
            (enum category)finder->set->categories->of_lifetime[finder->births[i].lifetime];
        if (category == CATEGORY_INPUT && op_makes_input(site_table_symbols(sites), facts->site.op))
            break;
    }
    *first = i;
    return true;
}

/* The number of births of one pass; all of them if no part repeats. */
static size_t pass_length(const struct finder *finder)
{
    for (size_t passes = finder->count / LEAST_BIRTHS; passes > 1; passes--)
        if (finder->count % passes == 0 && repeats(finder, finder->count / passes))
            return finder->count / passes;
    return finder->count;
}

/* True for activations, batches and the like, but for nothing that belongs to the model. */
static bool belongs_to_pass(const struct finder *finder, size_t i)
{
    switch ((enum category)finder->set->categories->of_lifetime[finder->births[i].lifetime]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_AUTOGRAD_DETAIL:
    case CATEGORY_INPUT:
    case CATEGORY_TEMPORARY:
        return true;
    default:
        return false;
    }
}

static void add_up(const struct finder *finder, size_t length, int64_t peak,
                   struct summed_losses *summed)
{
    const struct timeline *timeline = finder->set->timeline;
    for (size_t i = 0; i < finder->count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[finder->births[i].lifetime];
        if (!belongs_to_pass(finder, i) || (int64_t)lifetime->alloc > peak ||
            (int64_t)lifetime->free_completed <= peak)
            continue;
        int64_t size = (int64_t)trace_size(timeline->trace, lifetime->alloc);
        summed->bytes += size;
        summed->save_bytes += i + length < finder->count ? size : 0;
    }
    summed->passes = finder->count / length;
}

/* The backward runs that free what a pass of `length` births made, from the birth `first` on: none
 * if `last` is before `first`. */
struct frees {
    uint32_t first, last;
};

static struct frees frees_of(const struct finder *finder, size_t first, size_t length)
{
    const struct timeline *timeline = finder->set->timeline;
    struct frees frees = {NO_RUN, 0};
    for (size_t i = first; i < first + length; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[finder->births[i].lifetime];
        uint32_t run = phases_run_of(finder->phases, lifetime_end(lifetime));
        if (phase_of(finder, run) != PHASE_BACKWARD)
            continue;
        frees.first = run < frees.first ? run : frees.first;
        frees.last = run > frees.last ? run : frees.last;
    }
    return frees;
}

/* True if each pass has backward passes of its own, one after the other in either order. */
static bool have_own_backward(const struct finder *finder, size_t length)
{
    bool rise = true, fall = true;
    for (size_t i = length; i < finder->count; i += length) {
        struct frees before = frees_of(finder, i - length, length);
        struct frees after = frees_of(finder, i, length);
        if (before.first == NO_RUN || after.first == NO_RUN)
            return false;
        rise = rise && before.last < after.first;
        fall = fall && after.last < before.first;
    }
    return rise || fall;
}

/* The births from `skip` on. */
static struct finder without_first(const struct finder *finder, size_t skip)
{
    struct finder rest = *finder;
    rest.births += skip;
    rest.count -= skip;
    return rest;
}

/* Adds up passes of which each makes a batch. The births before the first batch belong to none of
 * them, as copies of the weights that the program made after the step before. */
static bool try_batches(const struct finder *finder, int64_t peak, struct summed_losses *summed,
                        struct error *err)
{
    size_t skip = 0;
    for (size_t i = 0; i <= MOST_SHARED && summed->passes == 0; i++) {
        if (i > 0 && !find_batch(finder, i > 1 ? skip + 1 : 0, &skip, err))
            return false;
        if (skip == finder->count)
            break;
        struct finder passes = without_first(finder, skip);
        size_t length = pass_length(&passes), batch;
        if (length == passes.count)
            continue;
        if (!find_batch(&passes, 0, &batch, err))
            return false;
        if (batch < length)
            add_up(&passes, length, peak, summed);
    }
    return true;
}

/* Adds up what forward passes keep at the peak that share the backward pass. The first births may
 * belong to none of them, as a batch that all passes use. */
static bool try_pass(struct finder *finder, uint32_t backward, enum phase most, int64_t peak,
                     struct summed_losses *summed, struct error *err)
{
    *summed = (struct summed_losses){0};
    if (!collect(finder, backward, most, err) || !try_batches(finder, peak, summed, err))
        return false;
    for (size_t skip = 0; skip <= MOST_SHARED && skip < finder->count && summed->passes == 0;
         skip++) {
        struct finder passes = without_first(finder, skip);
        size_t length = pass_length(&passes);
        summed->have_own_backward = length < passes.count && have_own_backward(&passes, length);
        if (summed->have_own_backward)
            add_up(&passes, length, peak, summed);
    }
    return true;
}

bool summed_losses_find(struct summed_losses *summed, const struct live_set *set,
                        const struct phases *phases, int64_t peak, struct error *err)
{
    struct finder finder = {
        .set = set, .phases = phases, .budget = set->timeline->snapshot->budget};
    uint32_t backward = backward_run(&finder, peak);
    *summed = (struct summed_losses){0};
    bool ok = backward == NO_RUN || try_pass(&finder, backward, PHASE_FORWARD, peak, summed, err);
    if (ok && backward != NO_RUN && summed->save_bytes == 0)
        ok = try_pass(&finder, last_backward_run(&finder, backward), PHASE_BACKWARD, peak, summed,
                      err);
    vec_free(finder.births, finder.capacity, sizeof(*finder.births), finder.budget);
    return ok;
}
