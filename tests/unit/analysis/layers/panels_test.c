#include <stdio.h>

#include "analysis/layers/panels.h"
#include "unit/analysis/analysis.h"
#include "unit/decode/layers/layers.h"

#define ROW(name, params, allocated, forward, activations)                                         \
    "{\"module_name\":\"" name "\",\"module_params\":" params ",\"allocated\":" allocated          \
    ",\"reserved\":0,\"all_gathered\":0,\"cumul_all_gathered\":0,\"is_forward\":" forward          \
    ",\"event\":{\"memory_diff\":1,\"memory_activations\":" activations "}}"

/* The panels of a trace whose report is released, with at most `columns` columns. */
static struct layer_panels make(const struct layer_trace *trace, size_t columns)
{
    const struct layers_options options = {.top = 1, .ranks = 2};
    struct layer_panels panels;
    struct error err;
    struct layers_report *report = layers_report_build(trace, &options, &err);
    ck_assert_msg(report && layer_panels_of_trace(&panels, report, columns, &err), "%s", err.text);
    layers_report_destroy(report);
    return panels;
}

START_TEST(measures_are_those_of_the_rows)
{
    struct layer_trace *trace = layers_load_text(
        "[" ROW("a", "4", "5", "true", "7") "," ROW("b", "9", "8", "true", "3") "," ROW(
            "b", "9", "8", "false", "6") "," ROW("a", "4", "1", "false", "2") "]");
    struct layer_panels panels = make(trace, 100);
    const struct layer_panel *panel = &panels.panels[PANEL_ALLOCATED];
    ck_assert_uint_eq(panel->columns, 4);
    ck_assert_int_eq(panel->bytes[PASS_FORWARD][1], 8);
    ck_assert_int_eq(panel->bytes[PASS_FORWARD][2], -1);
    ck_assert_int_eq(panel->bytes[PASS_BACKWARD][1], -1);
    ck_assert_int_eq(panel->bytes[PASS_BACKWARD][3], 1);
    ck_assert_int_eq(panel->peak_bytes, 8);
    ck_assert_uint_eq(panel->peak_item, 1); /* the first of equals, as in FairScale's summary */
    ck_assert_int_eq(panel->peak_pass, PASS_FORWARD);
    panel = &panels.panels[PANEL_CUMUL_ACTIVATIONS];
    ck_assert_int_eq(panel->bytes[PASS_FORWARD][0], 7);
    ck_assert_int_eq(panel->bytes[PASS_FORWARD][1], 10);
    ck_assert_int_eq(panel->bytes[PASS_BACKWARD][2], -1);
    ck_assert_int_eq(panels.panels[PANEL_ACTIVATIONS].bytes[PASS_BACKWARD][2], 6);
    panel = &panels.panels[PANEL_PARAMS];
    ck_assert_uint_eq(panel->items, 2);
    ck_assert_int_eq(panel->bytes[PASS_FORWARD][1], 9);
    ck_assert_int_eq(panels.panels[PANEL_RESERVED].peak_bytes, 0);
    ck_assert_uint_eq(panels.panels[PANEL_ACTIVE].columns, 4);
    ck_assert_int_eq(panels.panels[PANEL_ACTIVE].peak_bytes, 0);
    layer_panels_release(&panels);
    layer_panels_release(&panels);
    layer_trace_destroy(trace);
}
END_TEST

/* For any number of columns, every row is in its column, and no peak is lost. */
START_TEST(columns_keep_the_most)
{
    struct buffer text = BUFFER_INIT;
    for (int i = 0; i < 97; i++)
        buffer_printf(&text,
                      "%s{\"module_name\":\"m%d\",\"module_params\":1,\"allocated\":%d,"
                      "\"reserved\":1,\"all_gathered\":0,\"cumul_all_gathered\":0,"
                      "\"is_forward\":%s,\"event\":{\"memory_diff\":0,\"memory_activations\":0}}",
                      i ? "," : "[", i, i * 37 % 97, i % 3 ? "true" : "false");
    buffer_puts(&text, "]");
    struct layer_trace *trace = layers_load_text(text.bytes);
    for (size_t columns = 1; columns <= 100; columns++) {
        struct layer_panels panels = make(trace, columns);
        const struct layer_panel *panel = &panels.panels[PANEL_ALLOCATED];
        ck_assert_uint_eq(panel->columns, columns < 97 ? columns : 97);
        ck_assert_uint_eq(layer_column_first(panel, 0), 0);
        ck_assert_uint_eq(layer_column_first(panel, panel->columns), 97);
        for (size_t c = 0; c < panel->columns; c++) {
            int64_t most[LAYER_PASSES] = {-1, -1};
            for (size_t i = layer_column_first(panel, c); i < layer_column_first(panel, c + 1);
                 i++) {
                size_t pass = trace->rows[i].is_forward ? PASS_FORWARD : PASS_BACKWARD;
                if (trace->rows[i].allocated > most[pass])
                    most[pass] = trace->rows[i].allocated;
            }
            ck_assert_int_eq(panel->bytes[PASS_FORWARD][c], most[PASS_FORWARD]);
            ck_assert_int_eq(panel->bytes[PASS_BACKWARD][c], most[PASS_BACKWARD]);
        }
        ck_assert_int_eq(panel->peak_bytes, 96);
        layer_panels_release(&panels);
    }
    layer_trace_destroy(trace);
    buffer_release(&text);
}
END_TEST

START_TEST(an_empty_trace_has_no_columns)
{
    struct layer_trace *trace = layers_load_text("{\"traces\":[]}");
    struct layer_panels panels = make(trace, 10);
    ck_assert_uint_eq(panels.panels[PANEL_ALLOCATED].columns, 0);
    ck_assert_int_eq(panels.panels[PANEL_ALLOCATED].peak_bytes, 0);
    layer_panels_release(&panels);
    layer_trace_destroy(trace);
}
END_TEST

TCase *layer_panels_tests(void)
{
    TCase *tests = tcase_create("panels");
    tcase_add_test(tests, measures_are_those_of_the_rows);
    tcase_add_test(tests, columns_keep_the_most);
    tcase_add_test(tests, an_empty_trace_has_no_columns);
    return tests;
}
