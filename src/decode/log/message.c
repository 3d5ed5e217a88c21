#include "decode/log/message.h"

#include <string.h>

#include "decode/log/facts.h"

#define CUDA_FAILURE "Cuda failure" /* then a number or none, and the name of the error */
#define BEFORE       NULL           /* the word before is the back end: "CUDA", "HIP", ... */

/* Texts of errors, and the words by which they are found. */
static const struct opening {
    const char *words;
    enum oom_source source;
    const char *backend;
} openings[] = {
    {" out of memory. Tried to allocate more than 1EB", OOM_SOURCE_HUGE, BEFORE},
    {" out of memory. Tried to allocate", OOM_SOURCE_ALLOCATOR, BEFORE},
    {" out of memory. Allocation was preemptively rejected", OOM_SOURCE_FRACTION, BEFORE},
    {" backend out of memory (", OOM_SOURCE_ALLOCATOR, BEFORE}, /* MPS */
    {"Current platform can NOT allocate memory block", OOM_SOURCE_ALLOCATOR, "XPU"},
    {"Allocation on device", OOM_SOURCE_ASYNC, "CUDA"},
    {" error: out of memory", OOM_SOURCE_DRIVER, BEFORE},
    {" driver error: out of memory", OOM_SOURCE_DRIVER, BEFORE},
    {"CUDA]: out of memory", OOM_SOURCE_DRIVER, "CUDA"}, /* Triton */
    {" ran out of memory outside PyTorch's allocator", OOM_SOURCE_LIBRARY, BEFORE},
    {"_STATUS_ALLOC_FAILED", OOM_SOURCE_LIBRARY, BEFORE},
    {"_ALLOC_FAILED", OOM_SOURCE_LIBRARY, BEFORE}, /* cuFFT */
    {CUDA_FAILURE, OOM_SOURCE_LIBRARY, "NCCL"},
    {"Failed to CUDA calloc", OOM_SOURCE_LIBRARY, "NCCL"},
    {"DefaultCPUAllocator: ", OOM_SOURCE_HOST, ""},
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

/* Of cudaMallocAsync's text, which has several lines, programs may print only the first words. */
static bool is_cut(struct cursor rest)
{
    uint64_t number;
    cursor_number(&rest, &number);
    while (rest.at < rest.end && *rest.at == ' ')
        rest.at++;
    return rest.at == rest.end || *rest.at == '\n';
}

static bool confirms(const struct opening *opening, struct cursor rest)
{
    uint64_t number;
    if (opening->source == OOM_SOURCE_ASYNC)
        return cursor_seek(&rest, " would exceed allowed memory. (out of memory)") || is_cut(rest);
    if (opening->source == OOM_SOURCE_HOST)
        return cursor_seek(&rest, " you tried to allocate ");
    if (strcmp(opening->words, CUDA_FAILURE) != 0)
        return true;
    cursor_number(&rest, &number);
    return cursor_skip(&rest, " 'out of memory'");
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
    static const char *const words[] = {"memory", "_ALLOC_FAILED", "Allocation on device",
                                        "CUDA calloc"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (text_find(line, words[i]))
            return true;
    return false;
}

/* Words that a program cut mean an error only behind the exception's name. */
static bool is_raised(struct text line, const char *at, const struct opening *opening,
                      struct cursor rest)
{
    struct text before = {line.bytes, (size_t)(at - line.bytes)};
    return opening->source != OOM_SOURCE_ASYNC || !is_cut(rest) ||
           text_ends(before, "OutOfMemoryError: ");
}

const char *oom_text_find(struct text line, struct text *rest)
{
    const char *end = line.bytes + line.size;
    struct cursor behind;
    if (!may_have_text(line))
        return NULL;
    for (const char *at = line.bytes; at < end; at++) {
        if (!strchr(" _ACDF", *at) || *at == '\0')
            continue;
        const struct opening *opening = opening_at(at, end, &behind);
        bool is_behind = opening && opening->backend == BEFORE;
        const char *begin = is_behind ? name_before(line.bytes, at) : at;
        if (!opening || (is_behind && begin == at) || !is_raised(line, at, opening, behind))
            continue;
        *rest = (struct text){behind.at, (size_t)(end - behind.at)};
        return begin;
    }
    return NULL;
}

static void name_backend(const struct opening *opening, struct text before,
                         struct oom_message *message)
{
    struct text name = opening->backend == BEFORE
                           ? before
                           : (struct text){opening->backend, strlen(opening->backend)};
    if (name.size < OOM_BACKEND_SIZE)
        memcpy(message->backend, name.bytes, name.size);
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
    name_backend(opening, (struct text){text.bytes, (size_t)(at - text.bytes)}, message);
    return oom_facts_take(rest, message);
}
