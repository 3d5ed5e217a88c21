/* Call stacks as a weighted tree, outermost frame first, for flame graphs.
 *
 * A stack is shown as the path from the program's outermost code to the allocation: Python frames
 * (except those that only pass a call on), the autograd nodes between them, and the operator. An
 * allocation without a stack gets a word in its place, so the weights always sum to the total.
 * Allocations of autograd's threads are placed below the forward call that they belong to if the
 * file names it (forward_frames), by the same rule as for call sites (live/source.h). */
#ifndef MEMSNAP_ANALYSIS_FLAME_FLAME_H
#define MEMSNAP_ANALYSIS_FLAME_FLAME_H

#include "analysis/code/labels.h"
#include "analysis/code/site.h"
#include "analysis/live/when.h"
#include "model/timeline.h"

enum flame_weight {
    FLAME_LIVE,       /* bytes live (active curve) at a moment */
    FLAME_BYTES_TIME, /* bytes times microseconds that they were live within the trace */
    FLAME_ALLOCATED,  /* bytes of every allocation in the trace */
    FLAME_COUNT,      /* number of allocations in the trace */
};

/* The outermost level of the tree. */
enum flame_by { FLAME_BY_STACK, FLAME_BY_CATEGORY, FLAME_BY_PHASE, FLAME_BY_ANNOTATION };

struct flame_options {
    enum flame_weight weight;
    enum flame_by by;
    bool all_frames;      /* every frame as recorded */
    bool with_categories; /* also fill flame.category; only with FLAME_BY_STACK or
                              FLAME_BY_CATEGORY */
    struct when at;       /* for FLAME_LIVE */
};

enum flame_word {
    FLAME_NO_STACK,
    FLAME_BEFORE,
    FLAME_ITS_BACKWARD, /* between a forward call and what its backward allocated */
    FLAME_BACKWARD,     /* autograd's threads, with an unknown forward call */
    FLAME_NO_PYTHON,
    FLAME_NATIVE_ONLY,
    FLAME_UNEXPLAINED,
    FLAME_CUT,          /* replaces the middle of a stack of more than FLAME_STACK_MOST frames */
    FLAME_PHASE_BEFORE, /* as a phase: allocated before the trace */
    FLAME_NO_ANNOTATION,
};

enum flame_kind {
    FLAME_USER,     /* id: frame_id, Python code of the user */
    FLAME_LIBRARY,  /* id: frame_id, other Python */
    FLAME_NATIVE,   /* id: frame_id, C++ */
    FLAME_NAME,     /* id: string_id of an operator, autograd node or annotation */
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
    uint32_t frame;       /* index in flame.frames; meaningless for the root */
    uint32_t first_child; /* in flame.children */
    uint32_t child_count; /* heaviest first */
    uint64_t self;        /* weight of the stacks that end here */
    uint64_t total;       /* weight of the whole subtree */
};

#define FLAME_STACK_MOST 500                        /* the most frames shown of one stack */
#define FLAME_DEPTH      (2 * FLAME_STACK_MOST + 8) /* the deepest tree: two stacks and words */

struct flame {
    struct flame_options options;
    const struct timeline *timeline; /* not owned */
    struct site_table *sites;        /* not owned */
    struct flame_node *nodes;        /* [0] is the root; parents come before their children */
    size_t node_count, node_capacity;
    uint32_t *children; /* node indices */
    size_t children_capacity;
    uint8_t *category; /* by node: the enum category with the most weight; NULL unless requested */
    size_t category_capacity;
    struct flame_frame *frames; /* without duplicates */
    size_t frame_count, frame_capacity;
    uint64_t total;   /* sum of all weights; at most INT64_MAX */
    uint64_t unit_us; /* FLAME_BYTES_TIME: microseconds in the unit of time of the weights */
    int64_t unexplained_bytes; /* FLAME_LIVE: the active curve minus the live allocations; part of
                                  the tree if positive */
    struct label_files files;
    struct budget *budget; /* not owned */
};

/* NULL on failure. STATUS_USAGE if the trace has no such moment, or FLAME_BYTES_TIME is requested
 * and the events have no times. */
struct flame *flame_build(const struct timeline *timeline, struct site_table *sites,
                          const struct flame_options *options, struct error *err);
void flame_destroy(struct flame *flame); /* NULL is fine */

/* Adds the label of a frame: "model.py:39 forward", "torch/nn/functional.py:9 relu", "aten::mul",
 * "(no stack recorded)". Raw bytes from the input, of bounded length: escape before showing. */
void flame_label(const struct flame *flame, uint32_t frame, struct buffer *label);
/* The file and line of a Python frame; false for other frames. */
bool flame_source(const struct flame *flame, uint32_t frame, struct text *file, uint32_t *line);

/* Visits all nodes except the root: parents before their children, the heaviest first. */
struct flame_visitor {
    const struct flame *flame;
    size_t depth;               /* of the current node; at least 1 */
    uint32_t path[FLAME_DEPTH]; /* path[0 .. depth): from the outermost node to the current one */
    uint32_t next[FLAME_DEPTH]; /* internal: the next sibling at each depth */
};

void flame_visitor_begin(struct flame_visitor *visitor, const struct flame *flame);
bool flame_visitor_next(struct flame_visitor *visitor); /* false: there are no more nodes */

#endif
