/* What the rules for allocations (born.h, carried.h) look at together. */
#ifndef MEMSNAP_ANALYSIS_JUDGE_H
#define MEMSNAP_ANALYSIS_JUDGE_H

#include "analysis/category.h"
#include "analysis/phases.h"
#include "analysis/size_tally.h"

/* CUBLAS_WORKSPACE_CONFIG's default, ":4096:2:16:8", which cuBLAS keeps for good. */
#define CUBLAS_WORKSPACE (4096u * 1024 * 2 + 16u * 1024 * 8)

struct judge {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct phases *phases;
    struct size_tallies tallies;
    uint32_t first_step_run;     /* the first run that is forward, backward or optimizer */
    uint32_t first_backward_run; /* NO_RUN: none */
    bool has_forward;
    bool is_guess;            /* only guessed phases */
    bool is_cut;              /* the trace may end in the middle of a step */
    bool has_file_categories; /* some event carries a category of its own */
    bool gradients_stay;      /* no backward pass leaves a block: gradients are added to */
    uint32_t copies;          /* size_tallies_copies(), once all is counted */
};

static inline enum phase judge_phase(const struct judge *judge, uint32_t run)
{
    return run < judge->phases->count ? (enum phase)judge->phases->runs[run].phase : PHASE_UNKNOWN;
}

/* A reason that rests on the phase of a run, as a byte of struct categories: with less confidence
 * where lifetimes alone tell that phase. */
static inline uint8_t judge_doubt(const struct judge *judge, enum reason reason, uint32_t run)
{
    static const uint8_t doubts[] = {
        [PHASE_BY_LIFETIMES] = REASON_DOUBT, [PHASE_GUESSED] = REASON_GUESS};
    return (uint8_t)(reason |
                     (run < judge->phases->count ? doubts[judge->phases->runs[run].evidence] : 0));
}

/* The role of a block of unknown role that is there before the first step and never freed: the
 * next of its size. Once all is counted. */
bool judge_persistent(struct judge *judge, uint64_t size, enum reason *reason, struct error *err);

#endif
