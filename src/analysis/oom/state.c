#include "analysis/oom/state.h"

#include <stdlib.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/budget.h"
#include "model/sums.h"

#define STACKS_MOST 8 /* lines that make states; no optimizer has as many */
#define DTYPE_RATIO 2 /* states in float32 of gradients in half precision */

/* The code that makes a state: the line that calls the optimizer, and that of the optimizer which
 * allocates. The rest of the stack may differ from step to step. */
struct state_code {
    frame_id call, line; /* NO_FRAME: not known */
};

struct state_line {
    struct state_code code;
    int64_t bytes;
    size_t count;
    bool is_in_step; /* the step has made some of them */
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    uint32_t first, failed; /* the items of the optimizer step, up to the request */
    uint64_t *gradients;    /* the sizes of those that are live, ascending */
    size_t gradient_count, capacity;
    int64_t gradient_bytes;
    struct state_line lines[STACKS_MOST];
    size_t line_count;
    int64_t like_gradient, like_wider; /* bytes of states of a gradient's size, and of twice that */
    bool has_other_states;             /* which none of the lines has made */
};

/* Sums of what is live at once do not wrap: see model/sums.h. */
static bool add_gradient(struct finder *finder, uint64_t size, struct error *err)
{
    finder->gradient_bytes += (int64_t)size;
    return vec_push(finder->gradients, finder->gradient_count, finder->capacity,
                    finder->timeline->snapshot->budget, err, size);
}

static struct state_code code_of(const struct finder *finder, stack_id stack)
{
    struct state_code code = {NO_FRAME, NO_FRAME};
    struct error err; /* cannot fail, because the categories have looked the stack up */
    const struct stack_facts *facts = site_stack_facts(finder->sites, stack, &err);
    if (stack == STACK_NONE || !facts ||
        !site_frame(finder->sites, stack, &facts->site, &code.call))
        return code;
    uint32_t line = facts->site.any_python_frame;
    if (line != NO_FRAME)
        code.line = symbols_stack_at(site_table_symbols(finder->sites), stack).frames[line];
    return code;
}

static bool is_same_code(struct state_code a, struct state_code b)
{
    return a.call == b.call && a.line == b.line && a.line != NO_FRAME;
}

static void add_state(struct finder *finder, stack_id stack, uint64_t size, bool is_in_step)
{
    const struct state_code code = code_of(finder, stack);
    size_t line = 0;
    while (line < finder->line_count && !is_same_code(finder->lines[line].code, code))
        line++;
    if (line == STACKS_MOST) {
        finder->has_other_states = true;
        return;
    }
    if (line == finder->line_count)
        finder->lines[finder->line_count++] = (struct state_line){.code = code};
    finder->lines[line].bytes += (int64_t)size;
    finder->lines[line].count++;
    finder->lines[line].is_in_step |= is_in_step;
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
    for (size_t i = 0;
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < finder->failed; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        uint64_t size = trace_size(timeline->trace, lifetime->alloc);
        enum category category = (enum category)finder->categories->of_lifetime[i];
        if (lifetime->free_completed <= finder->failed)
            continue;
        if (category == CATEGORY_GRADIENT && !add_gradient(finder, size, err))
            return false;
        if (category == CATEGORY_OPTIMIZER_STATE)
            add_state(finder, timeline->trace->stack[lifetime->alloc], size,
                      lifetime->alloc >= finder->first);
    }
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        finder->has_other_states |=
            finder->categories->of_preexisting[i] == CATEGORY_OPTIMIZER_STATE;
    if (finder->gradient_count > 0)
        qsort(finder->gradients, finder->gradient_count, sizeof(uint64_t), compare_64);
    return true;
}

/* Compares the sizes of states with those of gradients. */
static void compare_sizes(struct finder *finder)
{
    const struct timeline *timeline = finder->timeline;
    for (size_t i = 0;
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

/* True if the request is for a state, and all states are of lines that make some in this step:
 * those of other lines may be of another optimizer. */
static bool asks_for_state(const struct finder *finder, const struct oom_row *row)
{
    const struct state_code code = code_of(finder, row->stack);
    bool asks = false;
    for (size_t i = 0; i < finder->line_count; i++) {
        bool is_asked = is_same_code(finder->lines[i].code, code);
        if (!finder->lines[i].is_in_step && !is_asked)
            return false;
        asks |= is_asked;
    }
    return asks && !finder->has_other_states;
}

static void fill(const struct finder *finder, struct oom_row *row)
{
    int64_t made = 0, rest = 0;
    for (size_t i = 0; i < finder->line_count; i++)
        made += finder->lines[i].bytes;
    if (!asks_for_state(finder, row) ||
        finder->gradient_bytes > LARGEST_SUM / STACKS_MOST / DTYPE_RATIO)
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
    return facts && text_starts(site_operator(sites, facts), "aten::_foreach_");
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
                                .sites = sites,
                                .categories = categories,
                                .first = phases->runs[run].first,
                                .failed = (uint32_t)row->item};
        ok = collect(&finder, err);
        if (ok) {
            compare_sizes(&finder);
            fill(&finder, row);
        }
        vec_free(finder.gradients, finder.capacity, sizeof(uint64_t), timeline->snapshot->budget);
    }
    return ok;
}
