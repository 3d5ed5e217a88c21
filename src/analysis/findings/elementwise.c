#include "analysis/findings/elementwise.h"

#include <string.h>

#include "analysis/code/operators.h"
#include "analysis/code/paths.h"
#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"
#include "base/text.h"

#define LEAST_RESULTS 3 /* results of a call, the last of which stays */

/* A result that autograd keeps. */
struct result {
    uint32_t lifetime;
    stack_id stack;
    bool is_elementwise;
    bool is_cast;      /* autocast converts an argument: no operator of the function */
    bool of_python;    /* only Python frames were recorded, so that the name of a function tells */
    uint32_t function; /* index of the function's frame; NO_FRAME if the function is ignored */
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    struct result *results;
    size_t count, capacity;
    struct budget *budget;
};

/* True if a function or its file is named after activation functions or normalizations: what it
 * computes is elementwise, or as small as a mean. */
static bool is_named(const struct symbols *symbols, frame_id id)
{
    static const char *const names[] = {"activation", "gelu", "swish", "silu", "mish", "norm"};
    return path_frame_is_named(symbols, id, names, sizeof(names) / sizeof(names[0]));
}

static bool describe(const struct finder *finder, struct result *result, struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(finder->sites, result->stack, err);
    if (!facts)
        return false;
    const struct symbols *symbols = site_table_symbols(finder->sites);
    const struct site *site = &facts->site;
    result->is_elementwise = facts_are_forward(facts) && !facts->is_workspace &&
                             !facts->to_device &&
                             operator_is_elementwise(symbols_text(symbols, site->op));
    result->is_cast = facts->is_autocast;
    result->of_python = facts_are_of_python(facts);
    if (result->of_python)
        result->is_elementwise =
            facts_are_forward(facts) && site->user_frame == site->any_python_frame &&
            is_named(symbols, symbols_stack_at(symbols, result->stack).frames[site->user_frame]);
    result->function = site->user_frame == site->any_python_frame ? site->user_frame : NO_FRAME;
    return true;
}

static bool collect(struct finder *finder, const struct categories *categories, int64_t item,
                    struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    size_t end = item < 0 ? 0 : births_from(timeline, (uint32_t)item + 1);
    for (size_t i = 0; i < end; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (categories->of_lifetime[i] != CATEGORY_ACTIVATION ||
            (int64_t)lifetime->free_completed <= item)
            continue;
        struct result result = {.lifetime = (uint32_t)i,
                                .stack = timeline->trace->stack[lifetime->alloc]};
        if (!describe(finder, &result, err) ||
            !vec_push(finder->results, finder->count, finder->capacity, finder->budget, err,
                      result))
            return false;
    }
    return true;
}

/* The next Python frame from index `i` on; `count` if there is none. */
static uint32_t next_python(const struct finder *finder, struct stack stack, uint32_t i)
{
    while (i < stack.count && site_frame_kind(finder->sites, stack.frames[i]) == FRAME_NATIVE)
        i++;
    return i;
}

/* True if the same lines called both functions, which differ at most in their own line. */
static bool in_one_function(const struct finder *finder, const struct result *a,
                            const struct result *b)
{
    const struct symbols *symbols = site_table_symbols(finder->sites);
    struct stack x = symbols_stack_at(symbols, a->stack), y = symbols_stack_at(symbols, b->stack);
    if (!b->is_elementwise || b->function == NO_FRAME)
        return false;
    struct frame f = symbols_frame_at(symbols, x.frames[a->function]);
    struct frame g = symbols_frame_at(symbols, y.frames[b->function]);
    uint32_t i = next_python(finder, x, a->function + 1),
             k = next_python(finder, y, b->function + 1);
    while (i < x.count && k < y.count && x.frames[i] == y.frames[k]) {
        i = next_python(finder, x, i + 1);
        k = next_python(finder, y, k + 1);
    }
    return f.file == g.file && f.name == g.name && i == x.count && k == y.count;
}

/* True if the sequence of stacks that begins at `first` begins again at `next`. Without C++ frames,
 * operators of one line have one stack, which tells nothing. */
static bool begins_again(const struct finder *finder, size_t first, size_t next)
{
    size_t i = 0;
    if (finder->results[first].of_python &&
        finder->results[first].stack == finder->results[next].stack)
        return false;
    while (first + i < next && next + i < finder->count &&
           finder->results[first + i].stack == finder->results[next + i].stack)
        i++;
    return first + i == next;
}

/* True if an operator such as a matrix product allocates between two results. Then the second is
 * not computed from the first alone, or is of another call. */
static bool computes_between(const struct finder *finder, const struct result *a,
                             const struct result *b)
{
    struct error err; /* cannot fail: the categories have looked the stacks up */
    const struct timeline *timeline = finder->timeline;
    for (uint32_t i = a->lifetime + 1; i < b->lifetime; i++) {
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        const struct stack_facts *facts = site_stack_facts(finder->sites, stack, &err);
        if (facts && op_computes(site_table_symbols(finder->sites), facts->site.op))
            return true;
    }
    return false;
}

/* The end of the call whose first result is `first`. */
static size_t call_end(const struct finder *finder, size_t first)
{
    size_t next = first + 1;
    while (next < finder->count &&
           in_one_function(finder, &finder->results[first], &finder->results[next]) &&
           !begins_again(finder, first, next) &&
           !computes_between(finder, &finder->results[next - 1], &finder->results[next]))
        next++;
    return next;
}

/* True if the call [first, end) is the beginning of the call that begins at `whole`, of which the
 * backward pass has freed the rest, including the last result. */
static bool is_rest(const struct finder *finder, size_t whole, size_t first, size_t end)
{
    size_t i = 0;
    while (first + i < end && finder->results[whole + i].stack == finder->results[first + i].stack)
        i++;
    return first + i == end;
}

static void mark(const struct finder *finder, struct elementwise *elementwise, size_t first,
                 size_t end)
{
    for (size_t i = first; i < end; i++)
        elementwise->is_part[finder->results[i].lifetime] = true;
}

/* True if the function itself computes enough in the call [first, end). */
static bool has_enough(const struct finder *finder, size_t first, size_t end)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += !finder->results[i].is_cast;
    return count >= LEAST_RESULTS;
}

static void mark_calls(const struct finder *finder, struct elementwise *elementwise)
{
    size_t whole = 0, whole_end = 0; /* the last call with enough results */
    for (size_t first = 0, next; first < finder->count; first = next) {
        next = first + 1;
        if (!finder->results[first].is_elementwise || finder->results[first].function == NO_FRAME)
            continue;
        next = call_end(finder, first);
        if (next - first < whole_end - whole && is_rest(finder, whole, first, next)) {
            mark(finder, elementwise, first, next);
        } else if (has_enough(finder, first, next)) {
            mark(finder, elementwise, first, next - 1);
            whole = first;
            whole_end = next;
        }
    }
}

bool elementwise_find(struct elementwise *elementwise, const struct timeline *timeline,
                      struct site_table *sites, const struct categories *categories, int64_t item,
                      struct error *err)
{
    struct elementwise made = {.budget = timeline->snapshot->budget};
    struct finder finder = {.timeline = timeline, .sites = sites, .budget = made.budget};
    bool ok =
        vec_reserve(made.is_part, made.capacity, timeline->lifetime_count + 1, made.budget, err);
    if (ok) {
        memset(made.is_part, 0, timeline->lifetime_count + 1);
        ok = collect(&finder, categories, item, err);
    }
    if (ok)
        mark_calls(&finder, &made);
    vec_free(finder.results, finder.capacity, sizeof(*finder.results), made.budget);
    if (!ok) {
        elementwise_release(&made);
        return false;
    }
    *elementwise = made;
    return true;
}

void elementwise_release(struct elementwise *elementwise)
{
    vec_free(elementwise->is_part, elementwise->capacity, sizeof(*elementwise->is_part),
             elementwise->budget);
    *elementwise = (struct elementwise){0};
}
