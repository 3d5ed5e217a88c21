/* An excerpt of a snapshot as a snapshot of its own, for PyTorch's viewers and for memsnap. */
#ifndef MEMSNAP_RENDER_EXPORT_SNAPSHOT_PICKLE_H
#define MEMSNAP_RENDER_EXPORT_SNAPSHOT_PICKLE_H

#include <stdio.h>

#include "model/excerpt.h"

/* The struct excerpt_doubts of all devices together. */
struct snapshot_doubts {
    uint64_t stray_blocks, lost_blocks, lost_bytes;
    int64_t reserved_gap; /* the largest in magnitude of any device */
};

/* Writes a pickle of protocol 4 of `count` excerpts, ascending by device; the traces of other
 * devices are empty. Strings are added to the snapshot's symbols. Keys that memsnap does not know
 * are not kept. */
bool snapshot_pickle(FILE *out, struct snapshot *snapshot, const struct excerpt *excerpts,
                     size_t count, struct snapshot_doubts *doubts, struct error *err);

#endif
