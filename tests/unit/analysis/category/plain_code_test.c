/* Categories of what plain code makes between the phases of a step. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

#define ZERO_GRAD  PY("zero_grad", TORCH "optim/optimizer.py", 9) "," SCRIPT
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()")

static void expect(uint64_t addr, enum category category)
{
    uint8_t reason;
    enum category found = capture_category_why(&capture, addr, &reason);
    ck_assert_msg(found == category, "%d: %s: %s", (int)addr, category_name(found),
                  reason_name(reason));
}

START_TEST(plain_code_between_modules_is_saved)
{
    born(1, 100, SCRIPT); /* a batch */
    born(2, 200, STACK_FORWARD);
    born(3, 300, STACK_LOSS); /* computed of the first model's result */
    born(4, 400, STACK_LOSS); /* prepared for the second model */
    born(5, 200, STACK_FORWARD);
    born(6, 1000, STACK_BACKWARD);
    freed(5, 200, SAVED_DIES "," ENGINE);
    freed(3, 300, SAVED_DIES "," ENGINE);
    freed(2, 200, SAVED_DIES "," ENGINE);
    freed(1, 100, SAVED_DIES "," ENGINE);
    freed(4, 400, ENGINE);
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
    expect(3, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_INPUT);
}
END_TEST

/* backward(retain_graph=True) frees nothing; the graph dies when its loss is computed anew. */
START_TEST(plain_code_between_modules_is_saved_by_a_retained_graph)
{
    for (uint64_t step = 0; step < 2; step++) {
        uint64_t next = 10 * step;
        born(next + 2, 200, STACK_FORWARD);
        born(next + 3, 300, STACK_LOSS);
        born(next + 5, 200, STACK_FORWARD);
        if (step > 0) {
            freed(5, 200, SAVED_DIES "," SCRIPT);
            freed(3, 300, SAVED_DIES "," SCRIPT);
            freed(2, 200, SAVED_DIES "," SCRIPT);
        }
        born(next + 6, 1000, STACK_BACKWARD);
    }
    capture_load(&capture);
    expect(3, CATEGORY_ACTIVATION);
}
END_TEST

/* The loss of two results: what the backward pass frees shows that it belongs to the forward. */
START_TEST(the_loss_is_no_input)
{
    for (unsigned step = 0; step < 2; step++) {
        born(1, 100, SCRIPT); /* a batch */
        born(2, 200, STACK_FORWARD);
        if (step > 0)
            freed(3, 300, SCRIPT);
        born(3, 300, STACK_LOSS); /* held by a variable */
        born(4, 400, STACK_LOSS);
        born(5, 1000, STACK_BACKWARD);
        freed(4, 400, ENGINE);
        freed(2, 200, ENGINE);
        freed(1, 100, SCRIPT);
    }
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
    expect(3, CATEGORY_ACTIVATION);
    expect(4, CATEGORY_ACTIVATION);
}
END_TEST

#define TO_DEVICE                                                                                  \
    CPP("at::_ops::_to_copy::call(x)") "," CPP("at::_ops::to_dtype_layout::call(x)") "," SCRIPT

/* A batch for the second pass may have the size of a gradient, but is copied to the device. */
START_TEST(gradients_are_added_up_in_plain_code)
{
    capture_block(&capture, 90, 1000, "");
    for (unsigned pass = 0; pass < 2; pass++) {
        born(1, 100, STACK_FORWARD);
        born(2, 1000, STACK_BACKWARD);
        freed(1, 100, ENGINE);
        if (pass == 0) {
            born(3, 2000, SCRIPT); /* in fp32, until zero_grad frees it */
            born(4, 2000, SCRIPT); /* until plain code frees it after the step */
            born(6, 2000, TO_DEVICE);
        }
        freed(2, 1000, SCRIPT);
    }
    born(5, 16, STACK_STEP);
    freed(5, 16, STACK_STEP);
    freed(3, 2000, PY("zero_grad", TORCH "optim/optimizer.py", 960) "," SCRIPT);
    freed(4, 2000, SCRIPT);
    freed(6, 2000, SCRIPT);
    capture_load(&capture);
    expect(3, CATEGORY_GRADIENT);
    expect(4, CATEGORY_GRADIENT);
    expect(6, CATEGORY_INPUT);
}
END_TEST

#define CAT CPP("at::_ops::cat::call(x)") "," SCRIPT

START_TEST(gradients_may_be_joined_in_one_vector)
{
    born(1, 100, STACK_FORWARD);
    born(10, 8192, STACK_BACKWARD); /* of a head */
    born(11, 6144, STACK_BACKWARD);
    born(12, 4096, STACK_BACKWARD);
    freed(1, 100, ENGINE);
    born(20, 6144 + 4096, CAT); /* of the layers that several heads share */
    born(21, 9999, CAT);
    freed(12, 4096, SCRIPT);
    freed(11, 6144, SCRIPT);
    born(2, 100, STACK_FORWARD);
    freed(21, 9999, SCRIPT);
    freed(20, 6144 + 4096, SCRIPT);
    born(13, 8192, STACK_BACKWARD);
    freed(2, 100, ENGINE);
    born(22, 6144 + 4096, CAT); /* the size is known now */
    born(3, 100, STACK_FORWARD);
    freed(22, 6144 + 4096, SCRIPT);
    capture_load(&capture);
    expect(20, CATEGORY_GRADIENT);
    expect(21, CATEGORY_INPUT);
    expect(22, CATEGORY_GRADIENT);
}
END_TEST

START_TEST(gradients_may_be_copied_for_the_step)
{
    capture_block(&capture, 90, 1000, "");
    born(1, 100, STACK_FORWARD);
    born(2, 1000, STACK_BACKWARD);
    freed(1, 100, ENGINE);
    born(3, 2000, SCRIPT); /* in fp32 */
    born(4, 3000, SCRIPT); /* not of a gradient's size */
    born(5, 16, STACK_STEP);
    freed(3, 2000, SCRIPT);
    freed(4, 3000, SCRIPT);
    capture_load(&capture);
    expect(3, CATEGORY_GRADIENT);
    expect(4, CATEGORY_UNKNOWN);
    expect(90, CATEGORY_PARAMETER); /* its gradient is the pass's */
}
END_TEST

START_TEST(an_update_may_need_other_sizes_in_between)
{
    born(1, 100, STACK_FORWARD);
    born(2, 1000, STACK_BACKWARD);
    born(3, 1200, STACK_BACKWARD);
    freed(1, 100, ENGINE);
    for (unsigned i = 0; i < 2; i++) {
        born(10 + i, 1000 + 200 * i, SCRIPT); /* momentum */
        born(20 + i, 90000, SCRIPT);
        freed(20 + i, 90000, SCRIPT);
    }
    born(4, 50, STACK_FORWARD);
    capture_load(&capture);
    expect(10, CATEGORY_OPTIMIZER_STATE);
    expect(11, CATEGORY_OPTIMIZER_STATE);
}
END_TEST

START_TEST(zero_grad_may_free_a_batch)
{
    for (uint64_t i = 0; i < 2; i++) {
        born(1 + i, 5000, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
        born(10, 100, STACK_FORWARD);
        if (i > 0) /* the sparse gradient refers to the indices */
            freed(1, 5000, PY("zero_grad", TORCH "optim/optimizer.py", 9) "," SCRIPT);
        born(20 + i, 300, STACK_BACKWARD);
        freed(10, 100, ENGINE);
        born(30 + i, 16, STACK_STEP);
    }
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
}
END_TEST

START_TEST(buffers_of_plain_code_are_inputs)
{
    born(1, 7000, SCRIPT); /* filled in later; no gradient has its size */
    born(2, 1000, SCRIPT);
    for (unsigned step = 0; step < 2; step++) {
        born(10 + step, 700, SCRIPT);
        if (step > 0)
            freed(9 + step, 700, SCRIPT);
        born(20 + step, 800, SCRIPT); /* such a block is never freed */
        born(3, 100, STACK_FORWARD);
        born(30 + step, 1000, STACK_BACKWARD);
        freed(3, 100, ENGINE);
    }
    capture_load(&capture);
    expect(1, CATEGORY_INPUT);
    expect(2, CATEGORY_PARAMETER);
    expect(10, CATEGORY_INPUT);
    expect(11, CATEGORY_INPUT); /* never freed, but others of its size are */
    expect(21, CATEGORY_UNKNOWN);
}
END_TEST

/* A variable holds what the script computes between two modules until the next iteration. */
static void pass_in_two_parts(uint64_t between, const char *freed_by)
{
    born(1, 100, STACK_FORWARD);
    born(between, 500, CPP("at::_ops::stack::call(x)") "," SCRIPT);
    if (between > 50)
        freed(between - 1, 500, SCRIPT);
    born(3, 300, STACK_FORWARD);
    born(4, 400, STACK_BACKWARD);
    born(6, 600, STACK_BACKWARD);
    freed(3, 300, ENGINE);
    freed(6, 600, ENGINE);
    freed(1, 100, freed_by);
    born(5, 50, STACK_STEP);
    freed(5, 50, STACK_STEP);
    freed(4, 400, SCRIPT);
}

START_TEST(code_between_parts_of_a_forward_computes)
{
    for (unsigned step = 0; step < 3; step++)
        pass_in_two_parts(50 + step, ENGINE);
    capture_load(&capture);
    expect(51, CATEGORY_ACTIVATION);
}
END_TEST

/* Batches are put together after rollouts, which keep nothing for a backward pass. */
START_TEST(code_after_another_forward_makes_a_batch)
{
    for (unsigned step = 0; step < 3; step++)
        pass_in_two_parts(50 + step, SCRIPT);
    capture_load(&capture);
    expect(51, CATEGORY_INPUT);
}
END_TEST

/* Gradients of two batches accumulate. The second batch is as large as a weight, and replaces the
 * first, as a step by hand would replace the weight. */
START_TEST(a_batch_between_accumulated_passes)
{
    for (unsigned i = 0; i < 3; i++)
        born(2 + i, 400 + i, SCRIPT);
    for (unsigned batch = 0; batch < 6; batch++) {
        born(50 + batch, 400, CPP("at::_ops::randn::call(x)") "," SCRIPT);
        if (batch > 0)
            freed(49 + batch, 400, SCRIPT);
        born(1, 100, STACK_FORWARD);
        for (unsigned i = 0; i < 3; i++)
            born(10 + 10 * (batch % 2) + i, 400 + i, STACK_BACKWARD);
        freed(1, 100, ENGINE);
        if (batch % 2 == 0)
            continue;
        for (unsigned i = 0; i < 3; i++)
            freed(20 + i, 400 + i, ENGINE);
        born(8, 400, STACK_STEP);
        freed(8, 400, STACK_STEP);
        for (unsigned i = 0; i < 3; i++)
            freed(10 + i, 400 + i, SCRIPT);
    }
    capture_load(&capture);
    for (unsigned batch = 1; batch < 5; batch++)
        expect(50 + batch, CATEGORY_INPUT);
}
END_TEST

/* Other code updates the weight and draws a batch; the latter has another size. */
START_TEST(a_batch_may_follow_an_update)
{
    born(2, 400, SCRIPT);
    for (unsigned step = 0; step < 3; step++) {
        born(1, 100, STACK_FORWARD);
        born(4, 400, STACK_BACKWARD);
        freed(1, 100, ENGINE);
        for (unsigned i = 0; i < 3; i++) {
            born(7 + i, 400, CPP("at::_ops::mul::call(x)") "," SCRIPT);
            freed(7 + i, 400, SCRIPT);
        }
        born(50 + step, 90, CPP("at::_ops::randn::call(x)") "," SCRIPT);
        born(6, 400, CPP("at::_ops::mul::call(x)") "," SCRIPT);
        if (step > 0)
            freed(49 + step, 90, SCRIPT);
        freed(6, 400, SCRIPT);
        freed(4, 400, SCRIPT);
    }
    capture_load(&capture);
    expect(7, CATEGORY_TEMPORARY);
    expect(51, CATEGORY_INPUT);
}
END_TEST

/* The gradients of several losses are kept, to be changed so that they do not conflict. */
START_TEST(a_script_may_join_gradients_between_passes)
{
    for (unsigned step = 0; step < 2; step++) {
        born(1, 100, STACK_FORWARD);
        born(2, 200, STACK_FORWARD);
        born(10, 3000, STACK_BACKWARD);
        born(11, 2000, STACK_BACKWARD);
        freed(2, 200, ENGINE);
        born(12, 5000, CPP("at::_ops::cat::call(x)") "," SCRIPT);
        born(13, 700, STACK_BACKWARD);
        born(14, 800, STACK_BACKWARD);
        freed(1, 100, ENGINE);
        born(5, 50, STACK_STEP);
        freed(5, 50, STACK_STEP);
        for (unsigned i = 10; i < 15; i++)
            freed(i,
                  i == 10   ? 3000
                  : i == 11 ? 2000
                  : i == 12 ? 5000
                  : i == 13 ? 700
                            : 800,
                  SCRIPT);
    }
    capture_load(&capture);
    expect(12, CATEGORY_GRADIENT);
}
END_TEST

/* Steps after which a script joins the weights. SGD's step without momentum allocates nothing. The
 * gradients stay until the next backward pass. */
static void join_weights(bool allocates)
{
    for (unsigned step = 0; step < 3; step++) {
        born(1, 100, STACK_FORWARD);
        born(10 + step, 8192, STACK_BACKWARD);
        born(20 + step, 4096, STACK_BACKWARD);
        freed(1, 100, ENGINE);
        born(40 + step, 8192 + 4096, CAT); /* the gradients, for their norm */
        capture_annotate(&capture, "START", "Optimizer.step#SGD.step", 0);
        if (allocates) {
            born(2, 8192, STACK_STEP);
            freed(2, 8192, STACK_STEP);
        }
        capture_annotate(&capture, "END", "Optimizer.step#SGD.step", 0);
        born(30 + step, 8192 + 4096, CAT); /* stays */
        freed(40 + step, 8192 + 4096, SCRIPT);
        born(1, 100, STACK_FORWARD);
        freed(1, 100, SCRIPT);
        freed(10 + step, 8192, ZERO_GRAD);
        freed(20 + step, 4096, ZERO_GRAD);
    }
    born(50, 8192 + 4096, CPP("at::_ops::mul_Tensor::call(x)") "," SCRIPT); /* of the last one */
    born(1, 100, STACK_FORWARD);
    freed(1, 100, SCRIPT);
    capture_load(&capture);
    for (unsigned step = 0; step < 3; step++) {
        expect(30 + step, CATEGORY_PARAMETER);
        expect(40 + step, CATEGORY_GRADIENT);
    }
    expect(50, CATEGORY_PARAMETER);
}

START_TEST(weights_may_be_joined_after_a_step)
{
    join_weights(false);
}
END_TEST

START_TEST(weights_may_be_joined_after_a_step_that_allocates)
{
    join_weights(true);
}
END_TEST

/* An evaluation collects what it computes of each result. `addr` is that of the first. */
static void evaluate(uint64_t addr, const char *batch)
{
    for (unsigned i = 0; i < 4; i++) {
        born(3, 300, batch);
        born(1, 100, STACK_FORWARD);
        freed(1, 100, STACK_FORWARD);
        born(addr + i, 700, CPP("at::_ops::_softmax::call(x)") "," SCRIPT);
        freed(3, 300, SCRIPT);
    }
    born(2, 100, STACK_FORWARD);
    freed(2, 100, STACK_FORWARD);
    for (unsigned i = 0; i < 4; i++)
        freed(addr + i, 700, SCRIPT);
}

START_TEST(results_that_an_evaluation_collects_are_no_batches)
{
    for (unsigned step = 0; step < 2; step++) {
        born(5, 500, STACK_FORWARD);
        born(6 + step, 600, STACK_BACKWARD);
        freed(5, 500, ENGINE);
        evaluate(50 + 10 * step, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
    }
    capture_load(&capture);
    for (unsigned i = 0; i < 3; i++)
        expect(50 + i, CATEGORY_ACTIVATION);
    expect(53, CATEGORY_ACTIVATION); /* of the same line, although it lives as a batch would */
}
END_TEST

#define BATCH(line)                                                                                \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::_ops::to_device::call(x)") "," PY("run", "/home/u/train.py", line) "," SCRIPT
#define JOIN(line) CPP("at::_ops::cat::call(x)") "," PY("run", "/home/u/train.py", line) "," SCRIPT

/* An evaluation that concatenates its logits, and its labels, to all earlier ones. Each lives until
 * the next one is made, like a batch, and the last one is read at once. With `_i`, the shape of the
 * logits is copied to the device before, as for other ranks, and is no batch. */
START_TEST(concatenated_results_are_no_batches)
{
    for (unsigned step = 0; step < 2; step++) {
        born(5, 500, STACK_FORWARD);
        born(6 + step, 600, STACK_BACKWARD);
        freed(5, 500, ENGINE);
    }
    for (unsigned i = 0; i < 4; i++) {
        born(10 + i, 300, BATCH(3));
        born(1, 100, STACK_FORWARD);
        freed(1, 100, STACK_FORWARD);
        if (_i == 1) {
            born(7, 24, BATCH(4));
            freed(7, 24, SCRIPT);
        }
        born(50 + i, 1000 * (i + 1), JOIN(5));
        if (i > 0)
            freed(49 + i, 1000 * i, SCRIPT);
        born(60 + i, 700 * (i + 1), JOIN(6));
        if (i > 0)
            freed(59 + i, 700 * i, SCRIPT);
        freed(10 + i, 300, SCRIPT);
    }
    freed(53, 4000, SCRIPT);
    freed(63, 2800, SCRIPT);
    capture_load(&capture);
    for (unsigned i = 0; i < 4; i++)
        expect(50 + i, CATEGORY_ACTIVATION);
    expect(11, CATEGORY_INPUT);
}
END_TEST

/* A metric collects what it computes of each step's results, after the optimizer step, and converts
 * the labels for that. With `_i`, the program drops them a step later, as a batch. */
START_TEST(results_after_a_step_are_no_batches)
{
    for (unsigned step = 0; step < 4; step++) {
        born(10 + step, 300, BATCH(3));
        born(5, 500, STACK_FORWARD);
        born(6, 600, STACK_BACKWARD);
        freed(5, 500, ENGINE);
        born(8, 80, STACK_STEP);
        freed(8, 80, STACK_STEP);
        freed(6, 600, SCRIPT);
        born(20 + step, 200, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
        born(50 + step, 700, CPP("at::_ops::where_self::call(x)") "," SCRIPT);
        freed(10 + step, 300, SCRIPT);
        if (_i == 1 && step > 0)
            freed(49 + step, 700, SCRIPT);
    }
    capture_load(&capture);
    expect(50, _i == 0 ? CATEGORY_ACTIVATION : CATEGORY_INPUT);
    expect(52, _i == 0 ? CATEGORY_ACTIVATION : CATEGORY_INPUT);
    expect(12, CATEGORY_INPUT);
}
END_TEST

/* Python frames show no operators. The last batch of an evaluation stays in its variable, and lives
 * as a result would; another line keeps a result of each pass. */
START_TEST(a_line_that_makes_batches_makes_no_results)
{
#define RUN(line) PY("run", "/home/u/train.py", line) "," SCRIPT
    for (unsigned step = 0; step < 2; step++) {
        uint64_t first = 10 + 10 * step;
        born(5, 500, PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT);
        born(6 + step, 600, "");
        freed(5, 500, "");
        born(8, 80, PY("step", TORCH "optim/adam.py", 240) "," SCRIPT);
        freed(8, 80, SCRIPT);
        for (unsigned i = 0; i < 3; i++) {
            born(first + i, 300, RUN(3));
            if (first + i > 10)
                freed(i > 0 ? first + i - 1 : first - 8, 300, RUN(3));
            born(1, 100, PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT);
            freed(1, 100, SCRIPT);
            born(50 + first + i, 700, RUN(5));
        }
    }
    born(5, 500, PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT);
    born(9, 600, "");
    freed(5, 500, "");
    capture_load(&capture);
    for (unsigned i = 0; i < 3; i++)
        expect(10 + i, CATEGORY_INPUT);
    expect(60, CATEGORY_ACTIVATION);
    expect(61, CATEGORY_ACTIVATION);
}
END_TEST

/* The scores of each token are copied, as generation does it to convert them; the result that they
 * are copied from is freed then, or, with `_i`, stays. */
START_TEST(copies_of_results_are_no_batches)
{
    for (uint64_t i = 0; i < 4; i++) {
        born(10 + i, 800, STACK_FORWARD);
        born(50 + i, 800, BATCH(7));
        if (i > 0)
            freed(49 + i, 800, SCRIPT);
        if (_i == 0)
            freed(10 + i, 800, SCRIPT);
    }
    capture_load(&capture);
    for (uint64_t i = 0; i < 3; i++)
        expect(50 + i, _i == 0 ? CATEGORY_ACTIVATION : CATEGORY_INPUT);
}
END_TEST

/* Without another batch, it may go into the next pass itself, as the tokens of a generation do. */
START_TEST(what_is_joined_may_be_the_next_batch)
{
    for (unsigned step = 0; step < 2; step++) {
        born(5, 500, STACK_FORWARD);
        born(6 + step, 600, STACK_BACKWARD);
        freed(5, 500, ENGINE);
    }
    for (unsigned i = 0; i < 4; i++) {
        born(1, 100, STACK_FORWARD);
        freed(1, 100, STACK_FORWARD);
        born(50 + i, 1000 * (i + 1), JOIN(5));
        if (i > 0)
            freed(49 + i, 1000 * i, SCRIPT);
    }
    born(1, 100, STACK_FORWARD);
    freed(1, 100, STACK_FORWARD);
    freed(53, 4000, SCRIPT);
    capture_load(&capture);
    expect(51, CATEGORY_INPUT);
}
END_TEST

/* A frozen teacher's probabilities, computed before the student's pass that uses them. */
START_TEST(results_of_a_teacher_are_no_batches)
{
    static const char *const stacks[] = {
        CPP("at::_ops::_softmax::call(x)") "," SCRIPT,
        PY("softmax", TORCH "nn/functional.py", 2213) "," SCRIPT,
        PY("stack_them", "/home/u/data.py", 3) "," SCRIPT,
    };
    for (unsigned step = 0; step < 3; step++) {
        born(1, 100, STACK_FORWARD);
        freed(1, 100, STACK_FORWARD);
        born(50 + step, 700, stacks[_i]);
        if (step > 0)
            freed(49 + step, 700, SCRIPT);
        born(3, 300, STACK_FORWARD);
        born(4, 400, STACK_BACKWARD);
        born(6, 600, STACK_BACKWARD);
        freed(3, 300, ENGINE);
        freed(6, 600, ENGINE);
        freed(4, 400, SCRIPT);
    }
    capture_load(&capture);
    expect(51, _i < 2 ? CATEGORY_ACTIVATION : CATEGORY_INPUT);
}
END_TEST

/* logits.float(), of which a variable keeps the result until the next iteration, and what is copied
 * to the device there, also as bytes that become numbers then. */
START_TEST(results_may_be_converted)
{
    for (unsigned step = 0; step < 3; step++) {
        born(1, 100, STACK_FORWARD);
        born(50 + step, 900,
             CPP("at::_ops::_to_copy::call(x)") "," CPP("at::_ops::to_dtype::call(x)") "," SCRIPT);
        born(2, 190, TO_DEVICE);
        born(70 + step, 760,
             CPP("at::_ops::_to_copy::call(x)") "," CPP("at::_ops::to_dtype::call(x)") "," SCRIPT);
        freed(2, 190, SCRIPT);
        born(60 + step, 800,
             CPP("at::_ops::_to_copy::call(x)") "," CPP("at::_ops::to_device::call(x)") "," SCRIPT);
        if (step > 0) {
            freed(49 + step, 900, SCRIPT);
            freed(59 + step, 800, SCRIPT);
            freed(69 + step, 760, SCRIPT);
        }
        born(3, 300, STACK_FORWARD);
        born(4, 400, STACK_BACKWARD);
        born(6, 600, STACK_BACKWARD);
        freed(3, 300, ENGINE);
        freed(6, 600, ENGINE);
        freed(1, 100, ENGINE);
        freed(4, 400, SCRIPT);
    }
    capture_load(&capture);
    expect(51, CATEGORY_ACTIVATION);
    expect(61, CATEGORY_INPUT);
    expect(71, CATEGORY_INPUT);
}
END_TEST

/* The same right before the trace ends, such as in a loss that runs out of memory. A copy to the
 * device shows that C++ frames tell such copies apart. */
START_TEST(the_last_results_may_be_converted)
{
    born(60, 800,
         CPP("at::_ops::_to_copy::call(x)") "," CPP("at::_ops::to_device::call(x)") "," SCRIPT);
    born(1, 100, STACK_FORWARD);
    born(2, 200, STACK_FORWARD);
    born(50, 900,
         CPP("at::_ops::_to_copy::call(x)") "," CPP("at::_ops::to_dtype::call(x)") "," SCRIPT);
    capture_load(&capture);
    expect(50, CATEGORY_ACTIVATION);
}
END_TEST

TCase *category_plain_code_tests(void)
{
    TCase *tests = tcase_create("categories of what plain code makes");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, plain_code_between_modules_is_saved);
    tcase_add_test(tests, plain_code_between_modules_is_saved_by_a_retained_graph);
    tcase_add_test(tests, the_loss_is_no_input);
    tcase_add_test(tests, gradients_are_added_up_in_plain_code);
    tcase_add_test(tests, gradients_may_be_joined_in_one_vector);
    tcase_add_test(tests, gradients_may_be_copied_for_the_step);
    tcase_add_test(tests, an_update_may_need_other_sizes_in_between);
    tcase_add_test(tests, zero_grad_may_free_a_batch);
    tcase_add_test(tests, buffers_of_plain_code_are_inputs);
    tcase_add_test(tests, code_between_parts_of_a_forward_computes);
    tcase_add_test(tests, code_after_another_forward_makes_a_batch);
    tcase_add_test(tests, a_batch_between_accumulated_passes);
    tcase_add_test(tests, a_batch_may_follow_an_update);
    tcase_add_test(tests, a_script_may_join_gradients_between_passes);
    tcase_add_test(tests, weights_may_be_joined_after_a_step);
    tcase_add_test(tests, weights_may_be_joined_after_a_step_that_allocates);
    tcase_add_test(tests, results_that_an_evaluation_collects_are_no_batches);
    tcase_add_loop_test(tests, concatenated_results_are_no_batches, 0, 2);
    tcase_add_loop_test(tests, results_after_a_step_are_no_batches, 0, 2);
    tcase_add_test(tests, a_line_that_makes_batches_makes_no_results);
    tcase_add_test(tests, what_is_joined_may_be_the_next_batch);
    tcase_add_loop_test(tests, copies_of_results_are_no_batches, 0, 2);
    tcase_add_loop_test(tests, results_of_a_teacher_are_no_batches, 0, 3);
    tcase_add_test(tests, results_may_be_converted);
    tcase_add_test(tests, the_last_results_may_be_converted);
    return tests;
}
