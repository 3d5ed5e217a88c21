#include "analysis/replay/what_if.h"

struct runner {
    const struct program *program;
    const struct what_if *question;
    struct allocator *allocator;
    struct memory_block **slots;
    uint64_t reserved; /* at the last point */
};

static bool run_try(struct runner *runner, const struct program_step *step, struct error *err)
{
    struct memory_block *block;
    if (runner->question->no_tries)
        return true;
    return allocator_malloc(runner->allocator, step->place, step->size, &block, err) &&
           (!block || allocator_free_completed(runner->allocator, &block, err));
}

static bool run_step(struct runner *runner, const struct program_step *step, struct error *err)
{
    struct memory_block **slot = &runner->slots[step->slot];
    switch (step->kind) {
    case STEP_MALLOC:
        return allocator_malloc(runner->allocator, step->place, step->size, slot, err);
    case STEP_FREE_REQUESTED:
        return allocator_free_requested(runner->allocator, slot, err);
    case STEP_FREE_COMPLETED:
        return allocator_free_completed(runner->allocator, slot, err);
    case STEP_TRY:
        return run_try(runner, step, err);
    case STEP_EMPTY_CACHE:
        return runner->question->no_empty_cache || allocator_empty_cache(runner->allocator, err);
    case STEP_END_POOL:
        allocator_end_pool(runner->allocator, step->place);
        return true;
    default:
        return true;
    }
}

static int64_t item_of(const struct program_step *step)
{
    return step->item == UINT32_MAX ? -1 : (int64_t)step->item;
}

static bool add_point(struct runner *runner, const struct program_step *step, struct error *err)
{
    struct reserved_points *points = runner->question->points;
    uint64_t reserved = allocator_totals(runner->allocator)->reserved;
    int64_t item = item_of(step);
    if (!points || reserved == runner->reserved)
        return true;
    runner->reserved = reserved;
    if (points->count > 0 && points->items[points->count - 1].item == item) {
        points->items[points->count - 1].reserved = reserved;
        return true;
    }
    return vec_push(points->items, points->count, points->capacity, runner->question->budget, err,
                    (struct reserved_point){item, reserved});
}

static void add_failure(struct what_if_result *result, const struct program_step *step, bool first)
{
    result->last_failed = item_of(step);
    result->first_failed = first ? result->last_failed : result->first_failed;
    result->fails_more |= step->kind != STEP_TRY;
}

static bool run(struct runner *runner, struct what_if_result *result, struct error *err)
{
    const struct program *program = runner->program;
    const struct allocator_totals *totals = allocator_totals(runner->allocator);
    struct what_if_result made = {.steps = 0};
    for (; made.steps < program->step_count; made.steps++) {
        const struct program_step *step = &program->steps[made.steps];
        uint64_t before = totals->ooms;
        if (!run_step(runner, step, err) || !add_point(runner, step, err))
            return false;
        if (totals->ooms > before)
            add_failure(&made, step, before == 0);
        if (totals->ooms > 0 && runner->question->stops)
            break;
    }
    made.totals = *totals;
    *result = made;
    return true;
}

bool what_if_run(const struct program *program, const struct what_if *question,
                 struct what_if_result *result, struct error *err)
{
    struct runner runner = {.program = program, .question = question};
    const struct allocator_places places = program_places(program);
    size_t slots = 0;
    if (!vec_reserve(runner.slots, slots, program->slot_count, question->budget, err))
        return false;
    for (size_t i = 0; i < program->slot_count; i++)
        runner.slots[i] = NULL;
    runner.allocator = allocator_create(&question->settings, &question->device, question->tie_break,
                                        &places, NULL, question->budget, err);
    bool ok = runner.allocator && run(&runner, result, err);
    allocator_destroy(runner.allocator);
    vec_free((void *)runner.slots, slots, sizeof(runner.slots[0]), question->budget);
    return ok;
}

/* The divisor of the interval that gives the next step up. A run that fails ends early, so if
 * failures come early, more failing runs and fewer complete ones are cheaper. */
static uint64_t divisor(size_t failed_steps, size_t all_steps)
{
    if (failed_steps > all_steps / 4)
        return 2;
    return failed_steps > all_steps / 16 ? 4 : 10;
}

bool what_if_least_capacity(const struct program *program, const struct what_if *question,
                            const struct what_if_result *free_run, uint64_t *capacity,
                            struct error *err)
{
    uint64_t low = free_run->totals.peak_allocated / CAPACITY_STEP; /* does not fit */
    uint64_t high = (free_run->totals.peak_reserved + CAPACITY_STEP - 1) / CAPACITY_STEP;
    size_t failed_steps = program->step_count;
    struct what_if attempt = *question;
    attempt.stops = true;
    attempt.points = NULL;
    low -= low > 0;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / divisor(failed_steps, program->step_count);
        struct what_if_result result;
        middle += middle == low;
        attempt.device.capacity = middle * CAPACITY_STEP;
        if (!what_if_run(program, &attempt, &result, err))
            return false;
        if (result.totals.ooms == 0) {
            high = middle;
        } else {
            low = middle;
            failed_steps = result.steps;
        }
    }
    *capacity = high * CAPACITY_STEP;
    return true;
}
