/* Units and the loss of a step that a snapshot recorded. */
#include "analysis/shard/from_snapshot.h"

#include <stdio.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define MOST_KEPT   64
#define CALL_MODEL  SCRIPT
#define SEQUENTIAL  PY("forward", TORCH "nn/modules/container.py", 250) "," CALL
#define MODEL(line) PY("forward", "/home/u/model.py", line) "," CALL "," CALL_MODEL
#define BLOCK(line) PY("forward", "/home/u/block.py", line) "," CALL
#define LINEAR                                                                                     \
    CPP("at::_ops::mm::call(x)") "," PY("forward", TORCH "nn/modules/linear.py", 125) "," CALL
#define TABLE(line) PY("forward", TORCH "nn/modules/sparse.py", 189) "," CALL "," MODEL(line)
#define MADE(line)  PY("<module>", "/home/u/train.py", line)
#define LOSS        CPP("at::_ops::mm::call(x)") "," PY("<module>", "/home/u/train.py", 10)

static struct capture capture;
static struct forward_chain chain;
static struct shard_model model;
static uint64_t kept[MOST_KEPT], kept_bytes[MOST_KEPT], next;
static bool is_trained[MOST_KEPT];
static size_t count, tables;

static void create(void)
{
    capture_init(&capture);
    chain = (struct forward_chain){0};
    model = (struct shard_model){0};
    next = 4096;
    count = tables = 0;
}

static void destroy(void)
{
    shard_model_release(&model);
    forward_chain_release(&chain);
    capture_release(&capture);
}

/* What a layer saves for the backward pass, in which parameters get a gradient, and its output. */
static void keep_more(const char *frames, bool trained, uint64_t bytes)
{
    ck_assert_uint_lt(count, MOST_KEPT);
    is_trained[count] = trained;
    kept_bytes[count] = bytes;
    kept[count++] = next;
    capture_event(&capture, "alloc", next++, bytes, frames);
    capture_event(&capture, "alloc", next++, 64, frames);
}

static void keep(const char *frames, bool trained)
{
    keep_more(frames, trained, 16);
}

/* A parameter that a line of the program makes. */
static void hold(uint64_t bytes, const char *line)
{
    capture_event_with(&capture, "alloc", next++, bytes, line, ",\"category\":\"parameter\"");
}

static void hold_blocks(size_t blocks, bool adapted, const char *line)
{
    hold(4000, line);
    for (size_t i = 0; i < blocks; i++) {
        hold(800, line);
        if (adapted)
            hold(400, line);
        hold(1200, line);
    }
    hold(8, line);
}

static void keep_blocks(size_t blocks)
{
    for (size_t i = 0; i < blocks; i++) {
        keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), true);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), false);
    }
}

/* A call of a table keeps nothing. Behind it, the line that calls it may allocate, too. */
static void look_up(const char *frames, const char *own)
{
    capture_event(&capture, "alloc", next, 64, frames);
    capture_free(&capture, next++, 64, frames);
    if (own) {
        capture_event(&capture, "alloc", next, 32, own);
        capture_free(&capture, next++, 32, own);
    }
    tables++;
}

static int64_t elements(size_t unit, bool frozen)
{
    int64_t sum = 0;
    for (size_t i = 0; i < model.tensor_count; i++)
        if (model.tensors[i].unit == unit && model.tensors[i].frozen == frozen)
            sum += model.tensors[i].elements;
    return sum;
}

static void build(void)
{
    struct error err;
    for (size_t i = count; i-- > 0;) {
        capture_free(&capture, kept[i] + 1, 64, STACK_BACKWARD);
        if (is_trained[i])
            capture_event_with(&capture, "alloc", next++, 400, STACK_BACKWARD,
                               ",\"category\":\"gradient\"");
        capture_event(&capture, "alloc", next, 8, STACK_BACKWARD);
        capture_free(&capture, next++, 8, STACK_BACKWARD);
        capture_free(&capture, kept[i], kept_bytes[i], STACK_BACKWARD);
    }
    for (size_t i = 0; i < tables; i++) /* the last comes first */
        capture_event_with(&capture, "alloc", next++, 4000 - i * 400, STACK_BACKWARD,
                           ",\"category\":\"gradient\"");
    capture_event(&capture, "alloc", next++, 8, STACK_STEP);
    capture_load(&capture);
    const struct chain_options options = {.level = CHAIN_BLOCKS, .most = 1000};
    ck_assert(forward_chain_build(&chain, capture.timeline, capture.sites, &options, &err));
    ck_assert_int_eq(chain.absence, CHAIN_FOUND);
    shard_model_init(&model, capture.snapshot->budget);
    ck_assert_msg(shard_model_from_snapshot(&model, capture.timeline, capture.sites, &chain,
                                            capture.snapshot->symbols, &err),
                  "%s", err.text);
}

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

/* Adapters beside weights that are frozen. */
START_TEST(frozen_parameters_are_of_their_blocks)
{
    hold_blocks(4, true, MADE(3));
    keep_blocks(4);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 4);
    for (size_t unit = 1; unit <= 4; unit++) {
        ck_assert_int_eq(elements(unit, false), 100);
        ck_assert_int_eq(elements(unit, true), 500);
    }
    ck_assert_int_eq(elements(SHARD_ROOT, true), 1002);
    ck_assert_int_eq(model.buffer_bytes, 0);
}
END_TEST

/* Of blocks that are alike, some are trained: the sizes do not tell which. */
START_TEST(frozen_blocks_lie_between_trained_ones)
{
    static const bool trained[] = {true, false, true, false, true, true};
    hold(4000, MADE(3));
    for (size_t i = 0; i < 6; i++) {
        hold(400, MADE(3));
        hold(1200, MADE(3));
    }
    for (size_t i = 0; i < 6; i++) {
        keep(LINEAR "," BLOCK(20) "," SEQUENTIAL "," MODEL(6), trained[i]);
        keep(LINEAR "," BLOCK(21) "," SEQUENTIAL "," MODEL(6), false);
    }
    build();
    ck_assert_uint_eq(model.unit_count, 7);
    for (size_t unit = 1; unit < model.unit_count; unit++) {
        ck_assert_int_eq(elements(unit, false), trained[unit - 1] ? 100 : 0);
        ck_assert_int_eq(elements(unit, true), trained[unit - 1] ? 300 : 400);
    }
    for (size_t i = 0; i < model.tensor_count; i++) /* in the order in which they were made */
        if (model.tensors[i].elements == 100)
            ck_assert_uint_eq(model.tensors[i].place, 2 * model.tensors[i].unit - 1);
}
END_TEST

/* Adapters that are made after the model. */
START_TEST(adapters_may_come_later)
{
    hold_blocks(4, false, MADE(3));
    for (int i = 0; i < 4; i++)
        hold(400, MADE(4));
    keep_blocks(4);
    build();
    for (size_t unit = 1; unit <= 4; unit++)
        ck_assert_int_eq(elements(unit, true), 500);
    ck_assert_int_eq(elements(SHARD_ROOT, true), 1002);
}
END_TEST

/* The first blocks keep nothing for a backward pass, but are gathered. */
START_TEST(frozen_blocks_come_first)
{
    hold(4000, MADE(3));
    for (int i = 0; i < 7; i++)
        hold(400, MADE(3));
    keep_blocks(4);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3 + 4);
    for (size_t unit = 1; unit <= 7; unit++) {
        ck_assert_int_eq(elements(unit, false), unit > 3 ? 100 : 0);
        ck_assert_int_eq(elements(unit, true), unit > 3 ? 0 : 100);
    }
    for (size_t i = 1; i < model.point_count && !model.points[i].is_backward; i++)
        ck_assert_uint_eq(model.points[i].layer, i);
}
END_TEST

/* What a frozen module that runs before the pass allocates, and frees at once. */
static void run_frozen(const char *frames, uint64_t bytes)
{
    capture_event(&capture, "alloc", next, bytes, frames);
    capture_free(&capture, next++, bytes, frames);
}

#define CONVOLUTION PY("forward", TORCH "nn/modules/conv.py", 553) "," CALL
#define NORM        PY("forward", TORCH "nn/modules/batchnorm.py", 193) "," CALL
#define OTHER       PY("<module>", "/home/u/train.py", 99)
#define FROZEN      PY("forward", "/home/u/frozen.py", 7) "," CALL

/* A layer, a block that runs twice, and another kind of block, which a Sequential calls; and one
 * that it does not. */
static void run_frozen_lists(void)
{
    run_frozen(CONVOLUTION "," SEQUENTIAL "," MODEL(4), 128);
    for (int i = 0; i < 2; i++) {
        run_frozen(CONVOLUTION "," BLOCK(30) "," SEQUENTIAL "," MODEL(4), 64);
        run_frozen(NORM "," BLOCK(31) "," SEQUENTIAL "," MODEL(4), 32);
    }
    run_frozen(CONVOLUTION "," FROZEN "," SEQUENTIAL "," MODEL(4), 16);
    run_frozen(CONVOLUTION "," MODEL(5), 16);
}

/* Blocks of two lines, of which the first has a parameter. */
static void run_frozen_copy(size_t blocks, const char *first, const char *second)
{
    for (size_t i = 0; i < blocks; i++) {
        run_frozen(first, 64);
        run_frozen(second, 64);
    }
}

/* Blocks of unequal sizes, which show only by their calls. */
START_TEST(frozen_calls_tell_blocks)
{
    static const uint64_t sizes[] = {1200, 2000, 40, 80, 4000, 60, 120, 6000, 1600};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        hold(sizes[i], MADE(3));
    for (int i = 0; i < 3; i++)
        hold(400, MADE(3));
    run_frozen_lists();
    keep_blocks(3);
    build();
    static const int64_t frozen[] = {400, 300, 530, 1045, 1500};
    static const int64_t peaks[] = {0, 128, 64, 64, 16};
    ck_assert_uint_eq(model.unit_count, 1 + 4 + 3);
    for (size_t unit = 0; unit < 5; unit++)
        ck_assert_int_eq(elements(unit, true), frozen[unit]);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(model.layers[i].unit, i);
        ck_assert_int_eq(model.points[i].peak_bytes, peaks[i]);
    }
    for (size_t unit = 5; unit < model.unit_count; unit++)
        ck_assert_int_eq(elements(unit, false), 100);
    ck_assert_int_eq(model.buffer_bytes, 0);
}
END_TEST

/* Another number of parameters tells nothing of the blocks; one that the program calls beside the
 * model is no part of it. */
START_TEST(frozen_calls_must_fit)
{
    for (int i = 0; i < 20; i++)
        hold(404 + 4 * (uint64_t)i, MADE(3));
    for (int i = 0; i < 3; i++)
        hold(400, MADE(3));
    run_frozen_lists();
    keep_blocks(3);
    build();
    ck_assert_uint_eq(model.unit_count, 1 + 3);
    destroy();
    create();
    for (int i = 0; i < 6; i++)
        hold(400, MADE(3));
    run_frozen_copy(3, CONVOLUTION "," BLOCK(20) "," OTHER, BLOCK(21) "," OTHER);
    keep_blocks(3);
    build();
    ck_assert_int_eq(model.buffer_bytes, 1200);
}
END_TEST

/* A teacher with the sizes of the model, which runs it. */
START_TEST(a_teacher_may_be_part_of_the_model)
{
    for (int i = 0; i < 6; i++)
        hold(400, MADE(3));
    run_frozen_copy(3, CONVOLUTION "," BLOCK(20) "," MODEL(4), BLOCK(21) "," MODEL(4));
    keep_blocks(3);
    build();
    ck_assert_int_eq(model.buffer_bytes, 0);
    ck_assert_uint_eq(model.unit_count, 1 + 3 + 3);
    for (size_t unit = 1; unit <= 6; unit++)
        ck_assert_int_eq(elements(unit, unit <= 3), 100);
}
END_TEST

/* An average of the weights, and a teacher. */
START_TEST(other_models_are_not_frozen)
{
    for (int i = 0; i < 8; i++)
        hold(400, i < 4 ? MADE(3) : MADE(4));
    keep_blocks(4);
    build();
    ck_assert_int_eq(model.buffer_bytes, 1600);
    destroy();
    create();
    for (int i = 0; i < 4; i++)
        hold(400, MADE(3));
    for (int i = 0; i < 6; i++)
        hold(1600, MADE(4));
    keep_blocks(4);
    build();
    ck_assert_int_eq(model.buffer_bytes, 9600);
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

TCase *shard_snapshot_tests(void)
{
    TCase *tests = tcase_create("shard_snapshot");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, units_are_what_lists_call);
    tcase_add_test(tests, recurrent_layers_are_known);
    tcase_add_test(tests, recurrent_layers_have_several_parameters);
    tcase_add_test(tests, a_model_may_compute_its_loss);
    tcase_add_test(tests, blocks_of_one_line_hide);
    tcase_add_test(tests, gradients_appear_one_by_one);
    tcase_add_test(tests, frozen_parameters_are_of_their_blocks);
    tcase_add_test(tests, frozen_blocks_lie_between_trained_ones);
    tcase_add_test(tests, adapters_may_come_later);
    tcase_add_test(tests, frozen_blocks_come_first);
    tcase_add_test(tests, frozen_calls_tell_blocks);
    tcase_add_test(tests, frozen_calls_must_fit);
    tcase_add_test(tests, a_teacher_may_be_part_of_the_model);
    tcase_add_test(tests, other_models_are_not_frozen);
    tcase_add_test(tests, tables_of_a_list_are_units);
    tcase_add_test(tests, terms_of_a_sum_are_no_list);
    tcase_add_test(tests, two_layers_of_a_line_may_be_terms);
    return tests;
}
