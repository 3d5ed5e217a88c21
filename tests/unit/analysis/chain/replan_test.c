/* The requests of a step with checkpoints. Four elements; each makes what the backward needs (K), a
 * temporary (T) and its output (O). The backward of an element makes a gradient (G), then frees K,
 * the input, and the gradient of its output. */
#include <stdlib.h>
#include <string.h>

#include "analysis/chain/replan_internal.h"
#include "unit/analysis/analysis.h"

#define ELEMENTS 4
#define BACKWARD (10 * ELEMENTS)
#define ITEMS    (2 * BACKWARD)

static struct budget budget;
static stack_id stacks[ITEMS];
static struct trace trace;
static struct timeline timeline;
static struct program program;
static struct forward_chain chain;
static struct chain_element elements[ELEMENTS];
static uint32_t kept[2 * ELEMENTS];
static struct buffer made;
static bool at_worst;

static uint32_t slot_of(char kind, uint32_t element)
{
    return (uint32_t)(strchr("KTOG", kind) - "KTOG") * ELEMENTS + element;
}

static void step(uint8_t what, uint32_t item, char kind, uint32_t element)
{
    struct error err;
    struct program_step added = {.kind = what,
                                 .item = item,
                                 .slot = slot_of(kind, element),
                                 .size = (uint64_t)kind << 8 | element};
    ck_assert(
        vec_push(program.steps, program.step_count, program.step_capacity, &budget, &err, added));
}

static void forward(uint32_t element, bool keeps_output)
{
    uint32_t item = 10 * element;
    step(STEP_MALLOC, item + 1, 'K', element);
    step(STEP_MALLOC, item + 2, 'T', element);
    step(STEP_FREE_COMPLETED, item + 3, 'T', element);
    step(STEP_MALLOC, item + 4, 'O', element);
    if (!keeps_output && element > 0)
        step(STEP_FREE_COMPLETED, item + 5, 'O', element - 1);
    for (uint32_t i = 1; i <= 4; i++)
        stacks[item + i] = i;
    kept[chain.kept_count++] = item + 1;
    if (keeps_output)
        kept[chain.kept_count++] = item + 4;
    elements[element] = (struct chain_element){.first_item = item + 1,
                                               .calls_first = item + 1,
                                               .calls_end = item + 10,
                                               .output_item = item + 4,
                                               .reader_item = EVENT_NEVER};
}

static void backward(uint32_t element, bool keeps_output)
{
    uint32_t item = BACKWARD + 10 * (ELEMENTS - 1 - element);
    step(STEP_MALLOC, item + 1, 'G', element);
    step(STEP_FREE_COMPLETED, item + 2, 'K', element);
    if (keeps_output && element > 0)
        step(STEP_FREE_COMPLETED, item + 3, 'O', element - 1);
    if (element + 1 < ELEMENTS)
        step(STEP_FREE_COMPLETED, item + 6, 'G', element + 1);
    elements[element].backward_end = item + 5;
}

/* An output is freed by the backward of the next element, or in the forward pass when the next
 * element has ended. */
static void create(bool keeps_output)
{
    budget = (struct budget){.limit = 1 << 20};
    trace = (struct trace){.count = ITEMS, .stack = stacks};
    timeline = (struct timeline){.trace = &trace};
    program =
        (struct program){.timeline = &timeline, .slot_count = 4 * ELEMENTS, .budget = &budget};
    chain = (struct forward_chain){
        .elements = elements, .count = ELEMENTS, .backward = BACKWARD, .kept = kept};
    made = (struct buffer)BUFFER_INIT;
    for (uint32_t e = 0; e < ELEMENTS; e++)
        forward(e, keeps_output);
    step(STEP_FREE_COMPLETED, BACKWARD, 'O', ELEMENTS - 1);
    for (uint32_t e = ELEMENTS; e-- > 0;)
        backward(e, keeps_output);
}

static void destroy(void)
{
    vec_free(program.steps, program.step_capacity, sizeof(*program.steps), &budget);
    buffer_release(&made);
    ck_assert_uint_eq(budget.used, 0);
}

/* Expects steps such as "+K0 -K0 ...", and checks that no slot is allocated twice or freed while it
 * is free. */
static const char *edited(const struct chain_segment *segments, size_t count)
{
    struct error err;
    struct program other;
    bool is_too_long;
    uint64_t live[16 * ELEMENTS] = {0};
    ck_assert(replan_edit(&program, &chain, segments, count, at_worst, &other, &is_too_long, &err));
    ck_assert(!is_too_long);
    ck_assert_uint_le(other.slot_count, 16 * ELEMENTS);
    buffer_clear(&made);
    for (size_t i = 0; i < other.step_count; i++) {
        const struct program_step *it = &other.steps[i];
        bool is_malloc = it->kind == STEP_MALLOC;
        ck_assert_msg((live[it->slot] != 0) != is_malloc, "step %zu: %s", i, made.bytes);
        uint64_t size = is_malloc ? it->size : live[it->slot];
        live[it->slot] = is_malloc ? size : 0;
        buffer_printf(&made, "%s%c%c%d", i > 0 ? " " : "", is_malloc ? '+' : '-', (int)(size >> 8),
                      (int)(size & 255));
    }
    replan_edit_release(&other);
    ck_assert(!made.failed);
    return made.bytes;
}

START_TEST(nothing_is_wrapped)
{
    create(true);
    ck_assert_str_eq(edited(NULL, 0),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 +O1 +K2 +T2 -T2 +O2 +K3 +T3 -T3 +O3 "
                     "-O3 +G3 -K3 -O2 +G2 -K2 -O1 -G3 +G1 -K1 -O0 -G2 +G0 -K0 -G1");
    destroy();
}
END_TEST

/* The recomputation stops at the last saved tensor, so T2 and O2 are not made again. */
START_TEST(one_segment)
{
    create(true);
    ck_assert_str_eq(edited((struct chain_segment[]){{.first = 1, .end = 3}}, 1),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 -K1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 -T3 +O3 "
                     "-O3 +G3 -K3 -O2 +K1 +T1 -T1 +O1 +K2 +G2 -K2 -O1 -G3 +G1 -K1 -O0 -G2 +G0 -K0 "
                     "-G1");
    destroy();
}
END_TEST

/* T1 is made by code before the module calls of the element. */
START_TEST(code_around_module_calls_runs_once)
{
    create(true);
    struct program_step *first = &program.steps[4], saved = first[0];
    first[0] = first[1];
    first[1] = first[2];
    first[2] = saved;
    for (uint32_t i = 0; i < 3; i++)
        first[i].item = 11 + i;
    kept[2] = elements[1].calls_first = 13;
    ck_assert_str_eq(edited((struct chain_segment[]){{.first = 1, .end = 2}}, 1),
                     "+K0 +T0 -T0 +O0 +T1 -T1 +K1 +O1 -K1 +K2 +T2 -T2 +O2 +K3 +T3 -T3 +O3 "
                     "-O3 +G3 -K3 -O2 +G2 -K2 -O1 +K1 -G3 +G1 -K1 -O0 -G2 +G0 -K0 -G1");
    destroy();
}
END_TEST

/* K1 is a copy of a weight, which autocast holds to the end of the forward pass. */
START_TEST(casts_stay_in_the_forward_pass)
{
    uint32_t casts[] = {11};
    create(true);
    chain.casts = casts;
    chain.cast_count = 1;
    ck_assert_str_eq(edited((struct chain_segment[]){{.first = 1, .end = 3}}, 1),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 -T3 +O3 "
                     "-K1 -O3 +G3 -K3 -O2 +K1 +T1 -T1 +O1 +K2 +G2 -K2 -O1 -G3 +G1 -K1 -O0 -G2 +G0 "
                     "-K0 -G1");
    destroy();
}
END_TEST

/* The program holds what an element keeps, and frees it as its last step. */
static void hold(uint32_t element)
{
    static uint32_t held[1];
    held[0] = 10 * element + 1;
    chain.held = held;
    chain.held_count = 1;
    for (size_t i = 0; i < program.step_count; i++)
        if (program.steps[i].slot == slot_of('K', element) &&
            program.steps[i].kind != STEP_MALLOC) {
            struct program_step drop = program.steps[i];
            memmove(&program.steps[i], &program.steps[i + 1],
                    (program.step_count - i - 1) * sizeof(drop));
            drop.item = ITEMS - 1;
            program.steps[program.step_count - 1] = drop;
            break;
        }
}

/* The program holds K1 and frees it after the step. The segment makes another K1 for its backward
 * pass. */
START_TEST(what_the_program_holds_stays)
{
    create(true);
    hold(1);
    ck_assert_str_eq(edited((struct chain_segment[]){{.first = 1, .end = 3}}, 1),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 -T3 +O3 "
                     "-O3 +G3 -K3 -O2 +K1 +T1 -T1 +O1 +K2 +G2 -K2 -O1 -G3 +G1 -O0 -K1 -G2 +G0 -K0 "
                     "-G1 -K1");
    destroy();
}
END_TEST

/* The program ends with the backward pass of element 0, so the other K0 is freed after all steps.
 */
START_TEST(a_program_may_end_with_the_pass)
{
    create(true);
    hold(0);
    elements[0].backward_end = chain.end = ITEMS;
    const char *steps = edited((struct chain_segment[]){{.first = 0, .end = 1}}, 1);
    ck_assert_str_eq(steps + strlen(steps) - strlen(" -K0 -K0"), " -K0 -K0");
    destroy();
}
END_TEST

/* The other pass has an element more at the beginning, and one less at the end. */
START_TEST(segments_are_mapped_by_names)
{
    struct chain_part parts[] = {{.name = 1}, {.name = 2}, {.name = 3}, {.name = 4}};
    struct chain_part others[] = {{.name = 9}, {.name = 1}, {.name = 2}, {.name = 3}};
    struct chain_element each[ELEMENTS];
    struct chain_segment segments[] = {{.first = 0, .end = 2},
                                       {.first = 1, .end = 2},
                                       {.first = 2, .end = 3},
                                       {.first = 3, .end = 4}};
    struct replan_mapped mapped = {0};
    struct error err;
    budget = (struct budget){.limit = 1 << 20};
    for (uint32_t e = 0; e < ELEMENTS; e++)
        each[e] = (struct chain_element){.first_part = e, .end_part = e + 1};
    struct forward_chain own = {
        .elements = each, .count = ELEMENTS, .parts = parts, .budget = &budget};
    struct forward_chain other = own;
    other.parts = others;
    ck_assert(replan_map(&own, segments, 4, &other, &mapped, &err));
    ck_assert_uint_eq(mapped.count, 3);
    for (size_t k = 0; k < 3; k++) {
        ck_assert_uint_eq(mapped.segments[k].first, segments[k].first + 1);
        ck_assert_uint_eq(mapped.segments[k].end, segments[k].end + 1);
    }
    ck_assert(replan_map(&own, segments, 4, &own, &mapped, &err));
    ck_assert_uint_eq(mapped.count, 4);
    ck_assert_uint_eq(mapped.segments[3].first, 3);
    vec_free(mapped.segments, mapped.capacity, sizeof(*mapped.segments), &budget);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* Names 11 to 14 are 1 to 4 within an iteration of a loop that one of the two passes lacks. */
START_TEST(a_loop_around_all_layers_may_be_missing)
{
    struct chain_part parts[] = {{.name = 1, .inner = 1},
                                 {.name = 2, .inner = 2},
                                 {.name = 3, .inner = 3},
                                 {.name = 4, .inner = 4}};
    struct chain_part within[] = {{.name = 11, .inner = 1},
                                  {.name = 12, .inner = 2},
                                  {.name = 13, .inner = 3},
                                  {.name = 14, .inner = 4}};
    struct chain_element each[ELEMENTS];
    struct chain_segment segments[] = {{.first = 0, .end = 2}, {.first = 3, .end = 4}};
    struct replan_mapped mapped = {0};
    struct error err;
    budget = (struct budget){.limit = 1 << 20};
    for (uint32_t e = 0; e < ELEMENTS; e++)
        each[e] = (struct chain_element){.first_part = e, .end_part = e + 1};
    struct forward_chain one = {
        .elements = each, .count = ELEMENTS, .parts = parts, .budget = &budget};
    struct forward_chain other = one;
    other.parts = within;
    for (int way = 0; way < 2; way++) {
        ck_assert(replan_map(way ? &one : &other, segments, 2, way ? &other : &one, &mapped, &err));
        ck_assert_uint_eq(mapped.count, 2);
        for (size_t k = 0; k < 2; k++)
            ck_assert_uint_eq(mapped.segments[k].first, segments[k].first);
    }
    vec_free(mapped.segments, mapped.capacity, sizeof(*mapped.segments), &budget);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* The backward of element 2 begins with an operator that reads its output. The checkpoint makes
 * another output before that, when no later layer needs the first one any more. */
START_TEST(the_last_operator_reads_its_result)
{
    create(true);
    for (size_t i = 1; i < program.step_count; i++)
        if (program.steps[i].slot == slot_of('G', 2) && program.steps[i].kind == STEP_MALLOC) {
            struct program_step output = program.steps[i - 1];
            elements[2].reader_item = program.steps[i].item;
            output.item = elements[2].reader_item + 1;
            program.steps[i - 1] = program.steps[i];
            program.steps[i] = output;
        }
    ck_assert_str_eq(edited((struct chain_segment[]){{.first = 1, .end = 3}}, 1),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 -K1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 -T3 +O3 "
                     "-O3 +G3 -K3 -O2 +K1 +T1 -T1 +O1 +K2 +T2 -T2 +O2 +G2 -O2 -K2 -O1 -G3 +G1 -K1 "
                     "-O0 -G2 +G0 -K0 -G1");
    destroy();
}
END_TEST

/* The outer segment runs again first. Elements 0 and 1 drop their activations once more, until the
 * inner segment runs again. */
START_TEST(nested_segments)
{
    create(true);
    ck_assert_str_eq(
        edited((struct chain_segment[]){{.first = 0, .end = 3}, {.first = 0, .end = 2}}, 2),
        "+K0 +T0 -T0 -K0 +O0 +K1 +T1 -T1 -K1 +O1 -O0 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 "
        "-T3 +O3 -O3 +G3 -K3 -O2 "
        "+K0 +T0 -T0 -K0 +O0 +K1 +T1 -T1 -K1 +O1 -O0 +K2 +G2 -K2 -O1 "
        "+K0 +T0 -T0 +O0 +K1 -G3 +G1 -K1 -O0 -G2 +G0 -K0 -G1");
    destroy();
}
END_TEST

/* The program frees outputs in the forward pass, but a checkpoint holds its input. O0 is held for
 * the segments that begin with element 1, from the forward pass on. O1 is held for the segment of
 * element 2, from the time at which the outer segment runs again. */
START_TEST(inputs_are_held)
{
    create(false);
    ck_assert_str_eq(edited((struct chain_segment[]){{.first = 1, .end = 3},
                                                     {.first = 1, .end = 2},
                                                     {.first = 2, .end = 3}},
                            3),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 -K1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 -T3 +O3 "
                     "-O2 -O3 +G3 -K3 +K1 +T1 -T1 -K1 +O1 +K2 -O1 +G2 -K2 +K1 -O0 -G3 +G1 -K1 -G2 "
                     "+G0 -K0 -G1");
    destroy();
}
END_TEST

/* The segments keep these results of an operator. */
static const char *edited_keeping(struct chain_result *results, size_t result_count,
                                  struct chain_segment *segments, size_t count)
{
    static const struct text keep = {"aten.mm", 7};
    struct error err;
    struct chain_operator kept_operator = {.element = 1};
    struct symbols *symbols = symbols_create(&budget, &err);
    struct snapshot snapshot = {.symbols = symbols};
    ck_assert(symbols_string(symbols, keep.bytes, keep.size, &kept_operator.name, &err));
    timeline.snapshot = &snapshot;
    chain.operators = &kept_operator;
    chain.operator_count = 1;
    chain.results = results;
    chain.result_count = result_count;
    for (size_t k = 0; k < count; k++) {
        segments[k].keep = &keep;
        segments[k].keep_count = 1;
    }
    const char *steps = edited(segments, count);
    symbols_destroy(symbols);
    return steps;
}

/* K1 and T1 are results that the segment keeps, so neither is made again. The program frees T1 at
 * once, so it is held until the segment runs again and frees it. */
START_TEST(results_are_kept)
{
    struct chain_result results[] = {{11, 0, true}, {12, 0, false}};
    struct chain_segment segment = {.first = 1, .end = 3};
    create(true);
    ck_assert_str_eq(edited_keeping(results, 2, &segment, 1),
                     "+K0 +T0 -T0 +O0 +K1 +T1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 -T3 +O3 "
                     "-O3 +G3 -K3 -O2 -T1 +O1 +K2 +G2 -K2 -O1 -G3 +G1 -K1 -O0 -G2 +G0 -K0 -G1");
    destroy();
}
END_TEST

/* O2 is the output of the first segment, which keeps it until its backward has ended, whether or
 * not another segment begins with it. The recomputation stops before it. */
START_TEST(results_that_leave_are_kept)
{
    struct chain_result result = {24, 0, false};
    struct chain_segment segments[] = {{.first = 1, .end = 3}, {.first = 3, .end = 4}};
    create(false);
    ck_assert_str_eq(edited_keeping(&result, 1, segments, 1),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 -K1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 -T3 +O3 "
                     "-O3 +G3 -K3 +K1 +T1 -T1 +O1 +K2 -O1 -O0 +G2 -K2 -G3 +G1 -K1 -O2 -G2 +G0 -K0 "
                     "-G1");
    ck_assert_str_eq(edited_keeping(&result, 1, segments, 2),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 -K1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 +T3 -T3 -K3 "
                     "+O3 +K3 -O3 +G3 -K3 +K1 +T1 -T1 +O1 +K2 -O1 -O0 +G2 -K2 -G3 +G1 -K1 -O2 -G2 "
                     "+G0 -K0 -G1");
    destroy();
}
END_TEST

START_TEST(too_many_runs)
{
    enum { DEPTH = 3 * 1000 * 1000 };
    struct error err;
    struct program other;
    bool is_too_long;
    create(true);
    struct chain_segment *segments = calloc(DEPTH, sizeof(*segments));
    ck_assert_ptr_nonnull(segments);
    budget.limit = (size_t)1 << 30;
    for (size_t k = 0; k < DEPTH; k++)
        segments[k] = (struct chain_segment){.first = 0, .end = 1};
    ck_assert(replan_edit(&program, &chain, segments, DEPTH, false, &other, &is_too_long, &err));
    ck_assert(is_too_long);
    ck_assert_uint_eq(other.step_count, 0);
    replan_edit_release(&other);
    free(segments);
    destroy();
}
END_TEST

/* Code outside of the checkpoint makes T2, and the checkpoint holds it. */
START_TEST(inputs_that_enter_are_not_made_again)
{
    struct chain_segment segments[] = {{.first = 2, .end = 4}};
    struct chain_rest rest = {.item = 22, .end = 23, .element = 2, .enters = true};
    create(true);
    chain.rests = &rest;
    chain.rest_count = 1;
    ck_assert_str_eq(
        edited(segments, 1),
        "+K0 +T0 -T0 +O0 +K1 +T1 -T1 +O1 +K2 +T2 -K2 +O2 +K3 +T3 -T3 -K3 +O3 "
        "-O2 +K2 +O2 +K3 -T2 -O3 +G3 -K3 -O2 +G2 -K2 -O1 -G3 +G1 -K1 -O0 -G2 +G0 -K0 -G1");
    destroy();
}
END_TEST

/* Code outside of module calls made T2 for several elements. The first checkpoint holds it longest.
 */
START_TEST(inputs_of_several_are_held_once)
{
    struct chain_segment segments[] = {{.first = 2, .end = 3}, {.first = 3, .end = 4}};
    struct chain_rest rest = {.item = 22, .end = 33, .element = 0, .enters = true, .stays = true};
    create(true);
    chain.rests = &rest;
    chain.rest_count = 1;
    const char *steps = edited(segments, 2);
    ck_assert_ptr_nonnull(strstr(steps, "-T2"));
    ck_assert_ptr_null(strstr(strstr(steps, "-T2") + 3, "+K2"));
    ck_assert_ptr_nonnull(strstr(steps, "+K2 -T2"));
    destroy();
}
END_TEST

/* In the worst case the program holds K1 until the last element runs, although the checkpoint drops
 * it. */
START_TEST(what_the_program_may_hold)
{
    struct chain_segment segments[] = {{.first = 1, .end = 3}};
    struct chain_doubt doubt = {.item = 11, .until = 32};
    create(true);
    chain.doubts = &doubt;
    chain.doubt_count = 1;
    ck_assert_ptr_null(strstr(edited(segments, 1), "+K3 -K1 +T3"));
    at_worst = true;
    ck_assert_str_eq(edited(segments, 1),
                     "+K0 +T0 -T0 +O0 +K1 +T1 -T1 +O1 +K2 +T2 -T2 -K2 +O2 -O1 +K3 -K1 +T3 -T3 +O3 "
                     "-O3 +G3 -K3 -O2 +K1 +T1 -T1 +O1 +K2 +G2 -K2 -O1 -G3 +G1 -K1 -O0 -G2 +G0 -K0 "
                     "-G1");
    at_worst = false;
    destroy();
}
END_TEST

/* O1 is not an output, but the next element takes it too, so a checkpoint there holds it. */
START_TEST(rests_that_pass_are_held)
{
    struct chain_segment segments[] = {{.first = 2, .end = 3}};
    struct chain_rest rest = {.item = 14, .end = 25, .element = 1, .passes = true};
    create(false);
    char *as_output = strdup(edited(segments, 1));
    elements[1].output_item = EVENT_NEVER;
    ck_assert_str_ne(edited(segments, 1), as_output);
    chain.rests = &rest;
    chain.rest_count = 1;
    ck_assert_str_eq(edited(segments, 1), as_output);
    free(as_output);
    destroy();
}
END_TEST

#define ROUNDS 90

/* Requests of which always three are live; slots are used again at once. */
static void make_rounds(struct program_step steps[2 * ROUNDS], struct program *rounds)
{
    size_t count = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct program_step one = {
            .item = i, .slot = i % 3, .size = i, .kind = STEP_FREE_COMPLETED};
        if (i >= 3)
            steps[count++] = one;
        one.kind = STEP_MALLOC;
        steps[count++] = one;
    }
    *rounds =
        (struct program){.steps = steps, .step_count = count, .slot_count = 3, .budget = &budget};
}

/* Returns the number of frees that come after the request that they came before, all of them in the
 * pass. The others are where they were. */
static size_t count_late(const struct program *delayed, struct item_range pass)
{
    uint64_t live[ROUNDS] = {0}, next = 0;
    size_t late = 0, lives = 0;
    ck_assert_uint_le(delayed->slot_count, ROUNDS);
    for (size_t i = 0; i < delayed->step_count; i++) {
        const struct program_step *one = &delayed->steps[i];
        if (one->kind == STEP_MALLOC) {
            ck_assert_uint_eq(live[one->slot], 0);
            ck_assert_uint_eq(one->size, next);
            live[one->slot] = ++next;
            lives++;
            continue;
        }
        ck_assert_uint_eq(live[one->slot], one->item - 3 + 1); /* what its request made */
        live[one->slot] = 0;
        lives--;
        bool is_late = next > one->item;
        ck_assert_uint_le(next, one->item + 1);
        ck_assert(!is_late || (one->item >= pass.from && one->item < pass.to));
        late += is_late;
    }
    ck_assert_uint_eq(next, ROUNDS);
    ck_assert_uint_eq(lives, 3);
    return late;
}

START_TEST(some_frees_come_after_the_next_request)
{
    static const struct item_range pass = {20, 70};
    struct program_step steps[2 * ROUNDS];
    struct program rounds, delayed;
    struct error err;
    for (uint32_t seed = 1; seed <= 3; seed++) {
        make_rounds(steps, &rounds);
        ck_assert(replan_delay(&rounds, &pass, 1, seed, &delayed, &err));
        size_t late = count_late(&delayed, pass);
        ck_assert_uint_gt(late, 10);
        ck_assert_uint_lt(late, 40);
        replan_edit_release(&delayed);
    }
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

TCase *replan_tests(void)
{
    TCase *tests = tcase_create("replan");
    tcase_add_test(tests, nothing_is_wrapped);
    tcase_add_test(tests, one_segment);
    tcase_add_test(tests, code_around_module_calls_runs_once);
    tcase_add_test(tests, what_the_program_holds_stays);
    tcase_add_test(tests, a_program_may_end_with_the_pass);
    tcase_add_test(tests, segments_are_mapped_by_names);
    tcase_add_test(tests, a_loop_around_all_layers_may_be_missing);
    tcase_add_test(tests, casts_stay_in_the_forward_pass);
    tcase_add_test(tests, the_last_operator_reads_its_result);
    tcase_add_test(tests, nested_segments);
    tcase_add_test(tests, inputs_are_held);
    tcase_add_test(tests, results_are_kept);
    tcase_add_test(tests, results_that_leave_are_kept);
    tcase_add_test(tests, inputs_that_enter_are_not_made_again);
    tcase_add_test(tests, inputs_of_several_are_held_once);
    tcase_add_test(tests, what_the_program_may_hold);
    tcase_add_test(tests, rests_that_pass_are_held);
    tcase_add_test(tests, too_many_runs);
    tcase_add_test(tests, some_frees_come_after_the_next_request);
    return tests;
}
