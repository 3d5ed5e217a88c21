#include "decode/log/message.h"

#include <string.h>

#include "base/ascii.h"
#include "decode/log/facts.h"

#define CUDA_FAILURE "Cuda failure" /* then a number or none, and the name of the error */
#define BAD_ALLOC    "std::bad_alloc"
#define BEFORE       NULL /* the word before is the back end: "CUDA", "HIP", ... */

/* Texts of errors, and the words by which they are found. */
static const struct opening {
    const char *words;
    enum oom_source source;
    const char *backend;
    const char *then; /* follows in the same line; NULL: anything */
} openings[] = {
    {" out of memory. Tried to allocate more than 1EB", OOM_SOURCE_HUGE, BEFORE, NULL},
    {" out of memory. Tried to allocate", OOM_SOURCE_ALLOCATOR, BEFORE, NULL},
    {" out of memory. Allocation was preemptively rejected", OOM_SOURCE_FRACTION, BEFORE, NULL},
    {" backend out of memory (", OOM_SOURCE_ALLOCATOR, BEFORE, NULL}, /* MPS */
    {"Current platform can NOT allocate memory block", OOM_SOURCE_ALLOCATOR, "XPU", NULL},
    {"Allocation on device", OOM_SOURCE_ASYNC, "CUDA", NULL},
    {" error: out of memory", OOM_SOURCE_DRIVER, BEFORE, NULL},
    {" driver error: out of memory", OOM_SOURCE_DRIVER, BEFORE, NULL},
    {"CUDA]: out of memory", OOM_SOURCE_DRIVER, "CUDA", NULL}, /* Triton */
    {" ran out of memory outside PyTorch's allocator", OOM_SOURCE_LIBRARY, BEFORE, NULL},
    {"_STATUS_ALLOC_FAILED", OOM_SOURCE_LIBRARY, BEFORE, NULL},
    {"_ALLOC_FAILED", OOM_SOURCE_LIBRARY, BEFORE, NULL}, /* cuFFT */
    {CUDA_FAILURE, OOM_SOURCE_LIBRARY, "NCCL", NULL},
    {"Failed to CUDA calloc", OOM_SOURCE_LIBRARY, "NCCL", NULL},
    {"DefaultCPUAllocator: ", OOM_SOURCE_HOST, "", " you tried to allocate "},
    {" error:out of memory", OOM_SOURCE_DRIVER, BEFORE, NULL}, /* typed by hand */
    {"cuda runtime error", OOM_SOURCE_OLD, "CUDA", "(2) : out of memory"},
    {"THCudaCheck FAIL file=", OOM_SOURCE_OLD, "CUDA", " error=2 : out of memory"},
    {"Invalid buffer size:", OOM_SOURCE_BUFFER, "MPS", NULL},
    {"OOM when allocating tensor with shape", OOM_SOURCE_HOST, "", "device:CPU:"},
    {"OOM when allocating tensor with shape", OOM_SOURCE_FRAMEWORK, "TensorFlow", NULL},
    {"RESOURCE_EXHAUSTED: Out of memory", OOM_SOURCE_FRAMEWORK, "JAX", NULL},
    {"Out of memory allocating ", OOM_SOURCE_FRAMEWORK, "CuPy", " bytes (allocated so far"},
    {"Error out of memory at line", OOM_SOURCE_LIBRARY, "bitsandbytes", "csrc"},
    {"Error 2: out of memory at line", OOM_SOURCE_LIBRARY, "bitsandbytes", "csrc"},
    {"No available memory for the cache blocks", OOM_SOURCE_CACHE, "vLLM", NULL},
    {"out of resource: shared memory", OOM_SOURCE_ON_CHIP, "Triton", NULL},
    {"DataLoader worker (pid", OOM_SOURCE_SHM, "", " is killed by signal: Bus error"},
    {"Unexpected bus error encountered in worker", OOM_SOURCE_SHM, "", "(shm)"},
    {"DataLoader worker (pid", OOM_SOURCE_WORKER, "", " is killed by signal: Killed"},
    {"DataLoader worker (pid(s)", OOM_SOURCE_EXIT, "", " exited unexpectedly"},
    {BAD_ALLOC ": ", OOM_SOURCE_DRIVER, "CUDA", "cudaErrorMemoryAllocation"}, /* Thrust, RMM */
    {BAD_ALLOC, OOM_SOURCE_HOST, "", NULL},
    {OOM_TEXT_SIGKILL, OOM_SOURCE_WORKER, "", NULL},
    {" oom-kill event", OOM_SOURCE_WORKER, "", NULL}, /* Slurm */
    {" oom_kill event", OOM_SOURCE_WORKER, "", NULL},
    {" of memory: Killed process", OOM_SOURCE_WORKER, "", NULL},               /* Linux */
    {"Unable to allocate ", OOM_SOURCE_HOST, "", "B for an array with shape"}, /* NumPy */
};
#define OPENING_LETTERS " _ACDEFINORSTUcos" /* the letters with which the words begin */
#define OPENING_COUNT   (sizeof(openings) / sizeof(openings[0]))

/* Names of back ends and libraries are in capitals: "CUDA", "CUBLAS". */
static bool is_capital(char c)
{
    return (c >= 'A' && c <= 'Z') || ascii_is_digit(c);
}

static const char *name_before(const char *begin, const char *at)
{
    while (at > begin && is_capital(at[-1]))
        at--;
    return at;
}

/* True if the text ends here. cudaMallocAsync's text has several lines, and some programs print
 * only the first words. */
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
    if (strcmp(opening->words, CUDA_FAILURE) != 0)
        return !opening->then || cursor_seek(&rest, opening->then);
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
    static const char *const words[] = {"memory",
                                        "_ALLOC_FAILED",
                                        "Allocation on device",
                                        "CUDA calloc",
                                        "killed by signal",
                                        "exited unexpectedly",
                                        "bad_alloc",
                                        "Invalid buffer size",
                                        "OOM when",
                                        "SIGKILL",
                                        "oom-kill",
                                        "oom_kill",
                                        "Unable to allocate"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (text_find(line, words[i]))
            return true;
    return false;
}

/* Words that a program cut mean an error only after the exception's name, and the name of C++'s
 * exception only where it is the text of one: "what():  std::bad_alloc". */
static bool is_raised(struct text line, const char *at, const struct opening *opening,
                      struct cursor rest)
{
    struct text before = {line.bytes, (size_t)(at - line.bytes)};
    if (strncmp(opening->words, BAD_ALLOC, strlen(BAD_ALLOC)) == 0)
        return text_ends(text_trim(before), ":");
    return opening->source != OOM_SOURCE_ASYNC || !is_cut(rest) ||
           text_ends(before, "OutOfMemoryError: ");
}

const char *oom_text_find(struct text line, struct text *rest)
{
    const char *end = line.bytes + line.size;
    struct cursor after;
    if (!may_have_text(line))
        return NULL;
    for (const char *at = line.bytes; at < end; at++) {
        if (!strchr(OPENING_LETTERS, *at) || *at == '\0')
            continue;
        const struct opening *opening = opening_at(at, end, &after);
        bool has_name_before = opening && opening->backend == BEFORE;
        const char *begin = has_name_before ? name_before(line.bytes, at) : at;
        if (!opening || (has_name_before && begin == at) || !is_raised(line, at, opening, after))
            continue;
        *rest = (struct text){after.at, (size_t)(end - after.at)};
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
