#include "model/recording.h"

#include "model/addrmap.h"

#define ALLOCS    ACTION_BIT(ACTION_ALLOC)
#define REQUESTS  ACTION_BIT(ACTION_FREE_REQUESTED)
#define COMPLETES ACTION_BIT(ACTION_FREE_COMPLETED)

#define ALL (ALLOCS | REQUESTS | COMPLETES)

#define LEAST_PROOFS 6 /* fewer may be chance in a damaged file */

/* The last event of an address. */
enum { LIVE = 1, REQUESTED, COMPLETED };

/* The hypothesis that kinds of events were left out. It needs proofs: events that cannot follow one
 * another. It is refuted by events that contradict each other even with the missing ones between
 * them. */
struct hypothesis {
    const struct trace *trace;
    const struct snapshot *snapshot;
    struct addrmap addresses;
    uint32_t missing;
    size_t proofs;
    bool refuted;
};

static void judge(struct hypothesis *hypothesis, bool is_proof, bool is_fine)
{
    hypothesis->proofs += is_proof;
    hypothesis->refuted = hypothesis->refuted || !(is_proof || is_fine);
}

/* An event at an address, after another one there. */
static void judge_pair(struct hypothesis *hypothesis, const struct addrmap_slot *before,
                       uint8_t action, uint64_t size)
{
    uint32_t missing = hypothesis->missing;
    bool same_size = before->size == size;
    switch (action) {
    case ACTION_ALLOC:
        judge(hypothesis,
              (before->tag == LIVE && missing == (REQUESTS | COMPLETES)) ||
                  (before->tag == REQUESTED && missing == COMPLETES),
              before->tag == COMPLETED);
        break;
    case ACTION_FREE_REQUESTED:
        judge(hypothesis, missing & ALLOCS && (before->tag == COMPLETED || missing & COMPLETES),
              before->tag == LIVE && same_size);
        break;
    default:
        judge(hypothesis,
              (before->tag == LIVE && missing == REQUESTS && same_size) ||
                  (before->tag == COMPLETED && missing == (ALLOCS | REQUESTS)),
              before->tag == REQUESTED && same_size);
        break;
    }
}

static bool visit(struct hypothesis *hypothesis, size_t item, struct error *err)
{
    static const uint32_t tags[] = {[ACTION_ALLOC] = LIVE,
                                    [ACTION_FREE_REQUESTED] = REQUESTED,
                                    [ACTION_FREE_COMPLETED] = COMPLETED};
    const struct trace *trace = hypothesis->trace;
    uint8_t action = trace->action[item];
    struct addrmap_slot *slot;
    if (!addrmap_put(&hypothesis->addresses, trace_addr(trace, item), &slot, err))
        return false;
    if (slot->tag != 0)
        judge_pair(hypothesis, slot, action, trace_size(trace, item));
    slot->tag = tags[action];
    slot->size = trace_size(trace, item);
    return true;
}

static bool visit_events(struct hypothesis *hypothesis, struct error *err)
{
    const struct trace *trace = hypothesis->trace;
    for (size_t i = 0; i < trace->count && !hypothesis->refuted; i++)
        if (trace->action[i] <= ACTION_FREE_COMPLETED && !visit(hypothesis, i, err))
            return false;
    return true;
}

/* The addresses at the end of the file, where a range left out events after it. */
static bool visit_edge(struct hypothesis *hypothesis, struct error *err)
{
    const struct window_edge *edge = &hypothesis->trace->edge;
    if (!edge->present)
        return true;
    addrmap_release(&hypothesis->addresses);
    addrmap_init(&hypothesis->addresses, hypothesis->snapshot->budget);
    for (size_t i = 0; i < edge->end_live_count; i++) {
        const struct edge_address *at = &edge->end_live[i];
        struct addrmap_slot *slot;
        if (!addrmap_put(&hypothesis->addresses, at->addr, &slot, err))
            return false;
        slot->tag = at->in_active && at->in_allocated ? LIVE
                    : at->in_active                   ? REQUESTED
                                                      : COMPLETED;
    }
    return true;
}

/* Compares the end of the trace with a block of the dump, and forgets its address. */
static void judge_block(struct hypothesis *hypothesis, const struct block_row *block)
{
    struct addrmap_slot *slot = addrmap_find(&hypothesis->addresses, block->address);
    if (!slot || block->state == BLOCK_INACTIVE)
        return;
    judge(hypothesis, false,
          slot->tag == LIVE ||
              (slot->tag == REQUESTED && block->state == BLOCK_ACTIVE_PENDING_FREE));
    addrmap_remove(&hypothesis->addresses, slot);
}

/* The addresses that are left are free at the dump. */
static void judge_rest(struct hypothesis *hypothesis)
{
    const struct addrmap *addresses = &hypothesis->addresses;
    for (size_t i = 0; addresses->count > 0 && i <= addresses->mask; i++)
        if (addresses->slots[i].tag)
            judge(hypothesis,
                  addresses->slots[i].tag == REQUESTED && hypothesis->missing == COMPLETES,
                  addresses->slots[i].tag == COMPLETED);
}

static void judge_dump(struct hypothesis *hypothesis)
{
    const struct snapshot *snapshot = hypothesis->snapshot;
    bool any_segment = false;
    for (size_t s = 0; s < snapshot->segment_count; s++) {
        const struct segment *segment = &snapshot->segments[s];
        if (segment->device != hypothesis->trace->device)
            continue;
        any_segment = true;
        for (size_t b = 0; b < segment->block_count; b++)
            judge_block(hypothesis, &snapshot->blocks[segment->first_block + b]);
    }
    if (any_segment)
        judge_rest(hypothesis);
}

static bool is_true(struct hypothesis *hypothesis, struct error *err, bool *found)
{
    if (!visit_events(hypothesis, err) || !visit_edge(hypothesis, err))
        return false;
    bool knows_end = hypothesis->missing == COMPLETES || hypothesis->missing == REQUESTS;
    if (knows_end && !hypothesis->refuted)
        judge_dump(hypothesis);
    *found = !hypothesis->refuted && hypothesis->proofs >= LEAST_PROOFS;
    return true;
}

/* True if a segment that the trace makes is as it was made. */
static bool is_made(const struct hypothesis *hypothesis, const struct segment *segment)
{
    const struct addrmap_slot *made = addrmap_find(&hypothesis->addresses, segment->address);
    return segment->device == hypothesis->trace->device && made != NULL &&
           (segment->is_expandable || made->size == segment->total_size);
}

/* True if a segment that the trace makes has a live block: it was allocated after that, which was
 * not recorded. For traces that have neither allocs nor frees. */
static bool allocates_unseen(struct hypothesis *hypothesis, struct error *err, bool *found)
{
    const struct trace *trace = hypothesis->trace;
    const struct snapshot *snapshot = hypothesis->snapshot;
    for (size_t i = 0; i < trace->count; i++) {
        struct addrmap_slot *slot;
        if (trace->action[i] != ACTION_SEGMENT_ALLOC && trace->action[i] != ACTION_SEGMENT_MAP)
            continue;
        if (!addrmap_put(&hypothesis->addresses, trace_addr(trace, i), &slot, err))
            return false;
        slot->tag = LIVE;
        slot->size = trace_size(trace, i);
    }
    *found = false;
    for (size_t s = 0; s < snapshot->segment_count && hypothesis->addresses.count > 0; s++) {
        const struct segment *segment = &snapshot->segments[s];
        for (size_t b = 0; is_made(hypothesis, segment) && b < segment->block_count; b++)
            *found |= snapshot->blocks[segment->first_block + b].state != BLOCK_INACTIVE;
    }
    return true;
}

void recording_set(struct trace *trace, uint32_t missing)
{
    trace->unrecorded = missing;
    if (missing == COMPLETES)
        trace->completion = ACTION_FREE_REQUESTED;
    else if (missing == REQUESTS)
        trace->request = ACTION_FREE_COMPLETED;
    else
        trace->birth = trace->request = trace->completion = ACTION_NEVER;
}

bool recording_find(struct trace *trace, const struct snapshot *snapshot, uint32_t seen,
                    struct error *err)
{
    struct hypothesis hypothesis = {.trace = trace, .snapshot = snapshot, .missing = ALL & ~seen};
    bool found;
    if (hypothesis.missing == 0)
        return true;
    addrmap_init(&hypothesis.addresses, snapshot->budget);
    bool ok = hypothesis.missing == ALL ? allocates_unseen(&hypothesis, err, &found)
                                        : is_true(&hypothesis, err, &found);
    addrmap_release(&hypothesis.addresses);
    if (ok && found)
        recording_set(trace, hypothesis.missing);
    return ok;
}

bool recording_lacks_segments(const struct timeline *timeline)
{
    const struct snapshot *snapshot = timeline->snapshot;
    const uint64_t *counts = timeline->by_action;
    bool is_made = false;
    for (size_t i = 0; i < snapshot->segment_count && !is_made; i++)
        is_made = snapshot->segments[i].device == timeline->device &&
                  snapshot->segments[i].stack != STACK_NONE;
    return is_made && counts[ACTION_ALLOC] > 0 && timeline->preexisting_count == 0 &&
           counts[ACTION_SEGMENT_ALLOC] == 0 && counts[ACTION_SEGMENT_MAP] == 0 &&
           !timeline->trace->edge.present;
}
