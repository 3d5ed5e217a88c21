#include "solve/dp/sum.h"

#include <stdlib.h>
#include <string.h>

#include "unit/solve/chance.h"
#include "unit/solve/solve.h"

#define MOST 24

static struct budget budget = {.limit = 1 << 30};

/* FairScale's visit(pos, remaining), with memoization. */
struct visit {
    bool known;
    int64_t value;
    size_t cuts[MOST + 2], count; /* in reverse order */
};

struct fairscale {
    const int64_t *sizes;
    size_t n;
    struct visit seen[MOST + 1][MOST + 8];
};

static const struct visit *visit(struct fairscale *f, size_t pos, size_t remaining)
{
    struct visit *v = &f->seen[pos][remaining];
    if (v->known)
        return v;
    v->known = true;
    v->value = 0;
    v->count = 0;
    if (pos == f->n)
        return v;
    if (remaining == 0) {
        for (size_t i = pos; i < f->n; i++)
            v->value += f->sizes[i];
        return v;
    }
    v->value = INT64_MAX;
    int64_t chunk = 0;
    for (size_t i = pos; i < f->n; i++) {
        chunk += f->sizes[i];
        const struct visit *sub = visit(f, i + 1, remaining - 1);
        int64_t result = chunk > sub->value ? chunk : sub->value;
        if (result < v->value) {
            v->value = result;
            v->count = sub->count;
            memcpy(v->cuts, sub->cuts, sub->count * sizeof(*v->cuts));
            v->cuts[v->count++] = i + 1;
        }
    }
    return v;
}

static void check(const int64_t *sizes, size_t n, size_t checkpoints)
{
    static struct fairscale f;
    struct sum_answer answer;
    struct error err;
    memset(&f, 0, sizeof(f));
    f.sizes = sizes;
    f.n = n;
    const struct visit *wanted = visit(&f, 0, checkpoints);
    size_t count = wanted->count;
    bool after = count > 0 && wanted->cuts[0] == n; /* FairScale raises IndexError here */
    ck_assert(sum_place(sizes, n, checkpoints, &answer, &budget, &err));
    ck_assert_int_eq(answer.max_memory, wanted->value);
    ck_assert_uint_eq(answer.count, count - after);
    for (size_t i = 0; i < answer.count; i++)
        ck_assert_uint_eq(answer.cuts[i], wanted->cuts[count - 1 - i]);
    sum_release(&answer, &budget);
}

static void check_random(struct chance *chance, int32_t low, int32_t high)
{
    int64_t sizes[MOST];
    size_t n = (size_t)chance_in(chance, 0, MOST);
    for (size_t i = 0; i < n; i++)
        sizes[i] = chance_in(chance, low, high);
    check(sizes, n, (size_t)chance_in(chance, 0, MOST + 4));
    check(sizes, n, (size_t)chance_in(chance, 0, 5));
}

START_TEST(answers_are_fairscales_ties_included)
{
    struct chance chance = {21};
    for (unsigned round = 0; round < unit_share(10000); round++)
        check_random(&chance, 0, chance_in(&chance, 0, 12));
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(negative_sizes_are_answered_as_fairscale_does)
{
    struct chance chance = {22};
    for (unsigned round = 0; round < unit_share(3000); round++)
        check_random(&chance, chance_in(&chance, -9, 0), 9);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(large_sizes_neither_overflow_nor_hang)
{
    int64_t sizes[] = {INT64_MAX / 4, INT64_MAX / 4, INT64_MAX / 4, 1};
    check(sizes, 4, 2);
    int64_t more[] = {INT64_MAX / 2, INT64_MAX / 2, 2};
    struct sum_answer answer;
    struct error err;
    ck_assert(!sum_place(more, 3, 1, &answer, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);

    size_t n = 100000;
    int64_t *many = calloc(n, sizeof(*many));
    ck_assert_ptr_nonnull(many);
    for (size_t i = 0; i < n; i++)
        many[i] = (int64_t)(i * 7919 % 1000);
    ck_assert(sum_place(many, n, 300, &answer, &budget, &err));
    ck_assert_uint_eq(answer.count, 300);
    sum_release(&answer, &budget);
    for (size_t i = 0; i < n; i++)
        many[i] = 1000000 + (int64_t)(i * 7919 % 1000);
    ck_assert(!sum_place(many, n, 30000, &answer, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "would take minutes; at most "));
    many[5] = -1;
    ck_assert(!sum_place(many, n, 300, &answer, &budget, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "would take minutes; at most 2 do not"));
    free(many);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

TCase *sum_tests(void)
{
    TCase *tests = tcase_create("sum");
    tcase_add_test(tests, answers_are_fairscales_ties_included);
    tcase_add_test(tests, negative_sizes_are_answered_as_fairscale_does);
    tcase_add_test(tests, large_sizes_neither_overflow_nor_hang);
    return tests;
}
