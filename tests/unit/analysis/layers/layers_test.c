#include <stdlib.h>

#include "analysis/layers/layers.h"
#include "unit/analysis/analysis.h"
#include "unit/decode/layers/layers.h"

#define ROW(name, params, allocated, forward, activations)                                         \
    "{\"module_name\":\"" name "\",\"module_params\":" params ",\"allocated\":" allocated          \
    ",\"reserved\":9,\"all_gathered\":0,\"cumul_all_gathered\":0,\"is_forward\":" forward          \
    ",\"event\":{\"memory_diff\":1,\"memory_activations\":" activations "}}"

static struct layers_report *build(const struct layer_trace *trace, size_t top, uint32_t ranks)
{
    const struct layers_options options = {.top = top, .ranks = ranks};
    struct error err;
    struct layers_report *report = layers_report_build(trace, &options, &err);
    ck_assert_msg(report != NULL, "%s", err.text);
    return report;
}

static const struct layers_node *node(const struct layers_report *report, const char *component)
{
    for (size_t i = 0; i < report->node_count; i++)
        if (report->nodes[i].component.size == strlen(component) &&
            memcmp(report->nodes[i].component.bytes, component, strlen(component)) == 0)
            return &report->nodes[i];
    ck_abort_msg("no node %s", component);
}

START_TEST(the_first_of_equals_is_told)
{
    struct layer_trace *trace = layers_load_text(
        "[" ROW("a", "1", "5", "true", "7") "," ROW("b", "1", "8", "true", "9") "," ROW(
            "c", "1", "8", "false", "9") "," ROW("d", "1", "1", "true", "9") "]");
    struct layers_report *report = build(trace, 0, 2);
    ck_assert_int_eq(report->allocated.bytes, 8);
    ck_assert_uint_eq(report->allocated.row, 1);
    ck_assert_uint_eq(report->reserved.row, 0);
    ck_assert_uint_eq(report->producer_count, 3);
    ck_assert_uint_eq(report->producers[0], 1);
    ck_assert_uint_eq(report->producers[1], 3);
    ck_assert_int_eq(report->total_activations, 25);
    ck_assert_int_eq(report->total_forward, 3);
    layers_report_destroy(report);
    layers_report_destroy(NULL);
    layer_trace_destroy(trace);
}
END_TEST

START_TEST(tree_opens_what_is_heavy)
{
    struct layer_trace *trace = layers_load_text("[" ROW("m.big.x", "3", "1", "true", "50") "," ROW(
        "m._w.big.y", "4", "1", "true", "40") "," ROW("m.small.x", "2", "1", "true",
                                                      "1") "," ROW("m.small.y", "1", "1", "true",
                                                                   "2") "]");
    struct layers_report *report = build(trace, 3, 2);
    ck_assert(node(report, "m")->shown && node(report, "m")->expanded);
    ck_assert(node(report, "big")->shown && !node(report, "big")->expanded);
    ck_assert_uint_eq(node(report, "m")->child_count, 2);
    layers_report_destroy(report);
    report = build(trace, 0, 2);
    ck_assert_int_eq(report->nodes[0].params, 10);
    ck_assert_int_eq(node(report, "big")->params, 7);
    ck_assert_int_eq(node(report, "big")->activations, 90);
    ck_assert_uint_eq(node(report, "big")->modules, 2);
    ck_assert(node(report, "big")->expanded && node(report, "small")->expanded);
    ck_assert(node(report, "y")->shown);
    layers_report_destroy(report);
    report = build(trace, 1, 2);
    ck_assert(node(report, "m")->shown && !node(report, "m")->expanded);
    ck_assert(!node(report, "big")->shown);
    layers_report_destroy(report);
    layer_trace_destroy(trace);
}
END_TEST

START_TEST(holders_count_their_parts_once)
{
    struct layer_trace *trace = layers_load_text("[" ROW("a", "10", "1", "true", "1") "," ROW(
        "a.b", "4", "1", "true", "1") "," ROW("a.c", "5", "1", "false", "1") "]");
    struct layers_report *report = build(trace, 0, 4);
    ck_assert_int_eq(report->nodes[0].params, 10);
    ck_assert_uint_eq(report->shard_count, 1);
    ck_assert_int_eq(report->shards[0].saved_bytes, 7); /* a rank keeps 3 of 10 */
    ck_assert(report->shards[0].worth);
    layers_report_destroy(report);
    layer_trace_destroy(trace);
}
END_TEST

START_TEST(memory_is_given_back)
{
    struct layer_trace *trace = layers_load_text("[" ROW("a.b", "4", "1", "true", "1") "]");
    const struct layers_options options = {.top = 1, .ranks = 2};
    struct error err;
    size_t used = trace->budget->used;
    layers_report_destroy(build(trace, 1, 2));
    ck_assert_uint_eq(trace->budget->used, used);
    for (size_t more = 0; more < 2048; more += 64) {
        trace->budget->limit = used + more;
        layers_report_destroy(layers_report_build(trace, &options, &err));
        ck_assert_uint_eq(trace->budget->used, used);
    }
    layer_trace_destroy(trace);
}
END_TEST

TCase *layers_report_tests(void)
{
    TCase *tests = tcase_create("report");
    tcase_add_test(tests, the_first_of_equals_is_told);
    tcase_add_test(tests, tree_opens_what_is_heavy);
    tcase_add_test(tests, holders_count_their_parts_once);
    tcase_add_test(tests, memory_is_given_back);
    return tests;
}
