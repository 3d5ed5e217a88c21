/* Memory that survives from step to step. */
#include "analysis/growth/growth.h"

#include <stdio.h>
#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/one_growth.h"

static void annotate(const char *stage, unsigned step)
{
    char name[32];
    snprintf(name, sizeof(name), "ProfilerStep#%u", step);
    capture.time_us++;
    capture_annotate(&capture, stage, name, 0);
}

#define STACK_KEEP  PY("keep", "/home/u/keep.py", 5) "," SCRIPT
#define STACK_CACHE PY("cache", "/home/u/cache.py", 6) "," SCRIPT

/* Steps that keep 100 bytes each, and a cache that fills in the first `filling`. */
static void leaky_steps(unsigned steps, unsigned filling)
{
    for (unsigned step = 0; step < steps; step++) {
        annotate("START", step);
        born(1, 10, STACK_FORWARD);
        freed(1, 10, STACK_FORWARD);
        born(1000 + step, 100, STACK_KEEP);
        if (step < filling)
            born(2000 + step, 50, STACK_CACHE);
        if (step == 0)
            born(3000, 70, STACK_STEP);
        annotate("END", step);
    }
}

START_TEST(growth_by_site)
{
    leaky_steps(6, 3);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->compared, 6);
    ck_assert_int_eq(growth->bytes_per_step, 100);
    ck_assert_uint_eq(growth->row_count, 3);
    const struct growth_row *keep = row_of("keep.py:5 keep");
    ck_assert_ptr_eq(keep, &growth->rows[0]);
    ck_assert_int_eq(keep->fit.kind, GROWTH_GROWING);
    ck_assert_int_eq(keep->bytes_at_first, 100);
    ck_assert_int_eq(keep->bytes_at_end, 600);
    ck_assert_uint_eq(keep->blocks_at_end, 6);
    ck_assert_int_eq(keep->save_bytes, 500); /* the peak is in the last step */
    ck_assert_int_eq(row_of("cache.py:6 cache")->fit.kind, GROWTH_STOPPED);
    ck_assert_int_eq(row_of("optimizer.py:7 step")->fit.kind, GROWTH_ONE_OFF);
}
END_TEST

#define STACK_COPY CPP("at::_ops::clone::call(x)") "," PY("<module>", "/home/u/train.py", 8)

/* A ring of the last copies. What it holds at the end is not freed, so its category is another than
 * that of earlier copies, and this part of the ring grows. With `_i`, nothing is freed. */
START_TEST(a_ring_that_is_full)
{
    enum { HELD = 4, STEPS = 12 };
    for (unsigned step = 0; step < STEPS; step++) {
        annotate("START", step);
        born(1, 10, STACK_FORWARD);
        born(2, 10, STACK_BACKWARD);
        freed(1, 10, STACK_BACKWARD);
        born(3, 10, STACK_STEP);
        freed(3, 10, STACK_STEP);
        freed(2, 10, STACK_STEP);
        born(1000 + step, 100, STACK_COPY);
        if (step >= HELD && _i == 0)
            freed(1000 + step - HELD, 100, STACK_COPY);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->growing, (unsigned)_i);
}
END_TEST

#define STACK_MODEL                                                                                \
    PY("_apply", TORCH "nn/modules/module.py", 900)                                                \
    "," PY("build", "/home/u/build.py", 4) "," SCRIPT
#define STACK_ADAM                                                                                 \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("_init_group", TORCH "optim/adam.py", 180) "," PY("step", TORCH "optim/adam.py",        \
                                                             240) "," SCRIPT

/* Makes `models`, each with a parameter of 1,000 bytes, and trains each for two steps. All stay. */
static void train_models(unsigned models)
{
    for (unsigned step = 0; step < 2 * models; step++) {
        annotate("START", step);
        if (step % 2 == 0)
            born(1000 + step, 1000, STACK_MODEL);
        born(1, 10, STACK_FORWARD);
        born(2, 1000, STACK_BACKWARD);
        freed(1, 10, STACK_BACKWARD);
        if (step % 2 == 0) {
            born(2000 + step, 1000, STACK_ADAM);
            born(3000 + step, 1000, STACK_ADAM);
        }
        freed(2, 1000, SCRIPT);
        annotate("END", step);
    }
}

/* The states are of models, too, and the present model is in use. */
START_TEST(models_that_stay)
{
    train_models(4);
    const struct growth *growth = find();
    ck_assert(growth->grow_models);
    ck_assert_ptr_eq(row_of("build.py:4 build"), &growth->rows[growth_holder(growth)]);
    ck_assert_int_eq(growth->bytes_per_step, 857 + 428); /* a seventh of what three steps add */
    ck_assert_int_eq(growth->save_bytes, 3 * 3 * 1000);
}
END_TEST

#define PARTS 5 /* parameters of a model, or of a trunk */

/* Trains a trunk with a new head for each of four tasks, or four models as large as both. */
static void train_tasks(bool with_trunk)
{
    for (unsigned step = 0; step < 8; step++) {
        annotate("START", step);
        for (unsigned i = 0; i < PARTS && step % 2 == 0 && (step == 0 || !with_trunk); i++)
            born(100 * (step + 1) + i, 500, STACK_MODEL);
        if (step % 2 == 0)
            born(1000 + step, 1000, STACK_MODEL);
        born(1, 10, STACK_FORWARD);
        for (unsigned i = 0; i < PARTS; i++)
            born(4000 + i, 500, STACK_BACKWARD);
        born(2, 1000, STACK_BACKWARD);
        freed(1, 10, STACK_BACKWARD);
        if (step % 2 == 0) {
            born(2000 + step, 1000, STACK_ADAM);
            born(3000 + step, 1000, STACK_ADAM);
        }
        for (unsigned i = 0; i < PARTS; i++)
            freed(4000 + i, 500, SCRIPT);
        freed(2, 1000, SCRIPT);
        annotate("END", step);
    }
}

/* The gradients of the trunk show that it goes on training: what is added to it is no leak. */
START_TEST(a_model_that_grows)
{
    train_tasks(_i == 0);
    const struct growth *growth = find();
    ck_assert(growth->grow_models);
    ck_assert_int_eq(growth->grows_one_model, _i == 0);
    ck_assert_uint_eq(growth->growing, 2);
    ck_assert_uint_eq(growth->in_use, _i == 0 ? 2 : 0);
    ck_assert_int_eq(report_finding(report, FINDING_GROWTH) == NULL, _i == 0);
}
END_TEST

/* A server adds an adapter before each request. */
START_TEST(adapters_that_stay)
{
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        born(1000 + step, 1000, STACK_MODEL);
        born(1, 10, STACK_FORWARD);
        freed(1, 10, SCRIPT);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert(!growth->grow_models);
    ck_assert_int_eq(growth->rows[0].category, CATEGORY_PARAMETER);
    const struct finding *finding = report_finding(report, FINDING_GROWTH);
    ck_assert_ptr_nonnull(strstr(finding->what, "mostly weights that are made at build.py:4"));
    ck_assert_ptr_nonnull(strstr(finding->next, "delete_adapter()"));
}
END_TEST

/* More and more layers are trained. zero_grad() frees the gradients of a step after it. */
static void train_more_layers(const char *backward)
{
    for (unsigned step = 0; step < 12; step++) {
        annotate("START", step);
        for (unsigned i = 0; step > 0 && i <= (step - 1) / 2; i++)
            freed(100 + i, 1000, SCRIPT);
        born(1, 10, STACK_FORWARD);
        for (unsigned i = 0; i <= step / 2; i++)
            born(100 + i, 1000, backward);
        freed(1, 10, backward);
        annotate("END", step);
    }
}

START_TEST(gradients_of_more_layers)
{
    train_more_layers(STACK_BACKWARD);
    ck_assert_uint_eq(find()->growing, 0);
}
END_TEST

/* Without C++ frames, what autograd's threads allocate has no stack. */
START_TEST(gradients_of_more_layers_without_stacks)
{
    train_more_layers("");
    ck_assert_uint_eq(find()->growing, 0);
}
END_TEST

/* A list keeps one more gradient at every step. */
START_TEST(gradients_in_a_list)
{
    for (unsigned step = 0; step < 8; step++) {
        annotate("START", step);
        born(1, 10, STACK_FORWARD);
        born(100 + step, 1000, STACK_BACKWARD);
        freed(1, 10, STACK_BACKWARD);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert_int_eq(growth->gradient_bytes_per_step, 1000);
    ck_assert_int_eq(growth->rows[0].bytes_at_end, 8000);
}
END_TEST

/* The last step has the peak. Without the stored losses, the second step has it, which needs 300
 * bytes more for itself than the others. */
START_TEST(another_step_needs_nearly_as_much)
{
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        born(1, step == 1 ? 700 : 400, STACK_FORWARD);
        born(2000 + step, 4, STACK_LOSS);
        born(1000 + step, 100, STACK_FORWARD);
        born(2, 500, STACK_BACKWARD);
        freed(2, 500, STACK_BACKWARD);
        freed(1, step == 1 ? 700 : 400, STACK_BACKWARD);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert_int_eq(growth->save_bytes, 5 * 104);
    ck_assert_int_eq(growth->peak_save_bytes, 5 * 104 - 300);
    ck_assert_int_eq(growth->graph_peak_save_bytes, growth->peak_save_bytes);
}
END_TEST

/* A variable that is set after the optimizer's step holds the last step's results until it is set
 * again. So these are live at the peak even if nothing stores them. */
START_TEST(a_variable_may_hold_the_last_step)
{
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        if (step > 0)
            born(4000 + step, 4, STACK_LOSS);
        if (step > 1)
            freed(4000 + step - 1, 4, STACK_LOSS);
        if (_i == 1 && step == 5)
            freed(4000 + step, 4, STACK_LOSS);
        born(1, 10, STACK_FORWARD);
        born(1000 + step, 100, STACK_KEEP);
        born(2, 500, STACK_BACKWARD);
        freed(2, 500, STACK_BACKWARD);
        freed(1, 10, STACK_FORWARD);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert_int_eq(row_of("keep.py:5 keep")->save_bytes, _i == 0 ? 400 : 500);
    /* a program that stores less may save these, too, and what the step with the peak has stored */
    ck_assert_int_eq(growth->most_bytes, 600);
}
END_TEST

/* Optimizers that take turns, as in a GAN: 100 bytes stay per iteration, and 30 more per turn of
 * the first one. */
/* A metric that is summed over the steps of a training keeps its graph. */
START_TEST(what_grows_may_be_a_sum)
{
    for (unsigned step = 0; step < 5; step++) {
        annotate("START", step);
        born(1, 10, STACK_FORWARD);
        if (_i == 0)
            born(2, 10, STACK_BACKWARD);
        freed(1, 10, STACK_FORWARD);
        if (_i == 0)
            freed(2, 10, STACK_BACKWARD);
        born(1000 + step, 100, STACK_KEEP);
        annotate("END", step);
    }
    find();
    const char *next = report_finding(report, FINDING_GROWTH)->next;
    ck_assert_int_eq(strstr(next, "a state that each step passes on to the next") != NULL, _i == 0);
}
END_TEST

START_TEST(growth_is_per_iteration)
{
    static const uint64_t sizes[] = {1000, 1000, 2000};
    uint64_t next = 1;
    for (int turn = 0; turn < 15; turn++) {
        uint64_t size = sizes[turn % 3];
        born(next++, 1, STACK_FORWARD);
        if (size == 1000)
            born(next++, 30, STACK_CACHE);
        else
            born(next++, 100, STACK_KEEP);
        freed(next - 2, 1, STACK_FORWARD);
        capture.time_us++;
        capture_annotate(&capture, "START", "Optimizer.step#Adam.step", 0);
        born(next, size, STACK_STEP);
        freed(next++, size, STACK_STEP);
        capture.time_us++;
        capture_annotate(&capture, "END", "Optimizer.step#Adam.step", 0);
    }
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->compared, 5);
    ck_assert_int_eq(growth->bytes_per_step, 160);
    ck_assert_int_eq(row_of("keep.py:5 keep")->fit.bytes_per_step, 100);
    ck_assert_int_eq(row_of("cache.py:6 cache")->fit.bytes_per_step, 60);
}
END_TEST

#define STACK_BATCH                                                                                \
    CPP("at::_ops::_to_copy::call(x)") "," PY("load", "/home/u/load.py", 7) "," SCRIPT
#define STACK_CAT CPP("at::_ops::cat::call(x)") "," PY("join", "/home/u/join.py", 8) "," SCRIPT

/* Steps each of which replaces a block at `addr` by one that is larger. */
static void steps_of_larger(const char *stack)
{
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        born(1, 10, STACK_FORWARD);
        freed(1, 10, STACK_FORWARD);
        born(1000 + step, 400 + 100 * step, stack);
        if (step > 0)
            freed(999 + step, 300 + 100 * step, stack);
        annotate("END", step);
    }
}

START_TEST(a_longer_batch_is_no_growth)
{
    steps_of_larger(STACK_BATCH);
    ck_assert_uint_eq(find()->growing, 0);
}
END_TEST

START_TEST(a_longer_concatenation_is_growth)
{
    steps_of_larger(STACK_CAT);
    ck_assert_uint_eq(find()->growing, 1);
}
END_TEST

/* Steps that keep the result of a batch in a variable. The batch is of 400 bytes and `more` bytes
 * for each step before, the result of 200 and `result_more`. */
static void steps_with_result(unsigned more, unsigned result_more)
{
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        born(10, 400 + more * step, STACK_BATCH);
        born(1, 10, STACK_FORWARD);
        freed(1, 10, STACK_FORWARD);
        freed(10, 400 + more * step, STACK_BATCH);
        born(1000 + step, 200 + result_more * step, STACK_CAT);
        if (step > 0)
            freed(999 + step, 200 + result_more * (step - 1), STACK_CAT);
        annotate("END", step);
    }
}

START_TEST(a_result_of_longer_batches_is_no_growth)
{
    steps_with_result(100, 50);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->growing, 0);
    ck_assert_int_eq(growth->bytes_per_step, 0);
}
END_TEST

START_TEST(a_result_that_outgrows_batches_is_growth)
{
    if (_i == 0)
        steps_with_result(0, 50);
    else
        steps_with_result(20, 200);
    ck_assert_uint_eq(find()->growing, 1);
}
END_TEST

START_TEST(two_steps_cannot_tell)
{
    leaky_steps(2, 0);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->complete, 2);
    ck_assert_uint_eq(growth->row_count, 0);
    ck_assert_int_eq(growth->bytes_per_step, 0);
}
END_TEST

START_TEST(many_steps_are_sampled)
{
    leaky_steps(1001, 0);
    const struct growth *growth = find();
    ck_assert_uint_eq(growth->complete, 1001);
    ck_assert_uint_eq(growth->compared, GROWTH_STEPS);
    const struct growth_row *keep = row_of("keep.py:5 keep");
    ck_assert_int_eq(keep->bytes_at_first, 100);
    ck_assert_int_eq(keep->bytes_at_end, 100100);
    ck_assert_int_ge(keep->fit.bytes_per_step, 95);
    ck_assert_int_le(keep->fit.bytes_per_step, 105);
}
END_TEST

START_TEST(a_loss_with_its_graph)
{
    for (unsigned step = 0; step < 4; step++) {
        annotate("START", step);
        born(1000 + step, 300, STACK_FORWARD);
        born(2000 + step, 4, STACK_LOSS);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert_uint_ne(growth->scalar_row, NO_ROW);
    ck_assert_str_eq(growth->rows[growth->scalar_row].label.full, "loss.py:4 loss");
    ck_assert_int_eq(growth->graph_bytes_per_step, 300);
}
END_TEST

#define STACK_LOGARITHMS                                                                           \
    CPP("at::_ops::_log_softmax::call(x)")                                                         \
    "," CPP("at::_ops::cross_entropy_loss::call(x)") "," PY("watch", "/home/u/train.py",           \
                                                            8) "," SCRIPT
#define STACK_SEED                                                                                 \
    CPP("at::_ops::_efficient_attention_forward::call(x)")                                         \
    "," PY("forward", "/home/u/attention.py", 2) "," CALL "," SCRIPT

/* cross_entropy keeps its logarithms only for a graph. The holder is the loss, which is made last,
 * and not the seeds of attention, which come first. */
START_TEST(the_holder_of_a_graph_is_its_last_result)
{
    for (unsigned step = 0; step < 4; step++) {
        annotate("START", step);
        born(1000 + step, 8, STACK_SEED);
        born(2000 + step, 300, STACK_LOGARITHMS);
        born(3000 + step, 4, STACK_LOSS);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert_int_eq(growth->graph, GRAPH_KEPT);
    ck_assert_str_eq(growth->rows[growth_holder(growth)].label.full, "loss.py:4 loss");
}
END_TEST

/* Steps whose graphs stay: the logits, the workspace of the kernel that makes them, and the loss.
 */
static void losses_with_logits(bool keep_logits)
{
    for (unsigned step = 0; step < 4; step++) {
        annotate("START", step);
        born(1000 + step, 300, STACK_FORWARD);
        born(4000, 7, STACK_FORWARD);
        freed(4000, 7, STACK_FORWARD);
        born(2000 + step, 300, STACK_LOGARITHMS);
        born(3000 + step, 4, STACK_LOSS);
        if (!keep_logits)
            freed(1000 + step, 300, SCRIPT);
        annotate("END", step);
    }
}

START_TEST(logits_stay_with_variables)
{
    losses_with_logits(true);
    const struct growth *growth = find();
    ck_assert_int_eq(growth->graph, GRAPH_KEPT);
    ck_assert(growth->has_variables);
}
END_TEST

START_TEST(a_graph_alone_keeps_no_logits)
{
    losses_with_logits(false);
    const struct growth *growth = find();
    ck_assert_int_eq(growth->graph, GRAPH_KEPT);
    ck_assert(!growth->has_variables);
}
END_TEST

#define STACK_RELEASE CPP("torch::autograd::deleteNode(x)") "," SCRIPT

/* Tensors that the program stores, of which the last one shows that it had a graph. detach() would
 * free nothing of them, unless the graph keeps other tensors as well: those of another line. */
START_TEST(results_stored_with_a_graph_are_not_the_graph)
{
    for (unsigned step = 0; step < 4; step++) {
        annotate("START", step);
        if (_i == 1)
            born(1000 + step, 300, STACK_SEED);
        born(2000 + step, 300, STACK_FORWARD);
        annotate("END", step);
    }
    born(5000, 8, STACK_STEP);
    freed(2003, 300, STACK_RELEASE);
    ck_assert_int_eq(find()->graph, _i == 0 ? GRAPH_UNCLEAR : GRAPH_KEPT);
}
END_TEST

/* Three of nine steps store a result. That of a pass after them shows whether a graph had it: only
 * then is it no cache that is full. */
START_TEST(graphs_that_stay_are_no_cache)
{
    for (unsigned step = 0; step < 9; step++) {
        annotate("START", step);
        born(1, 10, STACK_LOSS);
        if (step > 0 && step < 4)
            born(2000 + step, 300, STACK_FORWARD);
        freed(1, 10, SCRIPT);
        annotate("END", step);
    }
    born(5000, 300, STACK_FORWARD);
    born(5001, 8, STACK_STEP);
    freed(5000, 300, _i == 0 ? SCRIPT : STACK_RELEASE);
    find();
    const struct growth_row *row = row_of("model.py:3 forward");
    ck_assert_int_eq(row->fit.kind, GROWTH_STOPPED);
    ck_assert_int_eq(row->keeper, _i == 0 ? KEEPER_UNKNOWN : KEEPER_GRAPHS);
}
END_TEST

#define STACK_WORKSPACE CPP("at::cuda::getCurrentCUDABlasHandle()") "," STACK_FORWARD

/* A layer that runs from the third step on is the first to need cuBLAS. */
START_TEST(a_workspace_is_no_cache)
{
    for (unsigned step = 0; step < 9; step++) {
        annotate("START", step);
        born(1, 10, STACK_FORWARD);
        if (step == 2)
            born(2, 500, STACK_WORKSPACE);
        freed(1, 10, SCRIPT);
        annotate("END", step);
    }
    find();
    const struct growth_row *row = row_of("model.py:3 forward");
    ck_assert_int_eq(row->fit.kind, GROWTH_STOPPED);
    ck_assert_int_eq(row->category, CATEGORY_WORKSPACE);
    ck_assert_int_eq(row->keeper, KEEPER_LIBRARY);
}
END_TEST

/* A pass without autograd frees all it makes but its results. */
START_TEST(results_that_are_kept_without_a_graph)
{
    for (unsigned step = 0; step < 4; step++) {
        annotate("START", step);
        for (unsigned i = 0; i < 8; i++)
            born(3000 + i, 20, STACK_FORWARD);
        born(1000 + step, 300, STACK_FORWARD);
        for (unsigned i = 0; i < 8; i++)
            freed(3000 + i, 20, CALL "," SCRIPT);
        born(4000, 1, STACK_FORWARD);
        freed(4000, 1, STACK_FORWARD);
        born(2000 + step, 4, STACK_LOSS);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert_int_eq(growth->graph, GRAPH_NONE);
    ck_assert_uint_eq(growth->scalar_row, NO_ROW);
    ck_assert_str_eq(growth->rows[growth_holder(growth)].label.full, "model.py:3 forward");
}
END_TEST

START_TEST(small_results_alone_hold_no_graph)
{
    for (unsigned step = 0; step < 4; step++) {
        annotate("START", step);
        born(2000 + step, 4, STACK_LOSS);
        annotate("END", step);
    }
    ck_assert_uint_eq(find()->scalar_row, NO_ROW);
}
END_TEST

START_TEST(sizes_that_sum_beyond_64_bits)
{
    const uint64_t huge = (uint64_t)1 << 61;
    capture.total_size = ((uint64_t)1 << 62) - 1; /* the largest */
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        born(1000 + step, huge, STACK_KEEP);
        annotate("END", step);
        freed(1000 + step, huge, STACK_KEEP);
    }
    ck_assert_int_eq(find()->bytes_per_step, 0);
}
END_TEST

/* A result at each step, `more` bytes larger than the one before. */
static enum private_kind kind_in(unsigned high, unsigned low, uint64_t more)
{
    capture.pool[0] = high;
    capture.pool[1] = low;
    for (unsigned step = 0; step < 5; step++) {
        annotate("START", step);
        born(1000000 * (step + 1), 100000 + more * step, STACK_KEEP);
        annotate("END", step);
    }
    for (unsigned step = 0; step < 5; step++)
        capture_block(&capture, 1000000 * (step + 1), 100000 + more * step, STACK_KEEP);
    ck_assert_uint_eq(find()->growing, 1);
    return report->growth.pools.kind;
}

START_TEST(results_in_the_default_pool)
{
    ck_assert_int_eq(kind_in(0, 0, 0), PRIVATE_NONE);
    ck_assert(!strstr(report_finding(report, FINDING_GROWTH)->next, "private pool"));
    ck_assert(!strstr(report_finding(report, FINDING_GROWTH)->next, "CUDA graph"));
}
END_TEST

START_TEST(a_graph_captured_at_each_step)
{
    ck_assert_int_eq(kind_in(3, 0, 0), PRIVATE_CAPTURES);
    ck_assert_int_eq(report->growth.pools.bytes, 500000);
    ck_assert(!report->growth.pools.has_many_pools);
    ck_assert(strstr(report_finding(report, FINDING_GROWTH)->next, "Capture once for each shape"));
    ck_assert(!strstr(report_finding(report, FINDING_GROWTH)->next, "share a pool"));
}
END_TEST

START_TEST(a_graph_for_each_shape)
{
    ck_assert_int_eq(kind_in(3, 0, 1000), PRIVATE_SHAPES);
    ck_assert_ptr_null(report_finding(report, FINDING_GROWTH));
}
END_TEST

START_TEST(results_in_a_pool_of_the_program)
{
    ck_assert_int_eq(kind_in(0, 3, 1000), PRIVATE_OWN);
    ck_assert(strstr(report_finding(report, FINDING_GROWTH)->next, "torch.cuda.MemPool"));
}
END_TEST

/* A function of an installed package keeps nothing itself: the program's call of the package may.
 */
START_TEST(packages_name_their_caller)
{
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        born(1000 + step, 100,
             _i == 0
                 ? PY("clean", "/venv/lib/python3.12/site-packages/metrics/compute.py", 5) "," PY(
                       "update", "/venv/lib/python3.12/site-packages/metrics/base.py", 6) "," SCRIPT
                 : STACK_KEEP);
        annotate("END", step);
    }
    const struct growth *growth = find();
    if (_i == 0)
        ck_assert_str_eq(growth->caller, "train.py:9 <module>");
    else
        ck_assert_ptr_null(growth->caller);
}
END_TEST

/* Modules call their forward() through module.py; apply() of a torch.autograd.Function has no
 * Python frame. */
START_TEST(what_a_function_may_store_in_its_context)
{
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        born(1000 + step, 100,
             _i == 0 ? PY("forward", "/home/u/act.py", 9) "," PY("forward", "/home/u/act.py",
                                                                 26) "," CALL "," SCRIPT
                     : PY("forward", "/home/u/act.py", 26) "," CALL "," SCRIPT);
        annotate("END", step);
    }
    ck_assert_int_eq(find()->in_function, _i == 0);
}
END_TEST

/* Nothing refers to what waits for a stream: frees that wait may pile up, but no list grows. */
START_TEST(frees_that_wait_are_no_growth)
{
    for (unsigned step = 0; step < 6; step++) {
        annotate("START", step);
        born(1, 10, STACK_FORWARD);
        freed(1, 10, STACK_FORWARD);
        born(1000 + step, 100, STACK_KEEP);
        if (_i == 0)
            capture_event(&capture, "free_requested", 1000 + step, 100, SCRIPT);
        annotate("END", step);
    }
    const struct growth *growth = find();
    ck_assert_int_eq(growth->bytes_per_step, _i == 0 ? 0 : 100);
    ck_assert_int_eq(report->pending.at_peak_bytes, _i == 0 ? 500 : 0);
}
END_TEST

TCase *growth_tests(void)
{
    TCase *tests = tcase_create("growth");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, growth_by_site);
    tcase_add_loop_test(tests, a_ring_that_is_full, 0, 2);
    tcase_add_loop_test(tests, frees_that_wait_are_no_growth, 0, 2);
    tcase_add_loop_test(tests, packages_name_their_caller, 0, 2);
    tcase_add_loop_test(tests, what_a_function_may_store_in_its_context, 0, 2);
    tcase_add_loop_test(tests, graphs_that_stay_are_no_cache, 0, 2);
    tcase_add_test(tests, a_workspace_is_no_cache);
    tcase_add_test(tests, models_that_stay);
    tcase_add_loop_test(tests, a_model_that_grows, 0, 2);
    tcase_add_test(tests, adapters_that_stay);
    tcase_add_test(tests, gradients_of_more_layers);
    tcase_add_test(tests, gradients_of_more_layers_without_stacks);
    tcase_add_test(tests, gradients_in_a_list);
    tcase_add_test(tests, another_step_needs_nearly_as_much);
    tcase_add_loop_test(tests, what_grows_may_be_a_sum, 0, 2);
    tcase_add_test(tests, growth_is_per_iteration);
    tcase_add_test(tests, a_longer_batch_is_no_growth);
    tcase_add_test(tests, a_longer_concatenation_is_growth);
    tcase_add_test(tests, a_result_of_longer_batches_is_no_growth);
    tcase_add_loop_test(tests, a_result_that_outgrows_batches_is_growth, 0, 2);
    tcase_add_test(tests, two_steps_cannot_tell);
    tcase_add_test(tests, many_steps_are_sampled);
    tcase_add_test(tests, a_loss_with_its_graph);
    tcase_add_test(tests, small_results_alone_hold_no_graph);
    tcase_add_test(tests, the_holder_of_a_graph_is_its_last_result);
    tcase_add_test(tests, logits_stay_with_variables);
    tcase_add_test(tests, a_graph_alone_keeps_no_logits);
    tcase_add_loop_test(tests, results_stored_with_a_graph_are_not_the_graph, 0, 2);
    tcase_add_test(tests, results_that_are_kept_without_a_graph);
    tcase_add_test(tests, sizes_that_sum_beyond_64_bits);
    tcase_add_loop_test(tests, a_variable_may_hold_the_last_step, 0, 2);
    tcase_add_test(tests, results_in_the_default_pool);
    tcase_add_test(tests, a_graph_captured_at_each_step);
    tcase_add_test(tests, a_graph_for_each_shape);
    tcase_add_test(tests, results_in_a_pool_of_the_program);
    return tests;
}
