/* Categories in traces that contain the end of the program. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define PARAMETER 4000u
#define LAYERS    4u
#define BATCHES   12u

static void expect(uint64_t addr, enum category category)
{
    uint8_t reason;
    enum category found = capture_category_why(&capture, addr, &reason);
    ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                  reason_name(reason));
}

/* Blocks of the sizes of the weights at `addr`, ... */
static void born_weights(uint64_t addr, const char *frames)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(addr + i, PARAMETER + i, frames);
}

static void freed_weights(uint64_t addr, const char *frames)
{
    for (unsigned i = 0; i < LAYERS; i++)
        freed(addr + i, PARAMETER + i, frames);
}

/* A chain of blocks for each batch. */
static void compute(const char *frames)
{
    for (unsigned batch = 0; batch < BATCHES; batch++)
        for (unsigned i = 0; i < LAYERS; i++) {
            born(100 + i, 300, frames);
            if (i > 0)
                freed(99 + i, 300, frames);
            if (i + 1 == LAYERS)
                freed(100 + i, 300, frames);
        }
}

START_TEST(the_end_may_free_the_weights)
{
    born_weights(1, "");
    compute("");
    freed_weights(1, "");
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(100, CATEGORY_ACTIVATION);
}
END_TEST

START_TEST(the_end_may_free_the_weights_that_stacks_show)
{
    born(1, PARAMETER, SCRIPT);
    for (unsigned i = 0; i < 2; i++) {
        born(2, 100, STACK_FORWARD);
        freed(2, 100, STACK_FORWARD);
        born(3, 100, SCRIPT);
        freed(3, 100, SCRIPT);
    }
    freed(1, PARAMETER, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
}
END_TEST

/* Two steps of the program's own optimizer. */
static void train(void)
{
    for (unsigned step = 0; step < 2; step++) {
        born(100, 50, STACK_FORWARD);
        for (unsigned i = 0; i < LAYERS; i++)
            born(300 + i, PARAMETER + i, STACK_BACKWARD);
        freed(100, 50, ENGINE);
        freed_weights(300, SCRIPT);
    }
    born(400, 8, SCRIPT);
}

START_TEST(states_that_the_end_frees_are_no_batch)
{
    born_weights(1, SCRIPT);
    born_weights(11, SCRIPT);
    train();
    freed_weights(1, SCRIPT);
    freed_weights(11, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(11, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(what_the_end_frees_beside_a_model_is_data)
{
    born_weights(1, SCRIPT);
    born(11, 900, SCRIPT);
    born(12, 900, SCRIPT);
    train();
    freed(11, 900, SCRIPT);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER);
    expect(11, CATEGORY_INPUT);
}
END_TEST

TCase *category_ends_tests(void)
{
    TCase *tests = tcase_create("categories of programs that end");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, the_end_may_free_the_weights);
    tcase_add_test(tests, the_end_may_free_the_weights_that_stacks_show);
    tcase_add_test(tests, states_that_the_end_frees_are_no_batch);
    tcase_add_test(tests, what_the_end_frees_beside_a_model_is_data);
    return tests;
}
