#include "solve/chain/schedule.h"
#include "solve/chain/segment_cost.h"
#include "solve/dp/peak.h"
#include "solve/problem/problem.h"
#include "unit/solve/solve.h"

static struct budget budget = {.limit = 1 << 30};

#define ROW(name, allocated, diff, forward, peak, reads, saves)                                    \
    "{\"module_name\":\"" name "\",\"module_params\":0,\"allocated\":" allocated                   \
    ",\"reserved\":0,\"all_gathered\":0,\"cumul_all_gathered\":0,\"event\":{\"memory_diff\":" diff \
    ",\"memory_activations\":0},\"is_forward\":" forward                                           \
    ",\"is_leaf\":true,\"plain\":true,\"forward_us\":1,\"peak_bytes\":" peak ",\"reads\":[" reads  \
    "],\"saves\":[" saves "]}"

/* c reads what a made (1) and nothing saves; it waits while b runs. `diff` is of a, and `end` what
 * is allocated after c. */
#define TRACE(diff, end, more)                                                                     \
    "{\"schema\":\"memsnap.layer-trace/1\",\"before_bytes\":1000,\"peak_bytes\":1190,"             \
    "\"traces\":[" ROW("a", "1140", diff, "true", "1140", "", "0") "," ROW(                        \
        "b", "1160", "20", "true", "1165", "0",                                                    \
        "2") "," ROW("c", end, "-10", "true", "1190", "1,2",                                       \
                     "3") "," ROW("c", "1150", "0", "false", "1150", "", "") more                  \
        "],\"storages\":[[100,0],[40,0],[20,1],[30,2]]}"

static int64_t outer_of_b(const char *text)
{
    const struct cuts leaves = {.kind = CUT_LEAVES};
    struct problem problem;
    struct error err;
    struct layer_trace *trace = layer_trace_load_memory(text, strlen(text), 1 << 20, &err);
    ck_assert_msg(trace != NULL, "%s", err.text);
    ck_assert(problem_create(&problem, trace, &leaves, SIZE_MAX, &budget, &err));
    const struct chain *chain = &problem.chain;
    ck_assert_int_eq(chain->ftmp[1], 45); /* 1165 - 1000 - 120 */
    ck_assert_int_eq(chain->far[2], 40);
    ck_assert_int_eq(chain->outer[0], 0);
    ck_assert_int_eq(chain->outer[2], 0); /* its checkpoint holds what it reads */
    int64_t outer = chain->outer[1];
    problem_release(&problem, &budget);
    layer_trace_destroy(trace);
    return outer;
}

START_TEST(what_waits_is_gone_when_a_checkpoint_runs)
{
    ck_assert_int_eq(outer_of_b(TRACE("140", "1150", "")), 40);
    /* 7 bytes were there before the step, and were freed in it */
    ck_assert_int_eq(outer_of_b(TRACE("133", "1150", "")), 33);
    /* 15 bytes are still there at the end */
    ck_assert_int_eq(outer_of_b(TRACE("140", "1165", "")), 25);
    /* a second pass */
    ck_assert_int_eq(
        outer_of_b(TRACE("140", "1150", "," ROW("d", "1150", "0", "true", "1150", "", ""))), 0);
}
END_TEST

/* The second of two layers that are checkpointed together. */
START_TEST(a_second_run_is_without_it)
{
    struct chain chain;
    struct error err;
    struct placement placement = {0};
    struct replay_outcome outcome;
    ck_assert(chain_create(&chain, 2, &budget, &err));
    chain.xbar[1] = 60;
    chain.ftmp[1] = 50;
    chain.outer[1] = 45;
    ck_assert(placement_add(&placement, 0, 2, &budget, &err));
    ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.peak_bytes, 65);
    struct segment_cost cost = {0};
    segment_cost_add(&cost, &chain, 0, 0);
    segment_cost_add(&cost, &chain, 0, 1);
    ck_assert_int_eq(segment_cost_peak(&cost, &chain, 2), 65);
    placement_release(&placement, &budget);
    chain_release(&chain, &budget);
}
END_TEST

/* The gradients of the step before count until the backward pass begins, and only in the total. */
START_TEST(old_gradients_are_there_in_the_forward_pass)
{
    struct chain chain;
    struct error err;
    struct placement placement = {0};
    struct replay_outcome outcome;
    ck_assert(chain_create(&chain, 2, &budget, &err));
    for (size_t i = 0; i < 2; i++) {
        chain.xbar[i] = 60;
        chain.gradient[i] = 30;
        chain.old[i] = 50;
    }
    ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.peak_bytes, 120);
    ck_assert_int_eq(outcome.total_bytes, 170);
    ck_assert(placement_add(&placement, 0, 2, &budget, &err));
    ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.total_bytes,
                     150); /* the checkpoint, and the gradient of its last layer */
    chain.old[0] = CHAIN_MOST;
    ck_assert(!chain_check(&chain, &err));
    placement_release(&placement, &budget);
    chain_release(&chain, &budget);
}
END_TEST

/* Gradients that replace activations count once the backward of their layer is done. */
START_TEST(replaced_gradients_are_not_there_at_the_peak_of_their_layer)
{
    struct chain chain, counted;
    struct error err;
    struct placement placement = {0};
    struct replay_outcome outcome;
    ck_assert(chain_create(&chain, 2, &budget, &err));
    for (size_t i = 0; i < 2; i++) {
        chain.xbar[i] = 60;
        chain.gradient[i] = 30;
        chain.replaced[i] = 20;
    }
    ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.total_bytes, 130); /* with 10 of the second layer */
    chain.xbar[0] = chain.xbar[1] = 0;
    ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.total_bytes, 40); /* all of the second layer, and 10 of the first */
    ck_assert(chain_with_gradients(&counted, &chain, &budget, &err));
    ck_assert_int_eq(peak_without(&counted), 40);
    chain_drop_gradients(&counted, &budget);
    chain.replaced[0] = 31;
    ck_assert(!chain_check(&chain, &err));
    placement_release(&placement, &budget);
    chain_release(&chain, &budget);
}
END_TEST

/* ftmp has what passes from layer to layer and is not kept, since xbar has not. */
START_TEST(passing_results_count_once)
{
    struct chain chain;
    struct error err;
    struct placement placement = {0};
    struct replay_outcome outcome;
    ck_assert(chain_create(&chain, 3, &budget, &err));
    chain.x[1] = chain.late[1] = chain.loose[1] = 25;
    chain.x[2] = chain.late[2] = chain.loose[2] = 35;
    chain.ftmp[0] = 30;
    chain.ftmp[1] = chain.over[1] = 65; /* input, output, and 5 more */
    ck_assert(placement_add(&placement, 0, 2, &budget, &err));
    ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.peak_bytes, 65);
    placement_release(&placement, &budget);
    chain_release(&chain, &budget);
}
END_TEST

/* A result that the layer itself saves is there once more while the layer after the checkpoint
 * reads it, though the checkpoint does not hold it. */
START_TEST(results_are_there_while_they_are_read)
{
    struct chain chain;
    struct error err;
    struct placement placement = {0};
    struct replay_outcome outcome;
    ck_assert(chain_create(&chain, 2, &budget, &err));
    chain.x[1] = chain.late[1] = chain.xbar[0] = 25;
    chain.over[0] = 25;
    chain.x[2] = chain.xbar[1] = 40;
    chain.ftmp[1] = 3;
    ck_assert(placement_add(&placement, 0, 1, &budget, &err));
    ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.peak_bytes, 80); /* the gradient of x[2] beside it, then */
    chain.ftmp[1] = 30;
    ck_assert(placement_replay(&placement, &chain, &budget, &outcome, &err));
    ck_assert_int_eq(outcome.peak_bytes, 25 + 40 + 30);
    placement_release(&placement, &budget);
    chain_release(&chain, &budget);
}
END_TEST

TCase *outer_tests(void)
{
    TCase *tests = tcase_create("outer");
    tcase_add_test(tests, what_waits_is_gone_when_a_checkpoint_runs);
    tcase_add_test(tests, a_second_run_is_without_it);
    tcase_add_test(tests, old_gradients_are_there_in_the_forward_pass);
    tcase_add_test(tests, replaced_gradients_are_not_there_at_the_peak_of_their_layer);
    tcase_add_test(tests, passing_results_count_once);
    tcase_add_test(tests, results_are_there_while_they_are_read);
    return tests;
}
