/* What `memsnap suggest` answers, in numbers; printing them is render's. */
#ifndef MEMSNAP_SOLVE_ADVICE_ADVICE_H
#define MEMSNAP_SOLVE_ADVICE_ADVICE_H

#include "solve/dp/front.h"
#include "solve/dp/peak.h"
#include "solve/dp/rotor.h"
#include "solve/dp/sum.h"
#include "solve/problem/problem.h"

/* FairScale's suggest_checkpoint_location(), and what comes of following it. */
struct fairscale_advice {
    size_t checkpoints, skipped;
    const struct layer_row **modules; /* the first forward row of each module, less the skipped */
    size_t module_count, module_capacity;
    struct sum_answer answer; /* cuts are indices of modules */

    struct replay_outcome outcome; /* every part of the model wrapped, by replay */
    size_t inside;                 /* cuts that are at no boundary of `problem` */

    int64_t without_bytes; /* peak with no checkpoint */
    struct placement best; /* of the chain of `problem`, with no more segments */
    struct replay_outcome best_outcome;
};

/* `leaves` is the same trace, cut at every module. */
bool fairscale_advise(const struct layer_trace *trace, const struct problem *problem,
                      const struct problem *leaves, size_t checkpoints, size_t skipped,
                      struct fairscale_advice *advice, struct budget *budget, struct error *err);
void fairscale_advice_release(struct fairscale_advice *advice, struct budget *budget);

enum plan_model { PLAN_PEAK, PLAN_ROTOR };

/* The least recomputation within a budget. */
struct budget_plan {
    int64_t budget_bytes;
    enum plan_model model;
    bool feasible;
    int64_t least_budget_bytes; /* not feasible: the least budget that is, as far as is known */

    /* feasible only */
    int64_t peak_bytes;
    int64_t extra_time;
    struct placement segments;
    struct schedule schedule;
    bool verified;

    /* PLAN_ROTOR only */
    int64_t slot_bytes;
    bool exact; /* no size was rounded to slots */
    const struct backend *backend;
};

struct plan_options {
    bool any_model; /* PLAN_PEAK where that fits, else PLAN_ROTOR */
    enum plan_model model;
    struct rotor_options rotor;
    bool verify;
};

/* A plan a budget. With `verify` each is replayed, and one whose peak is not what was claimed fails
 * with STATUS_IO. `report` is that of rotor_solve(); zeros where nothing was left for it to do. */
bool advise_budgets(const struct problem *problem, const int64_t *budgets, size_t count,
                    const struct plan_options *options, struct budget_plan *plans,
                    struct rotor_report *report, struct budget *budget, struct error *err);
void budget_plan_release(struct budget_plan *plan, struct budget *budget);

/* Placements that others suggest, to compare a front with. */
struct comparison_point {
    const char *name; /* "none", "sqrt", "fairscale" */
    struct replay_outcome outcome;
    size_t checkpoints; /* segments */
};

#define COMPARISON_POINTS 3

/* No checkpoints, sqrt(n) even segments, and FairScale's placement with as many, on this chain. */
bool advise_comparison(const struct problem *problem, struct comparison_point *points,
                       struct budget *budget, struct error *err);

/* A front, what to compare it with, and its corners. */
struct front_advice {
    struct front front;
    struct comparison_point comparison[COMPARISON_POINTS];
    bool *knees;               /* one a point, malloc'ed */
    struct rotor_front nested; /* checkpoints within checkpoints, below the front */
    bool nested_holds;         /* advise_nested() found so */
};

#define ADVICE_KNEES 3 /* as many as are worth telling */

/* With at most so many knees, and threads as in rotor_options. The problem stays. */
bool advise_front(const struct problem *problem, size_t knees, unsigned threads,
                  struct front_advice *advice, struct budget *budget, struct error *err);
/* Whether a budget of just its bytes gives the first nested point, or better. That is a search of
 * its own, in other slots, so it need not. As long as one budget takes. */
bool advise_nested(const struct problem *problem, unsigned threads, struct front_advice *advice,
                   struct budget *budget, struct error *err);
void front_advice_release(struct front_advice *advice, struct budget *budget);

/* Forward and backward, each once. */
int64_t problem_step_time(const struct problem *problem);

#endif
