/* The annotations of a trace that tell its steps, as stretches of items. */
#ifndef MEMSNAP_ANALYSIS_PHASE_STEP_MARKS_H
#define MEMSNAP_ANALYSIS_PHASE_STEP_MARKS_H

#include "model/timeline.h"

/* Between a START and its END: items [begin, end). */
struct step_mark {
    int64_t number; /* behind the '#', where that is one; else 0 */
    uint32_t begin, end;
    bool has_start, has_end; /* false: the one before it, or the one after it, stands for it */
};

struct step_marks {
    struct step_mark *items; /* ascending; they do not overlap, and may be empty */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Annotations whose name is `prefix`, which ends in '#', and a number (`numbered`) or anything: of
 * the device, else of the lowest that has some. */
bool step_marks_find(struct step_marks *marks, const struct timeline *timeline, const char *prefix,
                     bool numbered, struct error *err);
void step_marks_release(struct step_marks *marks);

#endif
