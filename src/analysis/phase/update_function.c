#include "analysis/phase/update_function.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/text.h"

#define MOST_FUNCTIONS 4 /* functions that are tried in one stretch of code */

struct function {
    string_id name, file;
};

/* Sets *function to the innermost function of the user in a stack. False for code at the top level
 * of a script, which is more than an update. */
static bool function_of(const struct update_search *search, stack_id stack,
                        struct function *function, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(search->sites);
    const struct stack_facts *facts =
        stack == STACK_NONE ? NULL : site_stack_facts(search->sites, stack, err);
    if (!facts || facts->context != CONTEXT_OTHER || facts->copies_tensor ||
        facts->site.user_frame == NO_FRAME)
        return false;
    struct frame frame =
        symbols_frame_at(symbols, symbols_stack_at(symbols, stack).frames[facts->site.user_frame]);
    *function = (struct function){frame.name, frame.file};
    return !text_equals(symbols_text(symbols, frame.name), "<module>");
}

static bool is_in(const struct update_search *search, stack_id id, const struct function *function)
{
    const struct symbols *symbols = site_table_symbols(search->sites);
    struct stack stack = symbols_stack_at(symbols, id);
    for (size_t i = 0; id != STACK_NONE && i < stack.count; i++) {
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        if (frame.name == function->name && frame.file == function->file)
            return true;
    }
    return false;
}

/* True if the function also runs right before the backward pass or after the stretch. Then it is
 * the training loop. */
static bool is_loop(const struct update_search *search, const struct function *function)
{
    const struct timeline *timeline = search->timeline;
    size_t next = births_from(timeline, search->end), pass = births_from(timeline, search->pass);
    return (next < timeline->lifetime_count &&
            is_in(search, timeline->trace->stack[timeline->lifetimes[next].alloc], function)) ||
           (pass > 0 &&
            is_in(search, timeline->trace->stack[timeline->lifetimes[pass - 1].alloc], function));
}

/* The index of a gradient's size in search->sizes, or size_count. */
static size_t find_size(const struct update_search *search, uint64_t size)
{
    size_t at = bisect_less_64(search->sizes, sizeof(size), search->size_count, size);
    return at < search->size_count && search->sizes[at] == size ? at : search->size_count;
}

/* Judges a function by what it makes. `marks` has a byte for each size. */
static void judge(const struct update_search *search, const struct function *function,
                  uint8_t *marks, uint32_t *begin, uint32_t *stop)
{
    const struct timeline *timeline = search->timeline;
    uint64_t dropped = 0;
    size_t covered = 0;
    memset(marks, 0, search->size_count);
    *begin = *stop = search->end;
    for (size_t i = births_from(timeline, search->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < search->end; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        uint64_t size = trace_size(timeline->trace, item);
        if (!is_in(search, timeline->trace->stack[item], function))
            continue;
        *begin = item < *begin ? item : *begin;
        *stop = item + 1;
        size_t at = find_size(search, size);
        if (at == search->size_count || item > search->gradients_end ||
            lifetime_end(&timeline->lifetimes[i]) >= search->end)
            continue;
        dropped += size;
        covered += !marks[at];
        marks[at] = 1;
    }
    if (covered * 2 < search->size_count || dropped < search->gradient_bytes / 2)
        *begin = *stop = search->end;
}

bool update_in_function(const struct update_search *search, uint32_t *begin, uint32_t *stop,
                        struct error *err)
{
    const struct timeline *timeline = search->timeline;
    struct function tried[MOST_FUNCTIONS];
    size_t count = 0, capacity = 0;
    uint8_t *marks = NULL;
    struct budget *budget = timeline->snapshot->budget;
    *begin = *stop = search->end;
    if (!vec_reserve(marks, capacity, search->size_count + 1, budget, err))
        return false;
    for (size_t i = births_from(timeline, search->first);
         *begin == search->end && count < MOST_FUNCTIONS && i < timeline->lifetime_count &&
         timeline->lifetimes[i].alloc < search->end;
         i++) {
        struct function function;
        stack_id stack = timeline->trace->stack[timeline->lifetimes[i].alloc];
        uint64_t size = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        if (find_size(search, size) == search->size_count ||
            !function_of(search, stack, &function, err))
            continue;
        bool is_new = true;
        for (size_t k = 0; k < count; k++)
            is_new = is_new && memcmp(&tried[k], &function, sizeof(function)) != 0;
        if (!is_new)
            continue;
        tried[count++] = function;
        if (!is_loop(search, &function))
            judge(search, &function, marks, begin, stop);
    }
    vec_free(marks, capacity, 1, budget);
    return true;
}
