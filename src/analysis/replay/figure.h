/* One setting of the allocator in one figure, for advice in a report. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_FIGURE_H
#define MEMSNAP_ANALYSIS_REPLAY_FIGURE_H

#include "analysis/code/site.h"
#include "model/timeline.h"

/* Larger traces are not replayed for a report: this takes about 0.2 s. */
#define FIGURE_EVENTS 300000

struct replay_figure {
    bool is_known; /* false: the trace cannot be replayed, or the replay cannot be trusted */
    uint64_t recorded_bytes, replayed_bytes; /* peaks of reserved memory */
    bool ran_out;                            /* requests of the recording ran out of memory */
    bool fits;      /* ran_out: all of these requests fit with the setting */
    bool fits_some; /* ran_out: what fails with the setting are some of these, no others */
    int64_t first_failed, last_failed; /* fits_some: the items of the first and the last of them */
    uint64_t fitting_bytes;            /* fits: the peak of reserved memory with these requests */
    uint64_t needed_bytes; /* the least memory that the recorded settings need for them */
};

/* The peak of reserved memory that `memsnap replay` prints for a setting. */
struct replay_peak {
    bool is_known;
    uint64_t bytes;
    char why[256]; /* if it is not known, the reason: "cannot be replayed: ..." */
};

bool replay_peak_make(const struct timeline *timeline, struct site_table *sites, const char *conf,
                      struct replay_peak *peak, struct error *err);

/* Replays with `conf`, as in PYTORCH_CUDA_ALLOC_CONF. */
bool replay_figure_make(const struct timeline *timeline, struct site_table *sites, const char *conf,
                        struct replay_figure *figure, struct error *err);

#endif
