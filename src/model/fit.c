#include "model/fit.h"

#include <stdlib.h>
#include <string.h>

const char *const fit_result_names[FIT_RESULTS] = {
    [FIT_FITS] = "fits",
    [FIT_OUT_OF_MEMORY] = "out-of-memory",
    [FIT_FAILED] = "failed",
};

struct fit *fit_create_within(struct budget *budget, struct error *err)
{
    struct fit *fit = calloc(1, sizeof(*fit));
    if (!fit) {
        error_out_of_memory(err);
        return NULL;
    }
    fit->budget = budget;
    arena_init(&fit->texts, budget);
    return fit;
}

struct fit *fit_create(size_t max_memory, struct error *err)
{
    struct budget *budget = malloc(sizeof(*budget));
    if (!budget) {
        error_out_of_memory(err);
        return NULL;
    }
    *budget = (struct budget){.limit = max_memory};
    struct fit *fit = fit_create_within(budget, err);
    if (!fit)
        free(budget);
    return fit;
}

void fit_destroy(struct fit *fit)
{
    if (!fit)
        return;
    for (size_t i = 0; i < fit->gpu_count; i++)
        vec_free(fit->gpus[i].runs, fit->gpus[i].run_capacity, sizeof(*fit->gpus[i].runs),
                 fit->budget);
    vec_free(fit->gpus, fit->gpu_capacity, sizeof(*fit->gpus), fit->budget);
    vec_free(fit->command, fit->command_capacity, sizeof(*fit->command), fit->budget);
    arena_release(&fit->texts);
    free(fit->budget);
    free(fit);
}

const char *fit_copy_text(struct fit *fit, const char *text, size_t size, struct error *err)
{
    char *copy = arena_alloc(&fit->texts, size + 1, err);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

bool fit_add_word(struct fit *fit, const char *word, struct error *err)
{
    const char *copy = fit_copy_text(fit, word, strlen(word), err);
    return copy && vec_push(fit->command, fit->command_count, fit->command_capacity, fit->budget,
                            err, copy);
}

bool fit_add_gpu(struct fit *fit, const struct fit_gpu *gpu, struct error *err)
{
    return vec_push(fit->gpus, fit->gpu_count, fit->gpu_capacity, fit->budget, err, *gpu);
}

bool fit_add_run(struct fit *fit, struct fit_gpu *gpu, const struct fit_run *run, struct error *err)
{
    size_t at = 0;
    while (at < gpu->run_count && gpu->runs[at].value < run->value)
        at++;
    if (at == gpu->run_count || gpu->runs[at].value != run->value) {
        if (!vec_reserve(gpu->runs, gpu->run_capacity, gpu->run_count + 1, fit->budget, err))
            return false;
        memmove(&gpu->runs[at + 1], &gpu->runs[at], (gpu->run_count - at) * sizeof(*run));
        gpu->run_count++;
    }
    gpu->runs[at] = *run;
    return true;
}
