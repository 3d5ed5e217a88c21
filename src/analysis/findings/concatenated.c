#include "analysis/findings/concatenated.h"

#include <string.h>

#include "analysis/code/operators.h"
#include "analysis/phase/births.h"
#include "base/budget.h"
#include "base/text.h"
#include "model/peak_without.h"

#define TINY   512 /* bytes; lists of tokens or of losses */
#define LATEST 8   /* tensors of a stack that are examined for the one that another replaces */
#define LOOKS                                                                                      \
    16 /* lifetimes that are examined for what concatenations join, for each in the trace */
#define NONE UINT32_MAX

/* A tensor that may be one of a chain. */
struct link {
    uint32_t before;   /* the tensor that its stack made before it, or NONE */
    uint32_t replaced; /* the one of these that it replaces, or NONE */
    uint32_t length;   /* tensors of the chain up to this one */
    bool is_replaced;
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    struct link *links; /* by lifetime */
    uint32_t *last;     /* by stack: the latest tensor that it made, or NONE */
    size_t links_capacity, last_capacity;
    struct absences absences;
    size_t looks; /* that are left, so that no trace takes long */
};

static uint64_t size_of(const struct finder *finder, uint32_t index)
{
    return trace_size(finder->timeline->trace, finder->timeline->lifetimes[index].alloc);
}

static stack_id stack_of(const struct finder *finder, uint32_t index)
{
    return finder->timeline->trace->stack[finder->timeline->lifetimes[index].alloc];
}

static bool is_freed_by_backward(const struct finder *finder, uint32_t index)
{
    uint32_t end = finder->phases->of_lifetime[index].end;
    return end != NO_RUN && finder->phases->runs[end].phase == PHASE_BACKWARD;
}

static bool may_gather(const struct finder *finder, uint32_t index)
{
    if (stack_of(finder, index) == STACK_NONE || is_freed_by_backward(finder, index))
        return false;
    switch (finder->categories->of_lifetime[index]) {
    case CATEGORY_ACTIVATION:
    case CATEGORY_TEMPORARY:
    case CATEGORY_INPUT:
    case CATEGORY_UNKNOWN:
        return size_of(finder, index) > TINY;
    default:
        return false;
    }
}

/* True if a tensor may take the place of an older one of its stack. */
static bool replaces(const struct finder *finder, uint32_t index, uint32_t old)
{
    const struct lifetime *lifetimes = finder->timeline->lifetimes;
    const struct link *link = &finder->links[old];
    uint64_t size = size_of(finder, index), before = size_of(finder, old);
    return !link->is_replaced && size > before && size / 2 <= before &&
           lifetime_end(&lifetimes[old]) > lifetimes[index].alloc &&
           (link->replaced == NONE ||
            lifetime_end(&lifetimes[link->replaced]) < lifetimes[index].alloc);
}

static void link_up(struct finder *finder, uint32_t index)
{
    uint32_t *last = &finder->last[stack_of(finder, index)];
    struct link *link = &finder->links[index];
    *link = (struct link){*last, NONE, 1, false};
    uint32_t old = *last;
    for (int i = 0; i < LATEST && old != NONE && !replaces(finder, index, old); i++)
        old = finder->links[old].before;
    if (old != NONE && replaces(finder, index, old)) {
        link->replaced = old;
        link->length = finder->links[old].length + 1;
        finder->links[old].is_replaced = true;
    }
    *last = index;
}

static bool find_chains(struct finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    struct budget *budget = timeline->snapshot->budget;
    size_t stacks = symbols_stack_count(timeline->snapshot->symbols) + 1;
    if (!vec_reserve(finder->links, finder->links_capacity, timeline->lifetime_count + 1, budget,
                     err) ||
        !vec_reserve(finder->last, finder->last_capacity, stacks, budget, err))
        return false;
    memset(finder->last, 0xff, stacks * sizeof(*finder->last));
    for (uint32_t i = 0; i < timeline->lifetime_count; i++) {
        finder->links[i] = (struct link){NONE, NONE, 0, false};
        if (may_gather(finder, i))
            link_up(finder, i);
    }
    return true;
}

/* True for an operator that may join tensors. `op` is "" if C++ frames are missing. What only makes
 * storage may be filled with the old and the new values. */
static bool may_join(struct text op)
{
    static const char *const joining[] = {"aten::cat", "aten::stack", "aten::constant_pad_nd"};
    return !operator_computes(op) ||
           text_is_one_of(op, joining, sizeof(joining) / sizeof(joining[0]));
}

/* Sets *is_plain if code outside of modules made a tensor, unless C++ frames show that an operator
 * did which gathers nothing: results of one line may also get larger with its operands, as those of
 * an interpolation do. */
static bool find_plain(const struct finder *finder, uint32_t index, bool *is_plain,
                       struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(finder->sites, stack_of(finder, index), err);
    *is_plain = facts && facts->context == CONTEXT_OTHER &&
                facts->site.any_python_frame != NO_FRAME &&
                may_join(symbols_text(site_table_symbols(finder->sites), facts->site.op));
    return facts != NULL;
}

/* Adds the tensors of one size that wait for a concatenation: they are live when it is made, and
 * freed before `until`. Looks at no lifetime before `first`. */
static bool add_waiting(struct finder *finder, uint32_t index, uint32_t first, uint64_t size,
                        uint32_t until, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    const struct lifetime *lifetimes = timeline->lifetimes;
    for (uint32_t i = index; size > TINY && i-- > first && finder->looks > 0; finder->looks--) {
        uint32_t end = lifetime_end(&lifetimes[i]);
        if (size_of(finder, i) == size && end > lifetimes[index].alloc && end < until &&
            !absences_add(&finder->absences, absence_of_lifetime(timeline, i), err))
            return false;
    }
    return true;
}

/* Adds what a tensor of a chain joins, other than the one that it replaces: only the concatenation
 * keeps that. The first tensor joins two results, and the next of the chain shows the size of one.
 */
static bool add_joined(struct finder *finder, uint32_t index, uint32_t next, struct error *err)
{
    const struct lifetime *lifetimes = finder->timeline->lifetimes;
    uint32_t old = finder->links[index].replaced;
    uint32_t until = next != NONE ? lifetimes[next].alloc : EVENT_NEVER;
    uint64_t size = size_of(finder, index);
    if (old != NONE)
        return add_waiting(finder, index, old + 1, size - size_of(finder, old), until, err);
    uint64_t more = size_of(finder, next) - size, rest = more < size ? size - more : 0;
    uint32_t turn = next - index, first = index > 2 * turn ? index - 2 * turn : 0;
    return add_waiting(finder, index, first, more, until, err) &&
           (rest == more || add_waiting(finder, index, first, rest, until, err));
}

/* Marks the chains that are long enough, each from its last tensor on. */
static bool mark(struct finder *finder, struct concatenated *concatenated, struct error *err)
{
    const struct timeline *timeline = finder->timeline;
    for (uint32_t i = 0; i < timeline->lifetime_count; i++) {
        bool is_plain;
        if (finder->links[i].is_replaced || finder->links[i].length < CONCATENATED_LEAST)
            continue;
        if (!find_plain(finder, i, &is_plain, err))
            return false;
        if (!is_plain)
            continue;
        if (!concatenated->is_concatenated) {
            if (!vec_reserve(concatenated->is_concatenated, concatenated->capacity,
                             timeline->lifetime_count + 1, concatenated->budget, err))
                return false;
            memset(concatenated->is_concatenated, 0, timeline->lifetime_count + 1);
        }
        for (uint32_t at = i, next = NONE; at != NONE; at = finder->links[at].replaced) {
            concatenated->is_concatenated[at] = true;
            if (!absences_add(&finder->absences, absence_of_lifetime(timeline, at), err) ||
                !add_joined(finder, at, next, err))
                return false;
            next = at;
        }
    }
    return true;
}

bool concatenated_find(struct concatenated *concatenated, const struct live_set *set,
                       const struct phases *phases, struct error *err)
{
    struct concatenated made = {.budget = set->timeline->snapshot->budget};
    struct finder finder = {.timeline = set->timeline,
                            .sites = set->sites,
                            .categories = set->categories,
                            .phases = phases,
                            .absences = {.budget = made.budget},
                            .looks = LOOKS * set->timeline->lifetime_count};
    bool ok = find_chains(&finder, err) && mark(&finder, &made, err) &&
              (!made.is_concatenated ||
               absences_save(&finder.absences, set->timeline, &made.save_bytes, err));
    vec_free(finder.links, finder.links_capacity, sizeof(*finder.links), made.budget);
    vec_free(finder.last, finder.last_capacity, sizeof(*finder.last), made.budget);
    absences_release(&finder.absences);
    if (!ok) {
        concatenated_release(&made);
        return false;
    }
    *concatenated = made;
    return true;
}

void concatenated_release(struct concatenated *concatenated)
{
    vec_free(concatenated->is_concatenated, concatenated->capacity,
             sizeof(*concatenated->is_concatenated), concatenated->budget);
    *concatenated = (struct concatenated){0};
}
