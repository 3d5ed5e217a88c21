#include "analysis/growth/early_graph.h"

#include <stdlib.h>

#include "base/budget.h"

#define LEAST_PASSES  3 /* backward passes */
#define LEAST_TENSORS 8 /* of a graph; results are few */
#define LEAST_STACKS  2 /* different stacks that made them: results come from one line */

/* A tensor that may be of the graph. */
struct item {
    frame_id line; /* the outermost line that the later passes lack */
    uint32_t at;   /* its index within the stack */
    uint32_t lifetime;
    int64_t bytes;
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    struct item *items;
    size_t count, capacity;
    uint32_t first, last; /* backward runs of the trace */
};

static stack_id stack_of(const struct finder *finder, size_t index)
{
    return finder->timeline->trace->stack[finder->timeline->lifetimes[index].alloc];
}

/* Finds the first and the last backward run. False if there are too few passes. */
static bool find_runs(struct finder *finder)
{
    size_t passes = 0;
    uint32_t pass = NO_RUN;
    finder->first = finder->last = NO_RUN;
    for (uint32_t run = 0; run < finder->phases->count; run++) {
        if (finder->phases->runs[run].phase != PHASE_BACKWARD)
            continue;
        passes += finder->phases->runs[run].pass != pass;
        pass = finder->phases->runs[run].pass;
        finder->first = finder->first == NO_RUN ? run : finder->first;
        finder->last = run;
    }
    return passes >= LEAST_PASSES;
}

/* The next Python frame outward of `at`; false at the end. */
static bool next_outward(const struct finder *finder, struct stack stack, size_t *at)
{
    while (*at > 0)
        if (site_frame_kind(finder->sites, stack.frames[--*at]) != FRAME_NATIVE)
            return true;
    return false;
}

/* Finds the outermost frame of a stack that another one does not have at its place. False if that
 * is none of the program's lines. */
static bool find_line(const struct finder *finder, stack_id id, stack_id other, struct item *item)
{
    const struct symbols *symbols = site_table_symbols(finder->sites);
    struct stack stack = symbols_stack_at(symbols, id), later = symbols_stack_at(symbols, other);
    size_t i = stack.count, k = later.count;
    while (next_outward(finder, stack, &i)) {
        if (next_outward(finder, later, &k) && stack.frames[i] == later.frames[k])
            continue;
        *item = (struct item){.line = stack.frames[i], .at = (uint32_t)i};
        return site_frame_kind(finder->sites, stack.frames[i]) == FRAME_USER;
    }
    return false;
}

static bool may_count(const struct finder *finder, const struct categories *categories,
                      size_t index, bool *may, struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(finder->sites, stack_of(finder, index), err);
    struct lifetime_runs runs = finder->phases->of_lifetime[index];
    if (!facts)
        return false;
    *may = categories->of_lifetime[index] == CATEGORY_ACTIVATION &&
           facts->context == CONTEXT_FORWARD && runs.birth < finder->first &&
           (runs.end == NO_RUN || runs.end > finder->last);
    return true;
}

static bool collect(struct finder *finder, const uint8_t *flags, stack_id later,
                    const struct categories *categories, const uint8_t *is_dropped,
                    struct error *err)
{
    const struct phases *phases = finder->phases;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t i = phases->outliving[n];
        struct item item;
        bool may;
        if (phases->of_lifetime[i].birth >= finder->first || flags[i] ||
            (is_dropped && is_dropped[i]))
            continue;
        if (!may_count(finder, categories, i, &may, err))
            return false;
        if (!may || !find_line(finder, stack_of(finder, i), later, &item))
            continue;
        item.lifetime = i;
        item.bytes =
            (int64_t)trace_size(finder->timeline->trace, finder->timeline->lifetimes[i].alloc);
        if (!vec_push(finder->items, finder->count, finder->capacity,
                      finder->timeline->snapshot->budget, err, item))
            return false;
    }
    return true;
}

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

/* True if the tensors of a line look like those of a graph. */
static bool is_graph(const struct finder *finder, const struct item *items, size_t count)
{
    size_t stacks = count > 0;
    for (size_t i = 1; i < count && stacks < LEAST_STACKS; i++)
        stacks += stack_of(finder, items[i].lifetime) != stack_of(finder, items[0].lifetime);
    return count >= LEAST_TENSORS && stacks >= LEAST_STACKS;
}

/* Keeps the lines with most bytes, the largest first. */
static void add_line(struct early_graph *early, int64_t bytes[EARLY_LINES], const struct item *item,
                     stack_id stack, int64_t of_line)
{
    size_t at = early->line_count;
    while (at > 0 && bytes[at - 1] < of_line)
        at--;
    if (at == EARLY_LINES)
        return;
    for (size_t i = early->line_count < EARLY_LINES ? early->line_count : EARLY_LINES - 1; i > at;
         i--) {
        bytes[i] = bytes[i - 1];
        early->lines[i] = early->lines[i - 1];
        early->stacks[i] = early->stacks[i - 1];
        early->indexes[i] = early->indexes[i - 1];
    }
    bytes[at] = of_line;
    early->lines[at] = item->line;
    early->stacks[at] = stack;
    early->indexes[at] = item->at;
    early->line_count += early->line_count < EARLY_LINES;
}

/* Flags what each line has made, but the last tensor of it, which is its result. */
static void flag(const struct finder *finder, struct early_graph *early, uint8_t *flags)
{
    const struct timeline *timeline = finder->timeline;
    int64_t peak = timeline->active.peak_event, bytes[EARLY_LINES] = {0};
    for (size_t i = 0, end; i < finder->count; i = end) {
        int64_t of_line = 0;
        for (end = i; end < finder->count && finder->items[end].line == finder->items[i].line;)
            end++;
        if (!is_graph(finder, &finder->items[i], end - i))
            continue;
        for (size_t k = i; k + 1 < end; k++) {
            const struct lifetime *lifetime = &timeline->lifetimes[finder->items[k].lifetime];
            if ((int64_t)lifetime->alloc > peak || (int64_t)lifetime->free_completed <= peak)
                continue;
            flags[finder->items[k].lifetime] = true;
            of_line += finder->items[k].bytes;
        }
        early->at_peak_bytes += of_line;
        if (of_line > 0)
            add_line(early, bytes, &finder->items[i], stack_of(finder, finder->items[i].lifetime),
                     of_line);
    }
}

bool early_graph_mark(struct early_graph *early, uint8_t *flags, stack_id later,
                      const struct timeline *timeline, struct site_table *sites,
                      const struct categories *categories, const struct phases *phases,
                      const uint8_t *is_dropped, struct error *err)
{
    struct finder finder = {.timeline = timeline, .sites = sites, .phases = phases};
    bool ok = true;
    *early = (struct early_graph){0};
    if (find_runs(&finder)) {
        ok = collect(&finder, flags, later, categories, is_dropped, err);
        if (ok && finder.count > 0) {
            qsort(finder.items, finder.count, sizeof(*finder.items), compare_items);
            flag(&finder, early, flags);
        }
    }
    vec_free(finder.items, finder.capacity, sizeof(*finder.items), timeline->snapshot->budget);
    return ok;
}
