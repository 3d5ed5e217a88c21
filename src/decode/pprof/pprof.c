#include "decode/pprof/pprof.h"

#ifdef HAVE_PROTOBUF_C
#include <stdlib.h>
#include <string.h>

#include "decode/pprof/internal.h"

#define HEADER 16 /* bytes before an allocation, which keep its size */

/* protobuf-c's allocations, counted in the budget. */
struct counted {
    struct budget *budget;
    struct error *err;
    bool refused;
};

static void *take(void *self, size_t size)
{
    struct counted *counted = self;
    char *memory = NULL;
    if (size > SIZE_MAX - HEADER || !budget_take(counted->budget, size + HEADER, counted->err)) {
        counted->refused = true;
        return NULL;
    }
    memory = malloc(size + HEADER);
    if (!memory) {
        budget_give(counted->budget, size + HEADER);
        counted->refused = true;
        error_out_of_memory(counted->err);
        return NULL;
    }
    *(size_t *)(void *)memory = size;
    return memory + HEADER;
}

static void give(void *self, void *memory)
{
    struct counted *counted = self;
    if (!memory)
        return;
    char *begin = (char *)memory - HEADER;
    budget_give(counted->budget, *(size_t *)(void *)begin + HEADER);
    free(begin);
}

/* Protobuf has no reader that streams, so the file is in memory as a whole. */
static bool read_all(struct source *source, uint8_t **bytes, size_t *size, size_t *capacity,
                     struct error *err)
{
    while (source_fill(source, 1, err)) {
        size_t part = (size_t)(source->end - source->pos);
        if (part == 0)
            return true;
        if (!vec_reserve(*bytes, *capacity, *size + part, source->budget, err))
            return false;
        memcpy(*bytes + *size, source->pos, part);
        *size += part;
        source->pos = source->end;
    }
    return false;
}

static bool unpack(struct source *source, struct counted *counted, ProtobufCAllocator *allocator,
                   pprof_profile **profile)
{
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    bool ok = read_all(source, &bytes, &size, &capacity, counted->err);
    if (ok) {
        *profile = memsnap__pprof__profile__unpack(allocator, size, bytes);
        ok = *profile != NULL || (!counted->refused && pprof_refuse(bytes, size, counted->err));
    }
    vec_free(bytes, capacity, 1, source->budget);
    return ok;
}

bool decode_pprof_snapshot(struct source *source, struct symbols *symbols,
                           const struct row_sink *sink, struct decoded *decoded, struct error *err)
{
    struct counted counted = {.budget = source->budget, .err = err};
    ProtobufCAllocator allocator = {take, give, &counted};
    pprof_profile *profile = NULL;
    if (!unpack(source, &counted, &allocator, &profile))
        return false;
    struct pprof_rows rows = {profile, symbols, sink, source->budget, err};
    bool ok = pprof_emit(&rows);
    memsnap__pprof__profile__free_unpacked(profile, &allocator);
    if (ok)
        *decoded = (struct decoded){
            .encoding = ENCODING_PROTOBUF,
            .protocol = -1,
            .profile = {.is_profile = true, .is_heap = true, .rank = -1, .world_size = -1}};
    return ok;
}

#else

bool decode_pprof_snapshot(struct source *source, struct symbols *symbols,
                           const struct row_sink *sink, struct decoded *decoded, struct error *err)
{
    (void)source;
    (void)symbols;
    (void)sink;
    (void)decoded;
    return error_set(err, STATUS_USAGE,
                     "a pprof profile: this memsnap was built without protobuf-c, which reads it");
}

#endif
