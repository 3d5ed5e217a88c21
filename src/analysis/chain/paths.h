/* Paths of stacks: the frames of the code under study and of functions named forward, from the
 * caller of the outermost forward inwards. Allocations with one path are in the same run. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_PATHS_H
#define MEMSNAP_ANALYSIS_CHAIN_PATHS_H

#include "analysis/code/site.h"
#include "base/budget.h"

struct chain_paths {
    struct site_table *sites;
    struct symbols *symbols;
    struct budget *budget;
    size_t stack_count;
    uint64_t *calls;  /* by stack: see struct call_run */
    uint32_t *paths;  /* by stack: see paths.c */
    frame_id *frames; /* of the stack that chain_paths_filter() was last given */
    size_t frame_capacity;
    size_t skipped;     /* number of frames outside of the caller of the outermost forward */
    bool knows_skipped; /* some stack had a forward */
    bool callers;       /* the outermost forward has a caller */
};

/* The frames of a stack that count, in chain_paths.frames, the outermost first. */
struct path_frames {
    size_t count;
    size_t forward;    /* the index of the outermost forward, or SIZE_MAX */
    uint64_t calls;    /* bit k is set if frame k calls a module */
    bool checkpointed; /* a frame is of torch.utils.checkpoint */
};

/* Takes memory for the stacks that the symbols have now. */
bool chain_paths_create(struct chain_paths *paths, struct site_table *sites, struct budget *budget,
                        struct error *err);

void chain_paths_release(struct chain_paths *paths);

bool chain_paths_filter(struct chain_paths *paths, stack_id id, struct path_frames *frames,
                        struct error *err);

/* Finds the path of a stack; STACK_NONE if no frame counts. The number of frames that paths leave
 * out is taken from the first stack with a forward. Stacks of code that is called from elsewhere,
 * such as a loss function, may have other frames there. But a path always has its own outermost
 * forward, and the caller of that. */
bool chain_paths_find(struct chain_paths *paths, stack_id id, stack_id *path, bool *checkpointed,
                      struct error *err);

/* Forgets the paths, but not how many frames they leave out. */
void chain_paths_forget(struct chain_paths *paths);

#endif
