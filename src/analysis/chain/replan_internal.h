/* Edits the program of a step as if it had checkpoints. "To run again" means here that a segment is
 * recomputed.
 *
 * The forward pass drops all activations within checkpoints. In the backward pass, each segment
 * runs again and makes the activations that it dropped itself. The segments within it are
 * checkpoints during that run, so they drop their activations once more, until they run again in
 * turn. Each allocation therefore has a level: the run in which it is kept. The level is a segment,
 * or REPLAN_NONE for the forward pass. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_REPLAN_INTERNAL_H
#define MEMSNAP_ANALYSIS_CHAIN_REPLAN_INTERNAL_H

#include "analysis/chain/replan.h"
#include "analysis/replay/replay.h"

#define REPLAN_NONE UINT32_MAX

enum fate {
    FATE_DROPPED, /* freed in every run except that of its level, which makes it for the backward
                   * pass */
    FATE_HELD, /* The input of a segment, which the recorded program freed in the forward pass. The
                * checkpoint holds it from the run of its level until the segment runs again. */
    FATE_COPIED, /* The program itself holds it, so it is not freed. The run of its level makes a
                  * second one, which is freed when the backward pass of its element has ended. */
    FATE_AGAIN,  /* The output of a segment, which the backward of its last operator reads. When the
                  * segment runs again, a new output replaces it. */
    FATE_RESULT, /* A result that its segment keeps, so it is made only once. If the recorded
                  * program freed it in the forward pass, the checkpoint holds it until the segment
                  * runs again and frees it there. If that run stops earlier, it is held until the
                  * backward pass of the segment has ended. */
};

/* An allocation whose lifetime checkpoints change. */
struct replan_change {
    uint32_t item;    /* the item that allocates it */
    uint32_t element; /* the element that makes it */
    uint32_t level;
    uint32_t until; /* the segment whose run frees it, or REPLAN_NONE; always set for FATE_HELD */
    uint32_t slot;  /* FATE_DROPPED and FATE_AGAIN: its slot in the present run, if that run will
                     * free it; else REPLAN_NONE */
    uint32_t new_slot; /* its slot in the run of its level */
    uint32_t operator; /* number of the operator of the present run that made it */
    uint32_t
        held_until; /* the item of the forward pass up to which the program holds it; 0 if none */
    bool is_output; /* the output of its element */
    bool is_cast;   /* autocast's copy of a weight, held to the end of the forward pass */
    bool is_taken;  /* FATE_RESULT: the segment has run again and used it; FATE_COPIED: the second
                     * one has been made */
    uint8_t fate;
};

struct replan_segment {
    size_t first, end;
    const struct text *keep;
    size_t keep_count;
    uint32_t parent; /* the innermost segment that contains it, or REPLAN_NONE */
    uint32_t again;  /* it runs again before this item */
};

struct replan_changes {
    struct replan_segment *segments; /* in the caller's order */
    size_t segment_count, segment_capacity;
    uint32_t *order; /* the segments in the order in which they run again */
    size_t order_capacity;
    struct replan_change *changes; /* ordered by item */
    size_t count, capacity;
    size_t slots;          /* number of slots: those of the program, and new ones */
    bool at_worst;         /* the program is taken to hold chain->doubts */
    struct budget *budget; /* not owned */
};

/* True if a checkpoint holds an allocation that the recorded program freed in the forward pass. */
static inline bool replan_is_held(const struct replan_change *change)
{
    return change->until != REPLAN_NONE;
}

static inline bool replan_is_free(const struct program_step *step)
{
    return step->kind == STEP_FREE_REQUESTED || step->kind == STEP_FREE_COMPLETED;
}

/* The item at which element `index` begins. With the number of elements: where the backward pass
 * begins. */
static inline uint32_t replan_boundary(const struct forward_chain *chain, size_t index)
{
    return index < chain->count ? chain->elements[index].first_item : chain->backward;
}

bool replan_changes_find(struct replan_changes *changes, const struct program *program,
                         const struct forward_chain *chain, const struct chain_segment *segments,
                         size_t count, bool at_worst, struct error *err);
void replan_changes_release(struct replan_changes *changes);

/* Index of the first change to an allocation at or after an item. */
size_t replan_change_from(const struct replan_changes *changes, uint32_t item);

/* Index of the change to the allocation that an item makes, or REPLAN_NONE. */
uint32_t replan_change_at(const struct replan_changes *changes, uint32_t item);

struct replan_mapped {
    struct chain_segment *segments;
    size_t count, capacity;
};

/* Finds the segments that another pass of the model has too, in the elements of its chain, which
 * may have a few more or fewer of them, or lack the outermost loop, or have one more. Elements are
 * compared by the names of their parts. Takes memory from the budget of `chain`. */
bool replan_map(const struct forward_chain *chain, const struct chain_segment *segments,
                size_t count, const struct forward_chain *other, struct replan_mapped *mapped,
                struct error *err);

/* Finds the peak of allocated memory, and the item that reaches it; EVENT_NEVER if there is none.
 * Memory counts until its free is requested. With a chain in `around`, only items count at which
 * its plan changes nothing. */
bool replan_find_peak(const struct program *program, const struct forward_chain *around,
                      uint64_t *most, uint32_t *item, struct error *err);

/* Makes the steps of `edited`. Its other members point into `program`, which must live longer. If
 * segments are nested so deeply that there would be too many steps, none are made and *is_too_long
 * is set. `at_worst`: see struct replan_changes. */
bool replan_edit(const struct program *program, const struct forward_chain *chain,
                 const struct chain_segment *segments, size_t count, bool at_worst,
                 struct program *edited, bool *is_too_long, struct error *err);
void replan_edit_release(struct program *edited);

/* Makes the steps of `delayed`: those of `program`, but within the passes, which are in order,
 * about half of all frees come after the next request. `seed` decides which. To be released with
 * replan_edit_release(). */
bool replan_delay(const struct program *program, const struct item_range *passes, size_t count,
                  uint32_t seed, struct program *delayed, struct error *err);

#endif
