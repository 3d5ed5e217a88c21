#include "base/buffer.h"
#include "solve/advice/advice.h"
#include "solve/chain/segment_cost.h"
#include "unit/solve/chains.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 30};

#define ROW_KEYS                                                                                   \
    "\"module_params\":0,\"allocated\":0,\"reserved\":0,\"all_gathered\":0,"                       \
    "\"cumul_all_gathered\":0,\"event\":{\"memory_diff\":0,\"memory_activations\":0}"
#define CALL(name, us, tail, peak, reads, saves)                                                   \
    "{\"module_name\":\"" name "\"," ROW_KEYS                                                      \
    ",\"is_forward\":true,\"is_leaf\":true,\"plain\":true,\"gradient_bytes\":4,\"forward_us\":" us \
    ",\"tail_us\":" tail ",\"peak_bytes\":" peak ",\"reads\":[" reads "],\"saves\":[" saves "]},"
#define LOSS(reads, saves)                                                                         \
    "{\"module_name\":\"\"," ROW_KEYS ",\"is_forward\":true,\"is_leaf\":false,\"forward_us\":1,"   \
    "\"peak_bytes\":1360,\"reads\":[" reads "],\"saves\":[" saves "]},"
#define BACKWARD(name, peak)                                                                       \
    "{\"module_name\":\"" name "\"," ROW_KEYS ",\"is_forward\":false,\"peak_bytes\":" peak "}"

/* b's input (1) is saved, c's (2) is not, and d reads what a made (0) again. The loss saves its
 * own. */
static const char small[] =
    "{\"schema\":\"memsnap.layer-trace/"
    "1\",\"before_bytes\":1000,\"peak_bytes\":1500,\"traces\":[" CALL(
        "a", "2", "0.5", "1110", "", "0,1") CALL("b", "2", "2", "1160", "1",
                                                 "1,3") CALL("c", "2", "1", "1200", "2",
                                                             "4") CALL("d", "2", "0", "1300", "0,5",
                                                                       "5") LOSS("6", "7")
        BACKWARD("", "1400") "," BACKWARD("d", "1380") "," BACKWARD(
            "a",
            "1200") "],\"storages\":[[10,0],[100,0],[50,1],[20,1],[30,2],[40,2],[60,3],[70,4]]}";

START_TEST(storages_make_the_chain)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct layer_trace *trace = layer_trace_load_memory(small, sizeof(small) - 1, 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    const struct chain *chain = &problem.chain;
    ck_assert(problem.recorded && problem.timed);
    ck_assert_uint_eq(chain->layers, 5);
    ck_assert_int_eq(chain->pinned[0], 10); /* saved, and read much later */
    static const int64_t x[] = {0, 100, 50, 40, 60, 0}, late[] = {0, 0, 50, 0, 60, 0};
    static const int64_t xbar[] = {110, 20, 70, 0, 70}, reach[] = {1, 2, 3, 4, 4};
    static const int64_t forward[] = {2000, 2000, 2000, 2000, 1000};
    static const int64_t tail[] = {500, 2000, 1000, 0, 1000};
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(chain->x[i], x[i]);
        ck_assert_int_eq(chain->late[i], late[i]);
        ck_assert_int_eq(chain->loose[i], i == 2 ? 50 : i == 4 ? 60 : 0);
        ck_assert_int_eq(chain->far[i], 0);
        ck_assert_int_eq(chain->xbar[i], xbar[i]);
        ck_assert_int_eq(chain->forward[i], forward[i]);
        ck_assert_int_eq(chain->tail[i], tail[i]);
        ck_assert_int_eq(chain->reach[i], reach[i]);
        ck_assert_int_eq(chain->gradient[i], i < 4 ? 4 : 0);
    }
    ck_assert_int_eq(chain->ftmp[3], 100);        /* 1300 - 1000 - 200 */
    ck_assert_int_eq(chain->btmp[4], 130);        /* 1400 - 1000 - 270 */
    ck_assert_int_eq(problem.before_bytes, 1100); /* 1500 at the peak, of which tensors are 1400 */
    ck_assert_int_eq(problem.no_checkpoint_total_bytes, 1500);
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
}
END_TEST

/* Each layer also returns something that it saves. The program drops it of a when b has run, in row
 * 2, and of b with its own result, in row 3, where memory is highest. */
static const char held[] =
    "{\"schema\":\"memsnap.layer-trace/1\",\"before_bytes\":1000,\"traces\":[" CALL(
        "a", "2", "0", "1110", "", "0,1") CALL("b", "2", "0", "1160", "1", "2,3")
        CALL("c", "2", "0", "1170", "3", "4") LOSS("4", "5")
            BACKWARD("c", "1200") "],\"storages\":[[10,0,2],[100,0],[20,1,3],"
                                  "[30,1,3],[40,2],[50,3]]}";

START_TEST(what_the_program_holds_outlives_a_checkpoint)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct layer_trace *trace = layer_trace_load_memory(held, sizeof(held) - 1, 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    static const int64_t pinned[] = {0, 50, 0}, xbar[] = {110, 50, 40}, x[] = {0, 100, 0, 40};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(problem.chain.pinned[i], pinned[i]);
        ck_assert_int_eq(problem.chain.xbar[i], xbar[i]);
        ck_assert_int_eq(problem.chain.x[i], x[i]);
    }
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
}
END_TEST

#define BEGUN(name, start, peak)                                                                   \
    "{\"module_name\":\"" name "\"," ROW_KEYS ",\"is_forward\":false,\"start_bytes\":" start       \
    ",\"peak_bytes\":" peak "},"

/* Each layer saves its result of 100 bytes, and has gradients of 4. Those of a are there before its
 * backward begins, and where the backward of c begins is not known. */
static const char begun[] =
    "{\"schema\":\"memsnap.layer-trace/1\",\"before_bytes\":1000,\"traces\":[" CALL("a", "2", "0",
                                                                                    "1100", "", "0")
        CALL("b", "2", "0", "1200", "0", "1") CALL("c", "2", "0", "1300", "1", "2") LOSS("2", "")
            BEGUN("b", "1304", "1305") BEGUN("a", "1210", "1212")
                BACKWARD("c", "1402") "],\"storages\":[[100,0],[100,1],[100,2]]}";

START_TEST(gradients_take_the_place_of_what_is_freed)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct layer_trace *trace = layer_trace_load_memory(begun, sizeof(begun) - 1, 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    static const int64_t replaced[] = {0, 3, 0, 0}; /* b takes 1 byte more than at its beginning */
    ck_assert_uint_eq(problem.chain.layers, 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(problem.chain.replaced[i], replaced[i]);
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
}
END_TEST

#define JOINED(name, plain, follows, more, reads)                                                  \
    "{\"module_name\":\"" name "\"," ROW_KEYS                                                      \
    ",\"is_forward\":true,\"is_leaf\":true,\"plain\":" plain ",\"follows\":" follows more          \
    ",\"reads\":[" reads "],\"saves\":[]},"

/* All but a read the mask that m made. b has other arguments than a, and d changes what c made. */
static const char joined[] =
    "{\"schema\":\"memsnap.layer-trace/1\",\"traces\":[" JOINED("m", "true", "false", "", "")
        JOINED("a", "true", "false", "", "") JOINED("b", "false", "true", "", "0,1")
            JOINED("c", "true", "true", "", "0,2")
                JOINED("d", "true", "true", ",\"changes\":3", "0")
                    JOINED("e", "true", "true", "", "0,3") LOSS("4", "4")
                        BACKWARD("e", "0") "],\"storages\":[[8,0],[8,1],[8,2],[8,4],[8,5]]}";

START_TEST(modules_that_follow_are_joined)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct layer_trace *trace = layer_trace_load_memory(joined, sizeof(joined) - 1, 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    static const int64_t reach[] = {1, 2, 6, 6, 4, 6, 6};
    ck_assert_uint_eq(problem.chain.layers, 7);
    for (size_t i = 0; i < 7; i++)
        ck_assert_int_eq(problem.chain.reach[i], reach[i]);
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
}
END_TEST

#define FIRST_NAME(name) ",\"first_name\":\"" name "\""

/* Each layer calls the norm that both share, and the first one a module that it got. */
static const char several[] = "{\"schema\":\"memsnap.layer-trace/1\",\"traces\":[" JOINED(
    "l.0.norm", "true", "false", FIRST_NAME("norm"), "")
    JOINED("l.0.mix", "true", "true", FIRST_NAME("mix"), "0")
        JOINED("l.1.norm", "true", "true", FIRST_NAME("norm"), "1")
            JOINED("norm", "true", "true", "", "2") LOSS("3", "3")
                BACKWARD("norm", "0") "],\"storages\":[[8,0],[8,1],[8,2],[8,3]]}";

START_TEST(shared_modules_have_their_first_name)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct layer_trace *trace =
        layer_trace_load_memory(several, sizeof(several) - 1, 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    static const char *const names[] = {"norm [0/3]", "mix", "norm [1/3]", "norm [2/3]"};
    ck_assert_uint_eq(problem.chain.layers, 5);
    for (size_t i = 0; i < 4; i++) {
        const struct piece *piece = &problem.pieces[i];
        ck_assert(text_equals(problem.modules[piece->first_module], names[i]));
        ck_assert(piece->ended && !piece->interrupted);
    }
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
}
END_TEST

#define OPERATOR(name, row, us, tail, other, keepable, made)                                       \
    "{\"name\":\"" name "\",\"row\":" row ",\"us\":" us ",\"tail_us\":" tail                       \
    ",\"other_bytes\":" other ",\"keepable\":" keepable ",\"made\":[" made "]}"

/* mm is costly for its bytes, add is not. What c's mm made is changed later. */
static const char operators[] =
    ",\"operators\":[" OPERATOR("mm", "0", "1.5", "0.25", "7", "true", "1") "," OPERATOR(
        "add", "1", "1", "1", "500", "true",
        "2") "," OPERATOR("mm", "2", "1", "0", "0", "false",
                          "4") "," OPERATOR("mm", "3", "2", "2", "0", "true", "6") "]}";

/* Both layers are checkpointed. In the forward pass their casts, 7 and 9, add up; later each layer
 * has its own. */
START_TEST(casts_are_held_until_the_backward_pass)
{
    struct chain chain;
    struct error err;
    struct placement placement = {0};
    struct replay_outcome with, without;
    ck_assert(chain_create(&chain, 3, &budget, &err));
    for (size_t i = 0; i < 2; i++) {
        chain.x[i + 1] = 10;
        chain.xbar[i] = 30;
    }
    chain.ftmp[2] = 100;
    ck_assert(placement_add(&placement, 0, 1, &budget, &err));
    ck_assert(placement_add(&placement, 1, 2, &budget, &err));
    ck_assert(placement_replay(&placement, &chain, &budget, &without, &err));
    chain.pinned[0] = chain.cast[0] = 7;
    chain.pinned[1] = chain.cast[1] = 9;
    ck_assert(placement_replay(&placement, &chain, &budget, &with, &err));
    ck_assert_int_eq(with.peak_bytes, without.peak_bytes + 16);
    chain.ftmp[2] = 0;
    ck_assert(placement_replay(&placement, &chain, &budget, &with, &err));
    chain.pinned[0] = chain.cast[0] = chain.pinned[1] = chain.cast[1] = 0;
    ck_assert(placement_replay(&placement, &chain, &budget, &without, &err));
    ck_assert_int_eq(with.peak_bytes, without.peak_bytes); /* that of the backward pass */
    placement_release(&placement, &budget);
    chain_release(&chain, &budget);
}
END_TEST

/* A checkpoint stops at the last saved tensor, 40 bytes before the end; 25 of them are a result
 * that it keeps. */
START_TEST(late_results_are_there_where_a_checkpoint_stops)
{
    struct chain chain;
    struct error err;
    struct placement placement = {0};
    struct replay_outcome without, with;
    ck_assert(chain_create(&chain, 2, &budget, &err));
    ck_assert(chain_add_option(&chain, &budget, &err));
    chain.x[1] = 25;
    chain.xbar[0] = 60;
    chain.ftmp[0] = 30;
    chain.over[0] = 40;
    chain.options[0].kept[0] = 25;
    for (size_t i = 0; i < 2; i++)
        chain.options[0].reach[i] = chain.reach[i];
    ck_assert(placement_add(&placement, 0, 1, &budget, &err));
    placement.segments[0].option = 1;
    ck_assert(placement_replay(&placement, &chain, &budget, &without, &err));
    chain.options[0].late[0] = 25;
    ck_assert(placement_replay(&placement, &chain, &budget, &with, &err));
    ck_assert_int_eq(with.peak_bytes, 25 + 60 + 30 - 15);
    ck_assert_int_eq(without.peak_bytes, 25 + 60);
    struct segment_cost cost = {.option = &chain.options[0]};
    segment_cost_add(&cost, &chain, 0, 0);
    ck_assert_int_eq(segment_cost_peak(&cost, &chain, 1), with.peak_bytes);
    placement_release(&placement, &budget);
    chain_release(&chain, &budget);
}
END_TEST

START_TEST(operators_make_options)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct buffer text = BUFFER_INIT;
    buffer_add(&text, small, sizeof(small) - 2); /* without the last bracket */
    buffer_puts(&text, operators);
    struct layer_trace *trace = layer_trace_load_memory(text.bytes, text.size, 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert_uint_eq(trace->unknown_key_count, 0);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    const struct chain *chain = &problem.chain;
    ck_assert_uint_eq(chain->option_count, 1);
    ck_assert(text_equals(problem.kept_operators[0], "mm"));
    static const int64_t kept[] = {107, 0, 0, 60, 0}, unsaved[] = {7, 0, 0, 60, 0};
    static const int64_t late[] = {0, 0, 0, 60, 0};
    static const int64_t forward[] = {500, 2000, 2000, 0, 1000};
    static const int64_t tail[] = {250, 2000, 1000, 0, 1000}, reach[] = {1, 2, 2, 4, 4};
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(chain->options[0].kept[i], kept[i]);
        ck_assert_int_eq(chain->options[0].unsaved[i], unsaved[i]);
        ck_assert_int_eq(chain->options[0].late[i], late[i]);
        ck_assert_int_eq(chain->options[0].forward[i], forward[i]);
        ck_assert_int_eq(chain->options[0].tail[i], tail[i]);
        ck_assert_int_eq(chain->options[0].reach[i], reach[i]);
    }
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
    buffer_release(&text);
}
END_TEST

START_TEST(huge_sizes_are_refused)
{
    static const char *const texts[] = {
        "{\"schema\":\"memsnap.layer-trace/"
        "1\",\"before_bytes\":9223372036854775807,\"traces\":[" CALL("a", "2", "0.5", "1110", "",
                                                                     "") BACKWARD("a", "0") "]}",
        "{\"schema\":\"memsnap.layer-trace/1\",\"traces\":[" CALL("a", "2", "0.5", "1110", "", "0")
            BACKWARD("a", "0") "],\"storages\":[[1125899906842624,0]]}",
        "{\"schema\":\"memsnap.layer-trace/1\",\"traces\":[" CALL(
            "a", "2", "0.5", "4611686018427387900", "", "") BACKWARD("a", "0") "]}",
        "{\"schema\":\"memsnap.layer-trace/1\",\"traces\":[" CALL(
            "a", "9007199254740992", "0.5", "1", "", "") BACKWARD("a", "0") "]}",
    };
    const struct cuts leaves = {.kind = CUT_LEAVES};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct problem problem;
        struct error err;
        struct layer_trace *trace =
            layer_trace_load_memory(texts[i], strlen(texts[i]), 1 << 20, &err);
        ck_assert_msg(trace != NULL, "%s", err.text);
        ck_assert(!problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
        ck_assert_int_eq(err.status, STATUS_LIMIT);
        layer_trace_destroy(trace);
    }
}
END_TEST

TCase *recorded_tests(void)
{
    TCase *tests = tcase_create("recorded");
    tcase_add_test(tests, storages_make_the_chain);
    tcase_add_test(tests, what_the_program_holds_outlives_a_checkpoint);
    tcase_add_test(tests, gradients_take_the_place_of_what_is_freed);
    tcase_add_test(tests, modules_that_follow_are_joined);
    tcase_add_test(tests, shared_modules_have_their_first_name);
    tcase_add_test(tests, casts_are_held_until_the_backward_pass);
    tcase_add_test(tests, late_results_are_there_where_a_checkpoint_stops);
    tcase_add_test(tests, operators_make_options);
    tcase_add_test(tests, huge_sizes_are_refused);
    return tests;
}
