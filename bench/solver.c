/* Times solvers, for bench/solve. A line a run, separated by tabs.
 *
 *   bench/solver rotor L M ROUNDS [rival]   L, M, what, threads, seconds of CPU time
 *   bench/solver sum K ROUNDS <SIZES        seconds, the measure, the cuts
 *
 * The rival of cost tables is the layout of the published implementation, m outermost, written
 * anew. CPU time rather than time on the clock, for the machine may be busy; so two threads show
 * what they cost, not what they save. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "solve/backend.h"
#include "solve/cpu_variant.h"
#include "solve/sum.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A chain like that of a convolutional network: sizes that shrink in stages, some temporaries. */
static void fill(struct cost_problem *problem, int32_t layers, int32_t slots)
{
    size_t n = (size_t)layers;
    int32_t *numbers = calloc(5 * n + 1, sizeof(*numbers));
    if (!numbers)
        abort();
    int32_t *x = numbers, *xbar = x + n + 1, *ftmp = xbar + n, *btmp = ftmp + n;
    int32_t *forward = btmp + n;
    uint32_t chance = 12345;
    for (size_t i = 0; i <= n; i++) {
        chance = chance * 1664525 + 1013904223;
        x[i] = 1 + (int32_t)(chance >> 16) % (1 + slots / 40);
    }
    for (size_t i = 0; i < n; i++) {
        chance = chance * 1664525 + 1013904223;
        xbar[i] = x[i + 1] + (int32_t)(chance >> 16) % (1 + slots / 40);
        ftmp[i] = (int32_t)(chance >> 24) % 2;
        btmp[i] = x[i];
        forward[i] = 1 + (int32_t)(chance >> 20) % 100;
    }
    *problem = (struct cost_problem){.layers = layers,
                                     .slots = slots,
                                     .x = x,
                                     .xbar = xbar,
                                     .ftmp = ftmp,
                                     .btmp = btmp,
                                     .forward = forward};
}

/* opt[m][i][j], in double, with the sum of forward times, as the algorithm is published; the
 * decisions are kept beside it. */
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

static void time_rival(const struct cost_problem *problem, double *answer)
{
    size_t n = (size_t)problem->layers, cells = ((size_t)problem->slots + 1) * n * n;
    struct rival rival = {.p = problem,
                          .n = n,
                          .opt = malloc(cells * sizeof(double)),
                          .what = malloc(cells * sizeof(int32_t)),
                          .before = calloc(n + 1, sizeof(double))};
    if (!rival.opt || !rival.what || !rival.before)
        abort();
    for (size_t i = 0; i < n; i++)
        rival.before[i + 1] = rival.before[i] + problem->forward[i];
    double start = now();
    rival_run(&rival);
    printf("%d\t%d\tm outermost\t1\t%.6f\n", problem->layers, problem->slots, now() - start);
    fflush(stdout);
    *answer = *at(&rival, problem->slots, 0, n - 1);
    free(rival.opt);
    free(rival.what);
    free(rival.before);
}

static void time_variant(const struct cost_problem *problem, const struct cpu_variant *variant,
                         unsigned threads, int rounds, double answer)
{
    double best = 1e300;
    for (int round = 0; round < rounds; round++) {
        struct cost_table table;
        struct budget budget = {.limit = SIZE_MAX};
        struct error err;
        double start = now();
        if (!cpu_solve_with(variant, problem, &table, 1, threads, &budget, &err))
            abort();
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
        int32_t found = cost_at(&table, 0, problem->layers - 1, problem->slots);
        if (answer >= 0 && answer < 1e299 && (double)found != answer) {
            fprintf(stderr, "%s: %" PRId32 ", not %.0f\n", variant->name, found, answer);
            exit(1);
        }
        cost_table_release(&table, &budget);
    }
    printf("%d\t%d\t%s\t%u\t%.6f\n", problem->layers, problem->slots, variant->name, threads, best);
    fflush(stdout);
}

static int run_rotor(int argc, char **argv)
{
    struct cost_problem problem;
    double answer = -1;
    if (argc < 5)
        return 2;
    fill(&problem, atoi(argv[2]), atoi(argv[3]));
    int rounds = atoi(argv[4]);
    if (argc > 5 && strcmp(argv[5], "rival") == 0)
        time_rival(&problem, &answer);
    for (size_t k = 0; k < cpu_variant_count; k++)
        for (unsigned threads = 1; threads <= 2 && cpu_variants[k].supported(); threads++)
            time_variant(&problem, &cpu_variants[k], threads, rounds, answer);
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
        double start = now();
        if (!sum_place(sizes, count, (size_t)atoll(argv[2]), &answer, &budget, &err))
            abort();
        double seconds = now() - start;
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
