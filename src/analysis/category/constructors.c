/* Buffers that the constructor of a model makes besides weights: masks, tables of positions,
 * quantized weights, running averages. Like data that plain code prepares, they have no gradient of
 * their size. But the same call of the constructor made weights too. */
#include <stdlib.h>
#include <string.h>

#include "analysis/category/classifier.h"

/* A call of a constructor: the file of the constructor, and the line that calls it. */
typedef uint64_t construction;

struct constructions {
    const struct classifier *classifier;
    construction *calls; /* the calls that made weights, sorted */
    size_t count, capacity;
};

static bool is_constructor(const struct symbols *symbols, frame_id id)
{
    static const char method[] = "__init__";
    struct text name = symbols_text(symbols, symbols_frame_at(symbols, id).name);
    size_t size = sizeof(method) - 1;
    return text_equals(name, method) ||
           (name.size > size && /* with the name of its class before it */
            name.bytes[name.size - size - 1] == '.' &&
            memcmp(name.bytes + name.size - size, method, size) == 0);
}

/* The next Python frame from `index` on in steps of `step`; NO_FRAME if there is none. */
static uint32_t python_frame(struct site_table *sites, struct stack stack, uint32_t index, int step)
{
    while (index < stack.count && site_frame_kind(sites, stack.frames[index]) == FRAME_NATIVE)
        index += (uint32_t)
            step; /* below the innermost frame, wraps around to an index that does not exist */
    return index < stack.count ? index : NO_FRAME;
}

static construction call_of(struct site_table *sites, struct stack stack, uint32_t index)
{
    struct frame frame = symbols_frame_at(site_table_symbols(sites), stack.frames[index]);
    uint32_t caller = python_frame(sites, stack, index + 1, 1);
    return (uint64_t)frame.file << 32 | (caller == NO_FRAME ? 0 : stack.frames[caller]);
}

/* Adds the call of the constructor whose own line made a weight, by constructing a layer or a plain
 * tensor. Lines that move a model to the device do not count, as they may be in the constructor of
 * any object. */
static bool add_weight(struct constructions *made, stack_id id, struct error *err)
{
    struct site_table *sites = made->classifier->sites;
    const struct symbols *symbols = site_table_symbols(sites);
    const struct stack_facts *facts = site_stack_facts(sites, id, err);
    struct stack stack = symbols_stack_at(symbols, id);
    if (!facts)
        return false;
    uint32_t line = facts->site.user_frame;
    if (line == NO_FRAME || !is_constructor(symbols, stack.frames[line]))
        return true;
    uint32_t inner = python_frame(sites, stack, line - 1, -1);
    if (inner != NO_FRAME && !is_constructor(symbols, stack.frames[inner]))
        return true;
    return vec_push(made->calls, made->count, made->capacity,
                    made->classifier->timeline->snapshot->budget, err, call_of(sites, stack, line));
}

static int compare_calls(const void *a, const void *b)
{
    const construction *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool is_weight(enum reason reason)
{
    return reason == REASON_MODEL_MADE || reason == REASON_GRADIENT_SIZES ||
           reason == REASON_FIRST_OF_SIZE;
}

/* True if one of the constructors in a stack made weights. */
static bool is_beside_weights(const struct constructions *made, stack_id id)
{
    struct site_table *sites = made->classifier->sites;
    const struct symbols *symbols = site_table_symbols(sites);
    struct stack stack = symbols_stack_at(symbols, id);
    for (uint32_t i = 0; i < stack.count; i++) {
        if (!is_constructor(symbols, stack.frames[i]))
            continue;
        construction call = call_of(sites, stack, i);
        if (bsearch(&call, made->calls, made->count, sizeof(call), compare_calls))
            return true;
    }
    return false;
}

static bool is_data(enum reason reason)
{
    return reason == REASON_PREPARED || reason == REASON_PERSISTENT_DATA ||
           reason == REASON_RELEASED_DATA;
}

bool classify_constructed(const struct classifier *classifier, struct categories *categories,
                          struct error *err)
{
    const struct timeline *timeline = classifier->timeline;
    struct constructions made = {.classifier = classifier};
    bool ok = true;
    size_t count = 0;
    while (count < timeline->lifetime_count &&
           phases_run_of(classifier->phases, timeline->lifetimes[count].alloc) <
               classifier->first_step_run)
        count++;
    for (size_t i = 0; ok && i < count; i++)
        if (is_weight(reason_of(categories->why_lifetime[i])))
            ok = add_weight(&made, timeline->trace->stack[timeline->lifetimes[i].alloc], err);
    if (ok && made.count > 0)
        qsort(made.calls, made.count, sizeof(*made.calls), compare_calls);
    for (size_t i = 0; ok && made.count > 0 && i < count; i++)
        if (is_data(reason_of(categories->why_lifetime[i])) &&
            is_beside_weights(&made, timeline->trace->stack[timeline->lifetimes[i].alloc])) {
            categories->of_lifetime[i] = CATEGORY_PARAMETER;
            categories->why_lifetime[i] = REASON_CONSTRUCTED;
        }
    vec_free(made.calls, made.capacity, sizeof(*made.calls), timeline->snapshot->budget);
    return ok;
}
