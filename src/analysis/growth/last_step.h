/* The tensors that were made in the step before the peak and are live at the peak, and whether
 * variables of the program may still hold them.
 *
 * A variable of a training loop keeps its tensor, and the autograd graph behind that, until the
 * loop sets it again. So growth may not be all that holds the newest of what grows: a program that
 * stores nothing any more has these tensors at the peak, too. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_LAST_STEP_H
#define MEMSNAP_ANALYSIS_GROWTH_LAST_STEP_H

#include "analysis/category/category.h"
#include "analysis/growth/survivors.h"
#include "analysis/phase/phases.h"
#include "model/peak_without.h"

struct last_step {
    const struct timeline *timeline; /* not owned */
    const struct step_ends *ends;    /* not owned */
    int64_t peak;                    /* the item of the active peak */
    uint32_t before, since; /* first items of the step before the peak's, and of the peak's */
    uint32_t *again;        /* by stack: its first allocation from `since` to the peak */
    uint32_t *holders;      /* items at which results were made that variables hold at the peak;
                               ascending */
    size_t again_capacity, holder_count, holder_capacity;
    struct budget *budget; /* not owned */
};

/* A result counts as held if it replaced an earlier result of the same code, its code has made no
 * other up to the peak, it is live then, and it was made in the step before the peak's or between
 * that and the next forward pass. */
bool last_step_find(struct last_step *last, const struct timeline *timeline,
                    const struct categories *categories, const struct phases *phases,
                    const struct step_ends *ends, uint32_t before, uint32_t since,
                    struct error *err);
void last_step_release(struct last_step *last);

/* Sets *bytes to those of a group of survivors that are live at the peak, come from earlier steps,
 * and are held by no variable: allocations of the last step do not count if they have no stack, or
 * if a held result was made after them and before their code ran again. Adds what counts to
 * `absences`. */
bool last_step_left_over(const struct last_step *last, const struct survivors *survivors,
                         size_t group, struct absences *absences, int64_t *bytes,
                         struct error *err);
/* The same for those that are live at the peak and were made before an item. */
bool last_step_older(const struct last_step *last, const struct survivors *survivors, size_t group,
                     uint32_t item, struct absences *absences, int64_t *bytes, struct error *err);
/* The bytes of a group of survivors that are live at the peak, of whatever step. */
int64_t last_step_at_peak(const struct last_step *last, const struct survivors *survivors,
                          size_t group);

#endif
