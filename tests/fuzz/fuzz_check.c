/* libFuzzer entry: any bytes as a policy of `memsnap check`, else as a capture that is held to
 * rules and reported in every format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/check/policy.h"
#include "render/check/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static bool try_policy(const uint8_t *data, size_t size)
{
    struct check_rules rules = {0}, twice = {0};
    struct error err;
    if (!check_policy_parse("fuzz", (const char *)data, size, &rules, &err)) {
        require(err.status == STATUS_USAGE && rules.count == 0);
        return false;
    }
    require(rules.count > 0 && rules.count <= CHECK_RULES_MOST);
    for (size_t i = 0; i < rules.count; i++) {
        const struct check_limit *limit = &rules.items[i].limit;
        require(limit->bytes >= 0 && check_limit_bytes(limit, INT64_MAX) >= 0);
    }
    size_t count = rules.count; /* the same policy again adds nothing */
    require(check_policy_parse("fuzz", (const char *)data, size, &twice, &err));
    require(check_rules_merge(&rules, &twice, &err) && rules.count == count);
    check_rules_resolve(&rules, &err);
    check_rules_release(&rules);
    return true;
}

/* A rule of every kind, some of which a capture cannot be held to. */
static void make_rules(struct check_rules *rules)
{
    static const struct {
        const char *kind;
        const char *argument;
    } all[] = {
        {"max-peak", "1KiB"},
        {"max-reserved", "1MiB"},
        {"max-fragmentation", "3.000001%"},
        {"max-growth", "0"},
        {"max-category", "activation=1KiB"},
        {"max-category", "unknown=0"},
        {"max-site", "*a*e*.py:*[0-9] *=1"},
        {"max-site", "u*/*=1MiB"},
        {"max-increase", "0%"},
        {"no-oom", NULL},
        {"no-leaks", NULL},
    };
    struct error err;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        require(check_rules_add(rules, check_kind_find(all[i].kind), all[i].argument, &err));
    require(check_rules_add_conf(rules, "expandable_segments:True", &err));
    require(check_rules_add_conf(rules, "max_split_size_mb:64", &err));
    require(check_rules_resolve(rules, &err));
}

static void render(const struct check_result *result, bool failed, const struct error *err)
{
    static FILE *out;
    if (!out)
        out = fopen("/dev/null", "w");
    require(out != NULL);
    struct checked_file file = {.path = "fuzz", .result = *result, .failed = failed};
    if (failed)
        file.err = *err;
    const struct check_report report = {.files = &file, .count = 1, .source_root = "/home"};
    const struct page page = {.out = out, .width = 80};
    check_text(&page, &report);
    check_json(out, &report);
    check_github(out, &report);
    check_junit(out, &report);
}

/* A capture against itself: nothing has increased. */
static void judge(const struct check_rules *rules, const struct device_report *report,
                  struct site_table *sites)
{
    struct check_baseline baseline;
    struct check_result result = {0};
    struct error err = {0};
    check_baseline_init(&baseline, (size_t)32 << 20);
    if (check_baseline_add(&baseline, report, sites, &err)) {
        const struct check_question question = {
            .rules = rules, .baseline = &baseline, .sites = sites};
        bool ok = check_device(&question, report, report, &result, &err) &&
                  check_finish(rules, &result, &err);
        for (size_t i = 0; i < result.count; i++) {
            const struct check_row *row = &result.rows[i];
            require(row->passed == (row->value <= row->limit));
            require(!row->rule->kind->needs_baseline || (row->passed && row->value == 0));
        }
        render(&result, !ok, &err);
    }
    check_result_release(&result);
    check_baseline_release(&baseline);
}

static void try_device(const struct snapshot *snapshot, uint32_t device, struct site_table *sites)
{
    static const struct report_options options = {0};
    static struct check_rules rules;
    struct error err;
    if (rules.count == 0)
        make_rules(&rules);
    struct timeline *timeline = timeline_build(snapshot, device, &err);
    struct device_report *report =
        timeline ? device_report_build(timeline, sites, &options, &err) : NULL;
    if (report)
        judge(&rules, report, sites);
    device_report_destroy(report);
    timeline_destroy(timeline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct load_options options = {.max_memory = (size_t)32 << 20};
    struct error err;
    uint32_t *devices;
    size_t count;
    if (try_policy(data, size))
        return 0;
    struct snapshot *snapshot = snapshot_load_memory(data, size, &options, &err);
    if (snapshot == NULL)
        return 0;
    struct site_table *sites = site_table_create(snapshot->symbols, &err);
    if (sites != NULL && snapshot_devices(snapshot, &devices, &count, &err)) {
        for (size_t i = 0; i < count && i < 4; i++)
            try_device(snapshot, devices[i], sites);
        free(devices);
    }
    site_table_destroy(sites);
    snapshot_destroy(snapshot);
    return 0;
}
