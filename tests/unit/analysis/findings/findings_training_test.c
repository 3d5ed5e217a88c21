/* What a report advises on optimizers, gradients and emptied caches. */
#include <string.h>

#include "analysis/pool/given_back.h"
#include "unit/analysis/analysis.h"
#include "unit/analysis/one_report.h"

#define EMPTY_CACHE PY("empty_cache", TORCH "cuda/memory.py", 280) "," SCRIPT

START_TEST(memory_given_back_and_asked_for_again)
{
    for (int i = 0; i < 3; i++) {
        capture_event(&capture, "segment_alloc", 4096, 1000, STACK_FORWARD);
        capture_event(&capture, "alloc", 4096, 900, STACK_FORWARD);
        capture_free(&capture, 4096, 900, STACK_FORWARD);
        capture_event(&capture, "segment_free", 4096, 1000, i < 2 ? EMPTY_CACHE : STACK_FORWARD);
    }
    capture_load(&capture);
    report = capture_report(&capture, 0);
    struct given_back given;
    struct error err;
    ck_assert(given_back_find(&given, capture.timeline, capture.sites, &err));
    ck_assert_int_eq(given.bytes, 2000);
    ck_assert_int_eq(given.again_bytes, 2000);
    ck_assert_uint_eq(given.calls, 2);
    ck_assert_uint_eq(given.mallocs, 2);
    ck_assert_ptr_nonnull(report_finding(report, FINDING_EMPTY_CACHE));
}
END_TEST

/* torch.cuda.graph() empties the cache itself. */
START_TEST(memory_given_back_for_a_capture)
{
    for (int i = 0; i < 3; i++) {
        capture_event(&capture, "segment_alloc", 4096, 1000, STACK_FORWARD);
        capture_event(&capture, "alloc", 4096, 900, STACK_FORWARD);
        capture_free(&capture, 4096, 900, STACK_FORWARD);
        capture_event(&capture, "segment_free", 4096, 1000,
                      PY("empty_cache", TORCH "cuda/memory.py",
                         280) "," PY("__enter__", TORCH "cuda/graphs.py", 200) "," SCRIPT);
    }
    capture_load(&capture);
    report = capture_report(&capture, 0);
    ck_assert_ptr_null(report_finding(report, FINDING_EMPTY_CACHE));
}
END_TEST

#define STACK_CLIP                                                                                 \
    CPP("at::_ops::linalg_vector_norm::call(x)")                                                   \
    "," PY("clip_grad_norm_", TORCH "nn/utils/clip_grad.py", 215) "," SCRIPT

/* A step of `passes` passes whose gradient, of `size`, belongs to a parameter of 100. */
static void one_step(uint64_t size, unsigned passes, bool clips)
{
    capture_event(&capture, "alloc", 9, 100,
                  PY("__init__", TORCH "nn/modules/linear.py", 105) "," SCRIPT);
    for (unsigned pass = 0; pass < passes; pass++) {
        capture_event(&capture, "alloc", 1, 40, STACK_FORWARD);
        if (pass == 0)
            capture_event(&capture, "alloc", 2, size, STACK_BACKWARD);
        capture_event(&capture, "alloc", 4, 10, STACK_BACKWARD);
        capture_free(&capture, 4, 10, STACK_BACKWARD);
        capture_free(&capture, 1, 40, ENGINE);
    }
    if (clips) {
        capture_event(&capture, "alloc", 5, 4, STACK_CLIP);
        capture_free(&capture, 5, 4, STACK_CLIP);
    }
    capture_event(&capture, "alloc", 3, 10, STACK_STEP);
    capture_free(&capture, 3, 10, STACK_STEP);
    capture_free(&capture, 2, size, SCRIPT);
    capture_load(&capture);
    report = capture_report(&capture, 0);
}

/* Only gradients that are complete, and looked at one by one, can be freed in a hook. */
START_TEST(gradients_of_parameters)
{
    static const struct {
        unsigned passes;
        bool clips;
        const char *next;
    } cases[] = {{1, false, "register_post_accumulate_grad_hook"},
                 {1, true, "clip_grad_norm_()"},
                 {2, false, "Several backward passes"}};
    one_step(100, cases[_i].passes, cases[_i].clips);
    const struct finding *finding = report_finding(report, FINDING_GRADIENTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->next, cases[_i].next));
}
END_TEST

#define GATHERED                                                                                   \
    CPP("at::_ops::empty::call(x)")                                                                \
    "," PY("alloc_storage", TORCH "distributed/fsdp/_fully_shard/_fsdp_param.py", 1390) "," SCRIPT

/* FSDP has divided gradients, unless a pass does not reduce them. */
START_TEST(gradients_of_fsdp)
{
    capture_event(&capture, "alloc", 8, 20, GATHERED);
    one_step(_i > 0 ? 400 : 100, _i == 2 ? 1 : 2, false);
    const struct finding *finding = report_finding(report, FINDING_GRADIENTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, _i == 1 ? 300 : _i == 0 ? 100 : 400);
    ck_assert_int_eq(strstr(finding->next, "keeps the whole gradients") != NULL, _i == 1);
    ck_assert_int_eq(strstr(finding->next, "twice as many ranks") != NULL, _i != 1);
}
END_TEST

/* Without stacks, gradients are what has the size of a weight. If no weight is known, nothing tells
 * them. */
START_TEST(gradients_without_stacks_and_weights)
{
    if (_i > 0)
        capture_event_with(&capture, "alloc", 1, 1000, "", ",\"category\":\"parameter\"");
    capture_event_with(&capture, "alloc", 2, 1000, "", ",\"category\":\"gradient\"");
    make_report(0);
    ck_assert_int_eq(report_finding(report, FINDING_GRADIENTS) != NULL, _i > 0);
}
END_TEST

START_TEST(gradients_larger_than_any_parameters)
{
    one_step(5000, 1, false);
    const struct finding *finding = report_finding(report, FINDING_GRADIENTS);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->what, "50.0 times the parameters"));
    ck_assert_ptr_nonnull(strstr(finding->what, "torch.func.grad() or hooks"));
    ck_assert_ptr_null(strstr(finding->next, "hook"));
}
END_TEST

/* zero_grad() before the forward pass frees 60 of the 100 that hooks might: it comes first. */
START_TEST(kept_gradients_come_before_all_gradients)
{
    capture_event(&capture, "alloc", 9, 100, PY("__init__", TORCH "nn/modules/linear.py", 105));
    for (int step = 0; step < 3; step++) {
        capture_event(&capture, "alloc", 1, 200, STACK_FORWARD);
        capture_event(&capture, "alloc", 4, 60, STACK_FORWARD);
        capture_free(&capture, 4, 60, STACK_FORWARD);
        if (step > 0)
            capture_free(&capture, 2, 100,
                         PY("zero_grad", TORCH "optim/optimizer.py", 900) "," SCRIPT);
        capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
        capture_free(&capture, 1, 200, ENGINE);
        capture_event(&capture, "alloc", 3, 10, STACK_STEP);
        capture_free(&capture, 3, 10, STACK_STEP);
    }
    make_report(0);
    const struct finding *kept = report_finding(report, FINDING_KEPT_GRADIENTS);
    const struct finding *all = report_finding(report, FINDING_GRADIENTS);
    ck_assert_ptr_nonnull(kept);
    ck_assert_ptr_nonnull(all);
    ck_assert_int_eq(kept->save_bytes, 60);
    ck_assert_int_eq(all->save_bytes, 100);
    ck_assert(kept < all);
}
END_TEST

#define HOOK(name, file) PY(name, TORCH file, 7) "," PY("hook", "/home/u/train.py", 3) "," ENGINE

/* Gradients that an optimizer in a hook frees at once need no advice to do so. */
START_TEST(optimizers_in_hooks)
{
    for (int in_hook = 1; in_hook >= 0; in_hook--) {
        capture_event(&capture, "alloc", 1, 10, STACK_FORWARD);
        capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
        if (in_hook)
            capture_free(&capture, 2, 100, HOOK("zero_grad", "optim/optimizer.py"));
        capture_free(&capture, 1, 10, ENGINE);
        capture_event(&capture, "alloc", 3, 5, STACK_STEP);
        make_report(0);
        ck_assert_int_eq(report_finding(report, FINDING_GRADIENTS) != NULL, !in_hook);
        destroy();
        create();
    }
}
END_TEST

#define MADE_MODEL                                                                                 \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," PY("_apply", TORCH "nn/modules/module.py", 900) "," SCRIPT
#define STATE(line)                                                                                \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("_init_group", TORCH "optim/adam.py",                                                   \
           line) "," PY("wrapper", TORCH "optim/optimizer.py", 533) "," SCRIPT

static void train_once(void)
{
    capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
    capture_event(&capture, "alloc", 2, 100, STACK_BACKWARD);
    capture_free(&capture, 1, 100, ENGINE);
}

/* Two optimizers that step one after the other, each with two states of 8 KiB for a parameter of
 * its own, or for the same one. */
static const struct finding *state_of_two(bool same_parameter)
{
    capture_event(&capture, "alloc", 10, 8192, MADE_MODEL);
    if (!same_parameter)
        capture_event(&capture, "alloc", 11, 8192, MADE_MODEL);
    for (uint64_t i = 0; i < 2; i++) {
        train_once();
        capture_event(&capture, "alloc", 20 + i, 8192, STATE(80));
        capture_event(&capture, "alloc", 30 + i, 8192, STATE(81));
        capture_free(&capture, 2, 100, STACK_STEP);
    }
    make_report(0);
    return report_finding(report, FINDING_REPEATED_STATE);
}

START_TEST(an_optimizer_made_twice)
{
    const struct finding *finding = state_of_two(true);
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 2 * 8192);
}
END_TEST

/* The states are a small part of the peak: still nobody needs the first ones. */
START_TEST(an_optimizer_made_twice_for_a_small_model)
{
    capture_event(&capture, "alloc", 5, 300000, STACK_FORWARD);
    ck_assert_ptr_nonnull(state_of_two(true));
}
END_TEST

START_TEST(two_optimizers_of_two_models)
{
    ck_assert_ptr_null(state_of_two(false));
}
END_TEST

/* As the step of SAM, which a script takes back later: the optimizer is made once. */
START_TEST(what_other_code_keeps_is_no_optimizer)
{
    capture_event(&capture, "alloc", 10, 8192, MADE_MODEL);
    for (uint64_t i = 0; i < 2; i++) {
        capture_event(&capture, "alloc", 1, 100, STACK_FORWARD);
        capture_event(&capture, "alloc", 2, 8192, STACK_BACKWARD);
        capture_free(&capture, 1, 100, ENGINE);
        capture_event(&capture, "alloc", 20 + i, 8192,
                      i == 0 ? CPP("at::_ops::mul::call(x)") "," SCRIPT : STATE(80));
        capture_free(&capture, 2, 8192, i == 0 ? SCRIPT : STACK_STEP);
    }
    make_report(0);
    ck_assert_int_eq(capture_category(&capture, 20), CATEGORY_OPTIMIZER_STATE);
    ck_assert_ptr_null(report_finding(report, FINDING_REPEATED_STATE));
}
END_TEST

/* What autograd.grad(create_graph=True) returned is no attribute of a weight, however long a
 * variable holds it. */
START_TEST(results_of_recorded_passes_are_no_kept_gradients)
{
    capture_block(&capture, 9, 8192, "");
    for (uint64_t i = 0; i < 4; i++) {
        capture_event(&capture, "alloc", 1, 4000, STACK_FORWARD);
        capture_event(&capture, "alloc", 2, 4000, STACK_FORWARD);
        capture_event(&capture, "alloc", 20 + i, 8192, STACK_BACKWARD);
        capture_event(&capture, "alloc", 3, 40, STACK_BACKWARD);
        capture_free(&capture, 3, 40, ENGINE);
        if (i > 0)
            capture_free(&capture, 19 + i, 8192, SCRIPT);
        capture_event(&capture, "alloc", 4, 50, STACK_FORWARD);
        capture_event(&capture, "alloc", 5, 8192, STACK_BACKWARD);
        capture_event(&capture, "alloc", 6, 60, STACK_BACKWARD);
        capture_event(&capture, "alloc", 7, 60, STACK_BACKWARD);
        capture_free(&capture, 4, 50, ENGINE);
        capture_free(&capture, 2, 4000, ENGINE);
        capture_free(&capture, 1, 4000, ENGINE);
        capture_free(&capture, 6, 60, ENGINE);
        capture_free(&capture, 7, 60, ENGINE);
        capture_event(&capture, "alloc", 8, 50, STACK_STEP);
        capture_free(&capture, 8, 50, STACK_STEP);
        capture_free(&capture, 5, 8192, SCRIPT);
    }
    make_report(0);
    ck_assert_int_eq(capture_category(&capture, 21), CATEGORY_GRADIENT);
    ck_assert_uint_eq(report->growth.gradients.count, 0);
}
END_TEST

/* An optimizer step whose temporaries, of 1200 bytes in all, cause the peak. */
static const char *advice_on_temporaries(uint64_t count)
{
    train_once();
    for (uint64_t i = 0; i < count; i++)
        capture_event(&capture, "alloc", 40 + i, 1200 / count, STACK_STEP);
    for (uint64_t i = 0; i < count; i++)
        capture_free(&capture, 40 + i, 1200 / count, STACK_STEP);
    capture_free(&capture, 2, 100, SCRIPT);
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_OPTIMIZER_TEMPORARIES);
    return finding ? finding->next : "";
}

START_TEST(temporaries_of_many_parameters)
{
    ck_assert_ptr_nonnull(strstr(advice_on_temporaries(4), "foreach=False avoids"));
}
END_TEST

START_TEST(temporaries_of_one_parameter)
{
    ck_assert_ptr_nonnull(strstr(advice_on_temporaries(2), "foreach=False does not"));
}
END_TEST

/* A step of `optimizer`, of a file of torch.optim, makes two states of 100 for a parameter of 100.
 */
static const struct finding *finding_on_states(const char *step)
{
    capture_event(&capture, "alloc", 1, 100,
                  PY("__init__", TORCH "nn/modules/sparse.py", 105) "," SCRIPT);
    capture_event(&capture, "alloc", 2, 40, STACK_FORWARD);
    capture_event(&capture, "alloc", 3, 10, STACK_BACKWARD);
    capture_free(&capture, 2, 40, STACK_BACKWARD);
    capture_event(&capture, "alloc", 4, 100, step);
    capture_event(&capture, "alloc", 5, 100, step);
    capture_free(&capture, 3, 10, SCRIPT);
    make_report(0);
    return report_finding(report, FINDING_OPTIMIZER_STATE);
}

#define STEP_OF(file)                                                                              \
    CPP("at::_ops::zeros_like::call(x)")                                                           \
    "," PY("step", TORCH "optim/" file, 70) "," PY("wrapper", TORCH "optim/optimizer.py",          \
                                                   533) "," SCRIPT

START_TEST(states_of_sparse_adam)
{
    const struct finding *finding = finding_on_states(STEP_OF("sparse_adam.py"));
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_eq(finding->save_bytes, 100);
    ck_assert_ptr_nonnull(strstr(finding->next, "torch.optim.Adagrad"));
    ck_assert_ptr_null(strstr(finding->next, "Shard it"));
}
END_TEST

START_TEST(states_of_adam)
{
    const struct finding *finding = finding_on_states(STEP_OF("adam.py"));
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->next, "Shard it"));
}
END_TEST

START_TEST(states_that_fsdp_has_divided)
{
    capture_event(&capture, "alloc", 8, 20, GATHERED);
    const struct finding *finding = finding_on_states(STEP_OF("adam.py"));
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_null(strstr(finding->next, "Shard it"));
    ck_assert_ptr_nonnull(strstr(finding->next, "twice as many ranks"));
}
END_TEST

#define CACHE_OF(around)                                                                           \
    CPP("at::_ops::cat::call(x)")                                                                  \
    "," PY("update", "/venv/site-packages/transformers/cache_utils.py",                            \
           136) "," PY("forward", "/home/u/model.py", 3) "," CALL "," around SCRIPT
#define OFF PY("decorate_context", TORCH "utils/_contextlib.py", 116) ","

/* Training steps whose forward pass fills a cache. With `_i`, generation before each step does. */
START_TEST(a_cache_that_training_fills)
{
    enum { STEPS = 3, LAYERS = 4, SIZE = 200 };
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t cache[LAYERS], saved[LAYERS];
        for (unsigned i = 0; _i == 1 && i < LAYERS; i++)
            cache[i] = capture_alloc(&capture, SIZE, CACHE_OF(OFF));
        for (unsigned i = 0; i < LAYERS; i++) {
            saved[i] = capture_alloc(&capture, SIZE, STACK_FORWARD);
            if (_i == 0)
                cache[i] = capture_alloc(&capture, SIZE, CACHE_OF(""));
        }
        uint64_t gradient = capture_alloc(&capture, 10, STACK_BACKWARD);
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&capture, saved[i], SIZE, ENGINE);
        for (unsigned i = 0; i < LAYERS; i++)
            capture_free(&capture, cache[i], SIZE, SCRIPT);
        capture_free(&capture, gradient, 10, STACK_STEP);
        capture_free(&capture, capture_alloc(&capture, 5, STACK_STEP), 5, STACK_STEP);
    }
    make_report(0);
    const struct finding *finding = report_finding(report, FINDING_TRAINING_CACHE);
    ck_assert((finding != NULL) == (_i == 0));
    if (finding) {
        ck_assert(finding->at_most);
        ck_assert_int_eq(finding->save_bytes, LAYERS * SIZE);
    }
}
END_TEST

TCase *findings_training_tests(void)
{
    TCase *tests = tcase_create("findings_training");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, memory_given_back_and_asked_for_again);
    tcase_add_test(tests, memory_given_back_for_a_capture);
    tcase_add_loop_test(tests, a_cache_that_training_fills, 0, 2);
    tcase_add_loop_test(tests, gradients_of_parameters, 0, 3);
    tcase_add_loop_test(tests, gradients_of_fsdp, 0, 3);
    tcase_add_loop_test(tests, gradients_without_stacks_and_weights, 0, 2);
    tcase_add_test(tests, gradients_larger_than_any_parameters);
    tcase_add_test(tests, kept_gradients_come_before_all_gradients);
    tcase_add_test(tests, optimizers_in_hooks);
    tcase_add_test(tests, temporaries_of_many_parameters);
    tcase_add_test(tests, temporaries_of_one_parameter);
    tcase_add_test(tests, states_that_fsdp_has_divided);
    tcase_add_test(tests, states_of_sparse_adam);
    tcase_add_test(tests, states_of_adam);
    tcase_add_test(tests, an_optimizer_made_twice);
    tcase_add_test(tests, an_optimizer_made_twice_for_a_small_model);
    tcase_add_test(tests, two_optimizers_of_two_models);
    tcase_add_test(tests, what_other_code_keeps_is_no_optimizer);
    tcase_add_test(tests, results_of_recorded_passes_are_no_kept_gradients);
    return tests;
}
