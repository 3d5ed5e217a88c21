#include <stdlib.h>

#include "analysis/chain/held.h"
#include "analysis/chain/replan_internal.h"
#include "base/bisect.h"

/* The index of the first of ascending items that is not less than `item`. */
static size_t first_from(const uint32_t *items, size_t count, uint32_t item)
{
    return count > 0 ? bisect_less(items, sizeof(*items), count, item) : 0;
}

/* The item up to which the program may hold the activation that `item` allocates, or 0. */
static uint32_t held_until(const struct forward_chain *chain, uint32_t item)
{
    const struct chain_doubt *doubts = chain->doubts;
    size_t count = chain->doubt_count;
    size_t at = count > 0 ? bisect_less(&doubts->item, sizeof(*doubts), count, item) : 0;
    return at < count && doubts[at].item == item ? doubts[at].until : 0;
}

static bool is_cast(const struct forward_chain *chain, uint32_t item)
{
    size_t at = first_from(chain->casts, chain->cast_count, item);
    return at < chain->cast_count && chain->casts[at] == item;
}

static bool add_change(struct replan_changes *changes, struct replan_change change,
                       struct error *err)
{
    change.slot = REPLAN_NONE;
    change.new_slot = (uint32_t)changes->slots++;
    return vec_push(changes->changes, changes->count, changes->capacity, changes->budget, err,
                    change);
}

/* The index of the first of chain->results whose item is not less than `item`. */
static size_t result_from(const struct forward_chain *chain, uint32_t item)
{
    const struct chain_result *results = chain->results;
    return results ? bisect_less(&results->item, sizeof(*results), chain->result_count, item) : 0;
}

static bool keeps(const struct replan_segment *segment, const struct symbols *symbols,
                  string_id name)
{
    for (size_t k = 0; k < segment->keep_count; k++)
        if (text_same(segment->keep[k], symbols_text(symbols, name)))
            return true;
    return false;
}

/* Adds the results of element `index` that its segment keeps. */
static bool add_results(struct replan_changes *changes, const struct forward_chain *chain,
                        const struct symbols *symbols, size_t index, uint32_t segment,
                        struct error *err)
{
    uint32_t from = replan_boundary(chain, index), to = replan_boundary(chain, index + 1);
    if (changes->segments[segment].keep_count == 0)
        return true;
    for (size_t k = result_from(chain, from); k < chain->result_count; k++) {
        const struct chain_result *result = &chain->results[k];
        if (result->item >= to)
            break;
        if (keeps(&changes->segments[segment], symbols, chain->operators[result->operator].name) &&
            !add_change(changes,
                        (struct replan_change){.item = result->item,
                                               .element = (uint32_t)index,
                                               .level = REPLAN_NONE,
                                               .until = result->is_kept ? REPLAN_NONE : segment,
                                               .fate = FATE_RESULT},
                        err))
            return false;
    }
    return true;
}

/* True if one of the changes from..to-1, which are in ascending order, is to the allocation of an
 * item.
 */
static bool is_result(const struct replan_changes *changes, size_t from, size_t to, uint32_t item)
{
    if (from == to)
        return false;
    const struct replan_change *first = &changes->changes[from];
    size_t at = bisect_less(&first->item, sizeof(*first), to - from, item);
    return at < to - from && first[at].item == item;
}

/* Adds the activations of element `index`, except an output that is also the output of all segments
 * around it. */
static bool add_dropped(struct replan_changes *changes, const struct forward_chain *chain,
                        const struct symbols *symbols, size_t index, uint32_t innermost,
                        struct error *err)
{
    uint32_t output = chain->elements[index].output_item;
    size_t end = chain_kept_from(chain, replan_boundary(chain, index + 1)), first = changes->count;
    if (innermost != REPLAN_NONE && !add_results(changes, chain, symbols, index, innermost, err))
        return false;
    size_t results = changes->count;
    for (size_t k = chain_kept_from(chain, replan_boundary(chain, index)); k < end; k++) {
        uint32_t item = chain->kept[k], level = innermost;
        if (is_result(changes, first, results, item))
            continue;
        while (level != REPLAN_NONE && item == output && changes->segments[level].end == index + 1)
            level = changes->segments[level].parent;
        bool is_again = level == REPLAN_NONE && innermost != REPLAN_NONE &&
                        changes->segments[innermost].parent == REPLAN_NONE &&
                        chain->elements[index].reader_item != EVENT_NEVER;
        level = is_again ? innermost : level;
        enum fate fate = is_again                     ? FATE_AGAIN
                         : chain_is_held(chain, item) ? FATE_COPIED
                                                      : FATE_DROPPED;
        if (level != REPLAN_NONE &&
            !add_change(changes,
                        (struct replan_change){.item = item,
                                               .element = (uint32_t)index,
                                               .level = level,
                                               .until = REPLAN_NONE,
                                               .held_until =
                                                   changes->at_worst ? held_until(chain, item) : 0,
                                               .is_output = item == output,
                                               .is_cast = is_cast(chain, item),
                                               .fate = (uint8_t)fate},
                        err))
            return false;
    }
    return true;
}

/* True if the segment that makes an allocation of an element keeps it as a result. That segment
 * runs again after the segments that take it as their input. */
static bool is_held_already(const struct replan_changes *changes, uint32_t item, size_t element)
{
    for (size_t k = changes->count; k-- > 0 && changes->changes[k].element == element;)
        if (changes->changes[k].item == item)
            return changes->changes[k].fate == FATE_RESULT;
    return false;
}

/* Adds an input of the segments `outermost` to `innermost`, which begin with the same element,
 * unless it is kept anyway. */
static bool add_input(struct replan_changes *changes, const struct forward_chain *chain,
                      uint32_t outermost, uint32_t innermost, uint32_t item, struct error *err)
{
    size_t first = changes->segments[outermost].first;
    if (chain_keeps(chain, item) || (first > 0 && is_held_already(changes, item, first - 1)))
        return true;
    return add_change(changes,
                      (struct replan_change){.item = item,
                                             .element = (uint32_t)first - (first > 0),
                                             .level = changes->segments[outermost].parent,
                                             .until = innermost,
                                             .fate = FATE_HELD},
                      err);
}

/* Adds the inputs of the segments `outermost` to `innermost`, which begin with the same element:
 * the output of the element before, and rests. */
static bool add_inputs(struct replan_changes *changes, const struct forward_chain *chain,
                       uint32_t outermost, uint32_t innermost, struct error *err)
{
    size_t first = changes->segments[outermost].first;
    uint32_t output = first > 0 ? chain->elements[first - 1].output_item : EVENT_NEVER;
    if (output != EVENT_NEVER && !add_input(changes, chain, outermost, innermost, output, err))
        return false;
    for (size_t k = 0; k < chain->rest_count; k++) {
        const struct chain_rest *rest = &chain->rests[k];
        bool is_input =
            rest->enters ? rest->element == first : rest->element + 1 == first && rest->passes;
        if (rest->stays) /* the first checkpoint holds it longer than later ones do */
            is_input = outermost == 0 && replan_boundary(chain, first) < rest->end;
        if (is_input && !add_input(changes, chain, outermost, innermost, rest->item, err))
            return false;
    }
    return true;
}

static int by_item(const void *a, const void *b)
{
    const struct replan_change *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

static bool add_changes(struct replan_changes *changes, const struct forward_chain *chain,
                        const struct symbols *symbols, struct error *err)
{
    uint32_t innermost = REPLAN_NONE, next = 0;
    for (size_t index = 0; index < chain->count; index++) {
        while (innermost != REPLAN_NONE && changes->segments[innermost].end <= index)
            innermost = changes->segments[innermost].parent;
        uint32_t outermost = next;
        while (next < changes->segment_count && changes->segments[next].first == index)
            innermost = next++;
        if ((next > outermost && !add_inputs(changes, chain, outermost, innermost, err)) ||
            !add_dropped(changes, chain, symbols, index, innermost, err))
            return false;
    }
    if (changes->count > 0)
        qsort(changes->changes, changes->count, sizeof(*changes->changes), by_item);
    return true;
}

static bool add_segments(struct replan_changes *changes, const struct forward_chain *chain,
                         const struct chain_segment *segments, size_t count, struct error *err)
{
    for (size_t k = 0; k < count; k++) {
        size_t end = segments[k].end;
        uint32_t parent = k > 0 ? (uint32_t)k - 1 : REPLAN_NONE;
        while (parent != REPLAN_NONE && changes->segments[parent].end <= segments[k].first)
            parent = changes->segments[parent].parent;
        struct replan_segment segment = {.first = segments[k].first,
                                         .end = end,
                                         .keep = segments[k].keep,
                                         .keep_count = segments[k].keep_count,
                                         .parent = parent,
                                         .again = chain->backward};
        if (end < chain->count)
            segment.again = chain->elements[end].backward_end;
        if (chain->elements[end - 1].reader_item < segment.again && parent == REPLAN_NONE)
            segment.again = chain->elements[end - 1].reader_item;
        if (!vec_push(changes->segments, changes->segment_count, changes->segment_capacity,
                      changes->budget, err, segment))
            return false;
    }
    return true;
}

/* Moves the item before which a segment runs again: it must not be later than the first free of an
 * activation that the segment, or a segment within it, dropped. change_of[i] must be REPLAN_NONE
 * for each recorded slot. */
static void find_first_frees(struct replan_changes *changes, const struct program *program,
                             uint32_t *change_of)
{
    for (size_t i = program->start_count; i < program->step_count; i++) {
        const struct program_step *step = &program->steps[i];
        uint32_t *in = &change_of[step->slot];
        if (step->kind == STEP_MALLOC) {
            *in = replan_change_at(changes, step->item);
        } else if (replan_is_free(step) && *in != REPLAN_NONE) {
            const struct replan_change *change = &changes->changes[*in];
            if (change->fate == FATE_DROPPED && step->item < changes->segments[change->level].again)
                changes->segments[change->level].again = step->item;
            if (step->kind == STEP_FREE_COMPLETED)
                *in = REPLAN_NONE;
        }
    }
    for (size_t k = changes->segment_count; k-- > 0;) {
        const struct replan_segment *segment = &changes->segments[k];
        if (segment->parent != REPLAN_NONE &&
            segment->again < changes->segments[segment->parent].again)
            changes->segments[segment->parent].again = segment->again;
    }
}

/* A segment, and what its place in the order depends on. */
struct rerun {
    uint32_t again, segment;
    size_t end;
};

/* Orders by item; at the same item, later segments before earlier ones, and outer before inner
 * ones. */
static int by_time(const void *a, const void *b)
{
    const struct rerun *x = a, *y = b;
    if (x->again != y->again)
        return x->again < y->again ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->segment < y->segment ? -1 : x->segment > y->segment;
}

static bool set_order(struct replan_changes *changes, struct error *err)
{
    struct rerun *reruns = NULL;
    size_t capacity = 0, count = changes->segment_count;
    bool ok = vec_reserve(changes->order, changes->order_capacity, count, changes->budget, err) &&
              vec_reserve(reruns, capacity, count, changes->budget, err);
    for (size_t k = 0; ok && k < count; k++)
        reruns[k] =
            (struct rerun){changes->segments[k].again, (uint32_t)k, changes->segments[k].end};
    if (ok && count > 0)
        qsort(reruns, count, sizeof(*reruns), by_time);
    for (size_t k = 0; ok && k < count; k++)
        changes->order[k] = reruns[k].segment;
    vec_free(reruns, capacity, sizeof(*reruns), changes->budget);
    return ok;
}

bool replan_changes_find(struct replan_changes *changes, const struct program *program,
                         const struct forward_chain *chain, const struct chain_segment *segments,
                         size_t count, bool at_worst, struct error *err)
{
    const struct symbols *symbols =
        chain->result_count > 0 ? program->timeline->snapshot->symbols : NULL;
    uint32_t *change_of = NULL;
    size_t capacity = 0;
    *changes = (struct replan_changes){
        .slots = program->slot_count, .at_worst = at_worst, .budget = program->budget};
    bool ok = add_segments(changes, chain, segments, count, err) &&
              add_changes(changes, chain, symbols, err) &&
              vec_reserve(change_of, capacity, program->slot_count + 1, program->budget, err);
    for (size_t i = 0; ok && i < program->slot_count; i++)
        change_of[i] = REPLAN_NONE;
    if (ok)
        find_first_frees(changes, program, change_of);
    vec_free(change_of, capacity, sizeof(*change_of), program->budget);
    ok = ok && set_order(changes, err);
    if (!ok)
        replan_changes_release(changes);
    return ok;
}

void replan_changes_release(struct replan_changes *changes)
{
    struct budget *budget = changes->budget;
    vec_free(changes->segments, changes->segment_capacity, sizeof(*changes->segments), budget);
    vec_free(changes->order, changes->order_capacity, sizeof(*changes->order), budget);
    vec_free(changes->changes, changes->capacity, sizeof(*changes->changes), budget);
    *changes = (struct replan_changes){0};
}

size_t replan_change_from(const struct replan_changes *changes, uint32_t item)
{
    const struct replan_change *items = changes->changes;
    return items ? bisect_less(&items->item, sizeof(*items), changes->count, item) : 0;
}

uint32_t replan_change_at(const struct replan_changes *changes, uint32_t item)
{
    size_t at = replan_change_from(changes, item);
    return at < changes->count && changes->changes[at].item == item ? (uint32_t)at : REPLAN_NONE;
}
