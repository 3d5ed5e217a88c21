/* Tensors of the sizes of all weights, which plain code makes between two steps. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/standing.h"

static struct standing standing;

static void create(void)
{
    standing_init(&standing);
}

static void destroy(void)
{
    standing_release(&standing);
}

/* Plain code makes a tensor of the size of each weight between two steps. */
static void list_between_steps(bool in_order, unsigned count)
{
    standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#SGD.step");
    for (unsigned i = 0; i < count; i++)
        capture_event(&standing.capture, "alloc", 3000 + i,
                      SIZE + 100 * (in_order ? i : LAYERS - 1 - i), SCRIPT);
    standing_step(&standing, "Optimizer.step#SGD.step");
    for (unsigned i = 0; i < count; i++)
        capture_free(&standing.capture, 3000 + i, SIZE + 100 * (in_order ? i : LAYERS - 1 - i),
                     SCRIPT);
    standing_step(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
}

/* standing_step(&standing, ) makes gradients in ascending order of size. */
START_TEST(a_list_in_the_order_of_gradients_holds_gradients)
{
    list_between_steps(true, LAYERS);
    standing_expect(&standing, 3000, LAYERS, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(a_list_in_the_order_of_the_model_is_a_copy)
{
    list_between_steps(false, LAYERS);
    standing_expect(&standing, 3000, LAYERS, CATEGORY_PARAMETER);
}
END_TEST

/* Each of two layers has a weight and a bias. A pass goes through the layers in the reverse order,
 * but makes the gradient of a weight before that of its bias. */
START_TEST(a_copy_of_weights_and_biases)
{
    static const unsigned order[LAYERS] = {2, 3, 0, 1};
    standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#SGD.step");
    for (unsigned i = 0; i < LAYERS; i++)
        capture_event(&standing.capture, "alloc", 3000 + i, SIZE + 100 * order[i], SCRIPT);
    standing_step(&standing, "Optimizer.step#SGD.step");
    for (unsigned i = 0; i < LAYERS; i++)
        capture_free(&standing.capture, 3000 + i, SIZE + 100 * order[i], SCRIPT);
    standing_step(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, 3000, LAYERS, CATEGORY_PARAMETER);
}
END_TEST

START_TEST(a_batch_is_no_list_of_weights)
{
    list_between_steps(false, LAYERS - 1);
    standing_expect(&standing, 3000, LAYERS - 1, CATEGORY_INPUT);
}
END_TEST

/* A copy of the model, and batches that happen to be as large as its weights. */
START_TEST(batches_as_large_as_weights_tell_no_order)
{
    standing_model(&standing, 1);
    standing_step(&standing, "Optimizer.step#SGD.step");
    for (unsigned i = 0; i < 3 * LAYERS; i++) {
        unsigned layer = i < LAYERS ? LAYERS - 1 - i : i % LAYERS;
        capture_event(&standing.capture, "alloc", 3000 + i, SIZE + 100 * layer, SCRIPT);
    }
    standing_step(&standing, "Optimizer.step#SGD.step");
    for (unsigned i = 0; i < 3 * LAYERS; i++) {
        unsigned layer = i < LAYERS ? LAYERS - 1 - i : i % LAYERS;
        capture_free(&standing.capture, 3000 + i, SIZE + 100 * layer, SCRIPT);
    }
    standing_step(&standing, "Optimizer.step#SGD.step");
    capture_load(&standing.capture);
    standing_expect(&standing, 3000, LAYERS, CATEGORY_PARAMETER);
}
END_TEST

TCase *category_list_order_tests(void)
{
    TCase *tests = tcase_create("lists of the sizes of weights");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, a_list_in_the_order_of_gradients_holds_gradients);
    tcase_add_test(tests, a_list_in_the_order_of_the_model_is_a_copy);
    tcase_add_test(tests, a_copy_of_weights_and_biases);
    tcase_add_test(tests, a_batch_is_no_list_of_weights);
    tcase_add_test(tests, batches_as_large_as_weights_tell_no_order);
    return tests;
}
