#include "solve/problem/layer_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

#define LEAST_NUMBER 32 /* longest number in characters */

static int compare_items(const void *a, const void *b)
{
    return text_compare(((const struct layer_time *)a)->name, ((const struct layer_time *)b)->name);
}

/* Parses the whole of [text, end) as a number of microseconds. */
static bool take_number(const char *text, const char *end, double *number)
{
    char digits[LEAST_NUMBER + 1], *after;
    size_t size = (size_t)(end - text);
    if (size == 0 || size > LEAST_NUMBER)
        return false;
    memcpy(digits, text, size);
    digits[size] = '\0';
    *number = strtod(digits, &after);
    return *after == '\0' && isfinite(*number) && *number >= 0;
}

/* Parses one line. False if it is malformed. */
static bool take_line(const char *line, const char *end, struct layer_time *time)
{
    const char *tab = memchr(line, '\t', (size_t)(end - line));
    if (!tab || tab == line)
        return false;
    const char *second = memchr(tab + 1, '\t', (size_t)(end - tab - 1));
    *time = (struct layer_time){.name = {line, (size_t)(tab - line)}, .has_backward = second};
    return take_number(tab + 1, second ? second : end, &time->forward_us) &&
           (!second || take_number(second + 1, end, &time->backward_us));
}

static bool add_lines(struct layer_times *times, const char *path, const char *text, size_t size,
                      struct error *err)
{
    const char *after = text + size;
    for (size_t number = 1; text < after; number++) {
        const char *end = memchr(text, '\n', (size_t)(after - text)), *next;
        if (!end)
            end = after;
        next = end + (end < after);
        if (end > text && end[-1] == '\r')
            end--;
        bool is_blank = text == end || *text == '#';
        if (!is_blank &&
            !vec_reserve(times->items, times->capacity, times->count + 1, times->budget, err))
            return false;
        if (!is_blank && !take_line(text, end, &times->items[times->count++]))
            return error_set(err, STATUS_USAGE,
                             "%.120s:%zu: expected a layer, a tab and microseconds", path, number);
        text = next;
    }
    return true;
}

bool layer_times_parse(struct layer_times *times, const char *path, const char *text, size_t size,
                       struct budget *budget, struct error *err)
{
    struct layer_times made = {.budget = budget};
    if (!add_lines(&made, path, text, size, err)) {
        layer_times_release(&made);
        return false;
    }
    if (made.count > 0)
        qsort(made.items, made.count, sizeof(*made.items), compare_items);
    *times = made;
    return true;
}

void layer_times_release(struct layer_times *times)
{
    vec_free(times->items, times->capacity, sizeof(*times->items), times->budget);
    *times = (struct layer_times){0};
}

/* The name without its iteration: "model.py:253 forward [3]" without " [3]". */
static struct text without_iteration(struct text name)
{
    size_t size = name.size;
    if (size < 4 || name.bytes[size - 1] != ']')
        return name;
    for (size--; size > 0 && ascii_is_digit(name.bytes[size - 1]);)
        size--;
    bool is_one = size + 1 < name.size && size > 2 && name.bytes[size - 1] == '[' &&
                  name.bytes[size - 2] == ' ';
    return is_one ? (struct text){name.bytes, size - 2} : name;
}

static const struct layer_time *find(const struct layer_times *times, struct text name)
{
    struct layer_time key = {.name = name};
    const struct layer_time *found =
        times->count > 0
            ? bsearch(&key, times->items, times->count, sizeof(*times->items), compare_items)
            : NULL;
    struct text all = without_iteration(name);
    return found || all.size == name.size ? found : find(times, all);
}

/* The total time of several layers. */
struct sum {
    double forward_us, backward_us;
    bool all_backward;
};

static void add_time(struct sum *sum, const struct layer_time *time)
{
    sum->forward_us += time->forward_us;
    sum->backward_us += time->backward_us;
    sum->all_backward &= time->has_backward;
}

static bool is_under(struct text row, struct text module)
{
    return row.size >= module.size && memcmp(row.bytes, module.bytes, module.size) == 0 &&
           (row.size == module.size || module.size == 0 || row.bytes[module.size] == '.');
}

static bool add_rows(const struct problem *problem, const struct piece *piece, struct text module,
                     const struct layer_trace *trace, const struct layer_times *times,
                     struct sum *sum, struct error *err)
{
    size_t found = 0;
    for (size_t row = piece->first_row; row < piece->end_row; row++) {
        struct text name = layer_name(trace, problem->rows[row]);
        if (!is_under(name, module))
            continue;
        const struct layer_time *time = find(times, name);
        if (!time)
            return error_set(err, STATUS_USAGE, "--times has no line for %.*s",
                             (int)(name.size < 200 ? name.size : 200), name.bytes);
        add_time(sum, time);
        found++;
    }
    return found > 0 || error_set(err, STATUS_USAGE, "--times has no line for %.*s",
                                  (int)(module.size < 200 ? module.size : 200), module.bytes);
}

/* Scales the times of the options: the operators that an option keeps take the same share of a
 * layer's time as before. */
static void scale_options(struct chain *chain, size_t i, int64_t before)
{
    for (size_t k = 0; k < chain->option_count; k++) {
        struct chain_option *option = &chain->options[k];
        double share = before > 0 ? (double)option->forward[i] / (double)before : 1;
        option->forward[i] = (int64_t)((double)chain->forward[i] * share);
    }
}

/* Forbids an option whose operators were only weighed: the times of layers do not tell how much of
 * them those operators take. */
static void forbid_option(struct chain *chain, size_t k)
{
    for (size_t i = 0; i < chain->layers; i++)
        chain->options[k].reach[i] = (int64_t)i;
}

bool problem_set_times(struct problem *problem, const struct layer_trace *trace,
                       const struct layer_times *times, struct error *err)
{
    struct chain *chain = &problem->chain;
    struct sum sum = {.all_backward = true};
    for (size_t i = 0; i < chain->layers; i++) {
        const struct piece *piece = &problem->pieces[i];
        double before = sum.forward_us;
        for (size_t m = piece->first_module; m < piece->end_module; m++) {
            const struct layer_time *time = find(times, problem->modules[m]);
            if (time)
                add_time(&sum, time);
            else if (!add_rows(problem, piece, problem->modules[m], trace, times, &sum, err))
                return false;
        }
        if ((sum.forward_us + sum.backward_us) * NANOSECONDS >= (double)CHAIN_MOST)
            return error_set(err, STATUS_LIMIT,
                             "the times of all layers add up to 2^50 ns or more");
        int64_t recorded = chain->forward[i];
        chain->forward[i] =
            (int64_t)(sum.forward_us * NANOSECONDS + 0.5) - (int64_t)(before * NANOSECONDS + 0.5);
        scale_options(chain, i, recorded);
    }
    problem->timed = problem->times_given = true;
    for (size_t k = 0; problem->weighed && k < chain->option_count; k++)
        forbid_option(chain, k);
    problem->weighed = false;
    problem->backward_timed = sum.all_backward;
    problem->backward_time = sum.all_backward ? (int64_t)(sum.backward_us * NANOSECONDS + 0.5)
                                              : 2 * chain_forward_time(chain);
    return problem->backward_time < CHAIN_MOST ||
           error_set(err, STATUS_LIMIT, "the times of all layers add up to 2^50 ns or more");
}

/* The weights by which the time of a piece is divided. */
enum weight { LINES, BYTES, ROWS };

struct division {
    enum weight by;
    double whole;
};

static double weight_of(const struct problem *problem, size_t row, const struct layer_trace *trace,
                        const struct layer_times *times, enum weight by)
{
    const struct layer_time *time;
    switch (by) {
    case LINES:
        time = find(times, layer_name(trace, problem->rows[row]));
        return time ? time->forward_us : NAN;
    case BYTES:
        return (double)problem->rows[row]->memory_activations;
    default:
        return 1;
    }
}

/* Uses the first weight that is not zero over all rows. */
static struct division divide(const struct problem *problem, const struct piece *piece,
                              const struct layer_trace *trace, const struct layer_times *times)
{
    static const enum weight weights[] = {LINES, BYTES, ROWS};
    struct division division = {0};
    for (size_t k = 0; k < sizeof(weights) / sizeof(weights[0]); k++) {
        division = (struct division){.by = weights[k]};
        for (size_t row = piece->first_row; row < piece->end_row; row++)
            division.whole += weight_of(problem, row, trace, times, division.by);
        if (isfinite(division.whole) && division.whole > 0)
            break;
    }
    return division;
}

void problem_divide_times(struct problem *finer, const struct problem *problem,
                          const struct layer_trace *trace, const struct layer_times *times)
{
    int64_t before = 0,
            begin = 0; /* time before the piece of `problem` and before the piece of `finer` */
    size_t at = 0;
    for (size_t i = 0; i < problem->chain.layers; i++) {
        const struct piece *piece = &problem->pieces[i];
        struct division division = divide(problem, piece, trace, times);
        double done = 0, time = (double)problem->chain.forward[i];
        for (size_t row = piece->first_row; row < piece->end_row; row++) {
            done += weight_of(problem, row, trace, times, division.by);
            if (row + 1 < finer->pieces[at].end_row)
                continue;
            int64_t end = before + (int64_t)(time * (done / division.whole) + 0.5);
            finer->chain.forward[at++] = end - begin;
            begin = end;
        }
        before += problem->chain.forward[i];
    }
    finer->timed = finer->times_given = true;
    finer->backward_timed = problem->backward_timed;
    finer->backward_time = problem->backward_time;
}
