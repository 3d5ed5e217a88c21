/* Plans for the iterations of loops, as Python. */
#include <stdlib.h>
#include <string.h>

#include "render/suggest/parts.h"
#include "unit/render/render.h"

#define LAYERS 6

static struct budget budget;
static struct symbols *symbols;
static struct forward_chain chain;
static struct chain_element elements[LAYERS];
static struct chain_part parts[LAYERS];
static struct chain_loop loop;
static struct text modules[LAYERS];
static struct piece pieces[LAYERS];
static struct problem problem;
static struct layer_trace trace;
static struct placement placement;
static char *printed;

/* The first layer is a line. The others are iterations 0 to 4 of a loop. */
static void create(void)
{
    struct error err;
    budget = (struct budget){.limit = SIZE_MAX};
    symbols = symbols_create(&budget, &err);
    ck_assert(symbols && symbols_string(symbols, "model.py:9\n forward", 19, &loop.name, &err));
    loop.iterations = LAYERS - 1;
    loop.is_call = true;
    for (uint32_t i = 0; i < LAYERS; i++) {
        elements[i] = (struct chain_element){.first_part = i, .end_part = i + 1};
        parts[i] = (struct chain_part){.loop = i > 0 ? 0 : NO_LOOP, .iteration = i - (i > 0)};
        modules[i] = (struct text){"name", 4};
        pieces[i] = (struct piece){
            .first_row = i, .end_row = i + 1, .first_module = i, .end_module = i + 1};
    }
    chain = (struct forward_chain){.elements = elements,
                                   .count = LAYERS,
                                   .parts = parts,
                                   .part_count = LAYERS,
                                   .loops = &loop,
                                   .loop_count = 1};
    problem = (struct problem){.modules = modules, .module_count = LAYERS, .pieces = pieces};
    problem.chain.layers = LAYERS;
    trace = (struct layer_trace){.symbols = symbols};
    placement = (struct placement){0};
}

static void destroy(void)
{
    free(placement.segments);
    free(printed);
    printed = NULL;
    symbols_destroy(symbols);
}

static void wrap(size_t first, size_t end, unsigned depth)
{
    placement.segments =
        realloc(placement.segments, (placement.count + 1) * sizeof(struct wrapped));
    placement.segments[placement.count++] =
        (struct wrapped){.first = first, .end = end, .depth = depth};
}

static void expect(const char *text)
{
    size_t size;
    free(printed); /* of the call before */
    struct page page = {.out = open_memstream(&printed, &size), .width = 80};
    struct suggest_subject subject = {.trace = &trace, .problem = &problem, .forward = &chain};
    ck_assert(page.out && suggest_loops_python(&page, &subject, &placement));
    fclose(page.out);
    ck_assert_msg(strstr(printed, text) != NULL, "no '%s' in:\n%s", text, printed);
}

START_TEST(single_iterations_are_wrapped)
{
    wrap(1, 2, 0);
    wrap(4, 5, 0);
    expect("for i in [\n    0, 3,\n]:\n    layers[i].forward = partial(checkpoint, "
           "layers[i].forward, use_reentrant=False)\n");
    ck_assert_ptr_null(strstr(printed, "# Move each"));
    ck_assert_ptr_null(strstr(printed, "9\n f")); /* what the file says stays in its comment */
}
END_TEST

START_TEST(runs_are_lists)
{
    wrap(1, 3, 0);
    wrap(4, 6, 0);
    expect("plan = [  # numbers are iterations; each inner list is one checkpoint\n"
           "    [0, 1], 2, [3, 4],\n]\n");
}
END_TEST

START_TEST(lists_nest)
{
    wrap(1, 6, 0);
    wrap(1, 4, 1);
    wrap(2, 4, 2);
    wrap(5, 6, 1);
    expect("    [[0, [1, 2]], 3, [4]],\n");
}
END_TEST

START_TEST(deep_lists_close_as_often_as_they_open)
{
    enum { DEEP = 80 };
    char text[DEEP + 4] = "", *at = text;
    for (unsigned depth = 0; depth < DEEP; depth++) {
        wrap(1, 6, depth);
        *at++ = '[';
    }
    strcpy(at, "0,");
    expect(text);
    text[0] = '4';
    memset(text + 1, ']', DEEP);
    strcpy(text + 1 + DEEP, ",");
    ck_assert_ptr_nonnull(strstr(printed, text));
}
END_TEST

/* The call and the called code are on several lines, so no module can be wrapped for it. */
START_TEST(a_body_of_lines_is_run_by_a_plan)
{
    loop.is_call = false;
    wrap(2, 3, 0);
    expect("    0, [1], 2, 3, 4,\n");
}
END_TEST

START_TEST(what_is_outside_is_told)
{
    wrap(0, 3, 0);
    wrap(3, 4, 0);
    expect("#     name .. name\n");
    expect("for i in [\n    2,\n]:");
}
END_TEST

/* Nobody moves lines of an installed package into a function. */
START_TEST(lines_of_packages_are_not_to_be_moved)
{
    parts[1].in_package = true;
    wrap(0, 3, 0);
    expect("lines of installed packages");
    ck_assert_ptr_nonnull(strstr(printed, "#     name .. name\n"));
    ck_assert_ptr_null(strstr(printed, "# Move each"));
    parts[1].in_package = false;
    expect("# Move each");
    ck_assert_ptr_null(strstr(printed, "installed packages"));
}
END_TEST

TCase *suggest_loops_tests(void)
{
    TCase *tests = tcase_create("suggest_loops");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, single_iterations_are_wrapped);
    tcase_add_test(tests, runs_are_lists);
    tcase_add_test(tests, lists_nest);
    tcase_add_test(tests, deep_lists_close_as_often_as_they_open);
    tcase_add_test(tests, a_body_of_lines_is_run_by_a_plan);
    tcase_add_test(tests, what_is_outside_is_told);
    tcase_add_test(tests, lines_of_packages_are_not_to_be_moved);
    return tests;
}
