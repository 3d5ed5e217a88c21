/* Call stacks as a tree with weights, outermost frame first: what flame graphs are drawn from.
 *
 * A stack is shown as the way from the program's outermost code to the allocation: Python frames
 * but those that only pass a call on, the autograd nodes between them, and the operator. What has
 * no stack of its own gets a word in its place, so the weights always sum to the total. What
 * autograd's threads allocate hangs under the forward call that it belongs to where the file says
 * which (forward_frames), with the same rule as call sites (live_source.h). */
#ifndef MEMSNAP_ANALYSIS_FLAME_FLAME_H
#define MEMSNAP_ANALYSIS_FLAME_FLAME_H

#include "analysis/code/labels.h"
#include "analysis/code/site.h"
#include "model/timeline.h"

enum flame_weight {
    FLAME_LIVE,       /* bytes live (active curve) at a moment */
    FLAME_BYTES_TIME, /* bytes times how long they were live, within the trace */
    FLAME_ALLOCATED,  /* bytes of every allocation in the trace */
    FLAME_COUNT,      /* number of allocations in the trace */
};

enum flame_by { FLAME_BY_STACK, FLAME_BY_CATEGORY, FLAME_BY_PHASE }; /* what the root frames are */

struct flame_options {
    enum flame_weight weight;
    enum flame_by by;
    bool all_frames;      /* every frame as recorded */
    bool with_categories; /* also flame.category; not with FLAME_BY_PHASE */
    bool at_given;        /* FLAME_LIVE: false: at the active peak */
    bool at_end;
    struct point at; /* when at_given and not at_end */
};

enum flame_word {
    FLAME_NO_STACK,
    FLAME_BEFORE,
    FLAME_ITS_BACKWARD, /* between a forward call and what its backward allocated */
    FLAME_BACKWARD,     /* autograd's threads, and nothing tells whose forward it was */
    FLAME_NO_PYTHON,
    FLAME_NATIVE_ONLY,
    FLAME_UNEXPLAINED,
    FLAME_CUT,          /* the middle of a stack beyond FLAME_STACK_MOST frames */
    FLAME_PHASE_BEFORE, /* as a phase: allocated before the trace */
};

enum flame_kind {
    FLAME_USER,     /* id: frame_id, Python under study */
    FLAME_LIBRARY,  /* id: frame_id, other Python */
    FLAME_NATIVE,   /* id: frame_id, C++ */
    FLAME_NAME,     /* id: string_id of an operator or autograd node */
    FLAME_WORD,     /* id: enum flame_word */
    FLAME_CATEGORY, /* id: enum category */
    FLAME_PHASE,    /* id: enum phase */
};

struct flame_frame {
    enum flame_kind kind;
    uint32_t id;
};

struct flame_node {
    uint32_t parent;
    uint32_t frame;       /* index into flame.frames; nothing for the root */
    uint32_t first_child; /* in flame.children */
    uint32_t child_count; /* heaviest first */
    uint64_t self;        /* weight of the stacks that end here */
    uint64_t total;       /* with all below */
};

#define FLAME_STACK_MOST 500                        /* frames shown of one stack */
#define FLAME_DEPTH      (2 * FLAME_STACK_MOST + 8) /* of the tree: two stacks and words */

struct flame {
    struct flame_options options;
    const struct timeline *timeline; /* not owned, as the next */
    struct site_table *sites;
    struct flame_node *nodes; /* [0] is the root; a parent stands before its children */
    size_t node_count, node_capacity;
    uint32_t *children; /* node indices */
    size_t children_capacity;
    uint8_t *category; /* by node: the enum category that holds most of it; NULL unless asked for */
    size_t category_capacity;
    struct flame_frame *frames; /* each once */
    size_t frame_count, frame_capacity;
    uint64_t total;            /* of all weights, at most INT64_MAX */
    uint64_t unit_us;          /* FLAME_BYTES_TIME: weights are bytes times so many microseconds */
    int64_t unexplained_bytes; /* FLAME_LIVE: the curve less what is live; in the tree where it is
                                  above 0 */
    struct label_files files;
    struct budget *budget; /* not owned */
};

/* NULL on failure. STATUS_USAGE where the trace has no such moment, or no times for
 * FLAME_BYTES_TIME. */
struct flame *flame_build(const struct timeline *timeline, struct site_table *sites,
                          const struct flame_options *options, struct error *err);
void flame_destroy(struct flame *flame); /* NULL is fine */

/* Adds what to call a frame: "model.py:39 forward", "torch/nn/functional.py:9 relu", "aten::mul",
 * "(no stack recorded)". Raw bytes from the input, of bounded length: escape before showing. */
void flame_label(const struct flame *flame, uint32_t frame, struct buffer *label);
/* The file and line that a frame names; false where it names none. */
bool flame_source(const struct flame *flame, uint32_t frame, struct text *file, uint32_t *line);

/* A walk over all nodes but the root, each parent before its children, the heaviest first. */
struct flame_walk {
    const struct flame *flame;
    size_t depth;               /* of the node just found, from 1 */
    uint32_t path[FLAME_DEPTH]; /* path[0 .. depth): the nodes from the outermost to it */
    uint32_t next[FLAME_DEPTH]; /* internal: place in flame.children after each of them */
};

void flame_walk_begin(struct flame_walk *walk, const struct flame *flame);
bool flame_walk_next(struct flame_walk *walk); /* false: that was the last */

#endif
