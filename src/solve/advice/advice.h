/* The answers of `memsnap suggest` as numbers, which render/suggest prints. Times are in the unit
 * of the problem's chain. */
#ifndef MEMSNAP_SOLVE_ADVICE_ADVICE_H
#define MEMSNAP_SOLVE_ADVICE_ADVICE_H

#include "solve/dp/front.h"
#include "solve/dp/peak.h"
#include "solve/dp/rotor.h"
#include "solve/dp/sum.h"
#include "solve/problem/problem.h"

/* The answer of FairScale's suggest_checkpoint_location(), and the peak of following it. */
struct fairscale_advice {
    size_t checkpoints, skipped;
    const struct layer_row *
        *modules; /* the first forward row of each module, without skipped modules */
    size_t module_count, module_capacity;
    struct sum_answer answer; /* cuts are indices of modules */

    struct placement parts;        /* every part of the model checkpointed: pieces of `leaves` */
    struct replay_outcome outcome; /* of `parts` */
    size_t inside; /* number of cuts of `answer` that lie inside a piece of `problem` */

    int64_t without_bytes; /* peak with no checkpoint */
    struct placement
        best; /* the best placement on the chain of `problem` with at most as many segments */
    struct replay_outcome best_outcome;
};

/* `leaves` is the same trace, cut at every module. */
bool fairscale_advise(const struct layer_trace *trace, const struct problem *problem,
                      const struct problem *leaves, size_t checkpoints, size_t skipped,
                      struct fairscale_advice *advice, struct budget *budget, struct error *err);
void fairscale_advice_release(struct fairscale_advice *advice, struct budget *budget);

enum plan_model { PLAN_PEAK, PLAN_ROTOR };

/* The plan with the least recomputation within a budget. */
struct budget_plan {
    int64_t budget_bytes;
    bool is_least; /* the budget was ADVICE_LEAST */
    enum plan_model model;
    bool feasible;
    int64_t least_budget_bytes; /* if not feasible: the least budget known to be sufficient */

    /* feasible only */
    int64_t peak_bytes;
    int64_t total_bytes; /* recorded layers: the peak with everything that is not an activation */
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

#define ADVICE_LEAST 0 /* as a budget: the least peak with one level of checkpoints */

/* Makes one plan for each budget. With `verify` each plan is replayed, and STATUS_IO reports one
 * that exceeds its claimed peak. `report` is that of rotor_solve(), or zeros if it was not called.
 */
bool advise_budgets(const struct problem *problem, const int64_t *budgets, size_t count,
                    const struct plan_options *options, struct budget_plan *plans,
                    struct rotor_report *report, struct budget *budget, struct error *err);
void budget_plan_release(struct budget_plan *plan, struct budget *budget);

/* A known placement to compare a front with. */
struct comparison_point {
    const char *name; /* "none", "sqrt", "fairscale" */
    struct replay_outcome outcome;
    size_t checkpoints; /* segments */
};

#define COMPARISON_POINTS 3

/* No checkpoints, about sqrt(n) even segments, and FairScale's placement with as many. */
bool advise_comparison(const struct problem *problem, struct comparison_point *points,
                       struct budget *budget, struct error *err);

/* A front, its knees, and placements to compare it with. */
struct front_advice {
    struct front front;
    struct comparison_point comparison[COMPARISON_POINTS];
    bool *knees;               /* one flag for each point, malloc'ed */
    struct rotor_front nested; /* nested checkpoints that need less memory than the front */
    bool nested_holds;         /* set by advise_nested() */
};

#define ADVICE_KNEES 3 /* maximum number reported */

/* Finds a front with at most `knees` knees; threads as in rotor_options. The problem must outlive
 * the front. */
bool advise_front(const struct problem *problem, size_t knees, unsigned threads,
                  struct front_advice *advice, struct budget *budget, struct error *err);
/* Sets advice->nested_holds if a search whose budget is the peak of the first nested point finds
 * that point or a better one. It may fail to, since its slots differ. Takes as long as planning one
 * budget. */
bool advise_nested(const struct problem *problem, unsigned threads, struct front_advice *advice,
                   struct budget *budget, struct error *err);
void front_advice_release(struct front_advice *advice, struct budget *budget);

/* The time of one forward and one backward pass, in the unit of the chain. */
int64_t problem_step_time(const struct problem *problem);
/* What repeated forward passes cost: a share of the time of a step or, if the problem is not timed,
 * of all activations. */
double problem_cost_share(const struct problem *problem, int64_t time);

#endif
