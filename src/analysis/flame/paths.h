/* What a flame graph shows of a stack, and the frames of all of them, each once. */
#ifndef MEMSNAP_ANALYSIS_FLAME_PATHS_H
#define MEMSNAP_ANALYSIS_FLAME_PATHS_H

#include "analysis/flame/flame.h"
#include "base/idtable.h"

struct flame_paths {
    struct site_table *sites;
    bool all_frames;
    struct flame *flame; /* its frames are added to */
    struct idtable table;
    uint64_t seed;
    struct frame_view *views; /* by frame_id: what is shown of a frame */
    size_t view_capacity;
    struct path_span *spans; /* by stack_id: where its path is in items */
    size_t span_capacity;
    uint32_t *items; /* indices of frames */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

struct flame_path {
    const uint32_t *frames; /* outermost first; valid until the next path is asked for */
    size_t count;           /* at most FLAME_STACK_MOST + 1 */
};

bool flame_paths_init(struct flame_paths *paths, struct flame *flame, struct error *err);
void flame_paths_release(struct flame_paths *paths);

/* The index of a frame among those of the flame, to which it is added if need be. */
bool flame_paths_frame(struct flame_paths *paths, enum flame_kind kind, uint32_t id,
                       uint32_t *frame, struct error *err);
/* The Python frames of a stack that do more than pass a call on, and its autograd nodes; or all its
 * frames, as asked for, and where there is nothing but C++ without an operator. */
bool flame_paths_stack(struct flame_paths *paths, stack_id stack, struct flame_path *path,
                       struct error *err);

#endif
