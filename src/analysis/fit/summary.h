/* The conclusion from the runs on one GPU. */
#ifndef MEMSNAP_ANALYSIS_FIT_SUMMARY_H
#define MEMSNAP_ANALYSIS_FIT_SUMMARY_H

#include "model/fit.h"

/* Two runs that show that memory is not monotone in the value; NULL: none. */
struct fit_pair {
    const struct fit_run *low, *high; /* by value */
};

struct fit_summary {
    const struct fit_run *largest; /* that fits, as all below it do; NULL: none */
    const struct fit_run *limit;   /* the smallest that does not fit; NULL: none */
    struct fit_pair fits_again;    /* the limit, and the largest above it that fits */
    struct fit_pair active_falls;  /* both fit, and the peak of `high` is lower */
    struct fit_pair reserved_falls;
};

/* The summary points into the GPU's runs. */
void fit_summarize(const struct fit_gpu *gpu, struct fit_summary *summary);

#endif
