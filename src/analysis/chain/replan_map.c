/* Finds the segments of a plan in another pass of the model. */
#include "analysis/chain/replan_internal.h"

/* Which pass has a loop around the layers that the other lacks. It may be no loop of the program: a
 * line that computes something, calls the model, and computes with the result looks like one. */
enum around {
    AROUND_BOTH, /* or neither */
    AROUND_OWN,
    AROUND_OTHER,
    AROUNDS,
};

static bool is_same_part(const struct chain_part *own, const struct chain_part *other,
                         enum around around)
{
    string_id a = around == AROUND_OWN ? own->inner : own->name;
    string_id b = around == AROUND_OTHER ? other->inner : other->name;
    return a == b;
}

static bool is_same_element(const struct forward_chain *a, size_t i, const struct forward_chain *b,
                            size_t j, enum around around)
{
    const struct chain_element *x = &a->elements[i], *y = &b->elements[j];
    uint32_t count = x->end_part - x->first_part;
    if (y->end_part - y->first_part != count)
        return false;
    for (uint32_t k = 0; k < count; k++)
        if (!is_same_part(&a->parts[x->first_part + k], &b->parts[y->first_part + k], around))
            return false;
    return true;
}

#define MOST_APART 64 /* elements that one of two passes may have, and the other has not */

#define NOWHERE SIZE_MAX

/* Where a segment's elements are in another chain: at or near `expected`, but not before `from`.
 * NOWHERE if it lacks some of them, or has others between them. */
static size_t find_elements(const struct forward_chain *chain, const struct chain_segment *segment,
                            const struct forward_chain *other, size_t from, size_t expected,
                            enum around around)
{
    size_t count = segment->end - segment->first, end = expected + MOST_APART;
    if (expected > from + MOST_APART)
        from = expected - MOST_APART;
    for (size_t at = from; at <= end && at < other->count && count <= other->count - at; at++) {
        size_t k = 0;
        while (k < count && is_same_element(chain, segment->first + k, other, at + k, around))
            k++;
        if (k == count)
            return at;
    }
    return NOWHERE;
}

static bool map(const struct forward_chain *chain, const struct chain_segment *segments,
                size_t count, const struct forward_chain *other, enum around around,
                struct replan_mapped *mapped, struct error *err)
{
    size_t after = 0, own_after = 0; /* the elements after the last segment that was found */
    mapped->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct chain_segment segment = segments[i];
        bool is_inner = segment.first < own_after;
        size_t at = segment.first + after - own_after;
        if (!is_inner)
            at = find_elements(chain, &segment, other, after, at, around);
        if (at == NOWHERE)
            continue;
        size_t end = at + (segment.end - segment.first);
        if (!is_inner) {
            own_after = segment.end;
            after = end;
        }
        segment.first = at;
        segment.end = end;
        if (!vec_push(mapped->segments, mapped->count, mapped->capacity, chain->budget, err,
                      segment))
            return false;
    }
    return true;
}

bool replan_map(const struct forward_chain *chain, const struct chain_segment *segments,
                size_t count, const struct forward_chain *other, struct replan_mapped *mapped,
                struct error *err)
{
    enum around best = AROUND_BOTH;
    size_t most = 0;
    for (enum around around = AROUND_BOTH; around < AROUNDS && most < count; around++) {
        if (!map(chain, segments, count, other, around, mapped, err))
            return false;
        if (mapped->count > most) {
            most = mapped->count;
            best = around;
        }
    }
    return map(chain, segments, count, other, best, mapped, err);
}
