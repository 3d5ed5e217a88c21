/* What checkpoints keep of the storages that a layer trace lists. */
#include "analysis/shard/from_layers.h"
#include "unit/analysis/analysis.h"

/* A layer makes two storages; a function behind it reads the first, and the next layer the second.
 * The first and the third row are in segments. */
static struct shard_segment kept_by_first(bool saves)
{
    static const struct layer_storage storages[] = {{.bytes = 20}, {.bytes = 300}};
    static const uint32_t numbers[] = {0, 1};
    struct storage_list first = {.first = 0, .count = 1}, second = {.first = 1, .count = 1};
    struct layer_row rows[] = {
        {.is_forward = true}, {.is_forward = true}, {.is_forward = true}, {.is_forward = false}};
    struct shard_segment segments[] = {{.first = 0, .end = 1}, {.first = 2, .end = 3}};
    struct error err;
    rows[1].reads = first;
    if (saves)
        rows[1].saves = first;
    rows[2].reads = rows[2].saves = second;
    const struct layer_trace trace = {.rows = rows,
                                      .count = 4,
                                      .storages = storages,
                                      .storage_count = 2,
                                      .storage_numbers = numbers};
    ck_assert(shard_layer_kept(&trace, segments, 2, &err));
    ck_assert(segments[0].is_known && segments[1].is_known);
    ck_assert_int_eq(segments[1].kept, 0);
    return segments[0];
}

START_TEST(inputs_and_what_is_saved)
{
    ck_assert_int_eq(kept_by_first(false).kept, 300);
    ck_assert_int_eq(kept_by_first(true).kept, 320);
}
END_TEST

START_TEST(without_storages)
{
    struct shard_segment segment = {.first = 0, .end = 1};
    struct error err;
    ck_assert(shard_layer_kept(&(struct layer_trace){0}, &segment, 1, &err));
    ck_assert(!segment.is_known);
}
END_TEST

TCase *shard_layer_kept_tests(void)
{
    TCase *tcase = tcase_create("shard layer kept");
    tcase_add_test(tcase, inputs_and_what_is_saved);
    tcase_add_test(tcase, without_storages);
    return tcase;
}
