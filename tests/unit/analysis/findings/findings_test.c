#include "analysis/findings/findings.h"

#include <string.h>

#include "unit/analysis/analysis.h"

/* Evidence that shows nothing, at a peak of 1000 bytes. */
struct nothing {
    struct moment peak;
    struct phases phases;
    struct phase_rows rows;
    struct growth growth;
    struct growth_row grown[2];
    struct pending_frees pending;
    struct dropped_graphs dropped;
    struct fragmentation fragmentation;
    struct evidence_of_all evidence;
};

static void begin(struct nothing *n)
{
    *n = (struct nothing){.peak = {.active_bytes = 1000}};
    n->growth.scalar_row = n->growth.last_row = NO_ROW;
    n->growth.rows = n->grown;
    n->growth.row_count = 2;
    n->grown[0].label.full = (char *)"cache.py:7 keep";
    n->grown[0].stack = 1;
    n->grown[1].label.full = (char *)"train.py:9 losses";
    n->grown[1].stack = 1;
    n->evidence = (struct evidence_of_all){.peak = &n->peak,
                                           .phases = &n->phases,
                                           .phase_rows = &n->rows,
                                           .growth = &n->growth,
                                           .pending = &n->pending,
                                           .dropped = &n->dropped,
                                           .fragmentation = &n->fragmentation};
}

static void expect(const struct nothing *n, const char *wanted)
{
    struct findings findings;
    struct error err = {0};
    struct buffer got = BUFFER_INIT;
    ck_assert_msg(findings_make(&findings, &n->evidence, &err), "%s", err.text);
    buffer_puts(&got, "");
    for (size_t i = 0; i < findings.count; i++)
        buffer_printf(&got, "%s%s %lld", i ? ", " : "", finding_kind_name(findings.items[i].kind),
                      (long long)findings.items[i].save_bytes);
    ck_assert_str_eq(got.bytes, wanted);
    buffer_release(&got);
    findings_release(&findings);
}

START_TEST(nothing_is_said_without_bytes)
{
    struct nothing n;
    begin(&n);
    expect(&n, "");
    n.peak.active_bytes = 0;
    n.pending.at_peak_bytes = 5;
    expect(&n, "");
}
END_TEST

START_TEST(little_is_not_worth_a_sentence)
{
    struct nothing n;
    begin(&n);
    n.pending.at_peak_bytes = 19;
    expect(&n, "");
    n.pending.at_peak_bytes = 20;
    expect(&n, "pending_frees 20");
}
END_TEST

/* Of kept gradients the saving is proven; expandable segments may save less. */
START_TEST(growth_and_proven_mistakes_come_first)
{
    struct nothing n;
    begin(&n);
    n.pending.at_peak_bytes = 30;
    n.growth.save_bytes = n.growth.most_bytes = 400;
    n.growth.gradients = (struct stale_gradients){.count = 3, .bytes = 300, .save_bytes = 50};
    n.fragmentation.dump.advice[SETTING_EXPANDABLE_SEGMENTS].would_save_bytes = 100;
    expect(&n, "growth 400, kept_gradients 50, fragmentation 100, pending_frees 30");
    n.fragmentation.dump.advice[SETTING_EXPANDABLE_SEGMENTS].in_force = true;
    expect(&n, "growth 400, kept_gradients 50, pending_frees 30");
}
END_TEST

START_TEST(a_kept_loss_is_named)
{
    struct nothing n;
    struct findings findings;
    struct error err = {0};
    begin(&n);
    n.growth.save_bytes = n.growth.most_bytes = 400;
    ck_assert(findings_make(&findings, &n.evidence, &err));
    ck_assert_ptr_nonnull(strstr(findings.items[0].what, "cache.py:7 keep"));
    ck_assert_ptr_null(strstr(findings.items[0].next, "loss.item()"));
    findings_release(&findings);
    n.growth.scalar_row = n.growth.last_row = 1;
    n.growth.graph = GRAPH_KEPT;
    ck_assert(findings_make(&findings, &n.evidence, &err));
    ck_assert_ptr_nonnull(strstr(findings.items[0].what, "train.py:9 losses"));
    ck_assert_ptr_nonnull(strstr(findings.items[0].next, "loss.item()"));
    findings_release(&findings);
    n.growth.graph = GRAPH_NONE;
    ck_assert(findings_make(&findings, &n.evidence, &err));
    ck_assert_ptr_nonnull(strstr(findings.items[0].what, "cache.py:7 keep"));
    ck_assert_ptr_nonnull(strstr(findings.items[0].next, "loss.item() changes nothing"));
    findings_release(&findings);
}
END_TEST

TCase *findings_tests(void)
{
    TCase *tests = tcase_create("findings");
    tcase_add_test(tests, nothing_is_said_without_bytes);
    tcase_add_test(tests, little_is_not_worth_a_sentence);
    tcase_add_test(tests, growth_and_proven_mistakes_come_first);
    tcase_add_test(tests, a_kept_loss_is_named);
    return tests;
}
