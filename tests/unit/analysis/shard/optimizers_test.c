/* State and temporaries of optimizers, and the tensors that they follow from. */
#include "analysis/shard/optimizers.h"

#include <string.h>

#include "analysis/shard/tensors.h"
#include "unit/analysis/analysis.h"

static const struct shard_part matrix = {
    .elements = 64 * 128, .height = 64, .width = 128, .dimensions = 2};
static const struct shard_part vector = {
    .elements = 100, .height = 0, .width = 100, .dimensions = 1};
static const struct shard_part kernels = {
    .elements = 8 * 4 * 3 * 5, .height = 3, .width = 5, .dimensions = 4};
static const struct shard_part unknown = {.elements = 10000};

static struct shard_options options;

static void use(const char *name)
{
    shard_options_init(&options);
    options.optimizer = shard_optimizer_find(name);
    ck_assert_ptr_nonnull(options.optimizer);
}

static int64_t state(struct shard_part part)
{
    return shard_state_bytes(&options, part, 4);
}

START_TEST(states)
{
    use("sgd");
    ck_assert_int_eq(state(matrix), 0);
    options.has_master = true;
    ck_assert_int_eq(state(matrix), 4 * matrix.elements);
    options.custom_state = 3;
    ck_assert_int_eq(state(matrix), 7 * matrix.elements);
    use("momentum");
    ck_assert_int_eq(shard_state_bytes(&options, vector, 2), 2 * 100);
    use("adamw");
    ck_assert_int_eq(state(vector), 800);
    use("lion");
    ck_assert_int_eq(state(vector), 400);
    use("adam8bit"); /* small tensors keep float32 */
    ck_assert_int_eq(state(vector), 800);
    ck_assert_int_eq(state(matrix), 2 * matrix.elements + 2 * 4 * matrix.elements / 256);
    ck_assert_int_eq(state((struct shard_part){.elements = 4097}), 2 * 4097 + 2 * 4 * 17);
    use("adafactor");
    ck_assert_int_eq(state(matrix), 4 * (64 + 128));
    ck_assert_int_eq(state(vector), 400);
    ck_assert_int_eq(state(kernels), 4 * 8 * 4 * (3 + 5));
    ck_assert_int_eq(state(unknown), 4 * (100 + 100)); /* as a square */
    use("muon");
    ck_assert_int_eq(state(matrix), 4 * matrix.elements);
    ck_assert_int_eq(state(vector), 800);
    ck_assert_int_eq(state(kernels), 8 * kernels.elements);
    ck_assert_ptr_null(shard_optimizer_find("adagrad"));
}
END_TEST

/* Of a vector, a matrix and the vector again. */
static int64_t temporaries(bool one_by_one)
{
    struct shard_step step = {.options = &options, .is_one_by_one = one_by_one};
    shard_step_add(&step, vector, 4);
    shard_step_add(&step, matrix, 4);
    shard_step_add(&step, vector, 4);
    return shard_step_temporaries(&step);
}

START_TEST(steps)
{
    use("adam");
    ck_assert_int_eq(temporaries(false), 4 * matrix.elements + 800);
    ck_assert_int_eq(temporaries(true), 2 * 4 * matrix.elements + 400);
    options.not_foreach = true;
    ck_assert_int_eq(temporaries(false), 0);
    use("momentum");
    ck_assert_int_eq(temporaries(false), 0);
    use("adam8bit");
    ck_assert_int_eq(temporaries(false), 0);
    use("adafactor");
    ck_assert_int_eq(temporaries(false), 4 * matrix.elements + 800); /* the matrix's */
    use("lion");
    ck_assert_int_eq(temporaries(false), 2 * 4 * matrix.elements);
    use("muon"); /* float32, twice bfloat16, and two of 64 by 64 */
    ck_assert_int_eq(temporaries(false), 8 * matrix.elements + 2 * 2 * 64 * 64);
}
END_TEST

static struct budget budget;
static struct shard_model model;

static bool read(const char *list, struct error *err)
{
    return shard_tensors_read(&model, (struct text){list, strlen(list)},
                              (struct shard_tensor){.unit = 3, .type = SHARD_BFLOAT16}, err);
}

START_TEST(lists_are_read)
{
    struct error err;
    budget = (struct budget){.limit = 1 << 20};
    shard_model_init(&model, &budget);
    ck_assert(read("7:12x4x3x5,8:12:frozen,9:0x4", &err));
    ck_assert(read("1:1", &err));
    ck_assert_uint_eq(model.tensor_count, 3); /* an empty one counts for nothing */
    ck_assert_int_eq(model.tensors[0].elements, 720);
    ck_assert_int_eq(model.tensors[0].rows, 12);
    ck_assert_int_eq(model.tensors[0].height, 3);
    ck_assert_int_eq(model.tensors[0].width, 5);
    ck_assert_uint_eq(model.tensors[0].dimensions, 4);
    ck_assert_uint_eq(model.tensors[0].place, 7);
    ck_assert_uint_eq(model.tensors[0].unit, 3);
    ck_assert(!model.tensors[0].frozen && model.tensors[1].frozen);
    ck_assert_uint_eq(model.tensors[1].dimensions, 1);
    ck_assert_uint_eq(model.tensors[2].place, 1);
    shard_model_release(&model);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* The type is that of the row, unless the list tells. */
START_TEST(lists_have_types)
{
    struct error err;
    budget = (struct budget){.limit = 1 << 20};
    shard_model_init(&model, &budget);
    ck_assert(read(
        "0:10,1:5:float32:frozen,2:4:strided:frozen,3:7:float8_e4m3fn:strided,4:2:float4", &err));
    static const enum shard_type types[] = {SHARD_BFLOAT16, SHARD_FLOAT32, SHARD_BFLOAT16,
                                            SHARD_BYTE, SHARD_TYPE_UNKNOWN};
    ck_assert_uint_eq(model.tensor_count, 5);
    for (size_t i = 0; i < model.tensor_count; i++) {
        ck_assert_int_eq(model.tensors[i].type, types[i]);
        ck_assert_int_eq(model.tensors[i].frozen, i == 1 || i == 2);
        ck_assert_int_eq(model.tensors[i].strided, i == 2 || i == 3);
    }
    ck_assert_int_eq(shard_type_size(SHARD_BFLOAT16), 2);
    ck_assert_int_eq(shard_type_size(SHARD_TYPE_UNKNOWN), 0);
    ck_assert_int_eq(shard_type_find((struct text){"bfloat16,float32", 16}), SHARD_TYPE_UNKNOWN);
    shard_model_release(&model);
}
END_TEST

START_TEST(other_lists_are_refused)
{
    static const char *const lists[] = {"",
                                        "7",
                                        "7:",
                                        "7:3x",
                                        "7:x3",
                                        "7:3,",
                                        "7:3,,8:3",
                                        "7:-3",
                                        "7:3:bfloat16:thawed",
                                        "7:3 ",
                                        "x:3",
                                        "4294967296:3",
                                        "1:9223372036854775808",
                                        "1:4294967296x4294967296"};
    struct error err;
    budget = (struct budget){.limit = 1 << 20};
    shard_model_init(&model, &budget);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        ck_assert_msg(!read(lists[i], &err), "%s", lists[i]);
        ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    }
    shard_model_release(&model);
}
END_TEST

TCase *shard_optimizers_tests(void)
{
    TCase *tcase = tcase_create("optimizers of shard");
    tcase_add_test(tcase, states);
    tcase_add_test(tcase, steps);
    tcase_add_test(tcase, lists_are_read);
    tcase_add_test(tcase, lists_have_types);
    tcase_add_test(tcase, other_lists_are_refused);
    return tcase;
}
