#include "analysis/gradients/idle_passes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/gradients/idle_calls.h"
#include "analysis/gradients/idle_codes.h"
#include "analysis/gradients/idle_later.h"
#include "analysis/gradients/idle_parts.h"
#include "analysis/phase/births.h"

#define LARGE_PART 1 / 2 /* of what is freed for idle gradients alone, known by its stacks */

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    const struct categories *categories;
    struct idle_parts parts;
    struct saved_stack *saved; /* by stack */
    size_t saved_count, saved_capacity;
    struct idle_codes codes;
    struct budget *budget;
};

static const struct lifetime *lifetime_at(const struct finder *finder, size_t index)
{
    return &finder->timeline->lifetimes[index];
}

static uint64_t size_of(const struct finder *finder, size_t index)
{
    return trace_size(finder->timeline->trace, lifetime_at(finder, index)->alloc);
}

/* True for something that the forward pass saved and the backward pass freed. */
static bool is_saved(const struct finder *finder, size_t index)
{
    uint32_t end = lifetime_end(lifetime_at(finder, index));
    return finder->categories->of_lifetime[index] == CATEGORY_ACTIVATION &&
           lifetime_at(finder, index)->alloc < finder->parts.begin && end >= finder->parts.begin &&
           end < finder->parts.end;
}

static int compare_stacks(const void *a, const void *b)
{
    const struct saved_stack *x = a, *y = b;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Adds up what was saved with each stack. */
static void merge(struct finder *finder)
{
    size_t kept = 0;
    if (finder->saved_count > 0)
        qsort(finder->saved, finder->saved_count, sizeof(*finder->saved), compare_stacks);
    for (size_t i = 0; i < finder->saved_count; i++) {
        const struct saved_stack saved = finder->saved[i];
        if (kept == 0 || finder->saved[kept - 1].stack != saved.stack) {
            finder->saved[kept++] = saved;
            continue;
        }
        finder->saved[kept - 1].unused += saved.unused;
        finder->saved[kept - 1].sure += saved.sure;
        finder->saved[kept - 1].all += saved.all;
    }
    finder->saved_count = kept;
}

/* The number of lifetimes that begin before the backward pass. */
static size_t count_before(const struct finder *finder)
{
    return births_from(finder->timeline, finder->parts.begin);
}

/* Sets when each part first frees what was saved. */
static void find_first_frees(const struct finder *finder)
{
    for (size_t i = 0, count = count_before(finder); i < count; i++) {
        uint32_t end = lifetime_end(lifetime_at(finder, i));
        struct idle_part *part = is_saved(finder, i) ? idle_parts_at(&finder->parts, end) : NULL;
        if (part && end < part->first_free)
            part->first_free = end;
    }
}

/* True if something is made after the first free of a part, up to a later one. What the first node
 * of a part frees may also be the input of a module that is trained. */
static bool is_sure(const struct finder *finder, const struct idle_part *part, uint32_t end)
{
    size_t next = births_from(finder->timeline, part->first_free);
    return next < finder->timeline->lifetime_count && lifetime_at(finder, next)->alloc < end;
}

static bool collect(struct finder *finder, struct error *err)
{
    find_first_frees(finder);
    for (size_t i = 0, count = count_before(finder); i < count; i++) {
        const struct lifetime *lifetime = lifetime_at(finder, i);
        struct saved_stack saved = {.stack = finder->timeline->trace->stack[lifetime->alloc],
                                    .all = size_of(finder, i)};
        if (saved.stack == STACK_NONE || !is_saved(finder, i))
            continue;
        const struct idle_part *part = idle_parts_at(&finder->parts, lifetime_end(lifetime));
        saved.unused = part ? saved.all : 0;
        saved.sure = part && is_sure(finder, part, lifetime_end(lifetime)) ? saved.all : 0;
        if (!vec_push(finder->saved, finder->saved_count, finder->saved_capacity, finder->budget,
                      err, saved))
            return false;
    }
    merge(finder);
    return idle_calls_find(finder->saved, finder->saved_count, finder->sites, finder->budget, err);
}

static bool is_idle(const struct saved_stack *saved, bool in_calls)
{
    return saved->unused > 0 && saved->call != 0 && (in_calls || saved->is_model_call);
}

/* True if calls within the model's account for a large part of what is freed for idle gradients
 * alone. If they do not, a few lines that trained and other modules do not share prove little. */
static bool knows_large_part(const struct finder *finder)
{
    uint64_t known = 0, all = 0;
    for (size_t i = 0; i < finder->saved_count; i++) {
        all += finder->saved[i].unused;
        known += is_idle(&finder->saved[i], true) ? finder->saved[i].unused : 0;
    }
    return known >= all * LARGE_PART;
}

/* Collects the code of each stack. */
static bool collect_codes(struct finder *finder, struct error *err)
{
    bool in_calls = knows_large_part(finder);
    for (size_t i = 0; i < finder->saved_count; i++) {
        const struct saved_stack *saved = &finder->saved[i];
        bool idle = is_idle(saved, in_calls);
        if (!idle_codes_add(&finder->codes, saved->stack, idle, !idle || saved->unused < saved->all,
                            err))
            return false;
    }
    idle_codes_sort(&finder->codes);
    return true;
}

/* Lists what the same code saves in any pass as absent, and counts what of it is live at the peak.
 */
static bool list_saved(const struct finder *finder, struct idle_gradients *idle,
                       struct absences *absences, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    size_t stacks = symbols_stack_count(site_table_symbols(finder->sites)), capacity = 0;
    int64_t peak = timeline->active.peak_event;
    uint8_t *verdicts = NULL;
    bool ok = vec_reserve(verdicts, capacity, stacks + 1, finder->budget, err);
    if (ok)
        memset(verdicts, IDLE_UNSEEN, stacks + 1);
    for (size_t i = 0; ok && i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = lifetime_at(finder, i);
        stack_id stack = timeline->trace->stack[lifetime->alloc];
        if (stack == STACK_NONE || finder->categories->of_lifetime[i] != CATEGORY_ACTIVATION)
            continue;
        ok = idle_codes_judge(&finder->codes, stack, &verdicts[stack], err);
        if (!ok || verdicts[stack] != IDLE_SAVED)
            continue;
        ok = absences_add(absences, absence_of_lifetime(timeline, i), err);
        if ((int64_t)lifetime->alloc <= peak && (int64_t)lifetime->free_completed > peak)
            idle->pass_bytes += (int64_t)size_of(finder, i);
    }
    vec_free(verdicts, capacity, sizeof(*verdicts), finder->budget);
    return ok;
}

static int compare_calls(const void *a, const void *b)
{
    const struct saved_stack *x = a, *y = b;
    if (x->call != y->call)
        return x->call > y->call ? 1 : -1;
    return x->unused != y->unused ? (x->unused < y->unused ? 1 : -1) : compare_stacks(a, b);
}

/* The stack that saved most in the call that saved most of what counts as absent. */
static bool find_largest(const struct finder *finder, const struct saved_stack **largest,
                         struct error *err)
{
    uint64_t most = 0;
    qsort(finder->saved, finder->saved_count, sizeof(*finder->saved), compare_calls);
    for (size_t from = 0, to; from < finder->saved_count; from = to) {
        uint64_t unused = 0;
        const struct saved_stack *first = NULL;
        for (to = from;
             to < finder->saved_count && finder->saved[to].call == finder->saved[from].call; to++) {
            uint8_t verdict = IDLE_UNSEEN;
            if (!idle_codes_judge(&finder->codes, finder->saved[to].stack, &verdict, err))
                return false;
            if (verdict != IDLE_SAVED)
                continue;
            first = first ? first : &finder->saved[to];
            unused += finder->saved[to].unused;
        }
        if (unused > most) {
            most = unused;
            *largest = first;
        }
    }
    return true;
}

/* Names the call that saves most: by the line that calls the model or, if that line calls others
 * too, by a line within. Lines of torch's own modules would say little. */
static bool name_call(const struct finder *finder, struct idle_gradients *idle, struct error *err)
{
    const struct saved_stack *largest = NULL;
    if (!find_largest(finder, &largest, err))
        return false;
    if (!largest)
        return true;
    struct stack stack = symbols_stack_at(site_table_symbols(finder->sites), largest->stack);
    uint32_t frame = largest->frame + 1;
    while (frame > 0 && site_frame_kind(finder->sites, stack.frames[frame - 1]) != FRAME_USER)
        frame--;
    idle->pass_stack = largest->stack;
    if (!site_of(finder->sites, largest->stack, &idle->pass_call, err))
        return false;
    site_at_model_call(finder->sites, largest->stack, &idle->pass_call);
    idle->pass_place = largest->is_model_call ? IDLE_PASS_CALL
                       : frame > 0            ? IDLE_PASS_WITHIN
                                              : IDLE_PASS_AMONG;
    if (idle->pass_place == IDLE_PASS_WITHIN)
        idle->pass_call.user_frame = frame - 1;
    return true;
}

/* Measures what the peak would be without the passes and without the gradients. */
static bool measure(const struct finder *finder, struct idle_gradients *idle, struct error *err)
{
    struct absences absences = {.budget = finder->budget};
    bool is_trained = false;
    bool ok = (idle->reason != IDLE_DISCARDED ||
               idle_later_find(&is_trained, &finder->codes, idle, finder->parts.end,
                               finder->timeline, finder->phases, finder->categories, err)) &&
              (is_trained || list_saved(finder, idle, &absences, err)) &&
              idle_gradients_absent(idle, finder->timeline, &absences, err) &&
              absences_save(&absences, finder->timeline, &idle->save_bytes, err) &&
              (idle->pass_bytes == 0 || name_call(finder, idle, err));
    absences_release(&absences);
    return ok;
}

bool idle_passes_add(struct idle_gradients *idle, const struct timeline *timeline,
                     struct site_table *sites, const struct phases *phases,
                     const struct categories *categories, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .phases = phases,
                            .categories = categories,
                            .codes = {.sites = sites, .budget = budget},
                            .budget = budget};
    if (idle->reason != IDLE_UNTRAINED && idle->reason != IDLE_DISCARDED)
        return true;
    bool ok =
        idle_parts_find(&finder.parts, timeline, phases, categories, idle->of_lifetime, err) &&
        collect(&finder, err) && collect_codes(&finder, err) &&
        (finder.codes.idle_count == 0 || measure(&finder, idle, err));
    idle_parts_release(&finder.parts);
    vec_free(finder.saved, finder.saved_capacity, sizeof(*finder.saved), budget);
    idle_codes_release(&finder.codes);
    return ok;
}
