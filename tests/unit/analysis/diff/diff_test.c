#include "analysis/diff/diff.h"

#include <string.h>

#include "unit/analysis/analysis.h"
#include "unit/analysis/capture.h"

#define MB 1000000

/* Two captures, and the messages about them. */
static struct capture captures[2];
static struct budget budget;
static struct symbols *symbols;
static struct site_table *sites;
static struct diff_side sides[2];
static struct diff *diff;
static uint64_t next_addr;

static void create(void)
{
    capture_init(&captures[0]);
    capture_init(&captures[1]);
    next_addr = 4096;
}

/* Live at the end of the trace of A (0) or B (1). */
static void live(int side, uint64_t size, const char *frames)
{
    next_addr += (uint64_t)1 << 32;
    capture_event(&captures[side], "alloc", next_addr, size, frames);
    capture_block(&captures[side], next_addr, size, frames);
}

static void compare_sides(const struct diff_side *both, size_t top)
{
    struct error err;
    const struct diff_options options = {.top = top};
    diff_destroy(diff);
    diff = diff_build(both, sites, &options, &budget, &err);
    if (!diff)
        ck_abort_msg("no comparison: %s", err.text);
}

static void compare(size_t top)
{
    struct error err;
    const struct report_options at_peak = {0};
    budget = (struct budget){.limit = 1 << 26};
    symbols = symbols_create(&budget, &err);
    ck_assert_ptr_nonnull(symbols);
    sites = site_table_create(symbols, &err);
    ck_assert_ptr_nonnull(sites);
    for (int i = 0; i < 2; i++) {
        capture_load(&captures[i]);
        ck_assert(diff_side_make(&sides[i], captures[i].timeline, captures[i].sites, &at_peak,
                                 false, symbols, &budget, &err));
    }
    compare_sides(sides, top);
}

static void destroy(void)
{
    diff_destroy(diff);
    diff = NULL;
    for (int i = 0; i < 2; i++) {
        diff_side_release(&sides[i]);
        capture_release(&captures[i]);
    }
    site_table_destroy(sites);
    symbols_destroy(symbols);
    ck_assert_uint_eq(budget.used, 0);
}

static void check_line(size_t i, const char *label, int64_t a, int64_t b, enum diff_change change,
                       enum diff_matched matched)
{
    ck_assert_uint_lt(i, diff->line_count);
    const struct diff_line *line = &diff->lines[i];
    ck_assert_str_eq(line->label.full, label);
    ck_assert_int_eq(line->row.bytes[0], a);
    ck_assert_int_eq(line->row.bytes[1], b);
    ck_assert_str_eq(diff_change_name(line->change), diff_change_name(change));
    ck_assert_str_eq(diff_matched_name(line->row.matched), diff_matched_name(matched));
}

/* B compared with A says the reverse. */
static void check_reverse(void)
{
    struct diff_rows forth = diff->rows;
    diff->rows = (struct diff_rows){.budget = &budget};
    const struct diff_side turned[2] = {sides[1], sides[0]};
    compare_sides(turned, 0);
    ck_assert_uint_eq(diff->rows.count, forth.count);
    for (size_t i = 0; i < forth.count; i++) {
        const struct diff_row *a = &forth.items[i], *b = &diff->rows.items[i];
        for (int side = 0; side < 2; side++) {
            ck_assert_int_eq(a->bytes[side], b->bytes[1 - side]);
            ck_assert_uint_eq(a->count[side], b->count[1 - side]);
            ck_assert_uint_eq(a->sites[side], b->sites[1 - side]);
            ck_assert_uint_eq(a->top[side], b->top[1 - side]);
        }
        ck_assert_int_eq(a->matched, b->matched);
    }
    diff_rows_release(&forth);
}

#define AT(line)      PY("forward", "/home/u/model.py", line) "," SCRIPT
#define MM_AT(line)   CPP("at::_ops::mm::call(x)") "," AT(line)
#define RELU_AT(line) CPP("at::_ops::relu::call(x)") "," AT(line)

START_TEST(growth_at_one_stack_comes_first)
{
    live(0, 10 * MB, MM_AT(3));
    live(0, 400 * MB, RELU_AT(4));
    live(0, 100 * MB, RELU_AT(9));
    live(1, 1000 * MB, MM_AT(3));
    live(1, 400 * MB, RELU_AT(4));
    live(1, 300 * MB, CPP("at::_ops::mm::call(x)") "," PY("added", "/home/u/other.py", 1));
    compare(0);
    check_line(0, "model.py:3 forward", 10 * MB, 1000 * MB, DIFF_GROWN, DIFF_BY_STACK);
    check_line(1, "other.py:1 added", 0, 300 * MB, DIFF_NEW, DIFF_BY_NOTHING);
    check_line(2, "model.py:9 forward", 100 * MB, 0, DIFF_GONE, DIFF_BY_NOTHING);
    check_line(3, "(1 site without a change)", 400 * MB, 400 * MB, DIFF_SAME, DIFF_BY_NOTHING);
    ck_assert_uint_eq(diff->line_count, 4);
    ck_assert_ptr_nonnull(strstr(diff->summary.items[0], "The peak grew by"));
    ck_assert_ptr_nonnull(strstr(diff->summary.items[1], "model.py:3 forward"));
    check_reverse();
    destroy();
}
END_TEST

START_TEST(a_capture_and_itself)
{
    for (int side = 0; side < 2; side++) {
        live(side, 5 * MB, MM_AT(3));
        live(side, 5 * MB, MM_AT(4));
        live(side, 5 * MB, "");
    }
    compare(0);
    ck_assert_uint_eq(diff->changed, 0);
    ck_assert_uint_eq(diff->line_count, 1);
    check_line(0, "(3 sites without a change)", 15 * MB, 15 * MB, DIFF_SAME, DIFF_BY_NOTHING);
    check_reverse();
    destroy();
}
END_TEST

/* One line above all of them was added: no site is new, though numbers of lines occur in both. */
START_TEST(moved_lines_keep_their_sites)
{
    live(0, 100 * MB, MM_AT(40));
    live(0, 1 * MB, MM_AT(41));
    live(0, 50 * MB, MM_AT(42));
    live(1, 100 * MB, MM_AT(41));
    live(1, 1 * MB, MM_AT(42));
    live(1, 70 * MB, MM_AT(43));
    compare(0);
    check_line(0, "model.py:43 forward", 50 * MB, 70 * MB, DIFF_GROWN, DIFF_BY_STACK);
    ck_assert_str_eq(diff->lines[0].was.full, "model.py:42 forward");
    check_line(1, "(2 sites without a change)", 101 * MB, 101 * MB, DIFF_SAME, DIFF_BY_NOTHING);
    check_reverse();
    destroy();
}
END_TEST

/* Lines that all occur in the other capture were not moved, however well their sizes would fit. */
START_TEST(unmoved_lines_are_taken_as_they_are)
{
    live(0, 10 * MB, MM_AT(10));
    live(0, 1000 * MB, MM_AT(20));
    live(1, 1000 * MB, MM_AT(10));
    live(1, 900 * MB, MM_AT(20));
    compare(0);
    check_line(0, "model.py:10 forward", 10 * MB, 1000 * MB, DIFF_GROWN, DIFF_BY_STACK);
    check_line(1, "model.py:20 forward", 1000 * MB, 900 * MB, DIFF_SHRUNK, DIFF_BY_STACK);
    check_reverse();
    destroy();
}
END_TEST

START_TEST(another_checkout_has_other_paths)
{
    live(0, 10 * MB, CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/a/run/src/model.py", 3));
    live(0, 30 * MB, CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/a/run/lib/model.py", 3));
    live(1, 20 * MB, CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/b/run/src/model.py", 3));
    live(1, 35 * MB, CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/b/run/lib/model.py", 3));
    compare(0);
    check_line(0, "b/run/src/model.py:3 forward", 10 * MB, 20 * MB, DIFF_GROWN, DIFF_BY_FUNCTION);
    check_line(1, "b/run/lib/model.py:3 forward", 30 * MB, 35 * MB, DIFF_GROWN, DIFF_BY_FUNCTION);
    check_reverse();
    destroy();
}
END_TEST

/* The rest of a function on both sides is one row. */
START_TEST(a_function_is_found_again)
{
    live(0, 10 * MB, MM_AT(10));
    live(0, 20 * MB, MM_AT(11));
    live(1, 70 * MB, RELU_AT(30));
    compare(0);
    check_line(0, "model.py:30 forward", 30 * MB, 70 * MB, DIFF_GROWN, DIFF_BY_FUNCTION);
    ck_assert_uint_eq(diff->lines[0].row.sites[0], 2);
    ck_assert_uint_eq(diff->lines[0].row.sites[1], 1);
    check_reverse();
    destroy();
}
END_TEST

/* Another operator and another category, with far more bytes, is something else. */
START_TEST(other_allocations_of_a_line)
{
    live(0, MB, MM_AT(10));
    live(1, 70 * MB, CPP("at::cuda::getCurrentCUDABlasHandle()") "," AT(10));
    compare(0);
    check_line(0, "model.py:10 forward", 0, 70 * MB, DIFF_NEW, DIFF_BY_NOTHING);
    check_reverse();
    destroy();
}
END_TEST

#define MM_IN(function, file, line)   CPP("at::_ops::mm::call(x)") "," PY(function, file, line)
#define RELU_IN(function, file, line) CPP("at::_ops::relu::call(x)") "," PY(function, file, line)

START_TEST(another_file_name)
{
    live(0, 10 * MB, MM_IN("forward", "/home/u/train.py", 10));
    live(0, 20 * MB, RELU_IN("step", "/home/u/train.py", 20));
    live(0, 5 * MB, MM_IN("forward", "/home/u/library.py", 7));
    live(1, 15 * MB, MM_IN("forward", "/home/u/run.py", 13));
    live(1, 20 * MB,
         RELU_IN("iterate", "/home/u/run.py", 23)); /* the function has another name, too */
    live(1, 5 * MB, MM_IN("forward", "/home/u/library.py", 7));
    compare(0);
    check_line(0, "run.py:13 forward", 10 * MB, 15 * MB, DIFF_GROWN, DIFF_BY_FUNCTION);
    check_line(1, "(2 sites without a change)", 25 * MB, 25 * MB, DIFF_SAME, DIFF_BY_NOTHING);
    check_reverse();
    destroy();
}
END_TEST

#define INSTALLED "/usr/lib/python3/site-packages/library/"

/* The other version also calls other files of a library. */
START_TEST(another_file_name_beside_a_library)
{
    live(0, 30 * MB, MM_IN("forward", "/home/u/one.py", 10));
    live(0, 2 * MB, RELU_IN("fused", INSTALLED "fused.py", 20));
    live(1, 40 * MB, MM_IN("forward", "/home/u/two.py", 13));
    live(1, 9 * MB, RELU_IN("eager", INSTALLED "eager.py", 7));
    live(0, 5 * MB, MM_IN("forward", INSTALLED "both.py", 7));
    live(1, 5 * MB, MM_IN("forward", INSTALLED "both.py", 7));
    compare(0);
    check_line(0, "two.py:13 forward", 30 * MB, 40 * MB, DIFF_GROWN, DIFF_BY_FUNCTION);
    check_reverse();
    destroy();
}
END_TEST

/* Of two renamed files, none is known to be the other. What did not change is no cause. */
START_TEST(two_other_file_names)
{
    live(0, 30 * MB, MM_IN("forward", "/home/u/one.py", 10));
    live(0, 30 * MB, RELU_IN("step", "/home/u/two.py", 20));
    live(1, 30 * MB, MM_IN("forward", "/home/u/three.py", 13));
    live(1, 30 * MB, RELU_IN("step", "/home/u/four.py", 7));
    live(1, 9 * MB, RELU_IN("more", "/home/u/four.py", 9));
    compare(0);
    ck_assert_ptr_nonnull(strstr(diff->summary.items[1], "four.py:9 more"));
    check_reverse();
    destroy();
}
END_TEST

/* Only a pair that is the only one of its kind is the same function. */
START_TEST(other_functions)
{
    live(0, 10 * MB, MM_IN("old", "/home/u/model.py", 10));
    live(0, 1 * MB, RELU_IN("forward", "/home/u/model.py", 30));
    live(1, 40 * MB, MM_IN("one", "/home/u/model.py", 10));
    live(1, 20 * MB, MM_IN("two", "/home/u/model.py", 20));
    live(1, 1 * MB, RELU_IN("forward", "/home/u/model.py", 30));
    compare(0);
    check_line(0, "model.py:10 one", 0, 40 * MB, DIFF_NEW, DIFF_BY_NOTHING);
    check_line(1, "model.py:20 two", 0, 20 * MB, DIFF_NEW, DIFF_BY_NOTHING);
    check_line(2, "model.py:10 old", 10 * MB, 0, DIFF_GONE, DIFF_BY_NOTHING);
    check_reverse();
    destroy();
}
END_TEST

START_TEST(a_limit_sums_the_rest)
{
    for (int i = 0; i < 2; i++) {
        live(i, 10 * MB, MM_AT(10));
        live(i, (uint64_t)(1 + i) * MB, MM_AT(20));
        live(i, (uint64_t)(2 - i) * MB, MM_AT(30));
        live(i, (uint64_t)(5 + 9 * i) * MB, RELU_AT(40));
    }
    compare(1);
    check_line(0, "model.py:40 forward", 5 * MB, 14 * MB, DIFF_GROWN, DIFF_BY_STACK);
    check_line(1, "(2 more sites)", 3 * MB, 3 * MB, DIFF_SAME, DIFF_BY_NOTHING);
    check_line(2, "(1 site without a change)", 10 * MB, 10 * MB, DIFF_SAME, DIFF_BY_NOTHING);
    ck_assert_uint_eq(diff->line_count, 3);
    destroy();
}
END_TEST

START_TEST(settings_that_differ)
{
    capture_setting(&captures[0], "max_split_size", "-1");
    capture_setting(&captures[0], "expandable_segments", "false");
    capture_setting(&captures[1], "max_split_size", "128");
    capture_setting(&captures[1], "expandable_segments", "false");
    capture_setting(&captures[1], "zero", "0");
    live(0, 1, MM_AT(1));
    live(1, 1, MM_AT(1));
    compare(0);
    ck_assert_uint_eq(diff->setting_count, 2);
    ck_assert_str_eq(symbols_text(symbols, diff->settings[0].key).bytes, "max_split_size");
    ck_assert_str_eq(symbols_text(symbols, diff->settings[0].values[0]).bytes, "-1");
    ck_assert_str_eq(symbols_text(symbols, diff->settings[0].values[1]).bytes, "128");
    ck_assert_str_eq(symbols_text(symbols, diff->settings[1].key).bytes, "zero");
    ck_assert(!diff->settings[1].present[0] && diff->settings[1].present[1]);
    destroy();
}
END_TEST

#define MADE_MODEL                                                                                 \
    CPP("at::_ops::_to_copy::call(x)")                                                             \
    "," PY("_apply", TORCH "nn/modules/module.py", 900) "," AT(1)

/* As if the recording of B began late: the same memory exists there without its call site. */
START_TEST(memory_without_its_call_site)
{
    live(0, 50 * MB, MADE_MODEL);
    live(0, 10 * MB, RELU_AT(2));
    live(1, 50 * MB, "");
    live(1, 12 * MB, RELU_AT(2));
    compare(0);
    ck_assert_ptr_nonnull(strstr(diff->summary.items[1], "model.py:2 forward"));
    ck_assert_uint_eq(diff->summary.count, 2); /* nothing of what grew and shrank in total */
    check_reverse();
    destroy();
    create();
    live(0, 50 * MB, MADE_MODEL);
    live(1, 50 * MB, "");
    compare(0);
    ck_assert_ptr_nonnull(strstr(diff->summary.items[1], "B lacks the call sites"));
    check_reverse();
    destroy();
}
END_TEST

START_TEST(one_side_is_empty)
{
    live(1, 7 * MB, MM_AT(1));
    compare(0);
    check_line(0, "model.py:1 forward", 0, 7 * MB, DIFF_NEW, DIFF_BY_NOTHING);
    ck_assert_uint_eq(diff->category_count, 1);
    check_reverse();
    destroy();
}
END_TEST

#define SAVED 5
#define LAYER(n)                                                                                   \
    CPP("at::_ops::mm::call(x)") "," PY("forward", "/home/u/net.py", n) "," CALL "," SCRIPT
#define SAVED_DIES CPP("torch::autograd::SavedVariable::reset_data()")

static uint64_t made(int side, uint64_t size, const char *frames)
{
    return capture_alloc(&captures[side], size, frames);
}

/* Steps that each save SAVED tensors. Their backward pass frees these, or leaves them to the
 * next step, in which their graph dies. */
static void train(int side, bool retains)
{
    static const char *const layers[] = {LAYER(1), LAYER(2), LAYER(3), LAYER(4), LAYER(5)};
    uint64_t old[SAVED] = {0}, graph[SAVED];
    for (unsigned step = 0; step < 4; step++) {
        for (size_t i = 0; i < SAVED; i++)
            graph[i] = made(side, MB, layers[i]);
        for (size_t i = 0; retains && step > 0 && i < SAVED; i++)
            capture_free(&captures[side], old[i], MB,
                         SAVED_DIES "," CPP("torch::autograd::Node::~Node()") "," SCRIPT);
        for (size_t i = 0; i <= SAVED; i++)
            capture_free(&captures[side], made(side, 10, STACK_BACKWARD), 10, STACK_BACKWARD);
        for (size_t i = 0; !retains && i < SAVED; i++)
            capture_free(&captures[side], graph[i], MB, SAVED_DIES "," ENGINE);
        made(side, 1, STACK_STEP);
        memcpy(old, graph, sizeof(old));
    }
}

/* The advice of the category comes in place of what graphs keep, in the other direction or
 * between equal captures. */
START_TEST(graphs_that_only_one_side_keeps)
{
    train(0, _i == 1);
    train(1, _i == 0);
    compare(0);
    ck_assert_int_eq(sides[1].retained_bytes > sides[0].retained_bytes, _i == 0);
    bool names_graphs = false;
    for (size_t i = 0; i < diff->next.count; i++)
        names_graphs |= strstr(diff->next.items[i], "last backward pass is over") != NULL;
    ck_assert_int_eq(names_graphs, _i == 0);
    destroy();
}
END_TEST

TCase *diff_tests(void)
{
    TCase *tests = tcase_create("diff");
    tcase_add_checked_fixture(tests, create, NULL);
    tcase_add_test(tests, growth_at_one_stack_comes_first);
    tcase_add_test(tests, a_capture_and_itself);
    tcase_add_test(tests, moved_lines_keep_their_sites);
    tcase_add_test(tests, unmoved_lines_are_taken_as_they_are);
    tcase_add_test(tests, another_checkout_has_other_paths);
    tcase_add_test(tests, a_function_is_found_again);
    tcase_add_test(tests, other_allocations_of_a_line);
    tcase_add_test(tests, another_file_name);
    tcase_add_test(tests, another_file_name_beside_a_library);
    tcase_add_test(tests, two_other_file_names);
    tcase_add_test(tests, other_functions);
    tcase_add_test(tests, a_limit_sums_the_rest);
    tcase_add_test(tests, settings_that_differ);
    tcase_add_test(tests, memory_without_its_call_site);
    tcase_add_test(tests, one_side_is_empty);
    tcase_add_loop_test(tests, graphs_that_only_one_side_keeps, 0, 2);
    return tests;
}
