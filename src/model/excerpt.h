/* A part of a snapshot in the form in which PyTorch would have dumped it: the events of a range,
 * and the segments at its end.
 *
 * An allocation made before the range and freed in it is known by its free only, as when a ring
 * buffer of events lost the oldest. The snapshot itself must be whole: the segments at an earlier
 * moment than the dump are derived from the events after that moment (layout.h). */
#ifndef MEMSNAP_MODEL_EXCERPT_H
#define MEMSNAP_MODEL_EXCERPT_H

#include "model/layout.h"

struct excerpt {
    const struct timeline *timeline;
    size_t first, end; /* items: [first, end) */
};

/* The items of the device in the range. */
struct excerpt excerpt_choose(const struct timeline *timeline, const struct window *window);

/* Finds the annotate events before the range whose allocations are live when it begins: items of
 * the trace, ascending. A snapshot of the range has them before its events, or the annotations are
 * lost. The caller frees `*items` with free(). */
bool excerpt_notes(const struct excerpt *excerpt, uint32_t **items, size_t *count,
                   struct error *err);

struct excerpt_visitor {
    void *self;
    bool (*segment)(void *self, const struct segment_row *row, struct error *err);
};

/* Contradictions that excerpt_segments() found. */
struct excerpt_doubts {
    uint64_t stray_blocks; /* live, but in no segment: put into an extra last segment of size 0 */
    /* Live, but allocated again at the same address. Left out, since a snapshot has one block for
     * each address: the latest. */
    uint64_t lost_blocks, lost_bytes;
    int64_t reserved_gap; /* bytes in segments, minus the curve's value */
};

/* Visits the segments after item end - 1, with their blocks. If no item follows, they are those of
 * the dump, unchanged. `small` and `large` are the names of the two segment types. */
bool excerpt_segments(const struct excerpt *excerpt, string_id small, string_id large,
                      const struct excerpt_visitor *visitor, struct excerpt_doubts *doubts,
                      struct error *err);

#endif
