/* Loading: from bytes to a snapshot, and the facts about the input itself. */
#include "model/snapshot.h"

#include <string.h>
#include <unistd.h>

#include "unit/model/model.h"

static const char JSON[] =
    "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 512, \"stream\": 0,"
    " \"segment_type\": \"small\", \"allocated_size\": 512, \"active_size\": 512, \"blocks\":"
    " [{\"address\": 4096, \"size\": 512, \"requested_size\": 100, \"state\":"
    " \"active_allocated\", \"frames\": []}]}],"
    " \"device_traces\": [[{\"action\": \"alloc\", \"addr\": 4096, \"size\": 100, \"stream\": 0,"
    " \"time_us\": 5, \"frames\": []}], []],"
    " \"allocator_settings\": {\"expandable_segments\": true}}";

struct watch {
    int calls;
    uint64_t bytes;
};

static void watch_update(void *self, uint64_t bytes_read, uint64_t total)
{
    struct watch *watch = self;
    (void)total;
    watch->calls++;
    ck_assert_uint_ge(bytes_read, watch->bytes);
    watch->bytes = bytes_read;
}

static struct error err;

static struct snapshot *load(const char *bytes, size_t size)
{
    struct load_options options = {0};
    return snapshot_load_memory(bytes, size, &options, &err);
}

static void check(const struct snapshot *snapshot)
{
    ck_assert_ptr_nonnull(snapshot);
    ck_assert_int_eq(snapshot->encoding, ENCODING_JSON);
    ck_assert_int_eq(snapshot->protocol, -1);
    ck_assert_int_eq(snapshot->compression, COMPRESSION_NONE);
    ck_assert(!snapshot->list_only);
    ck_assert_uint_eq(snapshot->input_bytes, sizeof(JSON) - 1);
    ck_assert_uint_eq(snapshot->trace_count, 2);
    ck_assert_uint_eq(snapshot->traces[0].count, 1);
    ck_assert_uint_eq(snapshot->blocks[0].requested_size, 100);
    struct text value;
    ck_assert(snapshot_setting(snapshot, "expandable_segments", &value));
    ck_assert_str_eq(value.bytes, "True");
}

START_TEST(from_memory)
{
    struct snapshot *snapshot = load(JSON, sizeof(JSON) - 1);
    check(snapshot);
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(from_a_pipe)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], JSON, sizeof(JSON) - 1), (int)sizeof(JSON) - 1);
    close(ends[1]);
    struct watch watch = {0};
    struct load_progress progress = {watch_update, &watch};
    struct load_options options = {.progress = &progress};
    struct snapshot *snapshot = snapshot_load(ends[0], &options, &err);
    check(snapshot);
    ck_assert_int_ge(watch.calls, 2);
    ck_assert_uint_eq(watch.bytes, sizeof(JSON) - 1);
    ck_assert_int_eq(close(ends[0]), -1); /* it was taken over */
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(a_bare_list)
{
    struct snapshot *snapshot = load("[]", 2);
    ck_assert_ptr_nonnull(snapshot);
    ck_assert(snapshot->list_only);
    ck_assert_uint_eq(snapshot->trace_count, 0);
    snapshot_destroy(snapshot);
    static const char pickle[] = "\x80\x04]."; /* PROTO 4, EMPTY_LIST, STOP */
    snapshot = load(pickle, sizeof(pickle) - 1);
    ck_assert_ptr_nonnull(snapshot);
    ck_assert(snapshot->list_only);
    ck_assert_int_eq(snapshot->encoding, ENCODING_PICKLE);
    ck_assert_int_eq(snapshot->protocol, 4);
    snapshot_destroy(snapshot);
}
END_TEST

START_TEST(what_cannot_be_loaded)
{
    struct load_options options = {0};
    ck_assert_ptr_null(load("", 0));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_ptr_null(load(JSON, sizeof(JSON) / 2));
    ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
    ck_assert_ptr_null(snapshot_load(-1, &options, &err));
    ck_assert_int_eq(err.status, STATUS_IO);
    options.max_memory = 1;
    ck_assert_ptr_null(snapshot_load_memory(JSON, sizeof(JSON) - 1, &options, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
}
END_TEST

TCase *snapshot_tests(void)
{
    TCase *tests = tcase_create("snapshot");
    tcase_add_test(tests, from_memory);
    tcase_add_test(tests, from_a_pipe);
    tcase_add_test(tests, a_bare_list);
    tcase_add_test(tests, what_cannot_be_loaded);
    return tests;
}
