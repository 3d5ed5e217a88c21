/* Losses that each have a backward pass of their own, in traces without stacks: a list keeps them,
 * and so the whole graph, until the next step has computed its own. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/bare_training.h"

#define STEPS  4u
#define SAVED  12u /* blocks of a graph */
#define VECTOR (LAYERS * WEIGHT + LAYERS * (LAYERS - 1) / 2)

/* addresses; the first two begin anew in each step */
enum { SAVES = 1000, VECTORS = 2000, DATA = 3000, GRADIENTS = 30, ZEROS = 48, BATCHES = 70 };

enum shape { HELD, ROLLOUT, SHAPES };

static void make_gradients(unsigned weights)
{
    born(50, 900);
    for (unsigned i = 0; i < weights; i++) {
        born(GRADIENTS + i, WEIGHT + i);
        born(51, 901 + i);
        freed(50, 900 + i);
        born(50, 901 + i);
        freed(51, 901 + i);
    }
    freed(50, 900 + weights);
}

static void drop_gradients(unsigned weights)
{
    for (unsigned i = 0; i < weights; i++)
        freed(GRADIENTS + i, WEIGHT + i);
}

/* A loss need not reach the last weight. Then zeros stand for its gradient. */
static void differentiate(unsigned step, unsigned loss)
{
    unsigned weights = loss == 0 ? LAYERS - 1 : LAYERS;
    make_gradients(weights);
    if (loss == 0)
        born(ZEROS, WEIGHT + LAYERS - 1);
    born(VECTORS + 2 * step + loss, VECTOR);
    if (loss == 0)
        freed(ZEROS, WEIGHT + LAYERS - 1);
    drop_gradients(weights);
}

static void update(void)
{
    for (unsigned i = 0; i < LAYERS; i++)
        born(GRADIENTS + i, WEIGHT + i);
    capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
    born(60, 16);
    freed(60, 16);
    capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
    drop_gradients(LAYERS);
}

static void run_step(unsigned step, enum shape shape)
{
    born(BATCHES + step, 90);
    for (unsigned i = 0; shape == ROLLOUT && i < SAVED; i++)
        born(DATA + step * SAVED + i, 5000 + i);
    for (unsigned i = 0; i < SAVED; i++)
        born(SAVES + step * SAVED + i, 600 + i);
    for (unsigned i = 0; step > 0 && i < SAVED; i++)
        freed((shape == HELD ? SAVES : DATA) + (step - 1) * SAVED + i,
              (shape == HELD ? 600 : 5000) + i);
    differentiate(step, 0);
    differentiate(step, 1);
    for (unsigned i = SAVED; shape == ROLLOUT && i-- > 0;)
        freed(SAVES + step * SAVED + i, 600 + i);
    update();
    for (unsigned loss = 0; loss < 2; loss++)
        freed(VECTORS + 2 * step + loss, VECTOR);
    freed(BATCHES + step, 90);
}

static void expect(uint64_t addr, enum category category)
{
    uint8_t reason;
    enum category found = capture_category_why(&capture, addr, &reason);
    ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                  reason_name(reason));
}

START_TEST(graphs_of_several_losses)
{
    make_weights();
    for (unsigned step = 0; step < STEPS; step++)
        run_step(step, (enum shape)_i);
    capture_load(&capture);
    for (unsigned step = 0; step < STEPS; step++) {
        for (unsigned i = 0; i < SAVED; i++)
            expect(SAVES + step * SAVED + i, CATEGORY_ACTIVATION);
        for (unsigned loss = 0; loss < 2; loss++)
            expect(VECTORS + 2 * step + loss, CATEGORY_GRADIENT);
    }
    for (unsigned i = SAVED; _i == ROLLOUT && i < SAVED * (STEPS - 1); i++) {
        uint8_t reason; /* what comes before a forward pass is no part of it */
        capture_category_why(&capture, DATA + i, &reason);
        ck_assert_int_ne(reason_of(reason), REASON_FORWARD_KEPT);
    }
}
END_TEST

TCase *category_held_steps_tests(void)
{
    TCase *tests = tcase_create("graphs held over steps");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_loop_test(tests, graphs_of_several_losses, 0, SHAPES);
    return tests;
}
