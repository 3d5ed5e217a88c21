/* Caches of keys and values, and autocast's copies of weights. */
#include "unit/analysis/analysis.h"
#include "unit/analysis/category/events.h"

static void expect(uint64_t addr, enum category category, enum reason reason)
{
    uint8_t why;
    enum category found = capture_category_why(&capture, addr, &why);
    ck_assert_msg(found == category, "%d: %s", (int)addr, category_name(found));
    ck_assert_msg(reason_of(why) == reason, "%d: %s", (int)addr, reason_name(why));
}

#define PACKAGES "/venv/lib/python3.12/site-packages/"
#define IN_MODEL PY("forward", "/home/u/model.py", 30) "," CALL "," SCRIPT
#define UPDATE                                                                                     \
    CPP("at::_ops::cat::call(x)")                                                                  \
    "," PY("update", PACKAGES "transformers/cache_utils.py", 136) "," IN_MODEL
#define PAGES                                                                                      \
    CPP("at::_ops::zeros::call(x)")                                                                \
    "," PY("_allocate_kv_cache_tensors", PACKAGES "vllm/v1/worker/gpu_model_runner.py",            \
           6012) "," SCRIPT

START_TEST(libraries_known_by_name)
{
    born(1, 100, PAGES);
    born(2, 10, STACK_FORWARD);
    born(3, 20, UPDATE);
    born(4, 5, UPDATE); /* freed by the pass that made it */
    freed(4, 5, IN_MODEL);
    freed(2, 10, IN_MODEL);
    born(5, 1, SCRIPT);
    born(6, 30, UPDATE);
    freed(3, 20, UPDATE);
    capture_load(&capture);
    expect(1, CATEGORY_KV_CACHE, REASON_KV_CACHE_CODE);
    expect(3, CATEGORY_KV_CACHE, REASON_KV_CACHE_CODE);
    ck_assert_int_ne(capture_category(&capture, 4), CATEGORY_KV_CACHE);
    expect(6, CATEGORY_KV_CACHE, REASON_KV_CACHE_CODE);
}
END_TEST

/* A library's cache keeps what the first pass computes, and replaces it by a longer block. */
START_TEST(a_library_replaces_the_first_blocks)
{
    for (uint64_t layer = 0; layer < 3; layer++)
        born(1 + layer, 20, STACK_FORWARD);
    born(5, 1, SCRIPT);
    for (uint64_t layer = 0; layer < 3; layer++) {
        born(11 + layer, 30, UPDATE);
        freed(1 + layer, 20,
              PY("update", PACKAGES "transformers/cache_utils.py", 440) "," IN_MODEL);
    }
    born(6, 1, SCRIPT);
    capture_load(&capture);
    expect(2, CATEGORY_KV_CACHE, REASON_KV_CACHE_FIRST);
    expect(12, CATEGORY_KV_CACHE, REASON_KV_CACHE_CODE);
}
END_TEST

#define FIRST                                                                                      \
    CPP("at::_ops::addmm::call(x)") "," PY("forward", "/home/u/model.py", 8) "," CALL "," SCRIPT
#define LONGER                                                                                     \
    CPP("at::_ops::cat::call(x)") "," PY("forward", "/home/u/model.py", 9) "," CALL "," SCRIPT
#define LOGITS                                                                                     \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/model.py", 19) "," CALL "," SCRIPT
#define LOOP PY("complete", "/home/u/serve.py", 24) "," SCRIPT
#define PICKED                                                                                     \
    CPP("at::_ops::argmax::call(x)") "," PY("complete", "/home/u/serve.py", 25) "," SCRIPT

/* A pass of two layers over a cache that holds blocks of `old` bytes, or no blocks if that is 0. */
static void token(uint64_t pass, uint64_t old, uint64_t size)
{
    uint64_t now = 10 * pass, before = now - 10;
    for (uint64_t layer = 0; layer < 2; layer++)
        born(now + layer, size, old ? LONGER : FIRST);
    born(now + 5, 7, LOGITS);
    for (uint64_t layer = 0; layer < 2 && old; layer++)
        freed(before + layer, old, LOOP);
    born(now + 6, 1, PICKED);
    freed(now + 5, 7, LOOP);
}

START_TEST(blocks_that_grow_from_pass_to_pass)
{
    token(1, 0, 300);
    token(2, 300, 101);
    token(3, 101, 102);
    token(4, 102, 103);
    capture_load(&capture);
    expect(10, CATEGORY_KV_CACHE, REASON_KV_CACHE_FIRST);
    expect(20, CATEGORY_KV_CACHE, REASON_KV_CACHE_GROWS);
    expect(41, CATEGORY_KV_CACHE, REASON_KV_CACHE_GROWS);
    ck_assert_int_eq(capture_category(&capture, 15), CATEGORY_ACTIVATION); /* logits: one a pass */
}
END_TEST

/* A token of a program that calls each of four layers itself and computes something after each. A
 * layer keeps two blocks, but the first pass makes one for both. */
static void token_by_layers(uint64_t pass, uint64_t old, uint64_t size)
{
    uint64_t now = 100 * pass, before = now - 100;
    for (uint64_t layer = 0; layer < 8; layer += 2) {
        born(now + layer, size, old ? LONGER : FIRST);
        if (old)
            born(now + layer + 1, size, LONGER);
        born(now + 50 + layer, 40, LOGITS); /* the result, which takes the place of the last one */
        if (layer > 0)
            freed(now + 48 + layer, 40, LOOP);
        if (old)
            freed(before + layer, old, LOOP);
        if (old && pass > 2)
            freed(before + layer + 1, old, LOOP);
        born(now + 60, 1, PICKED);
        freed(now + 60, 1, LOOP);
    }
    born(now + 60, 1, PICKED);
    freed(now + 56, 40, LOOP);
}

START_TEST(layers_that_other_code_calls)
{
    token_by_layers(1, 0, 300);
    token_by_layers(2, 300, 101);
    token_by_layers(3, 101, 102);
    token_by_layers(4, 102, 103);
    capture_load(&capture);
    for (uint64_t layer = 0; layer < 8; layer += 2)
        expect(100 + layer, CATEGORY_KV_CACHE, REASON_KV_CACHE_FIRST);
    expect(200, CATEGORY_KV_CACHE, REASON_KV_CACHE_GROWS);
    ck_assert_int_ne(capture_category(&capture, 152), CATEGORY_KV_CACHE);
}
END_TEST

START_TEST(a_few_passes_of_training_keep_no_cache)
{
    token(1, 0, 300);
    token(2, 300, 101);
    token(3, 101, 102);
    token(4, 102, 103);
    born(90, 5, STACK_BACKWARD);
    capture_load(&capture);
    ck_assert_int_ne(capture_category(&capture, 20), CATEGORY_KV_CACHE);
}
END_TEST

/* Reinforcement learning: many tokens are generated between two steps. */
START_TEST(rollouts_keep_a_cache)
{
    born(1, 50, STACK_FORWARD);
    born(2, 5, STACK_BACKWARD);
    freed(1, 50, ENGINE);
    token(1, 0, 300);
    token(2, 300, 101);
    for (uint64_t pass = 3; pass < 13; pass++)
        token(pass, 98 + pass, 99 + pass);
    capture_load(&capture);
    expect(30, CATEGORY_KV_CACHE, REASON_KV_CACHE_GROWS);
    expect(111, CATEGORY_KV_CACHE, REASON_KV_CACHE_GROWS);
    ck_assert_int_ne(capture_category(&capture, 115), CATEGORY_KV_CACHE);
}
END_TEST

#define ROOM CPP("at::_ops::zeros::call(x)") "," PY("generate", "/home/u/rollout.py", 47) "," SCRIPT

/* Allocates room for four layers before a rollout of `tokens`, and frees it after the rollout or
 * only after a backward pass. */
static void rollout(uint64_t first, unsigned tokens, bool is_for_training)
{
    for (uint64_t layer = 0; layer < 4; layer++)
        born(first + layer, 4000, ROOM);
    for (unsigned i = 0; i < tokens; i++) {
        born(first + 10, 7, LOGITS);
        born(first + 11, 1, PICKED);
        freed(first + 10, 7, LOOP);
        freed(first + 11, 1, LOOP);
    }
    if (is_for_training) {
        born(first + 12, 50, STACK_FORWARD);
        born(first + 13, 5, STACK_BACKWARD);
        freed(first + 12, 50, ENGINE);
    }
    for (uint64_t layer = 0; layer < 4; layer++)
        freed(first + layer, 4000, LOOP);
    born(first + 14, 50, STACK_FORWARD);
    born(first + 15, 5, STACK_BACKWARD);
    freed(first + 14, 50, ENGINE);
}

START_TEST(rollouts_fill_a_cache_of_fixed_length)
{
    for (uint64_t at = 0; at < 3; at++)
        rollout(100 * at + 1, 12, _i == 1);
    capture_load(&capture);
    for (uint64_t addr = 101; addr < 105; addr++)
        if (_i == 0)
            expect(addr, CATEGORY_KV_CACHE, REASON_KV_CACHE_HELD);
        else
            ck_assert_int_ne(capture_category(&capture, addr), CATEGORY_KV_CACHE);
}
END_TEST

#define MODEL                                                                                      \
    CPP("at::_ops::empty::call(x)") "," PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT
#define EMPTY CPP("at::_ops::empty::call(x)") ","
#define POOL  CPP("at::_ops::zeros::call(x)") "," PY("make", "/home/u/pages.py", 4) "," SCRIPT
#define ONE   CPP("at::_ops::zeros::call(x)") "," PY("table", "/home/u/pages.py", 7) "," SCRIPT

START_TEST(a_pool_of_equal_blocks)
{
    born(1, 50, MODEL);
    born(2, 100, POOL);
    born(3, 100, POOL);
    born(4, 90, ONE);
    born(5, 10, STACK_FORWARD);
    freed(5, 10, STACK_FORWARD);
    capture_load(&capture);
    expect(2, CATEGORY_KV_CACHE, REASON_KV_CACHE_POOL);
    expect(3, CATEGORY_KV_CACHE, REASON_KV_CACHE_POOL);
    ck_assert_int_ne(capture_category(&capture, 4), CATEGORY_KV_CACHE);
}
END_TEST

/* The recording began late, so nothing has a stack. Layers have two weights of one size, but not in
 * a row. */
START_TEST(a_pool_from_before_the_trace)
{
    for (uint64_t layer = 0; layer < 3; layer++) {
        capture_block(&capture, 1 + 3 * layer, 9000, "");
        capture_block(&capture, 2 + 3 * layer, 9000, "");
        capture_block(&capture, 3 + 3 * layer, 7000, "");
    }
    for (uint64_t cache = 10; cache < 16; cache++)
        capture_block(&capture, cache, 8000, "");
    born(20, 10, STACK_FORWARD);
    freed(20, 10, STACK_FORWARD);
    capture_load(&capture);
    for (uint64_t weight = 1; weight < 10; weight++)
        expect(weight, CATEGORY_PARAMETER, REASON_INFERENCE);
    for (uint64_t cache = 10; cache < 16; cache++)
        expect(cache, CATEGORY_KV_CACHE, REASON_KV_CACHE_POOL);
}
END_TEST

/* Two equal blocks that `maker` makes before the first pass, in a trace that begins after the
 * model was made. */
static void pool_of(const char *maker, enum category expected)
{
    born(1, 90, SCRIPT);
    born(2, 100, maker);
    born(3, 100, maker);
    for (uint64_t pass = 0; pass < 3; pass++) {
        born(10 + pass, 50, STACK_FORWARD);
        freed(10 + pass, 50, IN_MODEL);
        born(20 + pass, 1, SCRIPT);
    }
    capture_load(&capture);
    ck_assert_msg(capture_category(&capture, 2) == expected, "%s", maker);
    ck_assert_msg(capture_category(&capture, 3) == expected, "%s", maker);
}

START_TEST(a_pool_by_the_name_of_its_code)
{
    static const char *const makers[] = {
        EMPTY PY("__init__", "/home/u/kv_cache.py", 60) "," SCRIPT,
        EMPTY PY("KVCache.__init__", "/home/u/model.py", 60) "," SCRIPT,
        EMPTY PY("<listcomp>", "/home/u/model.py", 8) "," PY("init_kv_cache", "/home/u/model.py",
                                                             8),
    };
    pool_of(makers[_i], CATEGORY_KV_CACHE);
}
END_TEST

START_TEST(no_pool_by_the_name_of_other_code)
{
    static const char *const makers[] = {
        EMPTY PY("__init__", "/home/u/cache.py", 60) "," SCRIPT,
        EMPTY PY("helper", "/home/u/model.py", 8) "," PY("init_kv_cache", "/home/u/model.py", 8),
        CPP("at::_ops::_to_copy::call(x)") "," PY("__init__", "/home/u/kv_cache.py", 6),
    };
    pool_of(makers[_i], CATEGORY_PARAMETER);
}
END_TEST

/* The cache of each layer has a counter of tokens. */
START_TEST(a_pool_with_counters_between)
{
    for (uint64_t weight = 1; weight < 4; weight++)
        capture_block(&capture, weight, 9000, "");
    for (uint64_t layer = 0; layer < 4; layer++) {
        capture_block(&capture, 10 + 3 * layer, 8000, "");
        capture_block(&capture, 11 + 3 * layer, 8000, "");
        capture_block(&capture, 12 + 3 * layer, 8, "");
    }
    born(30, 10, STACK_FORWARD);
    freed(30, 10, STACK_FORWARD);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, REASON_INFERENCE);
    expect(10, CATEGORY_KV_CACHE, REASON_KV_CACHE_POOL);
    expect(20, CATEGORY_KV_CACHE, REASON_KV_CACHE_POOL);
}
END_TEST

START_TEST(equal_weights_beside_large_activations)
{
    for (uint64_t weight = 1; weight < 7; weight++)
        capture_block(&capture, weight, 8000, "");
    born(20, 5000, STACK_FORWARD);
    freed(20, 5000, STACK_FORWARD);
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, REASON_INFERENCE);
}
END_TEST

#define REQUEST                                                                                    \
    CPP("at::_ops::empty_memory_format::call(x)")                                                  \
    "," PY("new_cache", "/home/u/serve.py", 5) "," SCRIPT

static void one_request(size_t block)
{
    born(1, 50, MODEL);
    born(2, 10, STACK_FORWARD);
    freed(2, 10, STACK_FORWARD);
    born(3, block, REQUEST);
    born(4, block, REQUEST);
    for (unsigned token = 0; token < 4; token++) {
        born(5, 10, STACK_FORWARD);
        freed(5, 10, STACK_FORWARD);
        born(6, 1, SCRIPT);
        freed(6, 1, SCRIPT);
    }
    freed(3, block, SCRIPT);
    freed(4, block, SCRIPT);
    capture_load(&capture);
}

START_TEST(a_cache_of_one_request)
{
    one_request(100);
    expect(3, CATEGORY_KV_CACHE, REASON_KV_CACHE_HELD);
    expect(4, CATEGORY_KV_CACHE, REASON_KV_CACHE_HELD);
}
END_TEST

/* Such as the seed and the offset of the random numbers of a CUDA graph. */
START_TEST(two_numbers_are_no_cache)
{
    one_request(8);
    ck_assert_int_ne(capture_category(&capture, 3), CATEGORY_KV_CACHE);
}
END_TEST

/* Blocks that a line makes in each of three requests, over whose tokens they live. They are never
 * freed. */
static void keep_requests(unsigned blocks, const char *made)
{
    born(1, 50, MODEL);
    born(2, 10, STACK_FORWARD);
    freed(2, 10, STACK_FORWARD);
    for (unsigned request = 0; request < 3; request++) {
        for (unsigned block = 0; block < blocks; block++)
            born(100 * (request + 1) + block, 100, made);
        for (unsigned token = 0; token < 4; token++) {
            born(5, 10, STACK_FORWARD);
            freed(5, 10, STACK_FORWARD);
            born(6, 1, SCRIPT);
            freed(6, 1, SCRIPT);
        }
    }
    capture_load(&capture);
}

START_TEST(caches_of_requests_that_are_done)
{
    keep_requests(2, REQUEST);
    expect(101, CATEGORY_KV_CACHE, REASON_KV_CACHE_HELD);
    expect(301, CATEGORY_KV_CACHE, REASON_KV_CACHE_HELD);
}
END_TEST

#define SCALED                                                                                     \
    CPP("at::_ops::mul_Tensor::call(x)") "," PY("answer", "/home/u/serve.py", 9) "," SCRIPT

START_TEST(results_that_a_program_keeps_are_no_cache)
{
    keep_requests(4, SCALED);
    ck_assert_int_ne(capture_category(&capture, 101), CATEGORY_KV_CACHE);
}
END_TEST

#define CAST                                                                                       \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," CPP("at::autocast::cached_cast(c10::ScalarType)") "," CPP(                                 \
        "at::_ops::linear::call(x)") "," PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT
#define LEAVE                                                                                      \
    CPP("at::autocast::clear_cache()")                                                             \
    "," PY("__exit__", TORCH "amp/autocast_mode.py", 349) "," SCRIPT
#define PYTHON_LEAVE PY("__exit__", TORCH "amp/autocast_mode.py", 349) "," SCRIPT

START_TEST(copies_that_the_region_frees)
{
    born(1, 200, MODEL);
    born(2, 100, CAST);
    born(3, 40, STACK_FORWARD);
    born(4, 100, PY("forward", "/home/u/model.py", 3) "," CALL "," SCRIPT);
    freed(2, 100, LEAVE);
    freed(4, 100, PYTHON_LEAVE);
    freed(3, 40, SCRIPT);
    capture_load(&capture);
    expect(2, CATEGORY_CAST_CACHE, REASON_CAST_CACHED);
    expect(4, CATEGORY_CAST_CACHE, REASON_CAST_CACHED);
    ck_assert_int_eq(capture_category(&capture, 3), CATEGORY_ACTIVATION);
}
END_TEST

/* A linear layer converts its bias, its weight, and then its input, all of which the graph keeps.
 */
START_TEST(copies_that_a_graph_keeps)
{
    born(1, 200, MODEL);
    born(2, 20, MODEL);
    born(3, 10, CAST);
    born(4, 100, CAST);
    born(5, 100, CAST); /* the input, as large as the weight */
    born(6, 30, STACK_FORWARD);
    born(7, 100, CAST); /* another input: the only weight of its size has a copy */
    born(8, 30, STACK_FORWARD);
    born(9, 5, STACK_BACKWARD);
    for (uint64_t addr = 3; addr < 9; addr++)
        freed(addr, addr == 3 ? 10 : addr == 6 || addr == 8 ? 30 : 100, ENGINE);
    capture_load(&capture);
    expect(3, CATEGORY_CAST_CACHE, REASON_CAST_WEIGHT);
    expect(4, CATEGORY_CAST_CACHE, REASON_CAST_WEIGHT);
    ck_assert_int_eq(capture_category(&capture, 5), CATEGORY_ACTIVATION);
    ck_assert_int_eq(capture_category(&capture, 7), CATEGORY_ACTIVATION);
}
END_TEST

/* A list keeps the results of inference with their graphs, and the graphs keep the batches. */
START_TEST(the_first_batch_may_stay)
{
    born(1, 4000, PY("<module>", "/home/u/train.py", 2));
    for (uint64_t i = 0; i < 3; i++) {
        born(10 + i, 100, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
        born(20 + i, 300, STACK_FORWARD);
    }
    capture_load(&capture);
    expect(1, CATEGORY_PARAMETER, REASON_INFERENCE);
    expect(10, CATEGORY_INPUT, REASON_FIRST_BATCH);
    expect(11, CATEGORY_INPUT, REASON_BATCH);
}
END_TEST

/* Memory runs out in the first forward pass, which is the only one. */
START_TEST(the_only_batch)
{
    born(1, 4000, MODEL);
    born(2, 100, CPP("at::_ops::_to_copy::call(x)") "," SCRIPT);
    born(3, 200, CPP("at::_ops::zeros::call(x)") "," SCRIPT);
    born(4, 300, STACK_FORWARD);
    capture_load(&capture);
    expect(2, CATEGORY_INPUT, REASON_COPIED);
    expect(3, CATEGORY_PARAMETER, REASON_INFERENCE);
}
END_TEST

TCase *category_caches_tests(void)
{
    TCase *tests = tcase_create("caches");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, libraries_known_by_name);
    tcase_add_test(tests, a_library_replaces_the_first_blocks);
    tcase_add_test(tests, blocks_that_grow_from_pass_to_pass);
    tcase_add_test(tests, layers_that_other_code_calls);
    tcase_add_test(tests, a_few_passes_of_training_keep_no_cache);
    tcase_add_test(tests, rollouts_keep_a_cache);
    tcase_add_loop_test(tests, rollouts_fill_a_cache_of_fixed_length, 0, 2);
    tcase_add_test(tests, a_pool_of_equal_blocks);
    tcase_add_test(tests, a_pool_from_before_the_trace);
    tcase_add_test(tests, a_pool_with_counters_between);
    tcase_add_loop_test(tests, a_pool_by_the_name_of_its_code, 0, 3);
    tcase_add_loop_test(tests, no_pool_by_the_name_of_other_code, 0, 3);
    tcase_add_test(tests, equal_weights_beside_large_activations);
    tcase_add_test(tests, a_cache_of_one_request);
    tcase_add_test(tests, two_numbers_are_no_cache);
    tcase_add_test(tests, caches_of_requests_that_are_done);
    tcase_add_test(tests, results_that_a_program_keeps_are_no_cache);
    tcase_add_test(tests, copies_that_the_region_frees);
    tcase_add_test(tests, copies_that_a_graph_keeps);
    tcase_add_test(tests, the_first_batch_may_stay);
    tcase_add_test(tests, the_only_batch);
    return tests;
}
