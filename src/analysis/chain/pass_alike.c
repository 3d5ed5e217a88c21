#include "analysis/chain/pass_alike.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/chain/paths.h"
#include "analysis/phase/births.h"

/* An entry of pass_lines.line_of is NOT_SEEN, or line + 1 with or without INSIDE, which is set if a
 * forward is in the stack. Line STACK_NONE has no Python frames. */
#define NOT_SEEN 0u
#define INSIDE   0x80000000u

static bool find_line(struct pass_lines *lines, struct chain_paths *paths, stack_id stack,
                      struct error *err)
{
    struct path_frames frames;
    stack_id line;
    if (lines->line_of[stack] != NOT_SEEN)
        return true;
    if (!chain_paths_filter(paths, stack, &frames, err))
        return false;
    bool inside = frames.forward != SIZE_MAX;
    size_t from = inside ? frames.forward : 0, count = frames.count - from;
    if (!symbols_stack(paths->symbols, count > 0 ? paths->frames + from : NULL, count, &line, err))
        return false;
    if (line >= INSIDE - 1)
        return error_set(err, STATUS_LIMIT, "too many different stacks to compare passes");
    lines->line_of[stack] = (line + 1) | (inside ? INSIDE : 0);
    lines->has_models |= inside;
    return true;
}

/* The next lifetime from `i` on that a pass keeps; the number of lifetimes if there is none. */
static size_t next_kept(const struct pass_lines *lines, const struct pass *pass, size_t i)
{
    const struct timeline *timeline = lines->timeline;
    size_t count = timeline->lifetime_count;
    for (; i < count && timeline->lifetimes[i].alloc < pass->backward; i++)
        if (timeline->trace->stack[timeline->lifetimes[i].alloc] != STACK_NONE &&
            pass_keeps(pass, timeline, lines->categories, i))
            return i;
    return count;
}

static size_t first_kept(const struct pass_lines *lines, const struct pass *pass)
{
    return next_kept(lines, pass, births_from(lines->timeline, pass->first));
}

static bool find_lines(struct pass_lines *lines, struct chain_paths *paths,
                       const struct passes *passes, struct error *err)
{
    const struct timeline *timeline = lines->timeline;
    for (size_t k = 0; k < passes->count; k++)
        for (size_t i = first_kept(lines, &passes->items[k]); i < timeline->lifetime_count;
             i = next_kept(lines, &passes->items[k], i + 1))
            if (!find_line(lines, paths, timeline->trace->stack[timeline->lifetimes[i].alloc], err))
                return false;
    return true;
}

static bool reserve_lines(struct pass_lines *lines, size_t count, struct error *err)
{
    size_t bytes = count * (sizeof(int64_t) + sizeof(uint32_t));
    if (count == 0)
        return true;
    if (!budget_take(lines->budget, bytes, err))
        return false;
    lines->bytes = calloc(1, bytes);
    if (!lines->bytes) {
        budget_give(lines->budget, bytes);
        return error_out_of_memory(err);
    }
    lines->seen = (uint32_t *)(lines->bytes + count);
    lines->line_count = count;
    return true;
}

bool pass_lines_find(struct pass_lines *lines, const struct timeline *timeline,
                     struct site_table *sites, const struct categories *categories,
                     const struct passes *passes, struct error *err)
{
    struct budget *budget = timeline->snapshot->budget;
    struct symbols *symbols = site_table_symbols(sites);
    struct chain_paths paths;
    *lines = (struct pass_lines){
        .timeline = timeline, .categories = categories, .own = EVENT_NEVER, .budget = budget};
    size_t count = symbols_stack_count(symbols), capacity = 0;
    if (!vec_grow((void **)&lines->line_of, &capacity, count, sizeof(uint32_t), budget, err))
        return false;
    lines->stack_count = capacity;
    if (count > 0)
        memset(lines->line_of, 0, count * sizeof(uint32_t));
    bool ok = chain_paths_create(&paths, sites, budget, err);
    if (ok) {
        ok = find_lines(lines, &paths, passes, err) &&
             reserve_lines(lines, symbols_stack_count(symbols), err);
        chain_paths_release(&paths);
    }
    if (!ok)
        pass_lines_release(lines);
    return ok;
}

void pass_lines_release(struct pass_lines *lines)
{
    free(lines->bytes);
    if (lines->line_count > 0)
        budget_give(lines->budget, lines->line_count * (sizeof(int64_t) + sizeof(uint32_t)));
    vec_free(lines->line_of, lines->stack_count, sizeof(uint32_t), lines->budget);
    *lines = (struct pass_lines){0};
}

#define NO_LINE SIZE_MAX

/* The line of a lifetime that a pass keeps; NO_LINE if it does not count. */
static size_t line_at(const struct pass_lines *lines, size_t lifetime)
{
    const struct timeline *timeline = lines->timeline;
    uint32_t line = lines->line_of[timeline->trace->stack[timeline->lifetimes[lifetime].alloc]];
    bool counts = line > STACK_NONE + 1 && (!lines->has_models || (line & INSIDE) != 0);
    return counts ? (line & ~INSIDE) - 1 : NO_LINE;
}

static int64_t bytes_at(const struct pass_lines *lines, size_t lifetime)
{
    const struct timeline *timeline = lines->timeline;
    return (int64_t)trace_size(timeline->trace, timeline->lifetimes[lifetime].alloc);
}

static void set_own(struct pass_lines *lines, const struct pass *own)
{
    if (lines->own == own->first)
        return;
    lines->own = own->first;
    lines->own_bytes = 0;
    memset(lines->bytes, 0, lines->line_count * sizeof(*lines->bytes));
    for (size_t i = first_kept(lines, own); i < lines->timeline->lifetime_count;
         i = next_kept(lines, own, i + 1)) {
        size_t line = line_at(lines, i);
        if (line == NO_LINE)
            continue;
        lines->bytes[line] += bytes_at(lines, i);
        lines->own_bytes += bytes_at(lines, i);
    }
}

/* What two passes keep, and the parts of that at lines where both keep something. */
struct shared {
    int64_t a, b, a_shared, b_shared;
};

static struct shared compare(struct pass_lines *lines, const struct pass *a, const struct pass *b)
{
    struct shared shared = {0};
    size_t count = lines->timeline->lifetime_count;
    set_own(lines, a);
    shared.a = lines->own_bytes;
    lines->comparisons++;
    for (size_t i = first_kept(lines, b); i < count; i = next_kept(lines, b, i + 1)) {
        size_t line = line_at(lines, i);
        if (line == NO_LINE)
            continue;
        shared.b += bytes_at(lines, i);
        if (lines->bytes[line] == 0)
            continue;
        shared.b_shared += bytes_at(lines, i);
        if (lines->seen[line] != lines->comparisons)
            shared.a_shared += lines->bytes[line];
        lines->seen[line] = lines->comparisons;
    }
    return shared;
}

/* True if the same line, also outside of models, allocates the first activation of both. Without
 * Python frames, the same native code does. */
static bool begins_alike(const struct pass_lines *lines, const struct pass *a, const struct pass *b)
{
    stack_id x = lines->timeline->trace->stack[a->first];
    stack_id y = lines->timeline->trace->stack[b->first];
    if (x == y)
        return x != STACK_NONE;
    return lines->line_of[x] > STACK_NONE + 1 && lines->line_of[x] == lines->line_of[y];
}

bool pass_is_alike(struct pass_lines *lines, const struct pass *a, const struct pass *b)
{
    if (begins_alike(lines, a, b))
        return true;
    struct shared shared = compare(lines, a, b);
    return shared.a_shared > 0 && shared.a_shared >= shared.a - shared.a / 4 &&
           shared.b_shared >= shared.b - shared.b / 4;
}

bool pass_shares_layers(struct pass_lines *lines, const struct pass *a, const struct pass *b)
{
    if (begins_alike(lines, a, b))
        return true;
    struct shared shared = compare(lines, a, b);
    return shared.a_shared > 0 &&
           (shared.a_shared >= shared.a / 2 || shared.b_shared >= shared.b / 2);
}
