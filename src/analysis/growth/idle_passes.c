#include "analysis/growth/idle_passes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/growth/idle_parts.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/hash.h"

#define MOST 8 / 10 /* of what a call saves must be freed between idle gradients */

/* Something that the forward pass saved and the backward pass freed. */
struct saved {
    uint64_t call; /* hash of the lines outside of the model, down to the one that calls it */
    uint64_t code; /* hash of all lines, and the operator */
    uint64_t size;
    stack_id stack;
    bool is_idle; /* freed in a part of the backward pass that makes idle gradients alone */
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    struct idle_parts parts;
    struct saved *saved; /* by call */
    size_t saved_count, saved_capacity;
    uint64_t *codes, *others; /* of idle calls; of what else the backward pass frees */
    size_t code_count, codes_capacity, other_count, others_capacity;
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

/* Describes what a stack saved; `saved->call` is 0 if it shows no call of a model. Native frames of
 * the Python interpreter differ from one turn of a loop to the next. */
static bool describe(const struct finder *finder, stack_id stack, struct saved *saved,
                     struct error *err)
{
    struct stack frames = symbols_stack_at(site_table_symbols(finder->sites), stack);
    struct site site;
    if (!site_of(finder->sites, stack, &site, err))
        return false;
    struct site call = site;
    call.user_frame = NO_FRAME;
    site_at_model_call(finder->sites, stack, &call);
    saved->stack = stack;
    saved->code = saved->call = 0;
    for (size_t i = frames.count; i-- > 0;) {
        if (site_frame_kind(finder->sites, frames.frames[i]) != FRAME_NATIVE)
            saved->code = hash_word(frames.frames[i], saved->code);
        if (i == call.user_frame)
            saved->call = saved->code;
    }
    saved->code = hash_word(site.op, saved->code);
    return true;
}

static bool is_saved(const struct finder *finder, size_t index)
{
    uint32_t end = lifetime_end(lifetime_at(finder, index));
    return finder->categories->of_lifetime[index] == CATEGORY_ACTIVATION &&
           lifetime_at(finder, index)->alloc < finder->parts.begin && end >= finder->parts.begin &&
           end < finder->parts.end;
}

static int compare_calls(const void *a, const void *b)
{
    const struct saved *x = a, *y = b;
    return (x->call > y->call) - (x->call < y->call);
}

static bool collect(struct finder *finder, struct error *err)
{
    for (size_t i = 0; i < finder->timeline->lifetime_count &&
                       lifetime_at(finder, i)->alloc < finder->parts.begin;
         i++) {
        struct saved saved = {.size = size_of(finder, i)};
        stack_id stack = finder->timeline->trace->stack[lifetime_at(finder, i)->alloc];
        if (stack == STACK_NONE || !is_saved(finder, i))
            continue;
        saved.is_idle = idle_parts_have(&finder->parts, lifetime_end(lifetime_at(finder, i)));
        if (!describe(finder, stack, &saved, err) ||
            !vec_push(finder->saved, finder->saved_count, finder->saved_capacity, finder->budget,
                      err, saved))
            return false;
    }
    if (finder->saved_count > 0)
        qsort(finder->saved, finder->saved_count, sizeof(*finder->saved), compare_calls);
    return true;
}

/* Judges the saved tensors [from, to) of one call. */
static bool judge_call(struct finder *finder, struct idle_gradients *idle, size_t from, size_t to,
                       uint64_t *most, struct error *err)
{
    uint64_t unused = 0, all = 0;
    for (size_t i = from; i < to; i++) {
        all += finder->saved[i].size;
        unused += finder->saved[i].is_idle ? finder->saved[i].size : 0;
    }
    bool is_idle_call = finder->saved[from].call != 0 && unused > 0 && unused >= all * MOST;
    for (size_t i = from; i < to; i++) {
        const struct saved *saved = &finder->saved[i];
        bool ok = is_idle_call && saved->is_idle
                      ? vec_push(finder->codes, finder->code_count, finder->codes_capacity,
                                 finder->budget, err, saved->code)
                      : vec_push(finder->others, finder->other_count, finder->others_capacity,
                                 finder->budget, err, saved->code);
        if (!ok)
            return false;
    }
    if (is_idle_call && unused > *most) {
        *most = unused;
        idle->pass_stack = finder->saved[from].stack;
    }
    return true;
}

static bool judge(struct finder *finder, struct idle_gradients *idle, struct error *err)
{
    uint64_t most = 0;
    for (size_t from = 0, to; from < finder->saved_count; from = to) {
        for (to = from + 1;
             to < finder->saved_count && finder->saved[to].call == finder->saved[from].call;)
            to++;
        if (!judge_call(finder, idle, from, to, &most, err))
            return false;
    }
    if (finder->code_count > 0)
        qsort(finder->codes, finder->code_count, sizeof(*finder->codes), compare_64);
    if (finder->other_count > 0)
        qsort(finder->others, finder->other_count, sizeof(*finder->others), compare_64);
    return true;
}

static bool is_among(const uint64_t *codes, size_t count, uint64_t code)
{
    return count > 0 && bsearch(&code, codes, count, sizeof(code), compare_64) != NULL;
}

/* Whether an allocation with a stack is saved by an idle pass. */
enum { UNSEEN, OF_IDLE_PASS, OF_OTHER };

static bool judge_stack(const struct finder *finder, stack_id stack, uint8_t *verdict,
                        struct error *err)
{
    struct saved saved;
    if (*verdict != UNSEEN)
        return true;
    if (!describe(finder, stack, &saved, err))
        return false;
    bool is_idle = is_among(finder->codes, finder->code_count, saved.code) &&
                   !is_among(finder->others, finder->other_count, saved.code);
    *verdict = is_idle ? OF_IDLE_PASS : OF_OTHER;
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
        memset(verdicts, UNSEEN, stacks + 1);
    for (size_t i = 0; ok && i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = lifetime_at(finder, i);
        stack_id stack = timeline->trace->stack[lifetime->alloc];
        if (stack == STACK_NONE || finder->categories->of_lifetime[i] != CATEGORY_ACTIVATION)
            continue;
        ok = judge_stack(finder, stack, &verdicts[stack], err);
        if (!ok || verdicts[stack] != OF_IDLE_PASS)
            continue;
        ok = absences_add(absences, absence_of_lifetime(timeline, i), err);
        if ((int64_t)lifetime->alloc <= peak && (int64_t)lifetime->free_completed > peak)
            idle->pass_bytes += (int64_t)size_of(finder, i);
    }
    vec_free(verdicts, capacity, sizeof(*verdicts), finder->budget);
    return ok;
}

/* Measures what the peak would be without the passes and without the gradients. */
static bool measure(const struct finder *finder, struct idle_gradients *idle, struct error *err)
{
    struct absences absences = {.budget = finder->budget};
    bool ok = list_saved(finder, idle, &absences, err) &&
              idle_gradients_absent(idle, finder->timeline, 0, &absences, err) &&
              absences_save(&absences, finder->timeline, &idle->save_bytes, err) &&
              site_of(finder->sites, idle->pass_stack, &idle->pass_call, err);
    absences_release(&absences);
    if (ok)
        site_at_model_call(finder->sites, idle->pass_stack, &idle->pass_call);
    return ok;
}

bool idle_passes_add(struct idle_gradients *idle, const struct timeline *timeline,
                     struct site_table *sites, const struct phases *phases,
                     const struct categories *categories, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct finder finder = {
        .timeline = timeline, .sites = sites, .categories = categories, .budget = budget};
    if (idle->reason != IDLE_UNTRAINED)
        return true;
    bool ok =
        idle_parts_find(&finder.parts, timeline, phases, categories, idle->of_lifetime, err) &&
        collect(&finder, err) && judge(&finder, idle, err) &&
        (finder.code_count == 0 || measure(&finder, idle, err));
    idle_parts_release(&finder.parts);
    vec_free(finder.saved, finder.saved_capacity, sizeof(*finder.saved), budget);
    vec_free(finder.codes, finder.codes_capacity, sizeof(*finder.codes), budget);
    vec_free(finder.others, finder.others_capacity, sizeof(*finder.others), budget);
    return ok;
}
