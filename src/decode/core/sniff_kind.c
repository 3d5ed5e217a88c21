#include <string.h>

#include "decode/core/sniff.h"

#define LOOK_BYTES ((size_t)64 * 1024)

/* Words that identify a kind of file, anywhere in its beginning. The first one in the file decides,
 * because later words may be names from the user's program. */
static const struct mark {
    enum file_kind kind;
    const char *word;
    const char *with; /* if not NULL, this word must be present, too */
} marks[] = {
    {KIND_SNAPSHOT, "segments", NULL},
    {KIND_SNAPSHOT, "device_traces", NULL},
    {KIND_SNAPSHOT, "total_size", "blocks"}, /* the bare list of segments of old versions */
    {KIND_LAYER_TRACE, "traces", NULL},
    {KIND_LAYER_TRACE, "module_name", "memory_activations"},
    {KIND_LAYER_TRACE, "LayerMemoryTrace", NULL},
    {KIND_OPERATOR_CURVES, "memories_allocated", NULL},
    {KIND_OPERATOR_CURVES, "memories_active", NULL},
    {KIND_OPERATOR_CURVES, "memories_reserved", NULL},
};
#define MARK_COUNT (sizeof(marks) / sizeof(marks[0]))

static const uint8_t *skip_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* True if the string at `at` is a pickled string of any protocol, a class in protocol 0 to 3, or a
 * JSON key. */
static bool is_word(const uint8_t *begin, const uint8_t *at, const uint8_t *end, size_t size)
{
    const uint8_t *behind = skip_space(at + size + 1 < end ? at + size + 1 : end, end);
    size_t before = (size_t)(at - begin);
    uint8_t last = before > 0 ? at[-1] : 0;

    if (at + size < end && at[size] == '"' && last == '"' && behind < end && *behind == ':')
        return true;
    if (before >= 2 && last == size && (at[-2] == 0x8c || at[-2] == 'U'))
        return true; /* SHORT_BINUNICODE, SHORT_BINSTRING */
    if (before >= 5 && at[-4] == size && at[-3] == 0 && at[-2] == 0 && last == 0)
        return at[-5] == 'X' || at[-5] == 'T'; /* BINUNICODE, BINSTRING */
    if (at + size < end && at[size] == '\n' && (last == 'V' || last == '\n'))
        return true;                                     /* UNICODE, GLOBAL */
    return before >= 2 && last == '\'' && at[-2] == 'S'; /* STRING */
}

/* NULL if not in [begin, end). */
static const uint8_t *find_word(const uint8_t *begin, const uint8_t *end, const char *word)
{
    size_t size = strlen(word);
    const uint8_t *at = begin;

    while ((size_t)(end - at) > size &&
           (at = memchr(at, word[0], (size_t)(end - at) - size)) != NULL) {
        if (memcmp(at, word, size) == 0 && is_word(begin, at, end, size))
            return at;
        at++;
    }
    return NULL;
}

enum file_kind sniff_kind(struct source *source)
{
    enum file_kind kind = KIND_UNKNOWN;
    struct error ignored;
    enum encoding encoding;

    source_look_ahead(source, LOOK_BYTES);
    if (!sniff_encoding(source, &encoding, &ignored))
        return KIND_UNKNOWN;
    if (encoding == ENCODING_MSGPACK)
        return KIND_LAYER_TRACE;
    const uint8_t *begin = source->pos, *end = source->end, *limit = end;
    for (size_t i = 0; i < MARK_COUNT; i++) {
        const uint8_t *at = find_word(begin, limit, marks[i].word);
        if (at == NULL || (marks[i].with != NULL && find_word(begin, end, marks[i].with) == NULL))
            continue;
        limit = at;
        kind = marks[i].kind;
    }
    return kind;
}

const char *kind_name(enum file_kind kind)
{
    static const char *const names[] = {
        [KIND_UNKNOWN] = "something else",
        [KIND_SNAPSHOT] = "an allocator snapshot",
        [KIND_LAYER_TRACE] = "a layer trace",
        [KIND_OPERATOR_CURVES] = "memory curves of MemoryTracker",
    };
    return names[kind];
}

const char *encoding_name(enum encoding encoding)
{
    static const char *const names[] = {
        [ENCODING_UNKNOWN] = "unknown",
        [ENCODING_PICKLE] = "pickle",
        [ENCODING_JSON] = "json",
        [ENCODING_MSGPACK] = "msgpack",
    };
    return names[encoding];
}
