#include "analysis/findings/local_results.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/growth/layer_results.h"
#include "analysis/phase/births.h"
#include "model/curve_cursor.h"

#define LEAST_PART 100 /* 1/100 of the live bytes; smaller tensors are ignored */

/* A tensor that a variable holds. */
struct held {
    frame_id line;  /* the line of the function that has the variable */
    uint32_t index; /* of that frame in the stack of the allocation */
    stack_id stack;
    uint32_t from, until; /* the program could delete it at `from` instead of `until` */
    uint64_t bytes;
};

struct finder {
    const struct live_set *set;
    const struct trace *trace;
    uint32_t moment;
    struct held *held;
    size_t count, capacity;
    struct budget *budget;
};

/* The next Python frame inward among the frames [*left, count) of a stack; false if there is none.
 */
static bool next_frame(const struct finder *finder, struct stack stack, size_t *left,
                       frame_id *frame)
{
    while (*left > 0) {
        *frame = stack.frames[--*left];
        if (site_frame_kind(finder->set->sites, *frame) != FRAME_NATIVE)
            return true;
    }
    return false;
}

/* Sets *index to the frame that `caller` called in `stack`, which is further inward. False if the
 * Python frames of `caller` are not the outermost ones of `stack`, or are all of them. */
static bool called_by(const struct finder *finder, stack_id caller, stack_id stack, size_t *index)
{
    const struct symbols *symbols = site_table_symbols(finder->set->sites);
    struct stack outer = symbols_stack_at(symbols, caller);
    struct stack inner = symbols_stack_at(symbols, stack);
    size_t outer_left = outer.count, inner_left = inner.count;
    frame_id wanted, found;
    bool any = false;
    while (next_frame(finder, outer, &outer_left, &wanted)) {
        if (!next_frame(finder, inner, &inner_left, &found) || found != wanted)
            return false;
        any = true;
    }
    if (!any || !next_frame(finder, inner, &inner_left, &found))
        return false;
    *index = inner_left;
    return true;
}

static bool same_function(const struct symbols *symbols, frame_id a, frame_id b)
{
    struct frame x = symbols_frame_at(symbols, a), y = symbols_frame_at(symbols, b);
    return x.file == y.file && x.name == y.name;
}

static bool is_result_of(const struct finder *finder, size_t lifetime, uint64_t size)
{
    uint32_t alloc = finder->set->timeline->lifetimes[lifetime].alloc;
    return trace_size(finder->trace, alloc) == size &&
           finder->set->categories->of_lifetime[lifetime] != CATEGORY_WORKSPACE;
}

/* The item at which a tensor could be deleted: after the first allocation on another line of the
 * function. 0 if the function has not reached a third line at the moment, if that line probably
 * reads the tensor, or if it makes the tensor again. */
static uint32_t earliest_end(const struct finder *finder, size_t lifetime, frame_id line,
                             stack_id caller)
{
    const struct timeline *timeline = finder->set->timeline;
    const struct symbols *symbols = site_table_symbols(finder->set->sites);
    stack_id own = finder->trace->stack[timeline->lifetimes[lifetime].alloc];
    uint32_t end = lifetime_end(&timeline->lifetimes[lifetime]), earliest = 0;
    uint64_t size = trace_size(finder->trace, timeline->lifetimes[lifetime].alloc);
    frame_id reader = line, last = line;
    bool goes_on = false, makes_alike = false;
    for (size_t i = lifetime + 1;
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        uint32_t alloc = timeline->lifetimes[i].alloc;
        stack_id stack = finder->trace->stack[alloc];
        size_t index;
        if (stack == own)
            return 0;
        if (stack == STACK_NONE || alloc > finder->moment ||
            !called_by(finder, caller, stack, &index))
            continue;
        frame_id now = symbols_stack_at(symbols, stack).frames[index];
        if (now == line || !same_function(symbols, now, line))
            continue;
        if (reader == line) {
            reader = now;
            earliest = alloc + 1;
        }
        makes_alike = (makes_alike && now == last) || is_result_of(finder, i, size);
        last = now;
        goes_on = alloc == finder->moment && now != reader && !makes_alike;
    }
    return goes_on ? earliest : 0;
}

static bool add(struct finder *finder, size_t lifetime, struct error *err)
{
    const struct lifetime *life = &finder->set->timeline->lifetimes[lifetime];
    stack_id stack = finder->trace->stack[life->alloc];
    stack_id caller = finder->trace->stack[lifetime_end(life)];
    size_t index;
    if (stack == STACK_NONE || caller == STACK_NONE || !called_by(finder, caller, stack, &index))
        return true;
    const struct symbols *symbols = site_table_symbols(finder->set->sites);
    frame_id line = symbols_stack_at(symbols, stack).frames[index];
    if (site_frame_kind(finder->set->sites, line) != FRAME_USER)
        return true;
    uint32_t from = earliest_end(finder, lifetime, line, caller);
    if (from == 0)
        return true;
    struct held held = {.line = line,
                        .index = (uint32_t)index,
                        .stack = stack,
                        .from = from,
                        .until = life->free_completed,
                        .bytes = trace_size(finder->trace, life->alloc)};
    return vec_push(finder->held, finder->count, finder->capacity, finder->budget, err, held);
}

static bool collect(struct finder *finder, const struct phases *phases, uint32_t run,
                    struct error *err)
{
    const struct live_set *set = finder->set;
    uint32_t end = layer_results_end(phases, run, finder->trace->count);
    int64_t live = 0;
    for (size_t i = 0; i < set->count; i++)
        live += (int64_t)set->items[i].size;
    for (size_t i = 0; i < set->count; i++) {
        const struct live *item = &set->items[i];
        if (!item->in_trace || (int64_t)item->size < live / LEAST_PART ||
            live_category(set, item) != CATEGORY_ACTIVATION)
            continue;
        const struct lifetime *lifetime = &set->timeline->lifetimes[item->index];
        if (lifetime->alloc >= phases->runs[run].first && lifetime_end(lifetime) < end &&
            !add(finder, item->index, err))
            return false;
    }
    return true;
}

/* Orders by line. */
static int by_line(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Adds a line to those that made the most. */
static void add_line(struct local_results *results, const struct held *held, int64_t bytes)
{
    struct local_line *lines = results->lines;
    size_t at = results->line_count;
    while (at > 0 && lines[at - 1].bytes < bytes)
        at--;
    if (at == LOCAL_LINES)
        return;
    if (results->line_count < LOCAL_LINES)
        results->line_count++;
    memmove(&lines[at + 1], &lines[at], (results->line_count - 1 - at) * sizeof(*lines));
    struct live_source source = {.own = held->stack, .shown = held->stack};
    source.site = (struct site){.user_frame = held->index, .any_python_frame = held->index};
    lines[at] = (struct local_line){source, bytes};
}

/* Sums the tensors up, by line of code. */
static void sum_up(const struct finder *finder, struct local_results *results)
{
    struct held *held = finder->held;
    qsort(held, finder->count, sizeof(*held), by_line);
    for (size_t i = 0, end; i < finder->count; i = end) {
        int64_t bytes = 0;
        for (end = i; end < finder->count && held[end].line == held[i].line; end++)
            bytes += (int64_t)held[end].bytes;
        results->bytes += bytes;
        add_line(results, &held[i], bytes);
    }
}

/* The peak of the moment's step, up to the optimizer, if the tensors were deleted. Other steps do
 * the same, so their tensors would be deleted too. */
static int64_t peak_without(const struct finder *finder, const struct phases *phases, uint32_t run)
{
    struct curve_cursor cursor = curve_cursor_begin(finder->set->timeline);
    size_t first = phases->runs[run].first, last = run + 1;
    while (last < phases->count && phases->runs[last].phase != PHASE_OPTIMIZER)
        last++;
    size_t end = last < phases->count ? phases->runs[last].first : finder->trace->count;
    int64_t peak = 0;
    while (cursor.item < end) {
        size_t item = cursor.item;
        int64_t active = curve_cursor_step(&cursor);
        if (item < first || active <= peak)
            continue;
        for (size_t i = 0; i < finder->count; i++)
            if (item >= finder->held[i].from && item < finder->held[i].until)
                active -= (int64_t)finder->held[i].bytes;
        peak = active > peak ? active : peak;
    }
    return peak;
}

bool local_results_find(struct local_results *results, const struct live_set *set,
                        const struct phases *phases, int64_t item, struct error *err)
{
    const struct timeline *timeline = set->timeline;
    struct local_results made = {0};
    uint32_t run = item < 0 ? NO_RUN : phases_run_of(phases, (uint32_t)item);
    *results = made;
    if (run == NO_RUN || phases->runs[run].phase != PHASE_FORWARD ||
        !phases_have(phases, PHASE_BACKWARD))
        return true;
    struct finder finder = {.set = set,
                            .trace = timeline->trace,
                            .moment = (uint32_t)item,
                            .budget = timeline->snapshot->budget};
    bool ok = collect(&finder, phases, run, err);
    if (ok && finder.count > 0) {
        sum_up(&finder, &made);
        made.save_bytes = timeline->active.peak_bytes - peak_without(&finder, phases, run);
    }
    vec_free(finder.held, finder.capacity, sizeof(*finder.held), finder.budget);
    if (ok)
        *results = made;
    return ok;
}
