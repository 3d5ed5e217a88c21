#include "analysis/gradients/idle_calls.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/hash.h"

#define MOST 8 / 10 /* of what a call saves must be unused */

/* The bytes of all stacks that begin with the same frames, the outermost first. */
struct call {
    uint64_t code; /* hash of these frames */
    uint64_t unused, sure, all;
};

struct finder {
    struct site_table *sites;
    struct call *calls; /* by code */
    size_t count, capacity;
    struct budget *budget;
};

/* The parts of a stack, from the line that calls the model inwards. Each frame further in ends two
 * parts: the first has only its function, since all lines of one function belong to one call. */
struct walk {
    struct finder *finder;
    struct stack stack;
    uint32_t frame; /* the next one; 0: there is none */
    uint32_t model_call;
    uint64_t outer; /* hash of the frames outside of the next one */
    bool at_line;
    uint64_t code;  /* of the part */
    uint32_t ended; /* the frame at which the part ends */
};

/* Native frames of the Python interpreter differ from one turn of a loop to the next. */
static bool is_native(const struct walk *walk, uint32_t frame)
{
    return site_frame_kind(walk->finder->sites, walk->stack.frames[frame]) == FRAME_NATIVE;
}

/* False if the stack shows no call of a model. */
static bool begin(struct walk *walk, struct finder *finder, stack_id id)
{
    struct site site = {.user_frame = NO_FRAME};
    *walk = (struct walk){.finder = finder,
                          .stack = symbols_stack_at(site_table_symbols(finder->sites), id)};
    site_at_model_call(finder->sites, id, &site);
    if (site.user_frame == NO_FRAME)
        return false;
    for (uint32_t i = (uint32_t)walk->stack.count; i-- > site.user_frame + 1;)
        if (!is_native(walk, i))
            walk->outer = hash_word(walk->stack.frames[i], walk->outer);
    walk->model_call = walk->ended = walk->frame = site.user_frame;
    return true;
}

static bool next_part(struct walk *walk)
{
    const struct symbols *symbols = site_table_symbols(walk->finder->sites);
    if (!walk->at_line) {
        walk->at_line = true;
        walk->code = walk->outer = hash_word(walk->stack.frames[walk->ended], walk->outer);
        return true;
    }
    while (walk->frame > 0 && is_native(walk, walk->frame - 1))
        walk->frame--;
    if (walk->frame == 0)
        return false;
    walk->ended = --walk->frame;
    struct frame frame = symbols_frame_at(symbols, walk->stack.frames[walk->ended]);
    walk->code = hash_word(frame.file, hash_word(frame.name, ~walk->outer));
    walk->at_line = false;
    return true;
}

static int compare_codes(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    return (x->code > y->code) - (x->code < y->code);
}

static bool add_stack(struct finder *finder, const struct saved_stack *saved, struct error *err)
{
    struct walk walk;
    for (bool more = begin(&walk, finder, saved->stack); more && next_part(&walk);)
        if (!vec_push(finder->calls, finder->count, finder->capacity, finder->budget, err,
                      (struct call){walk.code, saved->unused, saved->sure, saved->all}))
            return false;
    return true;
}

/* Adds up the bytes of equal parts. */
static void merge(struct finder *finder)
{
    size_t kept = 0;
    if (finder->count > 0)
        qsort(finder->calls, finder->count, sizeof(*finder->calls), compare_codes);
    for (size_t i = 0; i < finder->count; i++) {
        const struct call call = finder->calls[i];
        if (kept == 0 || finder->calls[kept - 1].code != call.code) {
            finder->calls[kept++] = call;
            continue;
        }
        finder->calls[kept - 1].unused += call.unused;
        finder->calls[kept - 1].sure += call.sure;
        finder->calls[kept - 1].all += call.all;
    }
    finder->count = kept;
}

/* Within the call of a model, a few tensors are not enough: of those, at least half must be sure.
 */
static bool is_unused(const struct finder *finder, uint64_t code, bool is_model_call)
{
    const struct call key = {.code = code};
    const struct call *call =
        bsearch(&key, finder->calls, finder->count, sizeof(*finder->calls), compare_codes);
    return call && call->unused > 0 && call->unused >= call->all * MOST &&
           (is_model_call || call->sure >= call->unused / 2);
}

static void judge(struct finder *finder, struct saved_stack *saved)
{
    struct walk walk;
    saved->call = 0;
    for (bool more = begin(&walk, finder, saved->stack); more && next_part(&walk);) {
        saved->is_model_call = walk.ended == walk.model_call;
        if (!is_unused(finder, walk.code, saved->is_model_call))
            continue;
        saved->call = walk.code;
        saved->frame = walk.ended;
        return;
    }
}

bool idle_calls_find(struct saved_stack *stacks, size_t count, struct site_table *sites,
                     struct budget *budget, struct error *err)
{
    struct finder finder = {.sites = sites, .budget = budget};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_stack(&finder, &stacks[i], err);
    merge(&finder);
    for (size_t i = 0; ok && i < count; i++)
        judge(&finder, &stacks[i]);
    vec_free(finder.calls, finder.capacity, sizeof(*finder.calls), budget);
    return ok;
}
