/* Files of summaries: what is written is read again, and nothing else is accepted. */
#include "model/summary.h"

#include "model/summary_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "render/summary/summary.h"
#include "unit/model/model.h"

#define MEMORY ((size_t)1 << 20)

static struct error err;

static struct summary *make(int64_t rank, const char *path)
{
    struct summary *summary = summary_create(MEMORY, &err);
    ck_assert_ptr_nonnull(summary);
    summary->rank = rank;
    summary->path = path;
    summary->encoding = "pickle";
    summary->devices = summary_items(summary, 1, sizeof(*summary->devices), &err);
    ck_assert_ptr_nonnull(summary->devices);
    summary->device_count = 1;
    struct summary_device *device = summary->devices;
    device->phase = "backward";
    device->oom = "";
    device->steps_from = "optimizer_phase";
    device->step_list = summary_items(summary, 2, sizeof(*device->step_list), &err);
    device->step_list[0] = (struct summary_step){3, 17, 250, 1000, -4, false};
    device->step_list[1] = (struct summary_step){4, 99, -1, 2000, 50, true};
    device->step_list_count = 2;
    device->peak_bytes = INT64_C(1) << 40;
    device->start_bytes = -5;
    device->knows_peak = true;
    device->sites = summary_items(summary, 1, sizeof(*device->sites), &err);
    device->sites[0] = (struct summary_site){
        "train.py:3 step", "aten::mm", "activation", "train.py:3 step\nmain.py:1 main", 77, 2};
    device->site_count = 1;
    ck_assert(summary_curve_make(summary, device, 3, &err));
    for (int i = 0; i < 3; i++) {
        device->curve.high[i] = INT64_C(1) << (40 - 10 * i);
        device->curve.low[i] = -i;
        device->curve.reserved[i] = 1000 * i;
    }
    return summary;
}

/* The bytes of a file with one summary, which the caller frees. */
static char *file_of(const struct summary *summary, size_t *size)
{
    struct buffer bin = BUFFER_INIT;
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, size);
    ck_assert_ptr_nonnull(out);
    ck_assert(summary_pack(&bin, summary, &err));
    summaries_begin(out);
    summaries_add(out, (struct text){bin.bytes, bin.size});
    ck_assert_int_eq(fclose(out), 0);
    buffer_release(&bin);
    return bytes;
}

struct taken {
    struct summary *summary;
    char *bin;
    size_t bin_size, count;
};

static bool take(void *self, struct summary *summary, struct text bin, struct error *error)
{
    struct taken *taken = self;
    (void)error;
    summary_destroy(taken->summary);
    free(taken->bin);
    taken->summary = summary;
    taken->bin = malloc(bin.size);
    memcpy(taken->bin, bin.bytes, bin.size);
    taken->bin_size = bin.size;
    taken->count++;
    return true;
}

static bool load(const char *bytes, size_t size, struct taken *taken)
{
    struct input input;
    *taken = (struct taken){0};
    return input_from_memory(&input, bytes, size, MEMORY, &err) &&
           summaries_load_input(&input, take, taken, &err);
}

static void forget(struct taken *taken)
{
    summary_destroy(taken->summary);
    free(taken->bin);
}

START_TEST(a_summary_is_read_as_written)
{
    struct summary *summary = make(3, "run/rank3.pickle");
    struct taken taken;
    size_t size;
    char *bytes = file_of(summary, &size);
    ck_assert_msg(load(bytes, size, &taken), "%s", err.text);
    ck_assert_uint_eq(taken.count, 1);
    ck_assert_int_eq(taken.summary->rank, 3);
    ck_assert_str_eq(taken.summary->path, "run/rank3.pickle");
    const struct summary_device *device = taken.summary->devices;
    ck_assert_int_eq(device->peak_bytes, INT64_C(1) << 40);
    ck_assert_int_eq(device->start_bytes, -5);
    ck_assert(device->knows_peak);
    ck_assert_str_eq(device->sites[0].stack, "train.py:3 step\nmain.py:1 main");
    ck_assert_uint_eq(device->curve.columns, 3);
    ck_assert_int_eq(device->curve.high[2], INT64_C(1) << 20);
    ck_assert_int_eq(device->curve.low[2], -2);
    ck_assert_int_eq(device->curve.reserved[1], 1000);
    ck_assert_str_eq(device->steps_from, "optimizer_phase");
    ck_assert_uint_eq(device->step_list_count, 2);
    ck_assert_int_eq(device->step_list[0].number, 3);
    ck_assert_int_eq(device->step_list[0].event, 17);
    ck_assert_int_eq(device->step_list[0].us, 250);
    ck_assert_int_eq(device->step_list[1].peak_bytes, 2000);
    ck_assert_int_eq(device->step_list[0].end_bytes, -4);
    ck_assert(device->step_list[1].complete && !device->step_list[0].complete);

    struct buffer again = BUFFER_INIT;
    ck_assert(summary_pack(&again, taken.summary, &err));
    ck_assert_uint_eq(again.size, taken.bin_size);
    ck_assert_mem_eq(again.bytes, taken.bin, again.size);
    buffer_release(&again);
    forget(&taken);
    free(bytes);
    summary_destroy(summary);
}
END_TEST

START_TEST(steps_are_measured)
{
    struct summary *summary = make(3, "run/rank3.pickle");
    struct summary_step_figures figures;
    summary_measure_steps(summary->devices, &figures);
    ck_assert_uint_eq(figures.count, 1); /* only complete ones */
    ck_assert_int_eq(figures.median_peak_bytes, 2000);
    ck_assert_int_eq(figures.median_end_bytes, 50);
    summary->devices->step_list[1].complete = false;
    summary_measure_steps(summary->devices, &figures);
    ck_assert_uint_eq(figures.count, 2);
    ck_assert_uint_eq(figures.complete, 0);
    ck_assert_int_eq(figures.median_peak_bytes, 1000);
    summary->devices->step_list_count = 0;
    summary_measure_steps(summary->devices, &figures);
    ck_assert_uint_eq(figures.count, 0);
    summary_destroy(summary);
}
END_TEST

/* A reduced summary keeps what is compared, and equal texts are stored once. */
START_TEST(reduced_summaries_share_texts)
{
    struct summary_texts *texts = summary_texts_create(MEMORY, &err);
    struct summary *a = make(3, "a"), *b = make(4, "b");
    ck_assert(summary_reduce(&a, texts, &err));
    ck_assert(summary_reduce(&b, texts, &err));
    const struct summary_device *device = a->devices;
    ck_assert_int_eq(a->rank, 3);
    ck_assert_str_eq(a->path, "a");
    ck_assert_str_eq(device->phase, "backward");
    ck_assert_int_eq(device->peak_bytes, INT64_C(1) << 40);
    ck_assert_uint_eq(device->site_count, 1);
    ck_assert_int_eq(device->sites[0].bytes, 77);
    ck_assert_str_eq(device->sites[0].site, "train.py:3 step");
    ck_assert_ptr_eq(device->sites[0].site, b->devices->sites[0].site);
    ck_assert_str_eq(device->sites[0].stack, "");
    ck_assert_uint_eq(device->step_list_count, 0);
    ck_assert_uint_eq(device->curve.columns, 3);
    ck_assert_int_eq(device->curve.low[2], -2);
    ck_assert_uint_lt(a->budget.used, 1500);
    summary_destroy(a);
    summary_destroy(b);
    summary_texts_destroy(texts);
}
END_TEST

START_TEST(summaries_stay_where_memory_runs_out)
{
    struct summary_texts *texts = summary_texts_create(MEMORY, &err);
    struct summary *a = make(3, "a");
    char *path = malloc(MEMORY);
    memset(path, 'x', MEMORY);
    path[MEMORY - 1] = '\0';
    a->path = path;
    ck_assert(!summary_reduce(&a, texts, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_str_eq(a->devices->sites[0].stack, "train.py:3 step\nmain.py:1 main");
    ck_assert_uint_eq(a->devices->curve.columns, 3);
    summary_destroy(a);
    summary_texts_destroy(texts);
    free(path);
}
END_TEST

/* Every file that is cut short is refused, except one that has no summary. */
START_TEST(cut_files_are_refused)
{
    struct summary *summary = make(SUMMARY_UNKNOWN, "a");
    size_t size, header = sizeof(SUMMARY_HEADER) - 1;
    char *bytes = file_of(summary, &size);
    for (size_t cut = 0; cut < size; cut++) {
        struct taken taken;
        ck_assert(load(bytes, cut, &taken) == (cut == header));
        forget(&taken);
    }
    free(bytes);
    summary_destroy(summary);
}
END_TEST

/* Every change of one byte is either refused or still a whole summary. */
START_TEST(changed_files_do_no_harm)
{
    struct summary *summary = make(1, "b");
    size_t size, accepted = 0;
    char *bytes = file_of(summary, &size);
    for (size_t at = 0; at < size; at++) {
        char before = bytes[at];
        struct taken taken;
        bytes[at] = (char)(before ^ 0x41);
        if (load(bytes, size, &taken)) {
            accepted++;
            ck_assert_uint_le(taken.summary->devices[0].curve.columns, SUMMARY_COLUMNS);
        }
        forget(&taken);
        bytes[at] = before;
    }
    ck_assert_uint_lt(accepted, size);
    free(bytes);
    summary_destroy(summary);
}
END_TEST

START_TEST(errors_name_the_place)
{
    static const char lone[] = SUMMARY_HEADER "\xc6\x00\x00\x00\x01\x80";
    static const char large[] = SUMMARY_HEADER "\xc6\x7f\x00\x00\x00";
    struct taken taken;
    ck_assert(!load(lone, sizeof(lone) - 1, &taken));
    ck_assert_str_eq(err.text, "expected the key 'rank'");
    ck_assert_uint_eq(err.offset, sizeof(SUMMARY_HEADER) - 1 + 5);
    ck_assert(!load(large, sizeof(large) - 1, &taken));
    ck_assert_ptr_nonnull(strstr(err.text, "expected a summary of 1 to"));
    ck_assert(!load("\x81\xa6schema\xb1memsnap.summary/3", 26, &taken));
    ck_assert_ptr_nonnull(strstr(err.text, "summaries of an unknown version"));
}
END_TEST

START_TEST(summaries_are_ordered_by_rank_and_path)
{
    struct summary *a = make(2, "x"), *b = make(10, "a"), *c = make(10, "b");
    ck_assert_int_lt(summary_compare(a, b), 0);
    ck_assert_int_lt(summary_compare(b, c), 0);
    ck_assert_int_eq(summary_compare(c, c), 0);
    summary_destroy(a);
    summary_destroy(b);
    summary_destroy(c);
}
END_TEST

START_TEST(curves_shrink_to_the_extremes_of_neighbours)
{
    enum { COLUMNS = 7, KEPT = 3 };
    struct summary *summary = make(0, "x");
    struct summary_device *device = summary->devices;
    summary_forget_curves(summary);
    ck_assert(summary_curve_make(summary, device, COLUMNS, &err));
    for (int i = 0; i < COLUMNS; i++) {
        device->curve.high[i] = i % 2 ? 100 : i;
        device->curve.low[i] = -i;
        device->curve.reserved[i] = 10 * i;
    }
    size_t used = summary->budget.used;
    summary_shrink_curves(summary, COLUMNS);
    ck_assert_uint_eq(device->curve.columns, COLUMNS);
    summary_shrink_curves(summary, KEPT);
    ck_assert_uint_eq(device->curve.columns, KEPT);
    ck_assert_uint_eq(used - summary->budget.used, (COLUMNS - KEPT) * 3 * sizeof(int64_t));
    static const int64_t high[] = {100, 100, 100}, low[] = {-1, -3, -6}, reserved[] = {10, 30, 60};
    for (int i = 0; i < KEPT; i++) {
        ck_assert_int_eq(device->curve.high[i], high[i]);
        ck_assert_int_eq(device->curve.low[i], low[i]);
        ck_assert_int_eq(device->curve.reserved[i], reserved[i]);
    }
    summary_forget_curves(summary);
    summary_destroy(summary);
}
END_TEST

TCase *summary_tests(void)
{
    TCase *tests = tcase_create("summaries");
    tcase_add_test(tests, a_summary_is_read_as_written);
    tcase_add_test(tests, curves_shrink_to_the_extremes_of_neighbours);
    tcase_add_test(tests, steps_are_measured);
    tcase_add_test(tests, reduced_summaries_share_texts);
    tcase_add_test(tests, summaries_stay_where_memory_runs_out);
    tcase_add_test(tests, cut_files_are_refused);
    tcase_add_test(tests, changed_files_do_no_harm);
    tcase_add_test(tests, errors_name_the_place);
    tcase_add_test(tests, summaries_are_ordered_by_rank_and_path);
    return tests;
}
