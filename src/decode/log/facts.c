#include "decode/log/facts.h"

#include <string.h>

/* PyTorch 2.3 printed the number of a device as a character. */
static void take_device(struct cursor *cursor, struct oom_message *message)
{
    uint64_t number;
    if (cursor_number(cursor, &number) && number <= UINT16_MAX)
        message->device = (int64_t)number;
    else if (cursor->end - cursor->at > 1 && cursor->at[0] == ' ' &&
             (unsigned char)cursor->at[1] < ' ' && cursor->at[1] != '\n') {
        message->device = cursor->at[1];
        cursor->at += 2;
    }
}

/* " (GPU 0; 10.76 GiB total capacity; 9.58 GiB already allocated; 8.31 MiB free; 9.72 GiB reserved
 * in total by PyTorch)", until 2.0 */
static void take_list(struct cursor *c, struct oom_message *message)
{
    const struct {
        const char *words;
        struct stated_size *size;
    } parts[] = {
        {" total capacity", &message->total},
        {" already allocated", &message->allocated},
        {" free", &message->free},
        {" allowed", &message->allowed},
        {" reserved in total by PyTorch", &message->reserved},
        {" cached", &message->unallocated},
    };
    struct stated_size size;
    if (!cursor_skip(c, " (GPU") && !cursor_skip(c, " (NPU") && !cursor_skip(c, " (XPU"))
        return;
    take_device(c, message);
    while (cursor_skip(c, ";") && cursor_size(c, &size)) {
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
            if (cursor_skip(c, parts[i].words)) {
                *parts[i].size = size;
                break;
            }
        while (c->at < c->end && *c->at != ';' && *c->at != ')')
            c->at++;
    }
}

static void take_processes(struct cursor *c, struct oom_message *message)
{
    struct oom_process process;
    for (;;) {
        struct cursor start = *c;
        if (!cursor_skip(c, " Process") || !cursor_number(c, &process.pid) ||
            !cursor_skip(c, " has") || !cursor_size(c, &process.used) ||
            !cursor_skip(c, " memory in use.")) {
            *c = start;
            return;
        }
        if (message->process_count < OOM_PROCESSES_MOST)
            message->processes[message->process_count++] = process;
        else
            message->more_processes++;
    }
}

/* A size between two pieces of the text; both must be there. */
static void take_size(struct cursor *c, const char *before, const char *after,
                      struct stated_size *size)
{
    struct cursor start = *c;
    struct stated_size found;
    if (cursor_skip(c, before) && cursor_size(c, &found) && cursor_skip(c, after))
        *size = found;
    else
        *c = start;
}

/* "(e.g., CUDA Graphs)", or HIP's or XPU's */
static void take_private_pools(struct cursor *c, struct oom_message *message)
{
    take_size(c, ", with", " allocated in private pools", &message->private_pools);
    if (message->private_pools.is_stated && cursor_skip(c, " (e.g.,"))
        cursor_seek(c, ")");
}

/* ". GPU 0 has a total capacity of 14.57 GiB of which 113.69 MiB is free. ...", since 2.1 */
static void take_sentences(struct cursor *c, struct oom_message *message)
{
    if (!cursor_skip(c, ". GPU"))
        return;
    take_device(c, message);
    take_size(c, " has a total capacity of", "", &message->total);
    take_size(c, " has a total capacty of", "", &message->total); /* 2.1 */
    take_size(c, " of which", " is free.", &message->free);
    cursor_skip(c, "."); /* XPU does not say what is free */
    take_processes(c, message);
    take_size(c, " Including non-PyTorch memory, this process has", " memory in use.",
              &message->own_process);
    take_processes(c, message);
    take_size(c, "", " allowed;", &message->allowed);
    take_size(c, " Of the allocated memory", " is allocated by PyTorch", &message->allocated);
    take_private_pools(c, message);
    take_size(c, ", and", " is reserved by PyTorch but unallocated.", &message->unallocated);
}

/* Remarks that may follow the sizes. */
static void take_remarks(struct cursor c, struct oom_message *message)
{
    struct cursor remark = c;
    message->is_expandable = cursor_seek(&remark, "expandable_segments is enabled");
    remark = c;
    message->is_custom_pool = cursor_seek(&remark, "allocator backing this MemPool returned");
    remark = c;
    if (cursor_seek(&remark, " exceeds the expandable-segment reserve of"))
        cursor_size(&remark, &message->reserve);
}

/* The lines of cudaMallocAsync, "Requested               : 300.00 MiB" */
static void take_lines(struct cursor c, struct oom_message *message)
{
    static const char limit[] = " PyTorch limit (set by user-supplied memory fraction)";
    take_device(&c, message);
    if (!cursor_seek(&c, "(out of memory)"))
        return;
    take_size(&c, " Currently allocated :", "", &message->allocated);
    take_size(&c, " Requested :", "", &message->requested);
    take_size(&c, " Device limit :", "", &message->total);
    take_size(&c, " Free (according to CUDA):", "", &message->free);
    if (cursor_skip(&c, limit))
        take_size(&c, " :", "", &message->allowed);
    if (message->allowed.bytes == UINT64_MAX) /* no limit */
        message->allowed = (struct stated_size){0};
}

/* "MPS allocated: 9.57 GiB, other allocations: 17.35 GiB, max allowed: 27.20 GiB). Tried to
 * allocate 292.50 MiB on private pool." */
static void take_metal(struct cursor c, struct oom_message *message)
{
    take_size(&c, " MPS allocated:", "", &message->allocated);
    take_size(&c, ", other allocations:", "", &message->other);
    take_size(&c, ", max allowed:", ")", &message->allowed);
    if (cursor_seek(&c, " Tried to allocate"))
        cursor_size(&c, &message->requested);
}

/* " with size larger than 4GB! Tried to allocate 6.85 GiB (GPU  0; ...", of Intel's extension */
static void take_block_limit(struct cursor *c, struct oom_message *message)
{
    take_size(c, " with size larger than", "", &message->block_limit);
    if (message->block_limit.is_stated)
        cursor_seek(c, " Tried to allocate");
}

/* ", Required: 131072, Hardware limit: 101376", in bytes */
static void take_on_chip(struct cursor c, struct oom_message *message)
{
    uint64_t bytes;
    cursor_skip(&c, ",");
    if (cursor_skip(&c, " Required:") && cursor_number(&c, &bytes))
        message->requested = (struct stated_size){.is_stated = true, .bytes = bytes};
    cursor_skip(&c, ",");
    if (cursor_skip(&c, " Hardware limit:") && cursor_number(&c, &bytes))
        message->block_limit = (struct stated_size){.is_stated = true, .bytes = bytes};
}

/* "(s) 4711, 4712) exited unexpectedly" */
static void take_workers(struct cursor c, struct oom_message *message)
{
    uint64_t pid;
    cursor_skip(&c, "(s)");
    while (cursor_skip(&c, " ") && cursor_number(&c, &pid)) {
        if (message->process_count < OOM_PROCESSES_MOST)
            message->processes[message->process_count++] = (struct oom_process){.pid = pid};
        else
            message->more_processes++;
        if (!cursor_skip(&c, ","))
            break;
    }
}

bool oom_facts_take(struct cursor c, struct oom_message *message)
{
    switch (message->source) {
    case OOM_SOURCE_ALLOCATOR:
        if (strcmp(message->backend, "MPS") == 0) {
            take_metal(c, message);
            return message->requested.is_stated;
        }
        take_block_limit(&c, message);
        cursor_size(&c, &message->requested);
        take_list(&c, message);
        take_sentences(&c, message);
        take_remarks(c, message);
        return message->requested.is_stated;
    case OOM_SOURCE_ASYNC:
        take_lines(c, message);
        return true;
    case OOM_SOURCE_FRACTION:
        return cursor_seek(&c, "Requested size:") && cursor_size(&c, &message->requested);
    case OOM_SOURCE_BUFFER:
        return cursor_size(&c, &message->requested);
    case OOM_SOURCE_FRAMEWORK: /* JAX */
        if (cursor_skip(&c, " while trying to allocate"))
            cursor_size(&c, &message->requested);
        return true;
    case OOM_SOURCE_WORKER:
    case OOM_SOURCE_SHM:
    case OOM_SOURCE_EXIT:
        take_workers(c, message);
        return true;
    case OOM_SOURCE_ON_CHIP:
        take_on_chip(c, message);
        return true;
    case OOM_SOURCE_HOST:
        if (!cursor_size(&c, &message->requested) && /* NumPy */
            cursor_seek(&c, " you tried to allocate"))
            cursor_size(&c, &message->requested);
        return true;
    default:
        return true;
    }
}
