/* Reading the results of memsnap dryrun --fit. */
#include "model/fit.h"

#include <string.h>

#include "unit/model/model.h"

#define RUNS                                                                                       \
    "[{\"value\":8,\"result\":\"out-of-memory\",\"ooms\":1},"                                      \
    "{\"value\":4,\"result\":\"fits\",\"peak_active_bytes\":10,\"peak_reserved_bytes\":12,"        \
    "\"new\":[{}]}]"
#define GPU                                                                                        \
    "{\"runs\":" RUNS ",\"name\":\"t4\",\"product\":\"T\",\"memory_bytes\":16,\"other_bytes\":1}"
#define HEAD "{\"schema\":\"memsnap.fit/1\",\"variable\":\"B\",\"values\":\"1..8\","

static struct error err;

static struct fit *load(const char *text)
{
    struct input input;
    ck_assert(input_from_memory(&input, text, strlen(text), 1 << 20, &err));
    return fit_load_input(&input, &err);
}

START_TEST(results_are_read)
{
    struct fit *fit = load(HEAD "\"command\":[\"python\",\"{B}\"],\"steps\":3,\"gpus\":[" GPU
                                ",{\"name\":\"x\"}]}");
    ck_assert_msg(fit != NULL, "%s", err.text);
    ck_assert_str_eq(fit->variable, "B");
    ck_assert_str_eq(fit->values, "1..8");
    ck_assert_uint_eq(fit->steps, 3);
    ck_assert_uint_eq(fit->command_count, 2);
    ck_assert_str_eq(fit->command[1], "{B}");
    ck_assert_uint_eq(fit->gpu_count, 2);
    const struct fit_gpu *gpu = &fit->gpus[0];
    ck_assert_str_eq(gpu->name, "t4");
    ck_assert_uint_eq(fit_available(gpu), 15);
    ck_assert_uint_eq(gpu->run_count, 2);
    ck_assert_uint_eq(gpu->runs[0].value, 4);
    ck_assert_uint_eq(gpu->runs[0].reserved_bytes, 12);
    ck_assert(gpu->runs[0].has_peaks && !gpu->runs[1].has_peaks);
    ck_assert_uint_eq(gpu->runs[1].result, FIT_OUT_OF_MEMORY);
    fit_destroy(fit);
}
END_TEST

static const struct {
    const char *text, *says;
} bad[] = {
    {HEAD "\"gpus\":[]}", "found no GPU"},
    {"{\"values\":\"1\",\"gpus\":[" GPU "]}", "found no variable"},
    {"{\"variable\":\"B\",\"gpus\":[" GPU "]}", "found no values"},
    {HEAD "\"gpus\":[{\"runs\":[]}]}", "the name of a GPU"},
    {HEAD "\"gpus\":[{\"name\":\"t4\",\"runs\":[{\"value\":1}]}]}", "the result of a run"},
    {HEAD "\"gpus\":[{\"name\":\"t4\",\"runs\":[{\"value\":1,\"result\":\"good\"}]}]}", "\"fits\""},
    {HEAD "\"gpus\":[{\"name\":\"t4\",\"runs\":[{\"value\":-1}]}]}", "out of range"},
    {HEAD "\"gpus\":[{\"name\":\"t4\",\"memory_bytes\":9223372036854775807}]}", "out of range"},
    {HEAD "\"gpus\":[{\"name\":\"a\\u0000b\"}]}", "invalid text"},
    {HEAD "\"gpus\":[{\"name\":\"\\ud800\"}]}", "invalid text"},
    {HEAD "\"gpus\":{}}", "GPUs (an array)"},
    {HEAD "\"gpus\":[" GPU "]", "expected"},
    {HEAD "\"gpus\":[" GPU "]} x", "expected"},
};

START_TEST(damaged_results_are_refused)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(load(bad[i].text) == NULL, "%s", bad[i].text);
        ck_assert_int_eq(err.status, STATUS_BAD_INPUT);
        ck_assert_msg(strstr(err.text, bad[i].says) != NULL, "%s: %s", bad[i].text, err.text);
    }
}
END_TEST

START_TEST(too_many_items_are_refused)
{
    char *text = malloc(4 << 20);
    ck_assert_ptr_nonnull(text);
    strcpy(text, HEAD "\"command\":[");
    char *end = text + strlen(text);
    for (int i = 0; i < 5000; i++)
        end = stpcpy(end, "\"x\",");
    strcpy(end, "\"x\"]}");
    ck_assert_ptr_null(load(text));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    free(text);
}
END_TEST

TCase *fit_tests(void)
{
    TCase *tests = tcase_create("fit");
    tcase_add_test(tests, results_are_read);
    tcase_add_test(tests, damaged_results_are_refused);
    tcase_add_test(tests, too_many_items_are_refused);
    return tests;
}
