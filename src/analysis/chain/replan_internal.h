/* The program of a step with checkpoints.
 *
 * The forward pass drops whatever is within a checkpoint. Each segment then runs again in the
 * backward pass: it makes what it dropped itself, while the segments within it are checkpoints of
 * that run and drop theirs once more, until they run again in turn. So each allocation has a level:
 * the run in which it stays. The level is a segment, or REPLAN_NONE for the forward pass. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_INTERNAL_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_INTERNAL_H

#include "analysis/chain/replan.h"
#include "analysis/replay/replay.h"

#define REPLAN_NONE UINT32_MAX

enum fate {
    FATE_DROPPED, /* freed in all runs but that of its level, from which the backward takes it */
    FATE_HELD,    /* the input of a segment, not kept by the recorded program; its checkpoint holds
                   * it from the run of its level until the segment runs again */
    FATE_COPIED,  /* held by the program itself: it stays, and the run of its level makes another,
                   * which is freed when the backward of its element is over */
    FATE_AGAIN,  /* the output of a segment, which the backward of its last operator reads: when the
                  * segment runs again, that makes another in its place */
    FATE_RESULT, /* a result that its segment keeps: not made again; if the recorded program freed
                  * it in the forward pass, it is held until the segment runs again and frees it,
                  * or, if that stops before it, until the backward of the segment is over */
};

/* An allocation that checkpoints treat otherwise than the recorded program did. */
struct replan_change {
    uint32_t item;    /* its alloc */
    uint32_t element; /* that made it */
    uint32_t level;
    uint32_t until;      /* the segment whose run ends it, or REPLAN_NONE; never so for FATE_HELD */
    uint32_t slot;       /* FATE_DROPPED, FATE_AGAIN: in the present run, if it is freed there, or
                          * REPLAN_NONE */
    uint32_t new_slot;   /* in the run of its level */
    uint32_t operator;   /* of the present run, that made it */
    uint32_t held_until; /* an item of the forward pass, up to which the program holds it; or 0 */
    bool is_output;      /* of its element */
    bool is_cast;        /* a weight's copy, which autocast holds to the end of the forward pass */
    bool is_taken;       /* FATE_RESULT: by the segment, which runs again; FATE_COPIED: the copy is
                          * there */
    uint8_t fate;
};

struct replan_segment {
    size_t first, end;
    const struct text *keep;
    size_t keep_count;
    uint32_t parent; /* the innermost segment around it, or REPLAN_NONE */
    uint32_t again;  /* the item before which it runs again */
};

struct replan_changes {
    struct replan_segment *segments; /* as given */
    size_t segment_count, segment_capacity;
    uint32_t *order; /* the segments as they run again */
    size_t order_capacity;
    struct replan_change *changes; /* by item */
    size_t count, capacity;
    size_t slots;          /* of the program and of all changes */
    bool at_worst;         /* the program holds chain->doubts */
    struct budget *budget; /* not owned */
};

/* A checkpoint holds it, where the recorded program freed it. */
static inline bool replan_is_held(const struct replan_change *change)
{
    return change->until != REPLAN_NONE;
}

static inline bool replan_is_free(const struct program_step *step)
{
    return step->kind == STEP_FREE_REQUESTED || step->kind == STEP_FREE_COMPLETED;
}

/* Where element `index` begins in the trace; the backward begins behind the last one. */
static inline uint32_t replan_boundary(const struct forward_chain *chain, size_t index)
{
    return index < chain->count ? chain->elements[index].first_item : chain->backward;
}

bool replan_changes_find(struct replan_changes *changes, const struct program *program,
                         const struct forward_chain *chain, const struct chain_segment *segments,
                         size_t count, bool at_worst, struct error *err);
void replan_changes_release(struct replan_changes *changes);

/* The first change at or after an item. */
size_t replan_change_from(const struct replan_changes *changes, uint32_t item);

/* The change that begins with an item, or REPLAN_NONE. */
uint32_t replan_change_at(const struct replan_changes *changes, uint32_t item);

/* `at_worst`: as in struct replan_changes. Makes the steps of `edited`; everything else in it
 * belongs to `program`. No steps are made if so many segments are within segments that the program
 * would be too long. */
bool replan_edit(const struct program *program, const struct forward_chain *chain,
                 const struct chain_segment *segments, size_t count, bool at_worst,
                 struct program *edited, bool *is_too_long, struct error *err);
void replan_edit_release(struct program *edited);

#endif
