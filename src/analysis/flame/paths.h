/* The frames that a flame graph shows of each stack. */
#ifndef MEMSNAP_ANALYSIS_FLAME_PATHS_H
#define MEMSNAP_ANALYSIS_FLAME_PATHS_H

#include "analysis/flame/flame.h"
#include "base/idtable.h"

struct flame_paths {
    struct site_table *sites;
    bool all_frames;
    struct flame *flame; /* frames are added to it */
    struct idtable table;
    uint64_t seed;
    struct frame_view *views; /* by frame_id: how a frame is shown */
    size_t view_capacity;
    struct path_span *spans; /* by stack_id: its path in items */
    size_t span_capacity;
    uint32_t *items; /* indices in flame->frames */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

struct flame_path {
    const uint32_t *frames; /* outermost first; valid until the next call */
    size_t count;           /* at most FLAME_STACK_MOST + 1 */
};

bool flame_paths_init(struct flame_paths *paths, struct flame *flame, struct error *err);
void flame_paths_release(struct flame_paths *paths);

/* Finds the index of a frame in flame->frames; adds the frame if it is missing. */
bool flame_paths_frame(struct flame_paths *paths, enum flame_kind kind, uint32_t id,
                       uint32_t *frame, struct error *err);
/* The path of a stack: the Python frames that do more than pass a call on, for generated code the
 * lines that it was generated from, and the autograd nodes. All frames as recorded if that was
 * requested, or if the stack has only C++ frames without an operator. */
bool flame_paths_stack(struct flame_paths *paths, stack_id stack, struct flame_path *path,
                       struct error *err);

#endif
