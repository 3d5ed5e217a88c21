/* The code of forward passes that serve idle gradients alone, by which later passes are known. */
#ifndef MEMSNAP_ANALYSIS_GRADIENTS_IDLE_CODES_H
#define MEMSNAP_ANALYSIS_GRADIENTS_IDLE_CODES_H

#include "analysis/code/site.h"
#include "base/budget.h"

struct idle_codes {
    struct site_table *sites; /* not owned */
    uint64_t *idle, *others;  /* ascending once sorted; what is in both is told as neither */
    size_t idle_count, idle_capacity, other_count, others_capacity;
    struct budget *budget; /* not owned */
};

/* A stack may have saved tensors for idle gradients, for others, or for both. */
bool idle_codes_add(struct idle_codes *codes, stack_id stack, bool is_idle, bool is_other,
                    struct error *err);
void idle_codes_sort(struct idle_codes *codes);
void idle_codes_release(struct idle_codes *codes);

/* Whether an allocation with a stack is saved by such a pass. */
enum idle_verdict { IDLE_UNSEEN, IDLE_SAVED, IDLE_NOT_SAVED };

/* Replaces IDLE_UNSEEN. */
bool idle_codes_judge(const struct idle_codes *codes, stack_id stack, uint8_t *verdict,
                      struct error *err);

#endif
