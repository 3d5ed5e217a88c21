#define _GNU_SOURCE /* for sched_getaffinity */
#include "solve/cpu/cpu.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "solve/cpu/wave.h"

#define MOST_THREADS   256
#define STEPS_A_THREAD 3e6 /* with fewer steps, starting a thread takes longer than its work */
#define PLAIN_STEPS    8e9 /* additions and minima per second, including those that are ruled out */
#define VECTOR_STEPS   1.6e10

static unsigned machine_threads(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < MOST_THREADS ? (unsigned)count : MOST_THREADS;
}

static double steps_of(const struct cost_problem *problem)
{
    double layers = problem->layers;
    return layers * layers * layers / 6 * (problem->slots + 1);
}

/* The number of threads worth using. */
static unsigned threads_for(const struct cost_problem *problem, unsigned threads)
{
    unsigned most = threads > 0 ? threads : machine_threads();
    double useful = steps_of(problem) / STEPS_A_THREAD;
    double strips = (problem->layers + COST_STRIP - 1) / COST_STRIP;
    useful = useful < strips ? useful : strips;
    most = most < MOST_THREADS ? most : MOST_THREADS;
    return useful < 1 ? 1 : useful < most ? (unsigned)useful : most;
}

struct worker {
    struct wave *wave;
    struct wave_buffers buffers;
    pthread_t thread;
};

static void *work(void *self)
{
    struct worker *worker = self;
    wave_run(worker->wave, &worker->buffers);
    return NULL;
}

/* The calling thread works, too. Starting fewer threads than requested is not an error. */
static void run_workers(struct worker *workers, unsigned count)
{
    unsigned started = 1;
    while (started < count &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    while (started > 1)
        pthread_join(workers[--started].thread, NULL);
}

static bool solve_wave(struct wave *wave, unsigned threads, struct cpu_work *done,
                       struct error *err)
{
    struct worker *workers = calloc(threads, sizeof(*workers));
    if (!workers)
        return error_out_of_memory(err);
    for (unsigned k = 0; k < threads; k++) {
        workers[k].wave = wave;
        wave_buffers_begin(&workers[k].buffers, wave, k);
    }
    run_workers(workers, threads);
    for (unsigned k = 0; k < threads; k++) {
        done->splits += workers[k].buffers.work.splits;
        done->bounds += workers[k].buffers.work.bounds;
    }
    free(workers);
    return true;
}

/* Bytes of a table and of the working memory of `threads` threads; SIZE_MAX: exceeds size_t. */
static size_t bytes_with(const struct cost_problem *problem, unsigned threads)
{
    struct wave_shape shape = wave_shape(problem, threads);
    size_t bytes = cost_table_bytes(problem, COST_PANELS);
    bool fits = bytes > 0 && !__builtin_add_overflow(bytes, wave_bytes(&shape, threads), &bytes);
    return fits ? bytes : SIZE_MAX;
}

size_t backend_cpu_bytes(size_t layers, size_t slots)
{
    const struct cost_problem problem = {.layers = (int32_t)layers, .slots = (int32_t)slots};
    return bytes_with(&problem, 1);
}

/* The number of threads whose buffers fit the budget. Each thread has its own, which are large if
 * there are many slots. The memory of `table` may be reused. */
static unsigned threads_within(const struct cost_problem *problem, unsigned threads,
                               const struct cost_table *table, const struct budget *budget)
{
    size_t available = budget->limit - budget->used + table->room;
    while (threads > 1 && bytes_with(problem, threads) > available)
        threads--;
    return threads;
}

static bool solve_one(const struct cpu_variant *variant, const struct cost_problem *problem,
                      struct cost_table *table, unsigned threads, struct cpu_work *done,
                      struct budget *budget, struct error *err)
{
    size_t strips = ((size_t)problem->layers + COST_STRIP - 1) / COST_STRIP;
    threads = threads > 0 ? threads : threads_for(problem, 0);
    threads = threads < strips ? threads : (unsigned)strips;
    threads = threads_within(problem, threads, table, budget);
    struct wave_shape shape = wave_shape(problem, threads);
    struct wave wave;
    if (!cost_table_create(table, problem, COST_PANELS, wave_bytes(&shape, threads), budget, err))
        return false;
    wave_begin(&wave, &shape, problem, table, variant);
    bool ok = solve_wave(&wave, threads, done, err);
    if (!ok)
        cost_table_release(table, budget);
    return ok;
}

bool cpu_solve_with(const struct cpu_variant *variant, const struct cost_problem *problems,
                    struct cost_table *tables, size_t count, unsigned threads,
                    struct cpu_work *done, struct budget *budget, struct error *err)
{
    struct cpu_work sum = {0};
    for (size_t k = 0; k < count; k++)
        if (!solve_one(variant, &problems[k], &tables[k], threads, &sum, budget, err)) {
            while (k-- > 0)
                cost_table_release(&tables[k], budget);
            return false;
        }
    if (done) {
        done->splits += sum.splits;
        done->bounds += sum.bounds;
    }
    return true;
}

static bool available(struct backend_place *place)
{
    unsigned threads = machine_threads();
    *place = (struct backend_place){.usable = true, .is_cpu = true};
    snprintf(place->what, sizeof(place->what), "%s, %u thread%s", cpu_best_variant()->name, threads,
             threads == 1 ? "" : "s");
    return true;
}

static double seconds(const struct cost_problem *problems, size_t count, unsigned threads)
{
    bool plain = cpu_best_variant() == &cpu_variants[cpu_variant_count - 1];
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += steps_of(&problems[k]) / (plain ? PLAIN_STEPS : VECTOR_STEPS) /
               threads_for(&problems[k], threads);
    return sum;
}

static bool solve(const struct cost_problem *problems, struct cost_table *tables, size_t count,
                  const struct backend_options *options, struct error *err)
{
    return cpu_solve_with(cpu_best_variant(), problems, tables, count, options->threads, NULL,
                          options->budget, err);
}

const struct backend backend_cpu = {
    .name = "cpu", .available = available, .seconds = seconds, .solve = solve};
