/* Units and the loss of a step that a snapshot recorded. */
#include "unit/analysis/shard/recorded_step.h"

/* A head in a Sequential is called once; behind it the program computes the loss. */
START_TEST(units_are_what_lists_call)
{
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), true);
    }
    keep(LINEAR "," SEQUENTIAL "," MODEL(7), true);
    keep(LOSS, false);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3 + 1);
    ck_assert(!model.hides_units);
    const struct shard_layer *last = &model.layers[model.layer_count - 1];
    ck_assert(last->outside);
    ck_assert_uint_eq(last->unit, SHARD_ROOT);
    ck_assert(!last[-1].outside);
    ck_assert_uint_ne(last[-1].unit, SHARD_ROOT);
}
END_TEST

#define GRADIENT ",\"category\":\"gradient\""

/* A workspace that the first backward pass makes looks like a gradient that is larger than all. */
START_TEST(a_workspace_is_no_gradient)
{
    static const char *const layers[] = {LINEAR "," MODEL(5), LINEAR "," MODEL(6),
                                         LINEAR "," MODEL(7)};
    uint64_t first = next, gradients = next + 6;
    for (int i = 0; i < 3; i++) {
        capture_event(&capture, "alloc", next++, 16, layers[i]);
        capture_event(&capture, "alloc", next++, 64, layers[i]);
    }
    capture_event_with(&capture, "alloc", 9000, 8000, STACK_BACKWARD, GRADIENT);
    for (uint64_t i = 3; i-- > 0;) {
        capture_free(&capture, first + 2 * i + 1, 64, STACK_BACKWARD);
        capture_event_with(&capture, "alloc", next++, 400, STACK_BACKWARD, GRADIENT);
        capture_free(&capture, first + 2 * i, 16, STACK_BACKWARD);
    }
    capture_event(&capture, "alloc", next++, 8, STACK_STEP);
    for (uint64_t i = 0; i < 3; i++)
        capture_free(&capture, gradients + i, 400, STACK_STEP);
    for (int i = 0; i < 3; i++)
        keep(layers[i], true);
    build();
    ck_assert_int_eq(shard_elements(&model), 3 * 100);
}
END_TEST

/* A loop that calls a layer and a function: a checkpoint of the layer keeps what the function made,
 * of which the output counts for itself. */
START_TEST(functions_are_beside_modules)
{
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," MODEL(6), true);
        keep(CPP("at::_ops::mm::call(x)") "," MODEL(6), false);
    }
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    size_t units = 0;
    for (size_t i = 0; i < model.layer_count; i++) {
        units += model.layers[i].unit != SHARD_ROOT;
        ck_assert_int_eq(model.layers[i].beside, model.layers[i].unit != SHARD_ROOT ? 16 : 0);
    }
    ck_assert_uint_eq(units, 3);
    ck_assert(!model.guesses_units);
}
END_TEST

#define ADD CPP("at::_ops::add::call(x)") "," MODEL(7)

/* A loop adds up what modules return beside their input for the next one: no module takes the sum,
 * so that none makes a gradient for it. */
START_TEST(sums_are_handed_to_no_module)
{
    uint64_t first = next;
    capture_event(&capture, "alloc", next++, 16, LINEAR "," MODEL(5));
    for (uint64_t i = 0; i < 4; i++) {
        capture_event(&capture, "alloc", 1000 + i, 16, LINEAR "," BLOCK(20) "," MODEL(6));
        capture_event(&capture, "alloc", 2000 + i, 64, LINEAR "," BLOCK(21) "," MODEL(6));
        if (i > 0)
            capture_free(&capture, 2000 + i - 1, 64, MODEL(6));
        capture_event(&capture, "alloc", 3000 + i, 128, ADD);
        if (i > 0)
            capture_free(&capture, 3000 + i - 1, 128, ADD);
    }
    capture_event(&capture, "alloc", next, 32, LINEAR "," MODEL(8));
    capture_free(&capture, 3003, 128, MODEL(8));
    capture_free(&capture, 2003, 64, MODEL(8));
    capture_event_with(&capture, "alloc", next + 1, 800, STACK_BACKWARD, GRADIENT);
    capture_event(&capture, "alloc", 5004, 128, STACK_BACKWARD); /* of all sums */
    capture_free(&capture, next, 32, STACK_BACKWARD);
    next += 2;
    for (uint64_t i = 4; i-- > 0;) {
        capture_event_with(&capture, "alloc", next++, 400, STACK_BACKWARD, GRADIENT);
        capture_event(&capture, "alloc", 6000 + i, 64, STACK_BACKWARD);
        capture_free(&capture, 1000 + i, 16, STACK_BACKWARD);
        if (i < 3)
            capture_free(&capture, 6000 + i + 1, 64, STACK_BACKWARD);
    }
    capture_free(&capture, 5004, 128, STACK_BACKWARD);
    capture_free(&capture, 6000, 64, STACK_BACKWARD);
    capture_free(&capture, first, 16, STACK_BACKWARD);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 4);
    for (size_t i = 0; i < model.layer_count; i++) {
        const struct shard_layer *layer = &model.layers[i];
        if (layer->unit == SHARD_ROOT || layer->unit == 4) /* none behind it */
            continue;
        ck_assert(layer->is_sum && layer->passes);
        ck_assert_int_eq(layer->output, 128);
        ck_assert_int_eq(layer->passed, 64);
    }
}
END_TEST

/* A second head takes what an earlier layer has made, so that nothing of its own is left when it
 * makes its gradient. The other blocks have one gradient less. */
START_TEST(gradients_behind_a_loop_are_of_no_block)
{
    uint64_t blocks = next;
    for (int i = 0; i < 3; i++) {
        capture_event(&capture, "alloc", next++, 16, LINEAR "," BLOCK(20) "," MODEL(6));
        capture_event(&capture, "alloc", next++, 64, LINEAR "," BLOCK(21) "," MODEL(6));
    }
    capture_event(&capture, "alloc", next, 32, LOSS);
    capture_free(&capture, next++, 32, STACK_BACKWARD);
    capture_free(&capture, blocks + 5, 64, STACK_BACKWARD);
    capture_event_with(&capture, "alloc", next++, 600, STACK_BACKWARD, GRADIENT);
    for (uint64_t i = 3; i-- > 0;) {
        capture_event_with(&capture, "alloc", next++, 400, STACK_BACKWARD, GRADIENT);
        capture_free(&capture, blocks + 2 * i, 16, STACK_BACKWARD);
        if (i > 0)
            capture_free(&capture, blocks + 2 * i - 1, 64, STACK_BACKWARD);
    }
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    ck_assert_int_eq(elements(SHARD_ROOT, false), 150);
    for (size_t unit = 1; unit < model.unit_count; unit++)
        ck_assert_int_eq(elements(unit, false), 100);
}
END_TEST

/* Each line has parameters of its own in every iteration: it calls the modules of a list. */
START_TEST(lines_of_a_loop_are_units)
{
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," BLOCK(20) "," MODEL(6), true);
        keep(LINEAR "," BLOCK(21) "," MODEL(6), true);
        keep(LINEAR "," MODEL(7), true);
    }
    keep(LINEAR "," MODEL(8), true);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 2 * 3);
    for (size_t unit = 1; unit < model.unit_count; unit++)
        ck_assert_int_eq(elements(unit, false), unit % 2 == 1 ? 200 : 100);
    ck_assert(!model.guesses_units);
}
END_TEST

/* A line that calls the same module in every iteration calls none of a list. The other one calls a
 * module that has a list, whose modules are the same in every iteration. */
START_TEST(modules_that_run_again_are_the_same_units)
{
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," MODEL(6), i == 2);
        for (int k = 0; k < 3; k++) {
            keep(LINEAR "," BLOCK(20) "," MODEL(7), i == 2);
            keep(LINEAR "," BLOCK(21) "," MODEL(7), i == 2);
        }
    }
    keep(LINEAR "," MODEL(8), true);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    for (size_t unit = 1; unit < model.unit_count; unit++) {
        size_t runs = 0;
        for (size_t i = 0; i < model.layer_count; i++)
            runs += model.layers[i].unit == unit;
        ck_assert_uint_eq(runs, 3);
        ck_assert_int_eq(elements(unit, false), 200);
    }
    ck_assert_int_eq(elements(SHARD_ROOT, false), 300);
    ck_assert(!model.guesses_units);
}
END_TEST

/* Nothing tells what of a module that runs again and again is in lists. */
START_TEST(loops_may_call_one_module)
{
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," BLOCK(20) "," MODEL(6), i == 2);
        keep(LINEAR "," BLOCK(21) "," MODEL(6), i == 2);
    }
    keep(LINEAR "," MODEL(8), true);
    build();
    ck_assert(model.guesses_units);
}
END_TEST

/* The first iteration calls two modules of one list before that of the other. */
START_TEST(lines_may_call_several_of_a_list)
{
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < (i == 0 ? 2 : 1); k++) {
            keep(LINEAR "," BLOCK(20) "," MODEL(6), true);
            keep(LINEAR "," BLOCK(21) "," MODEL(6), true);
        }
        keep(LINEAR "," MODEL(7), true);
    }
    keep(LINEAR "," MODEL(8), true);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 2 + 1 + 3 * 2);
    size_t blocks = 0;
    for (size_t unit = 1; unit < model.unit_count; unit++)
        blocks += elements(unit, false) == 200;
    ck_assert_uint_eq(blocks, 5);
    ck_assert_int_eq(elements(SHARD_ROOT, false), 200);
}
END_TEST

#define EACH PY("<genexpr>", "/home/u/model.py", 7)

/* One line calls a module for a result that is not kept, and an expression calls several. */
START_TEST(loops_may_call_modules_elsewhere)
{
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    for (int i = 0; i < 3; i++) {
        look_up(LINEAR "," MODEL(6), NULL);
        tables = 0;
        keep(LINEAR "," EACH "," PY("forward", "/home/u/model.py", 7) "," CALL "," CALL_MODEL,
             true);
        keep(CPP("at::_ops::mm::call(x)") "," MODEL(8), false);
    }
    keep(LINEAR "," MODEL(9), true);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    ck_assert(model.guesses_units);
}
END_TEST

/* What a line of a loop calls is a unit, whatever loops are in it. */
START_TEST(modules_of_a_list_have_lists_of_their_own)
{
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            keep(LINEAR "," BLOCK(20) "," BLOCK(30) "," MODEL(6), true);
            keep(LINEAR "," BLOCK(21) "," BLOCK(30) "," MODEL(6), true);
        }
        keep(LINEAR "," BLOCK(31) "," MODEL(6), true);
    }
    keep(LINEAR "," MODEL(8), true);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 2);
    ck_assert_int_eq(elements(1, false), 700);
    ck_assert_int_eq(elements(2, false), 700);
    ck_assert(!model.guesses_units);
}
END_TEST

/* An optimizer without temporaries steps while the program still has the model's output. */
START_TEST(what_the_program_frees_later_is_there_in_the_step)
{
    keep(LINEAR "," MODEL(5), true);
    keep(LINEAR "," MODEL(6), true);
    keep(LINEAR "," MODEL(7), true);
    leave(CPP("at::_ops::mm::call(x)") "," MODEL(8), 5000);
    build();
    ck_assert_int_eq(model.end_bytes, 5000);
    ck_assert_int_eq(model.points[model.point_count - 1].end_bytes, 5000);
}
END_TEST

#define LAYER_NORM PY("forward", TORCH "nn/modules/normalization.py", 228) "," CALL

static int64_t peak_of_backward(uint32_t unit)
{
    int64_t most = 0;
    for (size_t i = 0; i < model.point_count; i++) {
        const struct shard_point *point = &model.points[i];
        bool is_of = point->is_backward && model.layers[point->layer].unit == unit &&
                     (unit == SHARD_ROOT || !point->is_outside_unit);
        most = is_of && point->peak_bytes > most ? point->peak_bytes : most;
    }
    return most;
}

/* The head takes the output of the last block's norm, whose statistics are kept until the norm runs
 * backward. The operator of its gradient has scratch space. A ReLU changes the output in place, and
 * has it in backward. */
START_TEST(statistics_of_a_norm_are_no_later_layer)
{
    uint64_t blocks = next;
    for (int i = 0; i < 3; i++) {
        capture_event(&capture, "alloc", next++, 16, LINEAR "," BLOCK(20) "," MODEL(6));
        capture_event(&capture, "alloc", next++, 256, LAYER_NORM "," BLOCK(21) "," MODEL(6));
        capture_event(&capture, "alloc", next++, 16, LAYER_NORM "," BLOCK(21) "," MODEL(6));
    }
    capture_event(&capture, "alloc", next, 32, LOSS);
    capture_free(&capture, next++, 32, STACK_BACKWARD);
    capture_event_with(&capture, "alloc", next++, 800, STACK_BACKWARD, GRADIENT); /* of the head */
    capture_event(&capture, "alloc", next, 9000, STACK_BACKWARD);
    capture_free(&capture, next++, 9000, STACK_BACKWARD);
    for (uint64_t i = 3; i-- > 0;) {
        capture_event(&capture, "alloc", next, 2000, STACK_BACKWARD); /* of the ReLU */
        capture_free(&capture, blocks + 3 * i + 1, 256, STACK_BACKWARD);
        capture_event_with(&capture, "alloc", next + 1, 400, STACK_BACKWARD, GRADIENT);
        capture_free(&capture, blocks + 3 * i + 2, 16, STACK_BACKWARD);
        capture_free(&capture, next, 2000, STACK_BACKWARD);
        capture_event_with(&capture, "alloc", next + 2, 400, STACK_BACKWARD, GRADIENT);
        capture_free(&capture, blocks + 3 * i, 16, STACK_BACKWARD);
        next += 3;
    }
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    ck_assert_int_eq(elements(SHARD_ROOT, false), 200);
    ck_assert_int_ge(peak_of_backward(SHARD_ROOT), 9000);
    for (uint32_t unit = 1; unit < model.unit_count; unit++) {
        ck_assert_int_eq(elements(unit, false), 200);
        ck_assert_int_ge(peak_of_backward(unit), 2000);
        ck_assert_int_lt(peak_of_backward(unit), 9000);
    }
}
END_TEST

/* The last operators of a layer, when nothing that it kept is left. */
START_TEST(last_operators_are_of_their_layer)
{
    tail_bytes = 4000;
    keep(LINEAR "," MODEL(5), true);
    keep(LINEAR "," MODEL(6), true);
    keep(LINEAR "," MODEL(7), true);
    build();
    int64_t peaks[4] = {0};
    for (size_t i = 0; i < model.point_count; i++) {
        const struct shard_point *point = &model.points[i];
        if (point->is_backward && peaks[point->layer] < point->peak_bytes)
            peaks[point->layer] = point->peak_bytes;
    }
    ck_assert_int_eq(peaks[3], 2 * 80 + 4000);
    ck_assert_int_eq(peaks[2], 80 + 4000);
    ck_assert_int_lt(peaks[1], 4000);
}
END_TEST

/* A workspace of cuBLAS at the peak of a layer, which a larger batch would not enlarge. */
START_TEST(a_workspace_is_fixed)
{
    for (int i = 0; i < 3; i++) {
        const char *layer = i == 0 ? LINEAR "," MODEL(5) : LINEAR "," MODEL(6);
        if (i == 1) {
            capture_event_with(&capture, "alloc", 9000, CUBLASLT_WORKSPACE, layer,
                               ",\"category\":\"workspace\"");
            capture_free(&capture, 9000, CUBLASLT_WORKSPACE, layer);
        }
        keep(layer, true);
    }
    build();
    size_t fixed = 0;
    for (size_t i = 0; i < model.point_count; i++) {
        const struct shard_point *point = &model.points[i];
        fixed += point->fixed_bytes > 0;
        ck_assert_int_lt(point->peak_bytes - point->fixed_bytes, 1000);
        ck_assert(point->fixed_bytes == 0 || point->peak_bytes >= CUBLASLT_WORKSPACE);
    }
    ck_assert_uint_eq(fixed, 1);
}
END_TEST

START_TEST(recurrent_layers_are_known)
{
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    for (int i = 0; i < 2; i++) {
        keep(CPP("at::_ops::mm::call(x)") "," PY("forward", TORCH "nn/modules/rnn.py",
                                                 1080) "," CALL "," MODEL(6),
             true);
        keep(LINEAR "," MODEL(7), true);
    }
    build();
    int64_t packed = 0;
    for (size_t i = 0; i < model.layer_count; i++)
        packed += model.layers[i].packed > 0;
    ck_assert_int_eq(packed, 2);
    ck_assert_int_eq(model.layers[1].packed, 0);
}
END_TEST

#define RECURRENT(name, line) PY(name, TORCH "nn/modules/rnn.py", line)

/* Four parameters, which are packed into one block. */
static void pack_parameters(uint64_t rest)
{
    static const uint64_t sizes[] = {160, 200, 20, 20};
    uint64_t first = next;
    for (size_t i = 0; i < 4; i++)
        capture_event(&capture, "alloc", next++, sizes[i], RECURRENT("_apply", 300) "," MADE(3));
    hold(400 + rest, RECURRENT("flatten_parameters", 280) "," RECURRENT("_apply", 302) "," MADE(3));
    for (size_t i = 0; i < 4; i++)
        capture_free(&capture, first + i, sizes[i], RECURRENT("flatten_parameters", 280));
}

/* Their gradient is one, but optimizers and wrappers see each. */
START_TEST(recurrent_layers_have_several_parameters)
{
    for (int fits = 0; fits < 2; fits++) {
        pack_parameters(fits ? 0 : 400);
        hold(400, MADE(3));
        keep(CPP("at::_ops::mm::call(x)") "," RECURRENT("forward", 1080) "," CALL "," MODEL(6),
             true);
        keep(LINEAR "," MODEL(7), true);
        build();
        static const int64_t sizes[] = {40, 50, 5, 5, 100};
        size_t count_of = fits ? 5 : 2;
        ck_assert_uint_eq(model.tensor_count, count_of);
        for (size_t i = 0; fits && i < count_of; i++)
            ck_assert_int_eq(model.tensors[i].elements, sizes[i]);
        uint32_t end = (uint32_t)count_of;
        for (size_t i = 0; i < model.point_count; i++) {
            if (!model.points[i].is_backward ||
                model.points[i].end_tensor <= model.points[i].first_tensor)
                continue;
            ck_assert_uint_eq(model.points[i].end_tensor, end);
            end = model.points[i].first_tensor;
        }
        ck_assert_uint_eq(end, 0);
        destroy();
        create();
    }
}
END_TEST

/* The loss is a part of a model that returns it. */
START_TEST(a_model_may_compute_its_loss)
{
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), true);
    }
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(8), false);
    build();
    for (size_t i = 0; i < model.layer_count; i++)
        ck_assert(!model.layers[i].outside);
}
END_TEST

/* Blocks with one line that calls a Sequential: the iterations are those of the Sequential. */
START_TEST(blocks_of_one_line_hide)
{
    for (int i = 0; i < 6; i++) {
        keep(LINEAR "," SEQUENTIAL "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true);
        keep(CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/act.py",
                                                 3) "," CALL "," SEQUENTIAL
                                                    "," BLOCK(20) "," SEQUENTIAL "," MODEL(6),
             false);
    }
    build();
    ck_assert_uint_gt(model.unit_count, 2);
    ck_assert(model.hides_units);
}
END_TEST

#define RELU PY("forward", TORCH "nn/modules/activation.py", 144) "," CALL

/* Modules that a Sequential calls are units, however little they keep: one of layers, which calls
 * other ones of layers among them. */
START_TEST(lists_within_lists_are_divided)
{
    keep_more(CPP("at::_ops::mm::call(x)") "," MODEL(4), true, 4096);
    keep(LINEAR "," SEQUENTIAL "," MODEL(6), true);
    keep(RELU "," SEQUENTIAL "," MODEL(6), false);
    keep(LINEAR "," SEQUENTIAL "," MODEL(6), true);
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," SEQUENTIAL "," SEQUENTIAL "," MODEL(6), true);
        keep(RELU "," SEQUENTIAL "," SEQUENTIAL "," MODEL(6), false);
    }
    keep(LINEAR "," SEQUENTIAL "," MODEL(6), true);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 2 + 3 + 1);
    for (size_t unit = 0; unit < model.unit_count; unit++)
        ck_assert_int_eq(elements(unit, false), 100);
}
END_TEST

#define ENCODER(line) PY("forward", "/home/u/encoder.py", line) "," CALL "," MODEL(6)

/* Blocks that a line of the program calls are units too, if a head keeps most of the memory. */
START_TEST(blocks_that_keep_little_are_units)
{
    keep(LINEAR "," ENCODER(30), true);
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," BLOCK(20) "," ENCODER(31), true);
        keep(LINEAR "," BLOCK(21) "," ENCODER(31), true);
    }
    keep_more(CPP("at::_ops::mm::call(x)") "," MODEL(8), true, 4096);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    for (size_t unit = 1; unit < model.unit_count; unit++)
        ck_assert_int_eq(elements(unit, false), 200);
}
END_TEST

#define STAGE(line) PY("forward", "/home/u/stage.py", line) "," CALL

/* Nothing inside of a module that is a unit is one. */
START_TEST(stages_of_a_list_are_units)
{
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," STAGE(30) "," SEQUENTIAL "," MODEL(6), true);
        for (int k = 0; k < 4; k++) {
            keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," STAGE(31) "," SEQUENTIAL "," MODEL(6),
                 true);
            keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," STAGE(31) "," SEQUENTIAL "," MODEL(6),
                 true);
        }
    }
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    ck_assert(!model.hides_units);
    for (size_t unit = 1; unit < model.unit_count; unit++)
        ck_assert_int_eq(elements(unit, false), 900);
}
END_TEST

/* What an operator had saved is freed when it has made its last gradient, before a unit has run. */
START_TEST(units_end_after_frees)
{
    scratch_bytes = 0;
    for (int i = 0; i < 3; i++) {
        keep_more(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true, 256);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), false);
    }
    build();
    size_t i = 0;
    while (!model.points[i].is_backward || model.points[i].end_tensor != 3 ||
           model.points[i].first_tensor != 2)
        i++;
    ck_assert_uint_eq(model.tensors[2].unit, 3);
    ck_assert_int_eq(model.points[i].end_bytes, 2 * (256 + 64 + 16 + 64) - 64); /* next output */
}
END_TEST

/* Scratch space of the operator that made it is of the unit, too. */
START_TEST(units_end_after_scratch_space)
{
    scratch_bytes = 1 << 20;
    for (int i = 0; i < 3; i++) {
        keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), true);
    }
    build();
    for (size_t i = 0; i < model.point_count; i++) {
        const struct shard_point *point = &model.points[i];
        bool makes = point->is_backward && point->end_tensor > point->first_tensor;
        ck_assert_int_eq(point->peak_bytes > 1 << 20, makes);
        ck_assert(!makes || !point->is_outside_unit);
    }
}
END_TEST

/* What the forward pass keeps for the backward pass, and no workspace of it. */
START_TEST(the_largest_tensor_is_known)
{
    scratch_bytes = 4096;
    keep_blocks(2);
    keep_more(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true, 256);
    build();
    ck_assert_int_eq(model.tensor_bytes, 256);
}
END_TEST

/* As of gradients in bfloat16, for an optimizer that has its parameters in float32. */
START_TEST(copies_of_gradients_are_no_parameters)
{
    copies = 3;
    keep_blocks(3);
    build();
    ck_assert_uint_eq(model.tensor_count, 3);
    ck_assert_uint_eq(model.unit_count, 1 + 3);
}
END_TEST

/* A moment has the gradients that were there, not all of its layer. */
START_TEST(gradients_appear_one_by_one)
{
    for (int i = 0; i < 4; i++) {
        keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), true);
    }
    build();
    uint32_t made = 0;
    for (size_t i = 0; i < model.point_count; i++) {
        const struct shard_point *point = &model.points[i];
        if (!point->is_backward)
            continue;
        ck_assert_uint_le(point->end_tensor - point->first_tensor, 1);
        made += point->end_tensor - point->first_tensor;
    }
    ck_assert_uint_eq(made, 8);
}
END_TEST

START_TEST(tables_of_a_list_are_units)
{
    for (int i = 0; i < 3; i++)
        look_up(TABLE(4), NULL);
    keep_blocks(3);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3 + 3);
    for (size_t unit = 1; unit <= 3; unit++) {
        ck_assert(model.units[unit].lacks_input_gradient);
        ck_assert_int_eq(elements(unit, false), 800 + 100 * (int64_t)(unit - 1));
        ck_assert(!model.units[3 + unit].lacks_input_gradient);
        ck_assert_int_eq(elements(3 + unit, false), 100);
    }
    ck_assert_int_eq(elements(SHARD_ROOT, false), 0);
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < model.point_count; i++) {
        const struct shard_point *point = &model.points[i];
        if (!point->is_backward) {
            ck_assert_uint_eq(point->layer, i);
            continue;
        }
        for (uint32_t k = point->first_tensor; k < point->end_tensor; k++) {
            ck_assert_uint_lt(k, last);
            ck_assert_uint_eq(model.tensors[k].unit, model.layers[point->layer].unit);
            last = k;
        }
    }
    ck_assert_uint_eq(last, 0);
}
END_TEST

/* A line that calls two layers: a loop if these are alike, and else an expression. */
START_TEST(two_layers_of_a_line_may_be_terms)
{
    for (int is_alike = 0; is_alike < 2; is_alike++) {
        keep_blocks(3);
        for (int i = 0; i < 2; i++) {
            keep_more(CPP("at::_ops::tanh::call(x)") "," MODEL(7), false, is_alike || i ? 16 : 48);
            keep(LINEAR "," MODEL(7), true);
        }
        build();
        ck_assert_uint_eq(model.unit_count, is_alike ? 1 + 3 + 2 : 1 + 3);
        destroy();
        create();
    }
}
END_TEST

/* Embeddings of words and of places, which one line adds up. */
START_TEST(terms_of_a_sum_are_no_list)
{
    look_up(TABLE(4), NULL);
    look_up(TABLE(4), MODEL(4));
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    keep_blocks(3);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    ck_assert_int_eq(elements(SHARD_ROOT, false), 1000 + 900 + 100);
}
END_TEST

/* Tensors that may have at least `rows` rows, as far as the recording shows. */
static size_t count_least(int64_t rows)
{
    size_t found = 0;
    for (size_t i = 0; i < model.tensor_count; i++)
        found += model.tensors[i].least_rows == rows;
    return found;
}

#define APPLY PY("_apply", TORCH "nn/modules/module.py", 990)

/* A model moves its own parameters last, but they are the first of parameters(). */
START_TEST(a_models_own_parameters_come_first)
{
    hold(4000, APPLY "," APPLY "," MADE(3));
    hold(400, APPLY "," APPLY "," APPLY "," MADE(3));
    hold(3600, APPLY "," MADE(3));
    keep(LINEAR "," MODEL(3), true);
    tables = 2;
    build();
    ck_assert_uint_eq(model.tensor_count, 3);
    for (size_t i = 0; i < model.tensor_count; i++) {
        int64_t elements = model.tensors[i].elements;
        ck_assert_uint_eq(model.tensors[i].place, elements == 900 ? 0 : elements == 1000 ? 1 : 2);
    }
}
END_TEST

static void extra(const char *frames, uint64_t bytes)
{
    capture_event(&capture, "alloc", next, bytes, frames);
    capture_free(&capture, next++, bytes, frames);
}

#define NORM PY("forward", TORCH "nn/modules/normalization.py", 420) "," CALL "," MODEL(3)

/* The norm explains one vector, however many operators it is made of; not a parameter that the
 * program passes to an operator itself, which may have few rows. */
START_TEST(a_norm_of_several_operators_is_one)
{
    keep(NORM, true);
    extra(NORM, 64);
    extra(NORM, 16);
    extra(NORM, 16);
    keep(CPP("at::_ops::mm::call(x)") "," MODEL(5), true);
    tables = 3; /* other gradients */
    build();
    ck_assert_uint_eq(model.tensor_count, 5);
    ck_assert_uint_eq(count_least(2), 3);
}
END_TEST

/* A layer whose input is copied first, which makes its output no second one. */
START_TEST(a_copy_of_an_input_is_no_call)
{
    keep(LINEAR "," MODEL(3), true);
    extra(LINEAR "," MODEL(3), 16);
    tables = 2;
    build();
    ck_assert_uint_eq(model.tensor_count, 3);
    ck_assert_uint_eq(count_least(2), 1);
}
END_TEST

/* What is added to a batch, such as embeddings of places, has one row and is no larger than that
 * batch. */
START_TEST(one_row_is_as_large_as_a_batch_at_most)
{
    keep(LINEAR "," MODEL(3), true);
    extra(CPP("at::_ops::mm::call(x)") "," MODEL(5), 3800);
    tables = 3; /* gradients of 4,000, 3,600 and 3,200 bytes; the layer explains the last */
    build();
    ck_assert_uint_eq(model.tensor_count, 4);
    ck_assert_uint_eq(count_least(2), 1);
    ck_assert_uint_eq(count_least(1), 1);
}
END_TEST

TCase *shard_snapshot_tests(void)
{
    TCase *tests = tcase_create("shard_snapshot");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, units_are_what_lists_call);
    tcase_add_test(tests, a_workspace_is_no_gradient);
    tcase_add_test(tests, a_workspace_is_fixed);
    tcase_add_test(tests, functions_are_beside_modules);
    tcase_add_test(tests, what_the_program_frees_later_is_there_in_the_step);
    tcase_add_test(tests, statistics_of_a_norm_are_no_later_layer);
    tcase_add_test(tests, gradients_behind_a_loop_are_of_no_block);
    tcase_add_test(tests, sums_are_handed_to_no_module);
    tcase_add_test(tests, lines_of_a_loop_are_units);
    tcase_add_test(tests, modules_that_run_again_are_the_same_units);
    tcase_add_test(tests, lines_may_call_several_of_a_list);
    tcase_add_test(tests, loops_may_call_one_module);
    tcase_add_test(tests, loops_may_call_modules_elsewhere);
    tcase_add_test(tests, modules_of_a_list_have_lists_of_their_own);
    tcase_add_test(tests, last_operators_are_of_their_layer);
    tcase_add_test(tests, recurrent_layers_are_known);
    tcase_add_test(tests, recurrent_layers_have_several_parameters);
    tcase_add_test(tests, a_model_may_compute_its_loss);
    tcase_add_test(tests, blocks_of_one_line_hide);
    tcase_add_test(tests, lists_within_lists_are_divided);
    tcase_add_test(tests, blocks_that_keep_little_are_units);
    tcase_add_test(tests, stages_of_a_list_are_units);
    tcase_add_test(tests, units_end_after_frees);
    tcase_add_test(tests, units_end_after_scratch_space);
    tcase_add_test(tests, the_largest_tensor_is_known);
    tcase_add_test(tests, copies_of_gradients_are_no_parameters);
    tcase_add_test(tests, gradients_appear_one_by_one);
    tcase_add_test(tests, tables_of_a_list_are_units);
    tcase_add_test(tests, two_layers_of_a_line_may_be_terms);
    tcase_add_test(tests, terms_of_a_sum_are_no_list);
    tcase_add_test(tests, a_norm_of_several_operators_is_one);
    tcase_add_test(tests, a_copy_of_an_input_is_no_call);
    tcase_add_test(tests, a_models_own_parameters_come_first);
    tcase_add_test(tests, one_row_is_as_large_as_a_batch_at_most);
    return tests;
}
