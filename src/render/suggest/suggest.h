/* The answers of `memsnap suggest` as text, JSON and CSV. */
#ifndef MEMSNAP_RENDER_SUGGEST_SUGGEST_H
#define MEMSNAP_RENDER_SUGGEST_SUGGEST_H

#include "analysis/chain/replan.h"
#include "render/core/json.h"
#include "render/core/page.h"
#include "solve/advice/advice.h"

/* The input that a suggestion is computed from. */
struct suggest_subject {
    const struct layer_trace *trace;
    const struct problem *problem;
    const struct forward_chain
        *forward;    /* where a snapshot's layers come from; NULL: a layer trace */
    uint32_t device; /* with `forward` */
    const struct replan
        *replans; /* with `forward`: one for each plan of an answer about budgets, or
                     for FairScale's placement and the best one; NULL for a front */
    bool no_code; /* texts leave the Python out */
};

/* False: out of memory. */
bool suggest_fairscale_text(const struct page *page, const struct suggest_subject *subject,
                            const struct fairscale_advice *advice);
bool suggest_plans_text(const struct page *page, const struct suggest_subject *subject,
                        const struct budget_plan *plans, size_t count);
bool suggest_front_text(const struct page *page, const struct suggest_subject *subject,
                        const struct front_advice *front);

bool suggest_fairscale_json(FILE *out, const struct suggest_subject *subject,
                            const struct fairscale_advice *advice);
bool suggest_plans_json(FILE *out, const struct suggest_subject *subject,
                        const struct budget_plan *plans, size_t count);
bool suggest_front_json(FILE *out, const struct suggest_subject *subject,
                        const struct front_advice *front);
void suggest_front_csv(FILE *out, const struct suggest_subject *subject,
                       const struct front_advice *front);

/* The Python that applies a placement to `model`. */
bool suggest_python(const struct page *page, const struct problem *problem,
                    const struct placement *placement);

#endif
