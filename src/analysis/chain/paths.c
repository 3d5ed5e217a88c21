#include "analysis/chain/paths.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/chain/loops.h"
#include "analysis/code/paths.h"

/* An entry of chain_paths.paths is NOT_SEEN, or path + 1 with or without CHECKPOINT. */
#define NOT_SEEN   0u
#define CHECKPOINT 0x80000000u

bool chain_paths_create(struct chain_paths *paths, struct site_table *sites, struct budget *budget,
                        struct error *err)
{
    struct symbols *symbols = site_table_symbols(sites);
    size_t count = symbols_stack_count(symbols);
    size_t bytes = count * (sizeof(uint64_t) + sizeof(uint32_t));
    *paths = (struct chain_paths){.sites = sites, .symbols = symbols, .budget = budget};
    if (!budget_take(budget, bytes, err))
        return false;
    paths->calls = calloc(1, bytes);
    if (!paths->calls) {
        budget_give(budget, bytes);
        return error_out_of_memory(err);
    }
    paths->paths = (uint32_t *)(paths->calls + count);
    paths->stack_count = count;
    return true;
}

void chain_paths_release(struct chain_paths *paths)
{
    free(paths->calls);
    budget_give(paths->budget, paths->stack_count * (sizeof(uint64_t) + sizeof(uint32_t)));
    vec_free(paths->frames, paths->frame_capacity, sizeof(frame_id), paths->budget);
    *paths = (struct chain_paths){0};
}

static bool is_checkpoint(struct text file)
{
    return text_ends(file, "torch/utils/checkpoint.py") ||
           text_ends(file, "torch\\utils\\checkpoint.py");
}

/* True for torch.nn.Module.__call__ and the functions that implement it. */
static bool is_module_call(struct text file, struct text name)
{
    return (text_equals(name, "_call_impl") || text_equals(name, "_wrapped_call_impl") ||
            text_equals(name, "__call__")) &&
           (text_ends(file, "torch/nn/modules/module.py") ||
            text_ends(file, "torch\\nn\\modules\\module.py"));
}

/* True for a frame inside of a graph that torch.compile compiled. */
static bool is_in_graph(struct text file)
{
    size_t in_torch = path_classify(file).module;
    struct text inside = {file.bytes + in_torch, file.size - in_torch};
    return text_starts(file, "<eval_with_key>") ||
           (in_torch > 0 && text_starts(inside, "_functorch"));
}

/* A function whose code torch.compile replaced calls graphs. Some are modules, and some contain
 * modules, but none of these is the program's. */
static void enter_graph(struct path_frames *frames, size_t made)
{
    if (made > 0 && made <= 64)
        frames->calls &= ~(UINT64_C(1) << (made - 1));
}

bool chain_paths_filter(struct chain_paths *paths, stack_id id, struct path_frames *frames,
                        struct error *err)
{
    struct stack stack = symbols_stack_at(paths->symbols, id);
    if (!vec_grow((void **)&paths->frames, &paths->frame_capacity, stack.count, sizeof(frame_id),
                  paths->budget, err))
        return false;
    const struct stack_facts *facts = site_stack_facts(paths->sites, id, err);
    if (!facts)
        return false;
    bool is_compiled = facts->is_compiled, in_graph = false;
    size_t made = 0;
    *frames = (struct path_frames){.forward = SIZE_MAX};
    for (size_t i = stack.count; i-- > 0;) {
        enum frame_kind kind = site_frame_kind(paths->sites, stack.frames[i]);
        if (kind == FRAME_NATIVE)
            continue;
        struct frame frame = symbols_frame_at(paths->symbols, stack.frames[i]);
        struct text file = symbols_text(paths->symbols, frame.file);
        struct text name = symbols_text(paths->symbols, frame.name);
        bool forwards = call_is_forward(name);
        if (is_checkpoint(file)) {
            frames->checkpointed = true;
            continue;
        }
        if (is_compiled && !in_graph && is_in_graph(file)) {
            in_graph = true;
            enter_graph(frames, made);
        }
        if (made > 0 && made <= 64 && !in_graph && is_module_call(file, name))
            frames->calls |= UINT64_C(1) << (made - 1);
        if (kind != FRAME_USER && !forwards)
            continue;
        if (forwards && frames->forward == SIZE_MAX)
            frames->forward = made;
        paths->frames[made++] = stack.frames[i];
    }
    frames->count = made;
    return true;
}

static bool make_path(struct chain_paths *paths, stack_id id, uint32_t *slot, struct error *err)
{
    struct path_frames frames;
    if (!chain_paths_filter(paths, id, &frames, err))
        return false;
    if (!paths->knows_skipped && frames.forward != SIZE_MAX) {
        paths->knows_skipped = true;
        paths->callers = frames.forward > 0;
        paths->skipped = frames.forward > 0 ? frames.forward - 1 : 0;
    }
    size_t from = paths->skipped < frames.count ? paths->skipped : frames.count;
    if (frames.forward < from + paths->callers) /* called less deep than the first one */
        from = frames.forward > 0 ? frames.forward - 1 : 0;
    size_t size = frames.count - from < CALL_MOST_LEVELS ? frames.count - from : CALL_MOST_LEVELS;
    stack_id path;
    if (!symbols_stack(paths->symbols, size > 0 ? paths->frames + from : NULL, size, &path, err))
        return false;
    paths->calls[id] = from < 64 ? frames.calls >> from : 0;
    *slot = (path + 1) | (frames.checkpointed ? CHECKPOINT : 0);
    return path < CHECKPOINT - 1 ||
           error_set(err, STATUS_LIMIT, "too many different stacks to tell layers apart");
}

bool chain_paths_find(struct chain_paths *paths, stack_id id, stack_id *path, bool *checkpointed,
                      struct error *err)
{
    uint32_t *slot = &paths->paths[id];
    if (*slot == NOT_SEEN && !make_path(paths, id, slot, err))
        return false;
    *path = (*slot & ~CHECKPOINT) - 1;
    *checkpointed = *slot & CHECKPOINT;
    return true;
}

void chain_paths_forget(struct chain_paths *paths)
{
    memset(paths->paths, 0, paths->stack_count * sizeof(uint32_t));
}
