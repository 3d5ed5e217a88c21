/* A part of a snapshot as PyTorch would have dumped it: the events of a range, and the segments at
 * its end.
 *
 * What was allocated before the range and freed in it is known by its free only, as when a ring of
 * events lost the oldest. The snapshot itself must be whole: what the segments were at an earlier
 * moment than the dump follows from the events after it (layout.h). */
#ifndef MEMSNAP_MODEL_EXCERPT_H
#define MEMSNAP_MODEL_EXCERPT_H

#include "model/layout.h"

struct excerpt {
    const struct timeline *timeline;
    size_t first, end; /* items: [first, end) */
};

/* The items of the device in the range. */
struct excerpt excerpt_choose(const struct timeline *timeline, const struct window *window);

struct excerpt_visitor {
    void *self;
    bool (*segment)(void *self, const struct segment_row *row, struct error *err);
};

/* What does not add up. */
struct excerpt_doubts {
    uint64_t stray_blocks; /* live, but in no segment: put into a last one that has size 0 */
    /* Live, but their addresses were allocated again: a snapshot has one block an address, which is
     * that of the latest. Left out. */
    uint64_t lost_blocks, lost_bytes;
    int64_t reserved_gap; /* bytes in segments, minus the curve's value */
};

/* The segments after item end - 1, with their blocks: those of the dump, as they are, where no item
 * follows. `small` and `large` are the names of the two segment types. */
bool excerpt_segments(const struct excerpt *excerpt, string_id small, string_id large,
                      const struct excerpt_visitor *visitor, struct excerpt_doubts *doubts,
                      struct error *err);

#endif
