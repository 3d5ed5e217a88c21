#include "commands/cli/worker_pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit/unit.h"

#define PIECES 60
#define LARGE  ((size_t)9 * 1024 * 1024) /* more than a piece holds back */

struct test {
    atomic_size_t running, most_running;
    size_t finished, outputs;
    bool large;
};

/* "7:", and for a large piece megabytes of '.'; nothing for every fifth. */
static void print_piece(struct test *test, size_t piece, FILE *out)
{
    if (piece % 5 == 4)
        return;
    fprintf(out, "%zu:", piece);
    if (test->large && piece % 7 == 3)
        for (size_t i = 0; i < LARGE; i++)
            fputc('.', out);
}

static void work(void *self, size_t piece, FILE *out)
{
    struct test *test = self;
    size_t running = atomic_fetch_add(&test->running, 1) + 1;
    size_t most = atomic_load(&test->most_running);
    while (running > most && !atomic_compare_exchange_weak(&test->most_running, &most, running))
        continue;
    /* Early pieces take longer, so that later ones must wait. */
    struct timespec nap = {.tv_nsec = piece % 8 == 0 ? 5000000 : 100000};
    nanosleep(&nap, NULL);
    print_piece(test, piece, out);
    atomic_fetch_sub(&test->running, 1);
}

static void before_output(void *self)
{
    ((struct test *)self)->outputs++;
}

static void finish(void *self, size_t piece)
{
    struct test *test = self;
    ck_assert_uint_eq(piece, test->finished);
    test->finished++;
}

static void run(size_t count, size_t jobs, bool large)
{
    struct test test = {.large = large};
    struct error err;
    char *bytes = NULL, *wanted_bytes = NULL;
    size_t size = 0, wanted_size = 0, outputs = 0;
    FILE *out = open_memstream(&bytes, &size),
         *wanted = open_memstream(&wanted_bytes, &wanted_size);
    struct pool_work all = {count, jobs, out, ", ", work, before_output, finish, &test};
    ck_assert(worker_pool_run(&all, &err));
    for (size_t i = 0; i < count; i++) {
        if (i % 5 == 4)
            continue;
        fputs(outputs++ > 0 ? ", " : "", wanted);
        print_piece(&test, i, wanted);
    }
    fclose(out);
    fclose(wanted);
    ck_assert_uint_eq(test.finished, count);
    ck_assert_uint_eq(test.outputs, outputs);
    ck_assert_uint_le(atomic_load(&test.most_running), jobs);
    ck_assert_uint_eq(size, wanted_size);
    ck_assert(size == 0 || memcmp(bytes, wanted_bytes, size) == 0);
    free(bytes);
    free(wanted_bytes);
}

START_TEST(output_is_in_order_however_many_work)
{
    static const size_t jobs[] = {1, 2, 3, 8, 100};
    run(PIECES, jobs[_i], false);
}
END_TEST

START_TEST(large_output_waits_for_its_turn)
{
    static const size_t jobs[] = {1, 2, 4, 16};
    run(20, jobs[_i], true);
}
END_TEST

START_TEST(few_pieces)
{
    run(0, 4, false);
    run(1, 4, false);
    run(2, 4, false);
}
END_TEST

Suite *unit_suite(void)
{
    Suite *suite = suite_create("worker_pool");
    TCase *tests = tcase_create("worker_pool");
    tcase_add_loop_test(tests, output_is_in_order_however_many_work, 0, 5);
    tcase_add_loop_test(tests, large_output_waits_for_its_turn, 0, 4);
    tcase_add_test(tests, few_pieces);
    suite_add_tcase(suite, tests);
    return suite;
}
