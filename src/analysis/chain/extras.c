#include <stdlib.h>

#include "analysis/chain/sizes.h"
#include "analysis/phase/births.h"

/* The backward of an element ends when its input, which is the output of the previous element, is
 * freed. If the input was not kept, the backward ends when this percentage of the element's own
 * activations is freed. It is less than 100, because a program may hold some for longer. */
#define BACKWARD_DONE 95

/* The memory of the pass over time, and the frees of its activations. */
struct replayed {
    int64_t *change; /* change of live bytes by item, from pass->first on */
    struct freed {
        uint32_t item, element;
        int64_t size;
    } * freed;
    size_t freed_count;
    uint32_t *done; /* by element: the item at which its backward ends */
    size_t items, lifetimes;
    size_t bytes;
};

/* True for memory that belongs to the pass, and not to the model, the optimizer or a library. */
static bool is_counted(const struct chain_measure *measure, size_t lifetime)
{
    switch ((enum category)measure->categories->of_lifetime[lifetime]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_CAST_CACHE:
        return true;
    case CATEGORY_TEMPORARY:
    case CATEGORY_AUTOGRAD_DETAIL:
    case CATEGORY_INPUT:
    case CATEGORY_UNKNOWN:
        return lifetime_end(&measure->timeline->lifetimes[lifetime]) < measure->pass->end;
    default:
        return false;
    }
}

static void count_birth(struct replayed *replayed, const struct chain_measure *measure,
                        size_t lifetime)
{
    const struct lifetime *it = &measure->timeline->lifetimes[lifetime];
    uint32_t first = measure->pass->first, end = lifetime_end(it);
    int64_t size = (int64_t)trace_size(measure->timeline->trace, it->alloc);
    if (!is_counted(measure, lifetime))
        return;
    replayed->change[it->alloc - first] += size;
    if (end < measure->pass->end)
        replayed->change[end - first] -= size;
}

static void count_free(struct replayed *replayed, const struct chain_measure *measure,
                       size_t lifetime, size_t element)
{
    const struct lifetime *it = &measure->timeline->lifetimes[lifetime];
    uint32_t end = lifetime_end(it);
    if (end < measure->pass->end &&
        pass_keeps(measure->pass, measure->timeline, measure->categories, lifetime))
        replayed->freed[replayed->freed_count++] = (struct freed){
            end, (uint32_t)element, (int64_t)trace_size(measure->timeline->trace, it->alloc)};
}

static void replay(struct replayed *replayed, struct forward_chain *chain,
                   const struct chain_measure *measure)
{
    const struct timeline *timeline = measure->timeline;
    size_t first = births_from(timeline, measure->pass->first), element = 0;
    size_t count = replayed->lifetimes;
    for (size_t i = first; i < first + count; i++) {
        while (element + 1 < chain->count &&
               timeline->lifetimes[i].alloc >= chain->elements[element + 1].first_item)
            element++;
        count_birth(replayed, measure, i);
        if (timeline->lifetimes[i].alloc < measure->pass->backward)
            count_free(replayed, measure, i, element);
        else if (category_is_saved((enum category)measure->categories->of_lifetime[i]))
            chain->recomputed_bytes +=
                (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    }
}

static int compare_freed(const void *a, const void *b)
{
    const struct freed *p = a, *q = b;
    if (p->item != q->item)
        return p->item < q->item ? -1 : 1;
    return (p->element > q->element) - (p->element < q->element);
}

/* The first allocation at or after an item. What an operator frees when it has ended must count
 * neither for the backward of the previous layer nor for a recomputation before that. */
static uint32_t next_allocation(const struct chain_measure *measure, uint32_t item)
{
    const struct trace *trace = measure->timeline->trace;
    while (item < measure->pass->end && trace->action[item] != ACTION_ALLOC)
        item++;
    return item;
}

/* Ends the backward of each element whose input was kept where the input is freed, or where the
 * backward operator that reads it runs. */
static void end_with_inputs(struct replayed *replayed, const struct forward_chain *chain,
                            const struct chain_measure *measure)
{
    for (size_t i = 1; i < chain->count; i++) {
        uint32_t item = chain->elements[i - 1].output_item;
        if (item == EVENT_NEVER)
            continue;
        size_t lifetime = births_from(measure->timeline, item);
        uint32_t end = lifetime_end(&measure->timeline->lifetimes[lifetime]);
        if (chain->elements[i - 1].reader_item != EVENT_NEVER)
            replayed->done[i] = chain->elements[i - 1].reader_item;
        else if (end >= measure->pass->backward && end < measure->pass->end)
            replayed->done[i] = end;
    }
}

/* Puts the ends of backwards in order: earlier elements end later. If a program holds an output for
 * longer, the backward of the next element seems to end after those of earlier elements. So this
 * takes the subsequence of elements in the right order that keeps the most, and moves the end of
 * each other element to that of the next one in the subsequence, or to item `least` if there is
 * none. `room` has two numbers for each element. */
static void put_in_order(uint32_t *done, const struct forward_chain *chain, int64_t *room,
                         uint32_t least)
{
    size_t count = chain->count, first = count - 1, i;
    /* For the best subsequence that begins with each element: its bytes, and the element after it.
     */
    int64_t *kept = room, *next = room + count;
    for (i = count; i-- > 0;) {
        int64_t most = 0;
        next[i] = (int64_t)count;
        for (size_t j = i + 1; j < count; j++)
            if (done[j] <= done[i] && kept[j] > most) {
                most = kept[j];
                next[i] = (int64_t)j;
            }
        kept[i] = most + chain->elements[i].activation_bytes + 1;
        first = kept[i] >= kept[first] ? i : first;
    }
    i = 0;
    for (size_t at = first; at < count; i = at + 1, at = (size_t)next[at])
        for (; i < at; i++)
            done[i] = done[at];
    for (; i < count; i++)
        done[i] = least;
}

/* Finds where the backward of each element ends. */
static bool find_backwards(struct replayed *replayed, const struct forward_chain *chain,
                           const struct chain_measure *measure, struct error *err)
{
    size_t bytes = chain->count * 2 * sizeof(int64_t);
    if (!budget_take(chain->budget, bytes, err))
        return false;
    int64_t *whole = calloc(1, bytes);
    bool ok = whole || error_out_of_memory(err);
    if (ok) {
        int64_t *so_far = whole + chain->count;
        qsort(replayed->freed, replayed->freed_count, sizeof(struct freed), compare_freed);
        for (size_t i = 0; i < replayed->freed_count; i++)
            whole[replayed->freed[i].element] += replayed->freed[i].size;
        for (size_t i = 0; i < chain->count; i++)
            replayed->done[i] = measure->pass->backward;
        for (size_t i = 0; i < replayed->freed_count; i++) {
            struct freed freed = replayed->freed[i];
            int64_t enough =
                whole[freed.element] - whole[freed.element] / 100 * (100 - BACKWARD_DONE);
            if (so_far[freed.element] < enough)
                replayed->done[freed.element] = freed.item;
            so_far[freed.element] += freed.size;
        }
        end_with_inputs(replayed, chain, measure);
        for (size_t i = 0; i < chain->count; i++)
            replayed->done[i] = next_allocation(measure, replayed->done[i]);
        put_in_order(replayed->done, chain, whole, measure->pass->backward);
    }
    free(whole);
    budget_give(chain->budget, bytes);
    return ok;
}

/* The maximum of live bytes before and after each of the items [from, end). *now is the value
 * before them, and is set to the value after them. */
static int64_t most_within(const struct replayed *replayed, const struct pass *pass, uint32_t from,
                           uint32_t end, int64_t *now)
{
    int64_t most = *now;
    for (uint32_t item = from; item < end; item++) {
        *now += replayed->change[item - pass->first];
        if (*now > most)
            most = *now;
    }
    return most;
}

static int64_t beyond(int64_t most, int64_t known)
{
    return most > known ? most - known : 0;
}

static void measure_all(const struct replayed *replayed, struct forward_chain *chain,
                        const struct chain_measure *measure)
{
    const struct pass *pass = measure->pass;
    int64_t now = 0, kept = 0;
    for (size_t i = 0; i < chain->count; i++) {
        struct chain_element *element = &chain->elements[i];
        uint32_t from = i > 0 ? element->first_item : pass->first;
        uint32_t end = i + 1 < chain->count ? chain->elements[i + 1].first_item : pass->backward;
        kept += element->activation_bytes;
        element->forward_extra_bytes = beyond(most_within(replayed, pass, from, end, &now), kept);
    }
    uint32_t from = pass->backward;
    for (size_t i = 0; i < chain->count; i++)
        chain->elements[i].backward_end =
            replayed->done[i] < pass->end ? replayed->done[i] : pass->end;
    for (size_t i = chain->count; i-- > 0 && from < pass->end;) {
        struct chain_element *element = &chain->elements[i];
        uint32_t end = element->backward_end;
        element->backward_extra_bytes =
            beyond(most_within(replayed, pass, from, end, &now), kept + element->output_bytes);
        kept -= element->activation_bytes;
        from = end > from ? end : from;
    }
}

static bool prepare(struct replayed *replayed, const struct forward_chain *chain,
                    const struct chain_measure *measure, struct error *err)
{
    const struct pass *pass = measure->pass;
    size_t items = pass->end - pass->first;
    replayed->lifetimes =
        births_from(measure->timeline, pass->end) - births_from(measure->timeline, pass->first);
    replayed->bytes = items * sizeof(int64_t) + replayed->lifetimes * sizeof(struct freed) +
                      chain->count * sizeof(uint32_t);
    if (!budget_take(chain->budget, replayed->bytes, err))
        return false;
    replayed->change = calloc(1, replayed->bytes);
    if (!replayed->change) {
        budget_give(chain->budget, replayed->bytes);
        return error_out_of_memory(err);
    }
    replayed->freed = (struct freed *)(replayed->change + items);
    replayed->done = (uint32_t *)(replayed->freed + replayed->lifetimes);
    return true;
}

bool chain_set_extras(struct forward_chain *chain, const struct chain_measure *measure,
                      struct error *err)
{
    struct replayed replayed = {0};
    if (!prepare(&replayed, chain, measure, err))
        return false;
    replay(&replayed, chain, measure);
    bool ok = find_backwards(&replayed, chain, measure, err);
    if (ok)
        measure_all(&replayed, chain, measure);
    free(replayed.change);
    budget_give(chain->budget, replayed.bytes);
    return ok;
}
