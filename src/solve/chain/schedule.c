#include "solve/chain/schedule.h"

bool schedule_add(struct schedule *schedule, enum operation_kind kind, size_t layer,
                  struct budget *budget, struct error *err)
{
    if (!vec_grow((void **)&schedule->operations, &schedule->capacity, schedule->count + 1,
                  sizeof(*schedule->operations), budget, err))
        return false;
    schedule->operations[schedule->count++] = (struct operation){kind, (uint32_t)layer};
    return true;
}

bool schedule_run(struct schedule *schedule, size_t from, size_t to, bool store,
                  struct budget *budget, struct error *err)
{
    for (size_t i = from; i < to; i++) {
        enum operation_kind kind = store && i + 1 == to ? RUN_AND_STORE : RUN_FORWARD;
        if (!schedule_add(schedule, kind, i, budget, err))
            return false;
    }
    return true;
}

void schedule_release(struct schedule *schedule, struct budget *budget)
{
    vec_free(schedule->operations, schedule->capacity, sizeof(*schedule->operations), budget);
    *schedule = (struct schedule){0};
}
