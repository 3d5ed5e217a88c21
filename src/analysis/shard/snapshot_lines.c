/* Loops over lines of a function, several of which call modules. If a line has parameters of its
 * own in every iteration, it calls a module of a list each time: that is a unit, whatever is in it.
 * Otherwise it calls the same module again and again, which may be in no list: only the lists
 * within are units, and a module of these is the same one in every iteration. */
#include <stdlib.h>

#include "analysis/shard/snapshot_reader.h"
#include "base/bisect.h"

struct call_of_line {
    uint32_t around, line, iteration; /* of the part */
    uint32_t layer;
};

static int compare_calls(const void *a, const void *b)
{
    const struct call_of_line *p = a, *q = b;
    int order = compare_32(&p->around, &q->around);
    order = order ? order : compare_32(&p->line, &q->line);
    order = order ? order : compare_32(&p->iteration, &q->iteration);
    return order ? order : compare_32(&p->layer, &q->layer);
}

static size_t list_calls(const struct snapshot_reader *reader, struct call_of_line *calls)
{
    size_t count = 0;
    for (uint32_t i = SHARD_FIRST_ELEMENT; i < reader->model->layer_count; i++) {
        const struct chain_part *part = snapshot_part(reader, i);
        if (part->around != NO_LOOP && part->around_calls)
            calls[count++] = (struct call_of_line){.around = part->around,
                                                   .line = part->around_line,
                                                   .iteration = part->around_iteration,
                                                   .layer = i};
    }
    qsort(calls, count, sizeof(*calls), compare_calls);
    return count;
}

/* The calls of the same line in one iteration are consecutive; so are its iterations. */
static size_t end_of_iteration(const struct call_of_line *calls, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && calls[end].around == calls[first].around &&
           calls[end].line == calls[first].line && calls[end].iteration == calls[first].iteration)
        end++;
    return end;
}

static size_t end_of_line(const struct call_of_line *calls, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && calls[end].around == calls[first].around &&
           calls[end].line == calls[first].line)
        end++;
    return end;
}

/* The trained parameters of the calls of one iteration. */
struct trained {
    int64_t tensors, elements;
};

static void add_trained(const struct snapshot_reader *reader, uint32_t at, struct trained *sum)
{
    const struct shard_model *model = reader->model;
    const struct shard_layer *layer = &model->layers[at];
    sum->tensors += layer->end_tensor - layer->first_tensor;
    for (uint32_t i = layer->first_tensor; i < layer->end_tensor; i++)
        sum->elements += model->tensors[i].elements;
}

static struct trained trained_by(const struct snapshot_reader *reader,
                                 const struct call_of_line *calls, size_t first, size_t end)
{
    struct trained sum = {0, 0};
    for (size_t i = first; i < end; i++)
        add_trained(reader, calls[i].layer, &sum);
    return sum;
}

#define MOST_GROWTH 16 /* of parameters from one module of a list to the next */

static bool are_alike(struct trained a, struct trained b)
{
    return a.tensors > 0 && b.tensors > 0 && a.tensors <= 2 * b.tensors &&
           b.tensors <= 2 * a.tensors && a.elements <= MOST_GROWTH * b.elements &&
           b.elements <= MOST_GROWTH * a.elements;
}

/* A module that is called in every iteration has one gradient of each parameter: those of weights
 * seem to be made in another iteration than those of biases, because only these are added up in
 * place. Modules of a list have as many tensors each. */
static bool calls_list(const struct snapshot_reader *reader, const struct call_of_line *calls,
                       size_t first, size_t end)
{
    size_t pairs = 0, alike = 0, next = end_of_iteration(calls, end, first);
    struct trained before = trained_by(reader, calls, first, next);
    for (size_t i = next; i < end; i = next) {
        next = end_of_iteration(calls, end, i);
        struct trained here = trained_by(reader, calls, i, next);
        alike += are_alike(before, here);
        before = here;
        pairs++;
    }
    return alike > 0 && 2 * alike >= pairs;
}

/* The line is itself in a loop within the iteration, whose modules are units of their own. */
static bool loops(const struct snapshot_reader *reader, const struct call_of_line *calls,
                  size_t first, size_t end)
{
    bool does = false;
    for (size_t i = first; i < end; i++)
        does |= snapshot_part(reader, calls[i].layer)->around_loops;
    return does;
}

/* Units are numbered anew later: until then each has the number of its first layer. */
static void join(const struct snapshot_reader *reader, uint32_t *units,
                 const struct call_of_line *calls, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        struct shard_layer *layer = &reader->model->layers[calls[i].layer];
        units[calls[i].layer] = calls[first].layer;
        layer->beside = snapshot_beside_line(reader, calls[i].layer, calls[i].line);
    }
}

/* The module of an inner list that a layer calls. */
static bool is_same_module(const struct snapshot_reader *reader, uint32_t a, uint32_t b)
{
    const struct chain_part *p = snapshot_part(reader, a), *q = snapshot_part(reader, b);
    const struct chain_loop *loops = reader->chain->loops;
    return p->loop != NO_LOOP && q->loop != NO_LOOP && p->iteration == q->iteration &&
           loops[p->loop].frame != NO_FRAME && loops[p->loop].frame == loops[q->loop].frame &&
           loops[p->loop].iterations == loops[q->loop].iterations;
}

/* Iterations have the same inner calls in the same order. */
static void repeat(const struct snapshot_reader *reader, uint32_t *units,
                   const struct call_of_line *calls, size_t first, size_t end)
{
    size_t before = first, before_end = end_of_iteration(calls, end, first);
    for (size_t i = before_end; i < end;) {
        size_t next = end_of_iteration(calls, end, i);
        bool is_equal = next - i == before_end - before;
        for (size_t k = 0; is_equal && k < next - i; k++) {
            uint32_t here = calls[i + k].layer, there = calls[before + k].layer;
            if (units[here] != SHARD_ROOT && units[there] != SHARD_ROOT &&
                is_same_module(reader, here, there))
                units[here] = units[there];
        }
        before = i;
        before_end = next;
        i = next;
    }
}

/* `units` has for each layer that is in a unit a number that its layers share. */
static bool renumber(const struct snapshot_reader *reader, const uint32_t *units, uint32_t *numbers,
                     struct error *err)
{
    struct shard_model *model = reader->model;
    model->unit_count = 1; /* the root */
    for (size_t i = 0; i < model->layer_count; i++) {
        struct shard_layer *layer = &model->layers[i];
        uint32_t unit = units[i];
        struct text name = symbols_text(reader->symbols, snapshot_part(reader, i)->name);
        if (unit != SHARD_ROOT && numbers[unit] == SHARD_ROOT) {
            numbers[unit] = (uint32_t)model->unit_count;
            if (!vec_push(model->units, model->unit_count, model->unit_capacity, model->budget, err,
                          (struct shard_unit){.name = name}))
                return false;
        }
        uint32_t before = layer->unit;
        layer->unit = unit == SHARD_ROOT ? SHARD_ROOT : numbers[unit];
        for (uint32_t k = layer->first_tensor; k < layer->end_tensor; k++)
            if (model->tensors[k].unit == before)
                model->tensors[k].unit = layer->unit;
    }
    return true;
}

bool snapshot_join_lines(struct snapshot_reader *reader, struct error *err)
{
    const struct shard_model *model = reader->model;
    size_t layers = model->layer_count;
    size_t most = layers > model->unit_count ? layers : model->unit_count;
    struct call_of_line *calls = calloc(layers, sizeof(*calls));
    uint32_t *units = calloc(2 * most + 1, sizeof(*units));
    if (!calls || !units) {
        free(calls);
        free(units);
        return error_out_of_memory(err);
    }
    uint32_t *firsts = units + most;
    for (uint32_t i = 0; i < layers; i++) { /* layer 0 is in a unit only with layer 1 */
        uint32_t unit = model->layers[i].unit;
        if (unit != SHARD_ROOT && firsts[unit] == 0)
            firsts[unit] = i > 0 ? i : 1;
        units[i] = unit == SHARD_ROOT ? SHARD_ROOT : firsts[unit];
    }
    size_t count = list_calls(reader, calls);
    for (size_t i = 0; i < count;) {
        size_t end = end_of_line(calls, count, i);
        if (!calls_list(reader, calls, i, end)) {
            repeat(reader, units, calls, i, end);
            i = end;
        }
        while (i < end) {
            size_t next = end_of_iteration(calls, end, i);
            if (!loops(reader, calls, i, next))
                join(reader, units, calls, i, next);
            i = next;
        }
    }
    for (size_t i = 0; i < most; i++)
        firsts[i] = SHARD_ROOT;
    bool ok = count == 0 || renumber(reader, units, firsts, err);
    free(calls);
    free(units);
    return ok;
}

/* Behind the last layer of the loop that a layer is an iteration of. */
static uint32_t end_of_loop(const struct snapshot_reader *reader, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < reader->model->layer_count &&
           snapshot_part(reader, end)->loop == snapshot_part(reader, first)->loop)
        end++;
    return end;
}

static bool is_repeated(const struct snapshot_reader *reader, uint32_t first, uint32_t end)
{
    size_t calls = 0, alike = 0;
    struct trained before = {0, 0}, all = {0, 0};
    for (uint32_t i = first; i < end; i++) {
        struct trained here = {0, 0};
        if (reader->model->layers[i].saved == 0) /* frozen ones before all that is trained */
            continue;
        add_trained(reader, i, &here);
        add_trained(reader, i, &all);
        calls++;
        alike += calls > 1 && are_alike(before, here);
        before = here;
    }
    return all.tensors > 0 && calls > 2 && 2 * alike < calls - 1;
}

bool snapshot_repeats(const struct snapshot_reader *reader)
{
    const struct shard_model *model = reader->model;
    for (uint32_t i = SHARD_FIRST_ELEMENT, end; i < model->layer_count; i = end) {
        const struct chain_part *part = snapshot_part(reader, i);
        end = i + 1;
        if (part->loop == NO_LOOP)
            continue;
        end = end_of_loop(reader, i);
        if (model->layers[i].unit != SHARD_ROOT && part->around == NO_LOOP &&
            reader->chain->loops[part->loop].is_call && !snapshot_layer_is_listed(reader, i) &&
            is_repeated(reader, i, end))
            return true;
    }
    return false;
}
