/* The modules that the model runs before the pass keeps anything: those that are frozen, or that
 * run without gradients. Each allocation of a module of torch tells some parameters, and its stack
 * the block that these belong to. */
#include <stdlib.h>

#include "analysis/phase/births.h"
#include "analysis/shard/snapshot_reader.h"
#include "base/hash.h"

#define MOST_LINES 32 /* of a call, that are remembered */

/* A call of a function that goes on. */
struct running_call {
    uint64_t key; /* of the frames around it, and of its function; 0: none */
    size_t caller;
    uint32_t number;
    frame_id lines[MOST_LINES]; /* that have run in it */
    frame_id last;
    size_t line_count;
};

/* How often the same frames call a function. */
struct caller {
    uint64_t key;
    uint32_t calls;
};

struct scan {
    struct snapshot_reader *reader;
    struct running_call running[SNAPSHOT_MOST_FRAMES];
    struct caller *callers;
    size_t caller_count, caller_capacity;
    uint32_t calls;
    bool counts;         /* callers are being counted */
    uint32_t last_leaf;  /* the call that made the last allocation */
    uint32_t last_block; /* the call of a block that had the last parameters, or UINT32_MAX */
};

/* If a line runs again after others did, the function has been called again. */
static bool has_restarted(struct running_call *call, frame_id line)
{
    bool has_run = false;
    if (line == call->last)
        return false;
    for (size_t i = 0; i < call->line_count; i++)
        has_run |= call->lines[i] == line;
    call->last = line;
    if (!has_run && call->line_count < MOST_LINES)
        call->lines[call->line_count++] = line;
    return has_run;
}

static bool begin_call(struct scan *scan, struct running_call *call, uint64_t key, frame_id line,
                       struct error *err)
{
    size_t at = 0;
    while (at < scan->caller_count && scan->callers[at].key != key)
        at++;
    if (at == scan->caller_count &&
        !vec_push(scan->callers, scan->caller_count, scan->caller_capacity,
                  scan->reader->model->budget, err, (struct caller){.key = key}))
        return false;
    scan->callers[at].calls += scan->counts;
    *call = (struct running_call){.key = key,
                                  .caller = at,
                                  .number = scan->calls++,
                                  .lines = {line},
                                  .last = line,
                                  .line_count = 1};
    return true;
}

/* Follows the calls of the path. How far a list has come shows in what it calls. */
static bool follow(struct scan *scan, const struct snapshot_path *path, struct error *err)
{
    uint64_t around = 1;
    bool is_new = false;
    for (size_t i = 0; i < path->count; i++) {
        struct running_call *call = &scan->running[i];
        struct frame frame = symbols_frame_at(scan->reader->symbols, path->frames[i]);
        bool looks_in = snapshot_is_list(scan->reader, path->frames[i]) && i + 1 < path->count;
        frame_id line = path->frames[i + looks_in];
        uint64_t key = hash_word((uint64_t)frame.file << 32 | frame.name, around);
        bool begins = is_new || call->key != key || has_restarted(call, line);
        if (begins && !begin_call(scan, call, key, line, err))
            return false;
        is_new |= begins;
        around = hash_word(path->frames[i], around);
    }
    for (size_t i = path->count; i < SNAPSHOT_MOST_FRAMES; i++)
        scan->running[i].key = 0;
    return true;
}

/* The outermost block: what a torch.nn.Sequential calls, but a list in it only if it consists of
 * nothing but layers; or what a line of the program calls several times. */
static uint32_t block_of(const struct scan *scan, const struct snapshot_path *path)
{
    for (size_t i = 1; i < path->count; i++) {
        bool is_called = snapshot_is_forward(scan->reader, path->frames[i]);
        bool is_listed = snapshot_is_list(scan->reader, path->frames[i - 1]);
        bool is_listing = snapshot_is_list(scan->reader, path->frames[i]);
        bool is_inner = is_listing && i + 1 < path->count &&
                        !snapshot_is_leaf(scan->reader, path->frames[i + 1]);
        const struct running_call *call = &scan->running[i];
        bool repeats = scan->callers[call->caller].calls > 1 &&
                       !snapshot_is_leaf(scan->reader, path->frames[i]);
        if (is_called && !is_inner && (is_listed || (repeats && !is_listing)))
            return call->number;
    }
    return UINT32_MAX;
}

/* A call of a module counts once, however much it allocates. */
static bool add_call(struct scan *scan, struct front_calls *front, const struct snapshot_path *path,
                     uint32_t item, struct error *err)
{
    uint32_t leaf = scan->running[path->count - 1].number, block = block_of(scan, path);
    struct front_call call = {.kind = path->kind, .block = FRONT_ROOT};
    if (path->kind == FRONT_NONE || leaf == scan->last_leaf)
        return true;
    scan->last_leaf = leaf;
    if (block != UINT32_MAX && block != scan->last_block &&
        !vec_push(front->blocks, front->block_count, front->block_capacity,
                  scan->reader->model->budget, err, (struct front_block){item}))
        return false;
    if (block != UINT32_MAX) {
        scan->last_block = block;
        call.block = (uint32_t)front->block_count - 1;
    }
    return vec_push(front->calls, front->count, front->capacity, scan->reader->model->budget, err,
                    call);
}

/* Reads the allocations of the model, twice: `front` is NULL the first time, in which callers are
 * counted. */
static bool read(struct scan *scan, struct front_calls *front, struct error *err)
{
    const struct timeline *timeline = scan->reader->timeline;
    uint32_t end = scan->reader->chain->first;
    size_t first = births_from(timeline, snapshot_front_first(scan->reader));
    frame_id model, line;
    struct snapshot_path path;
    if (!snapshot_model_line(scan->reader, timeline->trace->stack[end], &model, err))
        return false;
    scan->calls = 0;
    scan->counts = !front;
    scan->last_leaf = scan->last_block = UINT32_MAX;
    for (size_t i = 0; i < SNAPSHOT_MOST_FRAMES; i++)
        scan->running[i].key = 0;
    for (size_t i = first; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end;
         i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        stack_id id = timeline->trace->stack[item];
        if (!snapshot_model_line(scan->reader, id, &line, err))
            return false;
        if (line == NO_FRAME || line != model)
            continue;
        snapshot_read_path(scan->reader, symbols_stack_at(scan->reader->symbols, id), &path);
        if (path.count > 0 &&
            (!follow(scan, &path, err) || (front && !add_call(scan, front, &path, item, err))))
            return false;
    }
    return true;
}

bool snapshot_find_front(struct snapshot_reader *reader, struct error *err)
{
    struct scan *scan = calloc(1, sizeof(*scan));
    if (!scan)
        return error_out_of_memory(err);
    scan->reader = reader;
    bool ok = read(scan, NULL, err) && read(scan, &reader->front, err);
    vec_free(scan->callers, scan->caller_capacity, sizeof(*scan->callers), reader->model->budget);
    free(scan);
    return ok;
}
