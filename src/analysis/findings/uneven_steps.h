/* The step with the peak, if it does the same as other steps with larger tensors: longer samples,
 * larger images, or a larger batch. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_UNEVEN_STEPS_H
#define MEMSNAP_ANALYSIS_FINDINGS_UNEVEN_STEPS_H

#include "analysis/phase/steps.h"

struct uneven_steps {
    bool found;
    int64_t step;        /* number of the step with the peak */
    int64_t usual_step;  /* number of the step with the median peak of the others */
    int64_t usual_bytes; /* that peak */
    double times;        /* the bytes that the step allocates, compared with the usual step */
};

/* Compares complete steps. The first is left out, since an optimizer makes its states at its end.
 * The steps must allocate about as often: otherwise they differ in what they do. */
bool uneven_steps_find(struct uneven_steps *uneven, const struct timeline *timeline,
                       const struct steps *steps, struct error *err);

#endif
