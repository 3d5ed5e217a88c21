#include "unit/solve/problems.h"

void random_problem_fill(struct random_problem *random, struct chance *chance, int32_t layers,
                         int32_t slots, int32_t size, int32_t time)
{
    for (int32_t i = 0; i <= layers; i++)
        random->x[i] = chance_in(chance, 0, size);
    for (int32_t i = 0; i < layers; i++) {
        random->xbar[i] = random->x[i + 1] + chance_in(chance, 0, size);
        random->ftmp[i] = chance_in(chance, 0, 3) ? 0 : chance_in(chance, 0, size);
        random->btmp[i] = chance_in(chance, 0, size);
        random->forward[i] = chance_in(chance, 0, time);
    }
    random->problem = (struct cost_problem){.layers = layers,
                                            .slots = slots,
                                            .x = random->x,
                                            .xbar = random->xbar,
                                            .ftmp = random->ftmp,
                                            .btmp = random->btmp,
                                            .forward = random->forward};
}
