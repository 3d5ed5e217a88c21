/* The reasons for blocks from before the trace that show by where they are freed. For
 * classify_preexisting.c. */
#ifndef MEMSNAP_ANALYSIS_CATEGORY_PREEXISTING_ENDS_H
#define MEMSNAP_ANALYSIS_CATEGORY_PREEXISTING_ENDS_H

#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

/* The phase in which a block is freed. PHASE_UNKNOWN if it is never freed, or before the phases are
 * known. */
static inline enum phase preexisting_end_phase(const struct classifier *classifier,
                                               const struct preexisting *preexisting)
{
    return classifier_phase(classifier,
                            phases_run_of(classifier->phases, preexisting_end(preexisting)));
}

/* True if a block is freed in an optimizer step that began in the trace. A step that began earlier
 * also frees its own temporaries. */
static inline bool preexisting_ends_in_step(const struct classifier *classifier,
                                            const struct preexisting *preexisting)
{
    return preexisting_end_phase(classifier, preexisting) == PHASE_OPTIMIZER &&
           phases_run_of(classifier->phases, preexisting_end(preexisting)) > 0;
}

/* The reason for a block without a stack that is freed in the trace, by what happens to blocks of
 * its size that are made in the trace. */
enum reason preexisting_end_reason(const struct classifier *classifier,
                                   const struct preexisting *preexisting,
                                   const struct size_tally *tally);

#endif
