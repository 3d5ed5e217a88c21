/* Which recorded pieces may be in one segment: how far a checkpoint reaches that begins with one.
 */
#include <string.h>

#include "solve/problem/recorded.h"

static bool is_under(struct text name, struct text module)
{
    return name.size >= module.size && memcmp(name.bytes, module.bytes, module.size) == 0 &&
           (name.size == module.size || name.bytes[module.size] == '.');
}

/* True if a row is outside of the calls that the piece contains: it is in no call of the module, or
 * in another one. */
static bool is_outside(const struct recorded *recorded, size_t row, struct text module)
{
    const struct problem *problem = recorded->problem;
    if (row >= problem->row_count ||
        !is_under(layer_name(recorded->trace, problem->rows[row]), module))
        return true;
    uint32_t piece = recorded->piece_of[problem->rows[row] - recorded->trace->rows];
    return text_same(problem->pieces[piece].called, module);
}

/* How the module of a piece is called. */
struct call {
    bool wrappable; /* it is one module, called in this piece only, whose children run in it only */
    bool plain;     /* its arguments but the first are those of the piece before it, and so on: see
                       layer_row.plain */
    bool follows;   /* its first argument is the result of the piece before it */
    bool is_last;   /* a run of the model ends with it */
};

static bool is_wrappable(const struct recorded *recorded, size_t at, struct call *call)
{
    const struct problem *problem = recorded->problem;
    const struct piece *piece = &problem->pieces[at];
    struct text module =
        piece->called.size > 0 ? piece->called : problem->modules[piece->first_module];
    bool called = false;
    call->plain = call->follows = true;
    if (piece->end_module != piece->first_module + 1 || module.size == 0 || piece->interrupted ||
        !is_outside(recorded, piece->first_row - 1, module) ||
        !is_outside(recorded, piece->end_row, module))
        return false;
    /* the row of a call may be in no piece, after those of the piece */
    const struct layer_row *row = problem->rows[piece->first_row];
    const struct layer_row *end = recorded->trace->rows + recorded->trace->count;
    for (; row < end && recorded->piece_of[row - recorded->trace->rows] == at; row++) {
        if (!row->is_forward || !text_same(layer_name(recorded->trace, row), module))
            continue;
        called |= layer_has(row, LAYER_PLAIN);
        call->plain &= row->plain || !layer_has(row, LAYER_PLAIN);
        call->follows &= row->follows || !layer_has(row, LAYER_PLAIN);
    }
    return called;
}

static struct call call_of(const struct recorded *recorded, size_t at)
{
    struct call call = {.is_last = false};
    const struct layer_row *row = recorded->problem->rows[recorded->problem->pieces[at].first_row];
    const struct layer_row *end = recorded->trace->rows + recorded->trace->count;
    for (; row < end && recorded->piece_of[row - recorded->trace->rows] == at; row++)
        call.is_last |= row->module_name == STRING_EMPTY && layer_has(row, LAYER_PLAIN);
    call.wrappable = is_wrappable(recorded, at, &call);
    return call;
}

/* Files without LAYER_FOLLOWS do not tell on what a module was called, only what crosses. Where
 * nothing crosses, a piece changes the output of the one before it in place. It may follow it in a
 * segment, but not begin one. */
static void guess_reach(const struct recorded *recorded)
{
    struct chain *chain = &recorded->problem->chain;
    size_t end = chain->layers;
    bool joins = false; /* the piece and the one after it may be in one segment */
    for (size_t i = chain->layers; i-- > 0;) {
        struct call call = call_of(recorded, i);
        uint32_t crossing = recorded->crossing[i];
        if (!call.wrappable || !call.plain || !joins)
            end = i + 1;
        chain->reach[i] = (int64_t)(call.wrappable && (i == 0 || crossing > 0) ? end : i);
        joins = call.wrappable && call.plain &&
                (crossing == 0 || (crossing == 1 && recorded->nearby[i] == 1));
    }
}

/* A segment that changes a tensor in place must contain what made it, since it runs twice. Ends
 * segments before pieces that change what was made before the segment. */
static void end_before_changes(const struct recorded *recorded)
{
    const struct layer_trace *trace = recorded->trace;
    struct chain *chain = &recorded->problem->chain;
    uint32_t *since = recorded->since, *stack = recorded->stack;
    size_t open = 0; /* pieces that change something, the first one last */
    for (uint32_t i = 0; i < chain->layers; i++)
        since[i] = i;
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        uint32_t piece = recorded->piece_of[i];
        if (row->is_forward && layer_has(row, LAYER_CHANGES) && row->changes < (int64_t)i &&
            recorded->piece_of[row->changes] < since[piece])
            since[piece] = recorded->piece_of[row->changes];
    }
    for (uint32_t i = (uint32_t)chain->layers; i-- > 0;) {
        stack[open++] = i;
        while (open > 0 && since[stack[open - 1]] >= i)
            open--;
        if (open > 0 && chain->reach[i] > stack[open - 1])
            chain->reach[i] = stack[open - 1];
    }
}

/* A segment is a run of modules, each of which takes the result of the one before it, which nothing
 * else reads, and the same other arguments. */
static void set_reach(const struct recorded *recorded)
{
    struct chain *chain = &recorded->problem->chain;
    size_t end = chain->layers;
    bool joins = false; /* the piece and the one before it may be in one segment */
    for (size_t i = chain->layers; i-- > 0;) {
        struct call call = call_of(recorded, i);
        if (!joins || recorded->leaves_far[i] || recorded->nearby[i + 1] > 1 || call.is_last)
            end = i + 1;
        chain->reach[i] = (int64_t)(call.wrappable ? end : i);
        joins = call.wrappable && call.plain && call.follows;
    }
    end_before_changes(recorded);
}

void recorded_set_reach(const struct recorded *recorded)
{
    if (recorded->trace->present >> LAYER_FOLLOWS & 1)
        set_reach(recorded);
    else
        guess_reach(recorded);
}
