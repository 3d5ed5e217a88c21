#define _GNU_SOURCE /* memmem */
#include "decode/log/message.h"

#include <string.h>

#include "decode/log/sizes.h"

/* Texts of errors, and the words by which they are found. */
static const struct opening {
    const char *words;
    enum oom_source source;
    bool has_backend; /* the word before is "CUDA", "HIP", ... */
} openings[] = {
    {" out of memory. Tried to allocate more than 1EB", OOM_SOURCE_HUGE, true},
    {" out of memory. Tried to allocate", OOM_SOURCE_ALLOCATOR, true},
    {" out of memory. Allocation was preemptively rejected", OOM_SOURCE_FRACTION, true},
    {"Allocation on device ", OOM_SOURCE_ASYNC, false},
    {" error: out of memory", OOM_SOURCE_DRIVER, true},
    {" driver error: out of memory", OOM_SOURCE_DRIVER, true},
    {" ran out of memory outside PyTorch's allocator", OOM_SOURCE_LIBRARY, true},
    {"_STATUS_ALLOC_FAILED", OOM_SOURCE_LIBRARY, true},
    {"DefaultCPUAllocator: ", OOM_SOURCE_HOST, false},
};
#define OPENING_COUNT (sizeof(openings) / sizeof(openings[0]))

/* Names of back ends and libraries are in capitals: "CUDA", "CUBLAS". */
static bool is_capital(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static const char *name_before(const char *begin, const char *at)
{
    while (at > begin && is_capital(at[-1]))
        at--;
    return at;
}

static bool confirms(const struct opening *opening, struct cursor rest)
{
    uint64_t number;
    if (opening->source == OOM_SOURCE_ASYNC)
        return (cursor_number(&rest, &number) || true) &&
               cursor_seek(&rest, " would exceed allowed memory. (out of memory)");
    if (opening->source == OOM_SOURCE_HOST)
        return cursor_seek(&rest, " you tried to allocate ");
    return true;
}

/* The opening whose words are at `at`, or NULL. `*rest` is what follows them. */
static const struct opening *opening_at(const char *at, const char *end, struct cursor *rest)
{
    for (size_t i = 0; i < OPENING_COUNT; i++) {
        size_t size = strlen(openings[i].words);
        struct cursor c = {at + size, end};
        if (size <= (size_t)(end - at) && memcmp(at, openings[i].words, size) == 0 &&
            confirms(&openings[i], c)) {
            *rest = c;
            return &openings[i];
        }
    }
    return NULL;
}

/* Nearly all lines of a log have none of these words, one of which is in every text. */
static bool may_have_text(struct text line)
{
    return memmem(line.bytes, line.size, "memory", 6) ||
           memmem(line.bytes, line.size, "_STATUS_ALLOC_FAILED", 20);
}

const char *oom_text_find(struct text line, struct text *rest)
{
    const char *end = line.bytes + line.size;
    struct cursor behind;
    if (!may_have_text(line))
        return NULL;
    for (const char *at = line.bytes; at < end; at++) {
        if (*at != ' ' && *at != '_' && *at != 'A' && *at != 'D')
            continue;
        const struct opening *opening = opening_at(at, end, &behind);
        const char *begin = opening && opening->has_backend ? name_before(line.bytes, at) : at;
        if (!opening || (opening->has_backend && begin == at))
            continue;
        *rest = (struct text){behind.at, (size_t)(end - behind.at)};
        return begin;
    }
    return NULL;
}

/* PyTorch 2.3 printed the number of a device as a character. */
static void take_device(struct cursor *cursor, struct oom_message *message)
{
    uint64_t number;
    if (cursor_number(cursor, &number) && number <= UINT16_MAX)
        message->device = (int64_t)number;
    else if (cursor->end - cursor->at > 1 && cursor->at[0] == ' ' &&
             (unsigned char)cursor->at[1] < ' ') {
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
static void take_size(struct cursor *c, const char *before, const char *behind,
                      struct stated_size *size)
{
    struct cursor start = *c;
    struct stated_size found;
    if (cursor_skip(c, before) && cursor_size(c, &found) && cursor_skip(c, behind))
        *size = found;
    else
        *c = start;
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
    take_processes(c, message);
    take_size(c, " Including non-PyTorch memory, this process has", " memory in use.",
              &message->own_process);
    take_processes(c, message);
    take_size(c, "", " allowed;", &message->allowed);
    take_size(c, " Of the allocated memory", " is allocated by PyTorch", &message->allocated);
    take_size(c, ", with", " allocated in private pools (e.g., CUDA Graphs)",
              &message->private_pools);
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

static void take_facts(struct cursor c, struct oom_message *message)
{
    switch (message->source) {
    case OOM_SOURCE_ALLOCATOR:
        cursor_size(&c, &message->requested);
        take_list(&c, message);
        take_sentences(&c, message);
        take_remarks(c, message);
        break;
    case OOM_SOURCE_ASYNC:
        take_lines(c, message);
        break;
    case OOM_SOURCE_FRACTION:
        if (cursor_seek(&c, "Requested size:"))
            cursor_size(&c, &message->requested);
        break;
    case OOM_SOURCE_HOST:
        if (cursor_seek(&c, " you tried to allocate"))
            cursor_size(&c, &message->requested);
        break;
    default:
        break;
    }
}

static bool states_request(enum oom_source source)
{
    return source == OOM_SOURCE_ALLOCATOR || source == OOM_SOURCE_ASYNC ||
           source == OOM_SOURCE_FRACTION || source == OOM_SOURCE_HOST;
}

bool oom_text_parse(struct text text, struct oom_message *message)
{
    const char *end = text.bytes + text.size, *at = text.bytes;
    struct cursor rest;
    while (at < end && is_capital(*at))
        at++;
    const struct opening *opening = opening_at(text.bytes, end, &rest);
    if (!opening)
        opening = opening_at(at, end, &rest);
    if (!opening)
        return false;
    message->source = opening->source;
    message->device = -1;
    if (opening->has_backend && (size_t)(at - text.bytes) < OOM_BACKEND_SIZE)
        memcpy(message->backend, text.bytes, (size_t)(at - text.bytes));
    else if (opening->source == OOM_SOURCE_ASYNC)
        strcpy(message->backend, "CUDA");
    take_facts(rest, message);
    return message->requested.is_stated || !states_request(message->source);
}
