#include <string.h>

#include "solve/cpu/wave.h"

#define ARRAYS          6
#define PASSES_A_THREAD 4  /* the least number that keeps parallel threads busy */
#define LINE            64 /* bytes of a cache line */

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Memory that is handed out in pieces. If `memory` is NULL, only the sizes are added up. */
struct room {
    char *memory;
    size_t taken;
};

static void *take(struct room *room, size_t bytes)
{
    void *piece = room->memory ? room->memory + room->taken : NULL;
    room->taken += whole_lines(bytes);
    return piece;
}

struct wave_shape wave_shape(const struct cost_problem *problem, unsigned threads)
{
    struct wave_shape shape = {.pass_strips = 1};
    shape.strips = ((size_t)problem->layers + COST_STRIP - 1) / COST_STRIP;
    shape.blocks = (size_t)problem->slots / COST_BLOCK + 1;
    if (threads == 1)
        shape.pass_strips = WAVE_PASS;
    else if (shape.strips > threads * PASSES_A_THREAD)
        shape.pass_strips = shape.strips / (threads * PASSES_A_THREAD);
    if (shape.pass_strips > WAVE_PASS)
        shape.pass_strips = WAVE_PASS;
    return shape;
}

static size_t rows_of(const struct wave_shape *shape)
{
    return shape->strips * COST_STRIP;
}

static size_t number_bytes(const struct wave_shape *shape)
{
    return (rows_of(shape) * ARRAYS + 1) * sizeof(int32_t);
}

static size_t done_bytes(const struct wave_shape *shape)
{
    return shape->strips * sizeof(atomic_size_t);
}

static size_t tops_bytes(const struct wave_shape *shape)
{
    size_t quads = shape->strips * (shape->strips + 1) / 2;
    return (quads * COST_STRIP * COST_STRIP + shape->strips * TILE_GROUP) * shape->blocks *
           sizeof(int32_t);
}

/* Slots of a row in a column, including those below 0. */
static size_t step_of(const struct wave_shape *shape)
{
    return (shape->blocks + 1) * COST_BLOCK;
}

static size_t cells_bytes(const struct wave_shape *shape)
{
    return rows_of(shape) * COST_STRIP * step_of(shape) * sizeof(int32_t);
}

/* Length of arrays with one item for each row. */
static size_t items_of(const struct wave_shape *shape)
{
    return rows_of(shape) + TILE_GROUP;
}

static void lay_out_column(struct wave_column *column, const struct wave_shape *shape,
                           struct room *room)
{
    size_t items = items_of(shape) * sizeof(int32_t);
    column->cells = take(room, cells_bytes(shape));
    column->least = take(room, items * COST_STRIP);
    column->ends = take(room, items * COST_STRIP * TILE_SPAN);
    column->right = take(room, items * TILE_SPAN);
    column->finite = take(room, items);
    column->shape = take(room, COST_STRIP * sizeof(int32_t));
}

static void lay_out_buffers(struct wave_buffers *buffers, const struct wave_shape *shape,
                            struct room *room)
{
    size_t items = items_of(shape);
    *buffers = (struct wave_buffers){.rows = items, .step = step_of(shape)};
    for (size_t k = 0; k < shape->pass_strips; k++)
        lay_out_column(&buffers->columns[k], shape, room);
    buffers->offsets = take(room, items * TILE_SPAN * sizeof(size_t));
    buffers->left = take(room, items * TILE_SPAN * sizeof(int32_t));
    buffers->shape = take(room, COST_STRIP * sizeof(int32_t));
    buffers->chosen = take(room, items * sizeof(uint32_t));
    buffers->splits = take(room, items * sizeof(struct tile_split));
    buffers->places = take(room, sizeof(struct tile_places) << TILE_GROUP);
}

static size_t buffer_bytes(const struct wave_shape *shape)
{
    struct wave_buffers none;
    struct room room = {0};
    lay_out_buffers(&none, shape, &room);
    return room.taken;
}

/* Lays out the arrays, and returns those for the numbers of the chain. */
static int32_t *lay_out_wave(struct wave *wave, const struct wave_shape *shape, struct room *room)
{
    int32_t *numbers = take(room, number_bytes(shape));
    wave->done = take(room, done_bytes(shape));
    wave->tops = take(room, tops_bytes(shape));
    return numbers;
}

size_t wave_bytes(const struct wave_shape *shape, unsigned threads)
{
    struct wave none;
    struct room room = {0};
    lay_out_wave(&none, shape, &room);
    return room.taken + threads * buffer_bytes(shape);
}

static void set_chain(struct tile_chain *chain, const struct cost_problem *problem, size_t room,
                      int32_t *numbers)
{
    size_t n = (size_t)problem->layers;
    int32_t *next = numbers + room + 1, before = 0;
    const int32_t *from[] = {problem->xbar, problem->ftmp, problem->btmp, problem->forward};
    int32_t **to[] = {&chain->xbar, &chain->ftmp, &chain->btmp, &chain->forward};
    chain->x = numbers;
    memcpy(chain->x, problem->x, (n + 1) * sizeof(int32_t));
    for (size_t k = 0; k < sizeof(to) / sizeof(to[0]); k++, next += room) {
        *to[k] = next;
        memcpy(next, from[k], n * sizeof(int32_t));
    }
    chain->before = next;
    for (size_t i = 0; i < room; i++) {
        chain->before[i] = before;
        before += chain->forward[i];
    }
}

void wave_begin(struct wave *wave, const struct wave_shape *shape,
                const struct cost_problem *problem, struct cost_table *table,
                const struct cpu_variant *variant)
{
    struct room room = {.memory = (char *)table->cells + table->bytes};
    *wave = (struct wave){.variant = variant, .table = table, .shape = *shape};
    int32_t *numbers = lay_out_wave(wave, shape, &room);
    memset(numbers, 0, number_bytes(shape));
    set_chain(&wave->chain, problem, rows_of(shape), numbers);
    wave->buffers = room.memory + room.taken;
    atomic_init(&wave->next, 0);
    for (size_t k = 0; k < shape->strips; k++)
        atomic_init(&wave->done[k], 0);
}

static void set_places(struct tile_places *places)
{
    for (unsigned set = 0; set < 1u << TILE_GROUP; set++) {
        struct tile_places *here = &places[set];
        memset(here, 0, sizeof(*here));
        for (unsigned bit = 0; bit < TILE_GROUP; bit++)
            if (set >> bit & 1)
                here->of[here->count++] = bit;
    }
}

/* Fills the slots below 0 with infinity. */
static void set_before(const struct wave_column *column, const struct wave_shape *shape)
{
    size_t step = step_of(shape);
    for (size_t row = 0; row < rows_of(shape) * COST_STRIP; row++)
        for (size_t slot = 0; slot < COST_BLOCK; slot++)
            column->cells[row * step + slot] = COST_INFINITE;
}

void wave_buffers_begin(struct wave_buffers *buffers, const struct wave *wave, unsigned thread)
{
    const struct wave_shape *shape = &wave->shape;
    struct room room = {.memory = wave->buffers + thread * buffer_bytes(shape)};
    lay_out_buffers(buffers, shape, &room);
    for (size_t k = 0; k < shape->pass_strips; k++)
        set_before(&buffers->columns[k], shape);
    set_places(buffers->places);
}
