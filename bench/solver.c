/* Times solvers, for bench/solve. Prints one line for each run, separated by tabs.
 *
 *   bench/solver rotor L M ROUNDS [RIVAL_ROUNDS]
 *       L, M, what, threads, least and median seconds of CPU time, additions and minima done in
 *       splits and in bounds, those of all splits (millions), and the cost with all memory
 *   bench/solver sum K ROUNDS <SIZES        seconds, the measure, the cuts
 *
 * The rival of cost tables is a new implementation of the published layout, m outermost, in memory
 * on huge pages like ours; the two alternate. CPU time is used because the machine may be busy, so
 * results with two threads show their cost, not the time they save. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "chain.h"
#include "solve/backend/backend.h"
#include "solve/cpu/variant.h"
#include "solve/dp/sum.h"

#define MOST_ROUNDS   64
#define MOST_VARIANTS 4

/* opt[m][i][j], in double, with the sum of forward times, as in the published algorithm; the
 * decisions are stored beside it. */
struct rival {
    const struct cost_problem *p;
    size_t n;
    double *opt;
    int32_t *what;
    double *before;
};

static double *at(const struct rival *r, int32_t m, size_t i, size_t j)
{
    return &r->opt[((size_t)m * r->n + i) * r->n + j];
}

static void rival_cell(const struct rival *r, int32_t m, size_t i, size_t j)
{
    const struct cost_problem *p = r->p;
    double best = 1e300;
    int32_t what = -2, least = p->x[j + 1] + p->x[i + 1] + p->ftmp[i];
    for (size_t q = i + 1; q < j; q++) {
        int32_t passing = p->x[j + 1] + p->x[q] + p->x[q + 1] + p->ftmp[q];
        least = passing > least ? passing : least;
    }
    for (size_t s = i + 1; s <= j && m >= least; s++) {
        if (m < p->x[s])
            continue;
        double cost = r->before[s] - r->before[i] + *at(r, m - p->x[s], s, j) + *at(r, m, i, s - 1);
        if (cost < best) {
            best = cost;
            what = (int32_t)s;
        }
    }
    int32_t all = p->x[j + 1] + p->xbar[i] + p->ftmp[i];
    int32_t back = p->x[i + 1] + p->xbar[i] + p->btmp[i];
    if (m >= all && m >= back && *at(r, m - p->xbar[i], i + 1, j) < best) {
        best = *at(r, m - p->xbar[i], i + 1, j);
        what = -1;
    }
    *at(r, m, i, j) = best;
    r->what[((size_t)m * r->n + i) * r->n + j] = what;
}

static void rival_run(const struct rival *r)
{
    const struct cost_problem *p = r->p;
    for (int32_t m = 0; m <= p->slots; m++) {
        for (size_t i = 0; i < r->n; i++) {
            int32_t tmp = p->ftmp[i] > p->btmp[i] ? p->ftmp[i] : p->btmp[i];
            *at(r, m, i, i) = m >= p->x[i + 1] + p->xbar[i] + tmp ? 0 : 1e300;
        }
        for (size_t d = 1; d < r->n; d++)
            for (size_t i = 0; i + d < r->n; i++)
                rival_cell(r, m, i, i + d);
    }
}

/* An implementation that computes cost tables, and its results. */
struct runner {
    const struct cpu_variant *variant; /* NULL: the rival */
    unsigned threads;
    int rounds, done;
    double seconds[MOST_ROUNDS];
    double answer;
    struct cpu_work work;
};

/* Memory is kept from one round to the next, as memsnap keeps it from one budget to the next: the
 * time to get pages from the system is only in the first round of each runner. */
struct kept {
    struct rival rival;
    struct cost_table table;
    struct budget budget;
};

static void prepare_rival(const struct cost_problem *problem, struct rival *rival)
{
    size_t n = (size_t)problem->layers, cells = ((size_t)problem->slots + 1) * n * n;
    *rival = (struct rival){.p = problem,
                            .n = n,
                            .opt = pages_aligned(cells * sizeof(double)),
                            .what = pages_aligned(cells * sizeof(int32_t)),
                            .before = calloc(n + 1, sizeof(double))};
    if (!rival->opt || !rival->what || !rival->before)
        abort();
    for (size_t i = 0; i < n; i++)
        rival->before[i + 1] = rival->before[i] + problem->forward[i];
}

static void run_rival(const struct cost_problem *problem, struct runner *runner, struct kept *kept)
{
    struct rival *rival = &kept->rival;
    if (!rival->opt)
        prepare_rival(problem, rival);
    double start = bench_seconds();
    rival_run(rival);
    runner->seconds[runner->done++] = bench_seconds() - start;
    runner->answer = *at(rival, problem->slots, 0, rival->n - 1);
}

static void run_ours(const struct cost_problem *problem, struct runner *runner, struct kept *kept)
{
    struct error err;
    double start = bench_seconds();
    if (!cpu_solve_with(runner->variant, problem, &kept->table, 1, runner->threads, &runner->work,
                        &kept->budget, &err))
        abort();
    runner->seconds[runner->done++] = bench_seconds() - start;
    runner->answer = cost_at(&kept->table, 0, problem->layers - 1, problem->slots);
}

static void release(struct kept *kept)
{
    cost_table_release(&kept->table, &kept->budget);
    free(kept->rival.opt);
    free(kept->rival.what);
    free(kept->rival.before);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_runner(const struct cost_problem *problem, struct runner *runner)
{
    double n = problem->layers, full = n * (n * n - 1) / 6 * (problem->slots + 1);
    double splits = (double)runner->work.splits / runner->done;
    double bounds = (double)runner->work.bounds / runner->done;
    if (!runner->variant)
        splits = full;
    qsort(runner->seconds, (size_t)runner->done, sizeof(double), ascending);
    printf("%d\t%d\t%s\t%u\t%.6f\t%.6f\t%.1f\t%.1f\t%.1f\t%.0f\n", problem->layers, problem->slots,
           runner->variant ? runner->variant->name : "m outermost", runner->threads,
           runner->seconds[0], runner->seconds[runner->done / 2], splits / 1e6, bounds / 1e6,
           full / 1e6, runner->answer);
}

static bool same_answer(const struct runner *a, const struct runner *b)
{
    return a->answer == b->answer || (a->answer >= COST_INFINITE && b->answer >= COST_INFINITE);
}

static int run_rotor(int argc, char **argv)
{
    struct cost_problem problem;
    struct runner runners[1 + 2 * MOST_VARIANTS] = {0};
    struct kept kept = {.budget = {.limit = SIZE_MAX}};
    size_t count = 0;
    if (argc < 5)
        return 2;
    bench_chain(&problem, atoi(argv[2]), atoi(argv[3]));
    int rounds = atoi(argv[4]) < MOST_ROUNDS ? atoi(argv[4]) : MOST_ROUNDS;
    if (argc > 5)
        runners[count++] = (struct runner){.threads = 1, .rounds = atoi(argv[5])};
    for (size_t k = 0; k < cpu_variant_count && k < MOST_VARIANTS; k++)
        for (unsigned threads = 1; threads <= 2 && cpu_variants[k].supported(); threads++)
            runners[count++] =
                (struct runner){.variant = &cpu_variants[k], .threads = threads, .rounds = rounds};
    for (int round = 0; round < rounds; round++)
        for (size_t k = 0; k < count; k++)
            if (round < runners[k].rounds)
                (runners[k].variant ? run_ours : run_rival)(&problem, &runners[k], &kept);
    release(&kept);
    for (size_t k = 0; k < count; k++) {
        print_runner(&problem, &runners[k]);
        if (!same_answer(&runners[k], &runners[0])) {
            fprintf(stderr, "%.0f, not %.0f\n", runners[k].answer, runners[0].answer);
            return 1;
        }
    }
    free((void *)(uintptr_t)problem.x);
    return 0;
}

static int run_sum(int argc, char **argv)
{
    struct budget budget = {.limit = SIZE_MAX};
    struct sum_answer answer = {0};
    struct error err;
    int64_t *sizes = NULL, size;
    size_t count = 0, capacity = 0;
    double best = 1e300;
    if (argc < 4)
        return 2;
    while (scanf("%" SCNd64, &size) == 1) {
        if (!vec_grow((void **)&sizes, &capacity, count + 1, sizeof(*sizes), &budget, &err))
            abort();
        sizes[count++] = size;
    }
    for (int round = atoi(argv[3]); round > 0; round--) {
        sum_release(&answer, &budget);
        double start = bench_seconds();
        if (!sum_place(sizes, count, (size_t)atoll(argv[2]), &answer, &budget, &err))
            abort();
        double seconds = bench_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    printf("%.9f\t%" PRId64 "\t", best, answer.max_memory);
    for (size_t k = 0; k < answer.count; k++)
        printf("%s%zu", k > 0 ? " " : "", answer.cuts[k]);
    putchar('\n');
    sum_release(&answer, &budget);
    vec_free(sizes, capacity, sizeof(*sizes), &budget);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "rotor") == 0)
        return run_rotor(argc, argv);
    if (argc > 1 && strcmp(argv[1], "sum") == 0)
        return run_sum(argc, argv);
    return 2;
}
