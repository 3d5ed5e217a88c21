/* The floating-point operations of plans. */
#include "base/buffer.h"
#include "solve/problem/flops.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 20};

#define ROW(name, forward, more)                                                                   \
    "{\"module_name\":\"" name "\",\"module_params\":0,\"allocated\":0,\"reserved\":0,"            \
    "\"is_forward\":" forward ",\"all_gathered\":0,\"cumul_all_gathered\":0,\"depth\":1,"          \
    "\"is_leaf\":true,\"peak_bytes\":9," more                                                      \
    "\"event\":{\"memory_diff\":0,\"memory_activations\":0}}"
#define FORWARD(name, flops, more)                                                                 \
    ROW(name, "true",                                                                              \
        "\"forward_us\":8,\"flops\":" flops ",\"plain\":true,\"follows\":true,\"reads\":[]," more)

/* Step: 1000 operations. `a` computes 30 after the last tensor that it saves, `b` saves nothing. */
static const char *const rows[] = {
    FORWARD("a", "100", "\"tail_us\":1,\"tail_flops\":30,\"saves\":[0],"),
    FORWARD("b", "200", "\"saves\":[],"),
    FORWARD("c", "60", "\"tail_us\":1,\"saves\":[2],"),
    ROW("a", "false", "\"flops\":640,"),
};

static const char rest[] =
    "],\"storages\":[[90,0],[90,1],[90,2]],\"operators\":["
    "{\"name\":\"mm\",\"row\":0,\"us\":7,\"tail_us\":1,\"other_bytes\":0,\"keepable\":true,"
    "\"flops\":70,\"tail_flops\":20,\"made\":[0]},"
    "{\"name\":\"mm\",\"row\":1,\"us\":8,\"tail_us\":8,\"other_bytes\":0,\"keepable\":true,"
    "\"flops\":200,\"made\":[1]},"
    "{\"name\":\"add\",\"row\":2,\"us\":9,\"tail_us\":1,\"other_bytes\":900,\"keepable\":true,"
    "\"made\":[2]}]}";

static struct layer_trace *load(void)
{
    struct buffer text = BUFFER_INIT;
    struct error err;
    buffer_puts(&text, "{\"schema\":\"memsnap.layer-trace/1\",\"traces\":[");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        buffer_puts(&text, i > 0 ? "," : "");
        buffer_puts(&text, rows[i]);
    }
    buffer_puts(&text, rest);
    struct layer_trace *trace = layer_trace_load_memory(text.bytes, text.size, 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    buffer_release(&text);
    return trace;
}

static double share(const struct problem *problem, const struct layer_trace *trace,
                    struct wrapped *segments, size_t count)
{
    const struct placement plan = {.segments = segments, .count = count};
    struct error err;
    double found;
    ck_assert(problem_extra_flops(problem, trace, &plan, &found, &budget, &err));
    return found;
}

START_TEST(flops_are_counted_until_a_checkpoint_stops)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct layer_trace *trace = load();
    ck_assert_uint_eq(trace->unknown_key_count, 0);
    ck_assert_int_eq(trace->operators[0].tail_flops, 20);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    ck_assert_uint_eq(problem.chain.layers, 3);
    ck_assert_uint_eq(problem.chain.option_count, 1);
    ck_assert(text_equals(problem.kept_operators[0], "mm"));
    struct wrapped all = {.first = 0, .end = 3}, two = {.first = 0, .end = 2};
    struct wrapped second = {.first = 1, .end = 2};
    ck_assert(share(&problem, trace, NULL, 0) == 0);
    ck_assert(share(&problem, trace, &all, 1) == 0.36);
    ck_assert(share(&problem, trace, &two, 1) == 0.07);
    ck_assert(share(&problem, trace, &second, 1) == 0);
    all.option = two.option = 1;
    ck_assert(share(&problem, trace, &all, 1) == 0.09);
    ck_assert(share(&problem, trace, &two, 1) == 0.02);
    all.depth = 1;
    ck_assert(share(&problem, trace, &all, 1) < 0); /* within another: not counted */
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
}
END_TEST

TCase *flops_tests(void)
{
    TCase *tests = tcase_create("flops");
    tcase_add_test(tests, flops_are_counted_until_a_checkpoint_stops);
    return tests;
}
