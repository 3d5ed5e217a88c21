#include "base/buffer.h"
#include "solve/advice/advice.h"
#include "solve/chain/segment_cost.h"
#include "solve/dp/front.h"
#include "solve/dp/peak.h"
#include "unit/solve/chains.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 30};

/* Some results of each layer, part of which it saves anyway. */
static void add_option(struct chain *chain, struct chance *chance)
{
    struct error err;
    ck_assert(chain_add_option(chain, &budget, &err));
    struct chain_option *option = &chain->options[chain->option_count - 1];
    for (size_t i = 0; i < chain->layers; i++) {
        int64_t saved = chance_in(chance, 0, (int32_t)chain->xbar[i]);
        option->unsaved[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, 20);
        option->kept[i] = saved + option->unsaved[i];
        option->late[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, (int32_t)option->kept[i]);
        option->forward[i] = chance_in(chance, 0, (int32_t)chain->forward[i]);
        option->tail[i] = chance_in(chance, 0, (int32_t)option->forward[i]);
        option->reach[i] =
            (int64_t)i + chance_in(chance, 0, (int32_t)(chain->reach[i] - (int64_t)i));
    }
}

/* A random chain with what only recorded layers have. */
static struct chain recorded_chain(struct chance *chance, size_t layers)
{
    struct chain chain = random_chain(chance, layers, 100, 9, &budget);
    for (size_t i = 0; i < layers; i++) {
        int64_t rest = chance_in(chance, 0, (int32_t)chain.forward[i]);
        bool saves = chance_in(chance, 0, 3) > 0;
        chain.late[i] = i > 0 ? chance_in(chance, 0, (int32_t)chain.x[i]) : 0;
        chain.loose[i] = chance_in(chance, 0, (int32_t)chain.late[i]);
        if (i > 0 && chain.late[i] > 0) /* xbar no longer includes the output */
            chain.xbar[i - 1] = larger(chain.xbar[i - 1] - chain.late[i], 0);
        chain.far[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, 40);
        chain.tail[i] = saves ? rest : chain.forward[i] + (i > 0 ? chain.tail[i - 1] : 0);
        chain.gradient[i] = chance_in(chance, 0, 60);
        chain.outer[i] = chance_in(chance, 0, (int32_t)chain.ftmp[i]);
        chain.over[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, 40);
        chain.pinned[i] = chance_in(chance, 0, 1) * chance_in(chance, 0, (int32_t)chain.xbar[i]);
        chain.reach[i] = (int64_t)i + chance_in(chance, 0, (int32_t)(layers - i));
    }
    for (int32_t left = chance_in(chance, 0, 2); left > 0; left--)
        add_option(&chain, chance);
    return chain;
}

/* Every placement, by replay. */
struct tried {
    const struct chain *chain;
    struct placement placement;
    int64_t peaks[20];  /* the least, by the largest number of segments */
    int64_t times[200]; /* the least peak, by extra time */
    int64_t totals[20]; /* as peaks: the least total */
};

static void try_from(struct tried *tried, size_t i)
{
    const struct chain *chain = tried->chain;
    struct placement *placement = &tried->placement;
    struct error err;
    if (i == chain->layers) {
        struct replay_outcome outcome;
        ck_assert(placement_replay(placement, chain, &budget, &outcome, &err));
        for (size_t k = placement->count; k < 20; k++)
            if (outcome.peak_bytes < tried->peaks[k])
                tried->peaks[k] = outcome.peak_bytes;
        for (size_t k = placement->count; k < 20; k++)
            if (outcome.total_bytes < tried->totals[k])
                tried->totals[k] = outcome.total_bytes;
        for (int64_t t = outcome.extra_time; t < 200; t++)
            if (outcome.peak_bytes < tried->times[t])
                tried->times[t] = outcome.peak_bytes;
        return;
    }
    try_from(tried, i + 1);
    for (unsigned number = 0; number <= chain->option_count; number++) {
        size_t reach = chain_reach(chain, chain_option(chain, number), i);
        for (size_t end = i + 1; end <= reach; end++) {
            ck_assert(placement_add(placement, i, end, &budget, &err));
            placement->segments[placement->count - 1].option = number;
            try_from(tried, end);
            placement->count--;
        }
    }
}

static void try_all(struct tried *tried, const struct chain *chain)
{
    *tried = (struct tried){.chain = chain};
    for (size_t k = 0; k < 20; k++)
        tried->peaks[k] = tried->totals[k] = INT64_MAX;
    for (size_t t = 0; t < 200; t++)
        tried->times[t] = INT64_MAX;
    try_from(tried, 0);
    placement_release(&tried->placement, &budget);
}

START_TEST(placements_are_the_best_of_all)
{
    struct chance chance = {31};
    for (int round = 0; round < 300; round++) {
        struct chain chain = recorded_chain(&chance, (size_t)chance_in(&chance, 1, 6));
        struct tried tried;
        struct front front;
        struct error err;
        try_all(&tried, &chain);
        ck_assert_int_eq(tried.peaks[0], peak_without(&chain));
        for (size_t most = 0; most <= 7; most++) {
            struct placement placement = {0};
            int64_t peak;
            ck_assert(peak_place(&chain, most, &placement, &peak, &budget, &err));
            ck_assert_int_eq(peak, tried.peaks[most]);
            placement_release(&placement, &budget);
        }
        ck_assert(front_create(&front, &chain, &budget, &err));
        for (size_t i = 0; i < front.count; i++) {
            struct placement placement = {0};
            struct replay_outcome outcome;
            ck_assert(front_place(&front, &front.points[i], &placement, &budget, &err));
            ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
            ck_assert_int_eq(outcome.peak_bytes, front.points[i].peak_bytes);
            ck_assert_int_eq(outcome.extra_time, front.points[i].extra_time);
            ck_assert_int_eq(outcome.peak_bytes, tried.times[outcome.extra_time]);
            placement_release(&placement, &budget);
        }
        front_release(&front, &budget);
        chain_release(&chain, &budget);
    }
}
END_TEST

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
    ck_assert_int_eq(chain->pinned[0], 10); /* saved, and read far behind */
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

START_TEST(the_least_total_is_found)
{
    struct chance chance = {37};
    size_t larger_peaks = 0;
    for (int round = 0; round < 300; round++) {
        struct chain chain = recorded_chain(&chance, (size_t)chance_in(&chance, 1, 6)), counted;
        struct tried tried;
        struct front front;
        struct error err;
        try_all(&tried, &chain);
        ck_assert(chain_with_gradients(&counted, &chain, &budget, &err));
        for (size_t most = 0; most <= 7; most++) {
            struct placement placement = {0};
            int64_t total;
            ck_assert(peak_place(&counted, most, &placement, &total, &budget, &err));
            ck_assert_int_eq(total, tried.totals[most]);
            placement_release(&placement, &budget);
        }
        ck_assert(front_create(&front, &chain, &budget, &err));
        ck_assert(front_weigh_totals(&front, &budget, &err));
        ck_assert_int_eq(front.least.total_bytes, tried.totals[19]);
        larger_peaks += front.least.peak_bytes > front.points[0].peak_bytes;
        struct placement placement = {0};
        struct replay_outcome outcome;
        ck_assert(front_place(&front, &front.least, &placement, &budget, &err));
        ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
        ck_assert_int_eq(outcome.total_bytes, front.least.total_bytes);
        ck_assert_int_eq(outcome.peak_bytes, front.least.peak_bytes);
        ck_assert_int_eq(outcome.extra_time, front.least.extra_time);
        placement_release(&placement, &budget);
        front_release(&front, &budget);
        chain_drop_gradients(&counted, &budget);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_gt(larger_peaks, 0);
}
END_TEST

START_TEST(points_with_a_larger_total_are_dropped)
{
    struct chance chance = {7};
    size_t dropped = 0;
    for (int round = 0; round < 100; round++) {
        struct chain chain = recorded_chain(&chance, (size_t)chance_in(&chance, 2, 7));
        struct front front;
        struct error err;
        ck_assert(front_create(&front, &chain, &budget, &err));
        int64_t least = front.points[0].peak_bytes;
        ck_assert(front_weigh_totals(&front, &budget, &err));
        dropped += front.points[0].peak_bytes > least;
        ck_assert_int_eq(front.points[front.count - 1].extra_time, 0);
        for (size_t i = 1; i < front.count; i++) {
            ck_assert_int_lt(front.points[i - 1].total_bytes, front.points[i].total_bytes);
            ck_assert_int_lt(front.points[i - 1].peak_bytes, front.points[i].peak_bytes);
        }
        front_release(&front, &budget);
        chain_release(&chain, &budget);
    }
    ck_assert_uint_gt(dropped, 0);
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
    tcase_add_test(tests, placements_are_the_best_of_all);
    tcase_add_test(tests, storages_make_the_chain);
    tcase_add_test(tests, what_the_program_holds_outlives_a_checkpoint);
    tcase_add_test(tests, modules_that_follow_are_joined);
    tcase_add_test(tests, the_least_total_is_found);
    tcase_add_test(tests, points_with_a_larger_total_are_dropped);
    tcase_add_test(tests, casts_are_held_until_the_backward_pass);
    tcase_add_test(tests, late_results_are_there_where_a_checkpoint_stops);
    tcase_add_test(tests, operators_make_options);
    tcase_add_test(tests, huge_sizes_are_refused);
    return tests;
}
