/* Annotations that mark parts of steps, as ranges of items. */
#ifndef MEMSNAP_ANALYSIS_PHASE_STEP_MARKS_H
#define MEMSNAP_ANALYSIS_PHASE_STEP_MARKS_H

#include "model/timeline.h"

/* The items [begin, end) between a START and its END. */
struct step_mark {
    int64_t number; /* the number after the '#', else 0 */
    uint32_t begin, end;
    string_id name;          /* of the annotation; 0 if the mark is a phase */
    bool has_start, has_end; /* if false, the mark before or after it marks that end */
    bool joins_next;         /* the iteration goes on with the next mark; see step_groups.h */
    bool has_closure;        /* an optimizer step that runs the passes itself */
};

struct step_marks {
    struct step_mark *items; /* ascending and disjoint; a mark may be empty */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Appends a mark. Where it overlaps the last one, it is cut. */
bool step_marks_add(struct step_marks *marks, struct step_mark mark, struct error *err);
/* Finds annotations whose name is `prefix`, which ends in '#', and then a number (`numbered`) or
 * anything: those of the device, else those of the lowest device that has any. */
bool step_marks_find(struct step_marks *marks, const struct timeline *timeline, const char *prefix,
                     bool numbered, struct error *err);
/* Sets `has_closure` of the optimizer steps in which gradients are zeroed: their closure computes
 * them anew. A step that began before the trace is like the next one. */
void step_marks_find_closures(struct step_marks *steps, const struct step_marks *zero_grads);
void step_marks_release(struct step_marks *marks);

#endif
