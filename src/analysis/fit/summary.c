#include "analysis/fit/summary.h"

static void compare(struct fit_pair *pair, const struct fit_run *low, const struct fit_run *high,
                    bool is_wrong)
{
    if (is_wrong && !pair->low)
        *pair = (struct fit_pair){low, high};
}

void fit_summarize(const struct fit_gpu *gpu, struct fit_summary *summary)
{
    const struct fit_run *last = NULL;
    *summary = (struct fit_summary){0};
    for (const struct fit_run *run = gpu->runs; run < gpu->runs + gpu->run_count; run++) {
        if (run->result != FIT_FITS) {
            summary->limit = summary->limit ? summary->limit : run;
            continue;
        }
        if (summary->limit)
            summary->fits_again = (struct fit_pair){summary->limit, run};
        else
            summary->largest = run;
        if (last && last->has_peaks && run->has_peaks) {
            compare(&summary->active_falls, last, run, run->active_bytes < last->active_bytes);
            compare(&summary->reserved_falls, last, run,
                    run->reserved_bytes < last->reserved_bytes);
        }
        last = run;
    }
}
