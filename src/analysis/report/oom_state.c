#include "analysis/report/oom_state.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/budget.h"
#include "model/sums.h"

#define STACKS_MOST 8 /* lines that make states; no optimizer has as many */
#define DTYPE_RATIO 2 /* states in float32 of gradients in half precision */

struct state_line {
    stack_id stack;
    int64_t bytes;
    size_t count;
};

struct finder {
    const struct timeline *timeline;
    const struct categories *categories;
    uint32_t first, failed; /* the items of the optimizer step, up to the request */
    uint64_t *gradients;    /* the sizes of those that are live, ascending */
    size_t gradient_count, capacity;
    int64_t gradient_bytes;
    struct state_line lines[STACKS_MOST];
    size_t line_count;
    int64_t like_gradient, like_wider; /* bytes of states of a gradient's size, and of twice that */
    bool is_first;                     /* no state is older than the step */
};

/* Sums of what is live at once do not wrap: see model/sums.h. */
static bool add_gradient(struct finder *finder, uint64_t size, struct error *err)
{
    finder->gradient_bytes += (int64_t)size;
    return vec_push(finder->gradients, finder->gradient_count, finder->capacity,
                    finder->timeline->snapshot->budget, err, size);
}

static void add_state(struct finder *finder, stack_id stack, uint64_t size)
{
    size_t line = 0;
    while (line < finder->line_count && finder->lines[line].stack != stack)
        line++;
    if (line == STACKS_MOST)
        return;
    if (line == finder->line_count)
        finder->lines[finder->line_count++] = (struct state_line){.stack = stack};
    finder->lines[line].bytes += (int64_t)size;
    finder->lines[line].count++;
}

static bool has_gradient(const struct finder *finder, uint64_t size)
{
    size_t at = bisect_less_64(finder->gradients, sizeof(uint64_t), finder->gradient_count, size);
    return at < finder->gradient_count && finder->gradients[at] == size;
}

/* Looks at what is live at the request. */
static bool collect(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    finder->is_first = true;
    for (size_t i = 0;
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < finder->failed; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        enum category category = (enum category)finder->categories->of_lifetime[i];
        if (lifetime->free_completed <= finder->failed)
            continue;
        if (category == CATEGORY_GRADIENT && !add_gradient(finder, size, err))
            return false;
        if (category != CATEGORY_OPTIMIZER_STATE)
            continue;
        finder->is_first = finder->is_first && lifetime->alloc >= finder->first;
        add_state(finder, timeline->trace->stack[lifetime->alloc], size);
    }
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        finder->is_first &= finder->categories->of_preexisting[i] != CATEGORY_OPTIMIZER_STATE;
    if (finder->gradient_count > 0)
        qsort(finder->gradients, finder->gradient_count, sizeof(uint64_t), compare_64);
    return true;
}

/* Compares the sizes of states with those of gradients. */
static void compare_sizes(struct finder *finder)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = births_from(timeline, finder->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < finder->failed; i++) {
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (finder->categories->of_lifetime[i] != CATEGORY_OPTIMIZER_STATE ||
            timeline->lifetimes[i].free_completed <= finder->failed)
            continue;
        if (has_gradient(finder, size))
            finder->like_gradient += (int64_t)size;
        if (has_gradient(finder, size / DTYPE_RATIO))
            finder->like_wider += (int64_t)size;
    }
}

/* The bytes of states per byte of gradients that one line makes; 0: the sizes do not fit. */
static int64_t ratio(const struct finder *finder, int64_t made)
{
    if (finder->like_gradient > made / 10 * 9)
        return 1;
    return finder->like_wider > made / 10 * 9 ? DTYPE_RATIO : 0;
}

/* True if a line makes a tensor for each gradient, as the line does that has made most: it may be
 * one tensor behind. Others make states of another kind. */
static bool is_for_each(const struct finder *finder, const struct state_line *line)
{
    size_t most = 0;
    for (size_t i = 0; i < finder->line_count; i++)
        most = finder->lines[i].count > most ? finder->lines[i].count : most;
    return line->count + 1 >= most;
}

static void fill(const struct finder *finder, struct oom_row *row)
{
    int64_t made = 0, rest = 0;
    bool asks_for_state = false;
    for (size_t i = 0; i < finder->line_count; i++) {
        made += finder->lines[i].bytes;
        asks_for_state |= finder->lines[i].stack == row->stack;
    }
    if (!asks_for_state || finder->gradient_bytes > LARGEST_SUM / STACKS_MOST / DTYPE_RATIO)
        return;
    int64_t whole = ratio(finder, made) * finder->gradient_bytes;
    for (size_t i = 0; i < finder->line_count; i++)
        if (is_for_each(finder, &finder->lines[i]) && finder->lines[i].bytes < whole)
            rest += whole - finder->lines[i].bytes;
    if (rest <= (int64_t)row->requested_bytes)
        return;
    row->state_made_bytes = made;
    row->state_rest_bytes = rest;
    row->step_bytes = row->at.active_bytes + rest;
}

static bool is_of_temporaries(struct site_table *sites, const struct oom_row *row)
{
    struct error err; /* cannot fail, because the categories have looked the stack up */
    const struct stack_facts *facts = site_stack_facts(sites, row->stack, &err);
    return facts &&
           text_starts(symbols_text(site_table_symbols(sites), facts->site.op), "aten::_foreach_");
}

bool oom_state_add(struct ooms *ooms, const struct timeline *timeline, struct site_table *sites,
                   const struct phases *phases, const struct categories *categories,
                   struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        uint32_t run = phases_run_of(phases, (uint32_t)row->item);
        if (row->stack == STACK_NONE || run >= phases->count ||
            phases->runs[run].phase != PHASE_OPTIMIZER)
            continue;
        row->of_temporaries = is_of_temporaries(sites, row);
        struct finder finder = {.timeline = timeline,
                                .categories = categories,
                                .first = phases->runs[run].first,
                                .failed = (uint32_t)row->item};
        ok = collect(&finder, err);
        if (ok && finder.is_first) {
            compare_sizes(&finder);
            fill(&finder, row);
        }
        vec_free(finder.gradients, finder.capacity, sizeof(uint64_t), timeline->snapshot->budget);
    }
    return ok;
}
