/* The strategies that give whole tensors to ranks: ZeroRedundancyOptimizer, OSS and
 * ShardedDataParallel. */
#include "analysis/shard/choice.h"
#include "analysis/shard/partition.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/shard/by_hand.h"

static struct by_hand hand;

START_TEST(owners_of_tensors)
{
    static const int64_t sizes[] = {1, 1, 1, 10};
    uint32_t owners[LAYERS];
    struct error err;
    by_hand_begin(&hand, 0);
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.tensors[i].elements = sizes[i];
    ck_assert(shard_partition(&hand.model, SHARD_OSS, 2, owners, &err));
    ck_assert_uint_eq(owners[0], 0);
    ck_assert_uint_eq(owners[1], 1);
    ck_assert_uint_eq(owners[2], 0);
    ck_assert_uint_eq(owners[3], 1); /* the giant comes last, to a rank that has some */
    ck_assert(shard_partition(&hand.model, SHARD_ZERO, 2, owners, &err));
    ck_assert_uint_eq(owners[3], 0);
    ck_assert_uint_eq(owners[0], 1);
    ck_assert_uint_eq(owners[2], 1);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_OSS, 1).held_state_bytes, 2 * 4 * 11);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_OSS, 0).held_state_bytes, 2 * 4 * 2);
    hand.model.tensors[0].elements = 100; /* frozen: as light as one element for OSS */
    hand.model.tensors[0].frozen = true;
    ck_assert(shard_partition(&hand.model, SHARD_OSS, 2, owners, &err));
    ck_assert_uint_eq(owners[2], 0);
    ck_assert(shard_partition(&hand.model, SHARD_ZERO, 2, owners, &err));
    ck_assert_uint_eq(owners[0], 0);
    ck_assert_uint_eq(owners[3], 1);
    ck_assert(shard_partition(&hand.model, SHARD_OSS, 16, owners, &err));
    ck_assert_uint_eq(owners[3], 3);
    by_hand_end(&hand);
}
END_TEST

/* Layers use the parameters in another order than hand.model.parameters() has them. */
START_TEST(owners_by_place)
{
    static const uint32_t places[] = {3, 2, 1, 0};
    uint32_t owners[LAYERS];
    struct error err;
    by_hand_begin(&hand, 0);
    hand.model.tensors[3].elements = 100;
    for (size_t i = 0; i < LAYERS; i++)
        hand.model.tensors[i].place = places[i];
    ck_assert(shard_partition(&hand.model, SHARD_OSS, 2, owners, &err));
    ck_assert_uint_eq(owners[3], 0); /* the giant comes first, and all others go to the other */
    ck_assert_uint_eq(owners[0], 1);
    ck_assert_uint_eq(owners[2], 1);
    ck_assert(shard_partition(&hand.model, SHARD_ZERO, 3, owners, &err)); /* equal sizes by place */
    ck_assert_uint_eq(owners[2], 1);
    ck_assert_uint_eq(owners[1], 2);
    by_hand_end(&hand);
}
END_TEST

START_TEST(buckets_of_sdp)
{
    by_hand_begin(&hand, 0);
    hand.options.reduce_buffer = ELEMENTS + 1; /* one tensor of each owner's two */
    struct shard_rank rank = by_hand_predict(&hand, SHARD_SDP, 0);
    ck_assert_int_eq(rank.at_peak.buffer_bytes, 2 * LAYER + ALL / 2); /* and temporaries */
    ck_assert_int_eq(rank.at_peak.gradient_bytes, 2 * LAYER + LAYER); /* bucketed, and its own */
    hand.options.reduce_buffer = ELEMENTS;                            /* the limit is exclusive */
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_SDP, 0).at_peak.buffer_bytes, ALL / 2);
    by_hand_end(&hand);
}
END_TEST

/* Half of all as float16; the first owner's then become float32 beside it. */
START_TEST(broadcast_as_float16)
{
    by_hand_begin(&hand, 0);
    hand.options.optimizer = shard_optimizer_find("sgd");
    hand.options.half_broadcast = true;
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_OSS, 0).at_peak.buffer_bytes,
                     ALL + ALL / 2 + ALL / 2);
    hand.model.tensors[3].elements = 3 * ELEMENTS; /* rank 0 has 2, and rank 1 has 4 of 6 parts */
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_OSS, 0).at_peak.buffer_bytes,
                     6 * LAYER + 4 * LAYER / 2 + 4 * LAYER);
    ck_assert_int_eq(by_hand_predict(&hand, SHARD_ZERO, 0).at_peak.buffer_bytes,
                     6 * LAYER); /* no such option */
    by_hand_end(&hand);
}
END_TEST

/* Without exchange until the last pass, every rank has all gradients, which are freed in that. */
START_TEST(accumulated_gradients_of_sdp)
{
    by_hand_begin(&hand, 4000);
    hand.options.accumulation = 2;
    /* parameters, state of half; all gradients, and the fresh one */
    by_hand_peaks(&hand, SHARD_SDP, 2 * ALL + 4000 + ALL + LAYER);
    by_hand_end(&hand);
}
END_TEST

/* A large gradient that another rank owns is counted beside the next one. */
START_TEST(reductions_of_sdp_take_time)
{
    struct shard_choice choice;
    struct error err;
    by_hand_begin(&hand, 0);
    hand.options.optimizer = shard_optimizer_find("sgd");
    hand.model.tensors[0].elements = hand.model.tensors[2].elements = 3 * ELEMENTS;
    ck_assert(shard_choose(&choice, &hand.model, NULL, NULL, &hand.options, 0, &err));
    const struct shard_row *row = shard_choice_row(&choice, SHARD_SDP);
    ck_assert_int_gt(row->early_bytes, 0);
    ck_assert_int_gt(row->result.ranks[row->early_rank].peak_bytes, row->early_bytes);
    for (size_t i = 0; i < choice.count; i++)
        ck_assert(choice.rows[i].result.strategy == SHARD_SDP || choice.rows[i].early_bytes == 0);
    shard_choice_release(&choice);
    by_hand_end(&hand);
}
END_TEST

TCase *shard_owners_tests(void)
{
    TCase *tcase = tcase_create("shard by owners");
    tcase_add_test(tcase, owners_of_tensors);
    tcase_add_test(tcase, owners_by_place);
    tcase_add_test(tcase, buckets_of_sdp);
    tcase_add_test(tcase, broadcast_as_float16);
    tcase_add_test(tcase, accumulated_gradients_of_sdp);
    tcase_add_test(tcase, reductions_of_sdp_take_time);
    return tcase;
}
