#include "base/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/idtable.h"

/* Text and frame lists lie in the arena after their sizes, so that an id costs one pointer. */
struct string_cell {
    uint32_t size;
    char bytes[]; /* `size` bytes and a NUL */
};

struct stack_cell {
    uint32_t count;
    frame_id frames[];
};

struct symbols {
    uint64_t seed;
    struct budget *budget;
    struct arena arena;

    struct string_cell **strings;
    struct frame *frames;
    struct frame_detail *details;
    struct stack_cell **stacks;
    size_t string_count, string_capacity;
    size_t frame_count, frame_capacity;
    size_t detail_count, detail_capacity;
    size_t stack_count, stack_capacity;
    struct idtable string_ids, frame_ids, detail_ids, stack_ids;
};

struct symbols *symbols_create(struct budget *budget, struct error *err)
{
    if (!budget_take(budget, sizeof(struct symbols), err))
        return NULL;
    struct symbols *symbols = calloc(1, sizeof(*symbols));
    if (!symbols) {
        budget_give(budget, sizeof(*symbols));
        error_out_of_memory(err);
        return NULL;
    }
    symbols->seed = hash_seed();
    symbols->budget = budget;
    arena_init(&symbols->arena, budget);

    string_id empty;
    stack_id none;
    detail_id no_detail;
    if (!symbols_string(symbols, "", 0, &empty, err) ||
        !symbols_detail(symbols, &(struct frame_detail){0}, &no_detail, err) ||
        !symbols_stack(symbols, NULL, 0, &none, err)) {
        symbols_destroy(symbols);
        return NULL;
    }
    return symbols;
}

void symbols_destroy(struct symbols *symbols)
{
    if (!symbols)
        return;
    struct budget *budget = symbols->budget;
    vec_free(symbols->strings, symbols->string_capacity, sizeof(*symbols->strings), budget);
    vec_free(symbols->frames, symbols->frame_capacity, sizeof(*symbols->frames), budget);
    vec_free(symbols->details, symbols->detail_capacity, sizeof(*symbols->details), budget);
    vec_free(symbols->stacks, symbols->stack_capacity, sizeof(*symbols->stacks), budget);
    idtable_release(&symbols->string_ids, budget);
    idtable_release(&symbols->frame_ids, budget);
    idtable_release(&symbols->detail_ids, budget);
    idtable_release(&symbols->stack_ids, budget);
    arena_release(&symbols->arena);
    free(symbols);
    budget_give(budget, sizeof(*symbols));
}

/* Reserves room for one more item in a column and in its id table. */
static bool reserve(struct symbols *symbols, void **items, size_t *capacity, size_t count,
                    size_t item, struct idtable *ids, struct error *err)
{
    if (count > IDTABLE_MAX_ID)
        return error_set(err, STATUS_LIMIT, "more than %u different names or stacks",
                         IDTABLE_MAX_ID);
    return vec_grow(items, capacity, count + 1, item, symbols->budget, err) &&
           idtable_reserve(ids, symbols->budget, err);
}

static bool add_string(struct symbols *symbols, const char *bytes, size_t size, uint32_t tag,
                       string_id *id, struct error *err)
{
    if (size >= UINT32_MAX)
        return error_set(err, STATUS_LIMIT, "a string of %zu bytes is too long", size);
    if (!reserve(symbols, (void **)&symbols->strings, &symbols->string_capacity,
                 symbols->string_count, sizeof(*symbols->strings), &symbols->string_ids, err))
        return false;
    struct string_cell *cell = arena_alloc(&symbols->arena, sizeof(*cell) + size + 1, err);
    if (!cell)
        return false;

    cell->size = (uint32_t)size;
    if (size > 0)
        memcpy(cell->bytes, bytes, size);
    cell->bytes[size] = '\0';
    *id = (string_id)symbols->string_count++;
    symbols->strings[*id] = cell;
    idtable_insert(&symbols->string_ids, tag, *id);
    return true;
}

static bool is_string(const void *symbols, uint32_t id, const void *wanted)
{
    const struct string_cell *cell = ((const struct symbols *)symbols)->strings[id];
    const struct text *text = wanted;
    return cell->size == text->size &&
           (text->size == 0 || memcmp(cell->bytes, text->bytes, text->size) == 0);
}

bool symbols_string(struct symbols *symbols, const char *bytes, size_t size, string_id *id,
                    struct error *err)
{
    uint32_t tag = (uint32_t)hash_bytes(bytes, size, symbols->seed), found;
    const struct text wanted = {bytes, size};
    if (!idtable_find(&symbols->string_ids, tag, is_string, symbols, &wanted, &found))
        return add_string(symbols, bytes, size, tag, id, err);
    *id = found;
    return true;
}

static bool is_frame(const void *symbols, uint32_t id, const void *wanted)
{
    const struct frame *known = &((const struct symbols *)symbols)->frames[id], *frame = wanted;
    return known->name == frame->name && known->file == frame->file && known->line == frame->line &&
           known->detail == frame->detail;
}

bool symbols_frame(struct symbols *symbols, struct frame frame, frame_id *id, struct error *err)
{
    uint64_t names = (uint64_t)frame.name << 32 | frame.file;
    uint64_t rest = (uint64_t)frame.detail << 32 | frame.line;
    uint32_t tag = (uint32_t)hash_word(hash_word(names, symbols->seed) ^ rest, symbols->seed);
    uint32_t found;
    if (idtable_find(&symbols->frame_ids, tag, is_frame, symbols, &frame, &found)) {
        *id = found;
        return true;
    }
    if (!reserve(symbols, (void **)&symbols->frames, &symbols->frame_capacity, symbols->frame_count,
                 sizeof(*symbols->frames), &symbols->frame_ids, err))
        return false;
    *id = (frame_id)symbols->frame_count++;
    symbols->frames[*id] = frame;
    idtable_insert(&symbols->frame_ids, tag, *id);
    return true;
}

static bool is_detail(const void *symbols, uint32_t id, const void *wanted)
{
    return memcmp(&((const struct symbols *)symbols)->details[id], wanted,
                  sizeof(struct frame_detail)) == 0;
}

bool symbols_detail(struct symbols *symbols, const struct frame_detail *detail, detail_id *id,
                    struct error *err)
{
    uint32_t tag = (uint32_t)hash_bytes(detail, sizeof(*detail), symbols->seed), found;
    if (idtable_find(&symbols->detail_ids, tag, is_detail, symbols, detail, &found)) {
        *id = found;
        return true;
    }
    if (!reserve(symbols, (void **)&symbols->details, &symbols->detail_capacity,
                 symbols->detail_count, sizeof(*symbols->details), &symbols->detail_ids, err))
        return false;
    *id = (detail_id)symbols->detail_count++;
    symbols->details[*id] = *detail;
    idtable_insert(&symbols->detail_ids, tag, *id);
    return true;
}

static bool add_stack(struct symbols *symbols, const frame_id *frames, size_t count, uint32_t tag,
                      stack_id *id, struct error *err)
{
    if (count >= UINT32_MAX)
        return error_set(err, STATUS_LIMIT, "a stack of %zu frames is too deep", count);
    if (!reserve(symbols, (void **)&symbols->stacks, &symbols->stack_capacity, symbols->stack_count,
                 sizeof(*symbols->stacks), &symbols->stack_ids, err))
        return false;
    struct stack_cell *cell =
        arena_alloc(&symbols->arena, sizeof(*cell) + count * sizeof(*frames), err);
    if (!cell)
        return false;

    cell->count = (uint32_t)count;
    if (count > 0)
        memcpy(cell->frames, frames, count * sizeof(*frames));
    *id = (stack_id)symbols->stack_count++;
    symbols->stacks[*id] = cell;
    idtable_insert(&symbols->stack_ids, tag, *id);
    return true;
}

static bool is_stack(const void *symbols, uint32_t id, const void *wanted)
{
    const struct stack_cell *cell = ((const struct symbols *)symbols)->stacks[id];
    const struct stack *stack = wanted;
    return cell->count == stack->count &&
           (stack->count == 0 ||
            memcmp(cell->frames, stack->frames, stack->count * sizeof(*stack->frames)) == 0);
}

bool symbols_stack(struct symbols *symbols, const frame_id *frames, size_t count, stack_id *id,
                   struct error *err)
{
    uint32_t tag = (uint32_t)hash_bytes(frames, count * sizeof(*frames), symbols->seed), found;
    const struct stack wanted = {frames, count};
    if (!idtable_find(&symbols->stack_ids, tag, is_stack, symbols, &wanted, &found))
        return add_stack(symbols, frames, count, tag, id, err);
    *id = found;
    return true;
}

struct text symbols_text(const struct symbols *symbols, string_id id)
{
    const struct string_cell *cell = symbols->strings[id];
    return (struct text){.bytes = cell->bytes, .size = cell->size};
}

struct frame symbols_frame_at(const struct symbols *symbols, frame_id id)
{
    return symbols->frames[id];
}

struct frame_detail symbols_detail_at(const struct symbols *symbols, detail_id id)
{
    return symbols->details[id];
}

struct stack symbols_stack_at(const struct symbols *symbols, stack_id id)
{
    const struct stack_cell *cell = symbols->stacks[id];
    return (struct stack){.frames = cell->frames, .count = cell->count};
}

size_t symbols_string_count(const struct symbols *symbols)
{
    return symbols->string_count;
}

size_t symbols_frame_count(const struct symbols *symbols)
{
    return symbols->frame_count;
}

size_t symbols_stack_count(const struct symbols *symbols)
{
    return symbols->stack_count;
}
