/* Rows become columns. */
#include "model/loader.h"

#include <stdlib.h>
#include <string.h>

#include "unit/model/model.h"
#include "unit/model/script.h"

static struct loader *loader;
static struct row_sink sink;
static struct error err;
static const struct load_options EVERYTHING;

static void create(void)
{
    loader = loader_create(&EVERYTHING, &err);
    ck_assert_ptr_nonnull(loader);
    sink = loader_sink(loader);
}

static string_id name(const char *text)
{
    string_id id;
    ck_assert(symbols_string(loader_symbols(loader), text, strlen(text), &id, &err));
    return id;
}

static void push(uint32_t device, const struct event_row *row)
{
    ck_assert(sink.event(sink.self, device, row, &err));
}

static struct snapshot *finish(void)
{
    struct snapshot *snapshot = loader_finish(loader, &err);
    ck_assert_ptr_nonnull(snapshot);
    return snapshot;
}

static const char *action_text(const struct snapshot *snapshot, size_t code)
{
    return symbols_text(snapshot->symbols, snapshot->action_names[code]).bytes;
}

START_TEST(events_become_columns)
{
    struct event_row row = {.action = ACTION_ALLOC,
                            .addr = UINT64_MAX,
                            .size = 12,
                            .time_us = -5,
                            .stack = 3,
                            .extra = {.stream = 7, .pool = {0, 1}}};
    ck_assert(sink.trace(sink.self, 0, &err));
    ck_assert(sink.trace(sink.self, 1, &err));
    for (uint64_t i = 0; i < 3000; i++) {
        row.size = i;
        row.action = i % 2 ? ACTION_ALLOC : ACTION_OOM;
        row.extra.stream = (int64_t)(i / 1000);
        push(1, &row);
    }
    struct snapshot *snapshot = finish();
    ck_assert_uint_eq(snapshot->trace_count, 2);
    ck_assert_uint_eq(snapshot->traces[0].count, 0);
    const struct trace *trace = &snapshot->traces[1];
    ck_assert_uint_eq(trace->device, 1);
    ck_assert_uint_eq(trace->count, 3000);
    ck_assert_uint_eq(trace->file_events, 3000);
    ck_assert_uint_eq(trace->first_event, 0);
    ck_assert(!trace->edge.present);
    ck_assert_uint_eq(trace_addr(trace, 2999), UINT64_MAX);
    ck_assert_uint_eq(trace_size(trace, 1234), 1234);
    ck_assert_int_eq(trace_time(trace, 0), -5);
    ck_assert_uint_eq(trace->stack[77], 3);
    ck_assert_int_eq(trace->action[1], ACTION_ALLOC);
    ck_assert_int_eq(trace->action[2], ACTION_OOM);
    ck_assert_uint_eq(snapshot->extra_count, 3);
    ck_assert_int_eq(snapshot->extras[trace_extra(trace, 2500)].stream, 2);
    ck_assert_uint_eq(snapshot->extras[trace_extra(trace, 0)].pool[1], 1);
    snapshot_destroy(snapshot);
}
END_TEST

/* Sizes, times and addresses around the limit of 32 bits, over more than two blocks of events. */
START_TEST(wide_numbers_are_kept)
{
    const uint64_t sizes[] = {0, 512, UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    const int64_t times[] = {5,         INT64_C(4000000000), -INT64_C(3000000000),
                             TIME_NONE, INT64_MAX,           INT64_MIN + 1};
    const uint64_t near = UINT64_C(0x7f5a00000000), far = UINT64_C(1) << 40; /* half of 2 TiB */
    const uint64_t addrs[] = {near,       near + 512,       near - 512, near + 1,
                              near + far, near + far - 512, near - far, near - far - 512,
                              0,          UINT64_MAX,       512};
    const size_t count = 3 * COLUMN_BLOCK + 7;
    struct event_row row = {.action = ACTION_ALLOC};
    for (size_t i = 0; i < count; i++) {
        row.size = sizes[i % 6];
        row.time_us = times[i / 5 % 6];
        row.addr = addrs[i % 11];
        row.extra.stream = i % 977 == 0;
        push(0, &row);
    }
    struct snapshot *snapshot = finish();
    const struct trace *trace = &snapshot->traces[0];
    for (size_t i = 0; i < count; i++) {
        if (trace_size(trace, i) != sizes[i % 6] || trace_time(trace, i) != times[i / 5 % 6] ||
            trace_addr(trace, i) != addrs[i % 11] ||
            snapshot->extras[trace_extra(trace, i)].stream != (i % 977 == 0))
            ck_abort_msg("event %zu has the numbers of another", i);
    }
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(extras_are_stored_once)
{
    struct event_row row = {.action = ACTION_ALLOC};
    for (int64_t i = 0; i < 5000; i++) {
        row.extra.stream = i % 100;
        row.extra.category = (string_id)(i % 3);
        push(0, &row);
    }
    struct snapshot *snapshot = finish();
    ck_assert_uint_eq(snapshot->extra_count, 300);
    for (int64_t i = 0; i < 5000; i++) {
        const struct event_extra *extra =
            &snapshot->extras[trace_extra(&snapshot->traces[0], (size_t)i)];
        if (extra->stream != i % 100 || extra->category != i % 3)
            ck_abort_msg("event %d has the extras of another", (int)i);
    }
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(unknown_actions_get_codes)
{
    struct event_row row = {.action = ACTION_OTHER};
    const char *names[] = {"defrag", "trim", "defrag", "alloc"};
    for (size_t i = 0; i < 4; i++) {
        row.action_name = name(names[i]);
        push(0, &row);
    }
    row.action = ACTION_WORKSPACE_SNAPSHOT;
    push(0, &row);
    struct snapshot *snapshot = finish();
    const uint8_t *action = snapshot->traces[0].action;
    ck_assert_str_eq(action_text(snapshot, ACTION_ALLOC), "alloc");
    ck_assert_str_eq(action_text(snapshot, ACTION_SEGMENT_UNMAP), "segment_unmap");
    ck_assert_str_eq(action_text(snapshot, action[0]), "defrag");
    ck_assert_str_eq(action_text(snapshot, action[1]), "trim");
    ck_assert_int_eq(action[2], action[0]);
    ck_assert_int_eq(action[0], ACTION_OTHER);
    ck_assert_int_eq(action[4], ACTION_WORKSPACE_SNAPSHOT);
    ck_assert_uint_eq(snapshot->action_code_count, ACTION_OTHER + 3);
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(segments_keep_their_blocks)
{
    struct block_row blocks[3] = {{.address = 1}, {.address = 2}, {.address = 3}};
    struct segment_row segment = {.device = 2, .blocks = blocks, .block_count = 2};
    ck_assert(sink.segment(sink.self, &segment, &err));
    segment = (struct segment_row){.device = 0};
    ck_assert(sink.segment(sink.self, &segment, &err));
    segment = (struct segment_row){.device = 2, .blocks = blocks + 2, .block_count = 1};
    ck_assert(sink.segment(sink.self, &segment, &err));
    push(3, &(struct event_row){.action = ACTION_OOM});
    struct snapshot *snapshot = finish();
    ck_assert_uint_eq(snapshot->segment_count, 3);
    ck_assert_uint_eq(snapshot->block_count, 3);
    ck_assert_uint_eq(snapshot->segments[1].block_count, 0);
    ck_assert_uint_eq(snapshot->segments[2].first_block, 2);
    ck_assert_uint_eq(snapshot->blocks[2].address, 3);

    uint32_t *devices;
    size_t count;
    ck_assert(snapshot_devices(snapshot, &devices, &count, &err));
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(devices[0], 0);
    ck_assert_uint_eq(devices[1], 2);
    ck_assert_uint_eq(devices[2], 3);
    free(devices);
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(small_rows_are_kept)
{
    struct annotation_row annotation = {.stage = ANNOTATION_END, .name = name("step"), .device = 1};
    struct setting_row first = {name("expandable_segments"), name("False")};
    struct setting_row again = {first.key, name("True")};
    ck_assert(sink.annotation(sink.self, &annotation, &err));
    ck_assert(sink.setting(sink.self, &first, &err));
    ck_assert(sink.setting(sink.self, &again, &err));
    char where[] = "segment";
    ck_assert(sink.unknown_key(sink.self, where, name("colour"), &err));
    memset(where, 'x', sizeof(where) - 1);
    struct snapshot *snapshot = finish();
    ck_assert_uint_eq(snapshot->annotation_count, 1);
    ck_assert_uint_eq(snapshot->annotations[0].device, 1);
    ck_assert_uint_eq(snapshot->unknown_key_count, 1);
    ck_assert_str_eq(snapshot->unknown_keys[0].where, "segment");
    struct text value;
    ck_assert(snapshot_setting(snapshot, "expandable_segments", &value));
    ck_assert_str_eq(value.bytes, "True");
    ck_assert(!snapshot_setting(snapshot, "expandable", &value));
    ck_assert(snapshot->rules.is_known && snapshot->rules.expandable_segments);
    ck_assert(!snapshot->events_lost);
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(an_event_may_come_again)
{
    struct event_row row = {.action = ACTION_ALLOC, .time_us = 1};
    for (row.addr = 0; row.addr < 4; row.addr++)
        push(row.addr < 2 ? 0 : 1, &row);
    /* Numbers 0 1 | 2 3 so far; the copies are 4, 5 and 6, and the last row is 7. */
    ck_assert(sink.event_again(sink.self, 1, 1, &err));
    ck_assert(sink.event_again(sink.self, 0, 3, &err));
    ck_assert(sink.event_again(sink.self, 0, 0, &err));
    row = (struct event_row){.action = ACTION_OTHER, .action_name = name("x"), .addr = 9};
    push(0, &row);
    ck_assert(sink.event_again(sink.self, 1, 7, &err));
    ck_assert(!sink.event_again(sink.self, 1, 9, &err));
    ck_assert_int_eq(err.status, STATUS_IO);
    struct snapshot *snapshot = finish();
    const uint64_t want0[] = {0, 1, 3, 0, 9}, want1[] = {2, 3, 1, 9};
    ck_assert_uint_eq(snapshot->traces[0].count, 5);
    ck_assert_uint_eq(snapshot->traces[1].count, 4);
    for (size_t i = 0; i < 5; i++)
        ck_assert_uint_eq(trace_addr(&snapshot->traces[0], i), want0[i]);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(trace_addr(&snapshot->traces[1], i), want1[i]);
    ck_assert_int_eq(snapshot->traces[1].action[3], ACTION_OTHER);
    snapshot_destroy(snapshot);
}
END_TEST

/* Event i of 12,000: the first 5,000 are late. Each has values of its own, some of them wide. */
static struct event_row late_row(uint32_t i)
{
    bool is_first = i < 5000;
    return (struct event_row){.action = ACTION_ALLOC,
                              .addr = i % 7 ? UINT64_C(512) * i : UINT64_MAX - i,
                              .size = i % 5 ? i : (uint64_t)i << 32,
                              .time_us = (is_first ? 2000000 : -3000000) + INT64_C(1000) * i,
                              .stack = i + 1,
                              .extra = {.stream = i / 100}};
}

START_TEST(events_are_sorted_by_time)
{
    for (uint32_t i = 0; i < 12000; i++) {
        const struct event_row row = late_row(i);
        push(0, &row);
    }
    struct snapshot *snapshot = finish();
    const struct trace *trace = &snapshot->traces[0];
    ck_assert_ptr_nonnull(trace->order);
    ck_assert_uint_eq(trace->count, 12000);
    ck_assert_uint_eq(trace->back_event, 5000);
    for (size_t item = 0; item < trace->count; item++) {
        const struct event_row row = late_row(trace->order[item]);
        if (item > 0)
            ck_assert_int_le(trace_time(trace, item - 1), trace_time(trace, item));
        ck_assert_int_eq(trace_time(trace, item), row.time_us);
        ck_assert_uint_eq(trace_addr(trace, item), row.addr);
        ck_assert_uint_eq(trace_size(trace, item), row.size);
        ck_assert_uint_eq(trace->stack[item], row.stack);
        ck_assert_int_eq(snapshot->extras[trace_extra(trace, item)].stream, row.extra.stream);
        ck_assert_int_eq(trace_file_event(trace, (int64_t)item), trace->order[item]);
        if (item % 1000 == 0)
            ck_assert_uint_eq(trace_item(trace, trace->order[item]), item);
    }
    snapshot_destroy(snapshot);
}
END_TEST

/* Two steps back in time: sorting would not repair the first, and clocks may differ by as much as
 * the second. */
START_TEST(some_events_are_not_sorted)
{
    static const struct {
        uint64_t addr;
        int64_t time_us;
        bool goes_back;
    } cases[] = {{4096, 1000, true}, {8192, 4001, false}};
    push(0, &(struct event_row){.action = ACTION_ALLOC, .addr = 4096, .size = 1, .time_us = 5000});
    push(0, &(struct event_row){.action = ACTION_FREE_COMPLETED,
                                .addr = cases[_i].addr,
                                .size = 1,
                                .time_us = cases[_i].time_us});
    struct snapshot *snapshot = finish();
    ck_assert_ptr_null(snapshot->traces[0].order);
    ck_assert_int_eq(snapshot->traces[0].goes_back, cases[_i].goes_back);
    ck_assert_uint_eq(trace_addr(&snapshot->traces[0], 0), 4096);
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(nothing_at_all)
{
    struct snapshot *snapshot = finish();
    uint32_t *devices;
    size_t count;
    ck_assert(snapshot_devices(snapshot, &devices, &count, &err));
    ck_assert_uint_eq(count, 0);
    free(devices);
    snapshot_destroy(snapshot);
    snapshot_destroy(NULL);
    loader_destroy(NULL);
    timeline_destroy(NULL);
}
END_TEST

TCase *loader_tests(void)
{
    TCase *tests = tcase_create("loader");
    tcase_add_checked_fixture(tests, create, NULL);
    tcase_add_test(tests, events_become_columns);
    tcase_add_test(tests, wide_numbers_are_kept);
    tcase_add_test(tests, extras_are_stored_once);
    tcase_add_test(tests, unknown_actions_get_codes);
    tcase_add_test(tests, segments_keep_their_blocks);
    tcase_add_test(tests, small_rows_are_kept);
    tcase_add_test(tests, an_event_may_come_again);
    tcase_add_test(tests, events_are_sorted_by_time);
    tcase_add_loop_test(tests, some_events_are_not_sorted, 0, 2);
    tcase_add_test(tests, nothing_at_all);
    return tests;
}
