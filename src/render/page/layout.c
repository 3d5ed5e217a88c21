#include <stddef.h>
#include <string.h>

#include "base/units.h"
#include "render/dump/leaf.h"
#include "render/page/columns.h"
#include "render/page/internal.h"

/* Where blocks lay at every moment, for layout.js. */

static const char *source_name(enum lives_source source)
{
    static const char *const names[] = {
        [LIVES_REPLAYED] = "replay",
        [LIVES_RECORDED] = "trace",
        [LIVES_DUMP] = "snapshot",
        [LIVES_NONE] = "none",
    };
    return names[source];
}

/* A sentence for each source, before the reason. */
static void add_words(struct buffer *words, const struct lives *lives)
{
    char count[UNITS_TEXT_SIZE];
    switch (lives->source) {
    case LIVES_REPLAYED:
        buffer_printf(words,
                      "A replay with the capture's own settings places all %s allocations of the "
                      "trace where they were recorded, and tells how large their blocks are.",
                      units_count(count, lives->addresses));
        break;
    case LIVES_RECORDED:
        buffer_printf(words,
                      "Not replayed: %s. The blocks are those of the trace; each has the requested "
                      "size, rounded up, and may be larger.",
                      lives->why);
        break;
    case LIVES_DUMP:
        buffer_printf(words, "Only the blocks of the snapshot itself are known: %s.", lives->why);
        break;
    case LIVES_NONE:
        buffer_printf(words, "Where the blocks lie is not known: %s.", lives->why);
        break;
    }
    if (lives->stride > 1 && lives->source != LIVES_NONE)
        buffer_printf(words,
                      " To keep this page small, it has the blocks at the peak, at the end and at "
                      "one event in %s.",
                      units_count(count, lives->stride));
}

/* A member of a struct: an unsigned number of 1, 4 or 8 bytes, or a signed one of 8. */
struct member {
    const char *key;
    size_t offset, size;
};

#define MEMBER(type, key, name)                                                                    \
    {                                                                                              \
        key, offsetof(struct type, name), sizeof(((struct type *)NULL)->name)                      \
    }

static const struct member of_pieces[] = {
    MEMBER(piece_life, "address", addr),
    MEMBER(piece_life, "size", size),
    MEMBER(piece_life, "from", from),
    MEMBER(piece_life, "to", to),
    MEMBER(piece_life, "stream", stream),
    MEMBER(piece_life, "pool_high", pool[0]),
    MEMBER(piece_life, "pool_low", pool[1]),
    MEMBER(piece_life, "class", class),
    MEMBER(piece_life, "expandable", is_expandable),
    {NULL, 0, 0},
};

static uint64_t member_of(const char *item, const struct member *member)
{
    uint64_t wide;
    uint32_t narrow;
    if (member->size == 1)
        return (uint8_t)item[member->offset];
    if (member->size == sizeof(narrow)) {
        memcpy(&narrow, item + member->offset, sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, item + member->offset, sizeof(wide));
    return wide;
}

/* An array for each member. */
static void emit_members(struct json_writer *json, const char *key, const struct member *members,
                         const void *items, size_t count, size_t size)
{
    struct buffer numbers = BUFFER_INIT;
    json_put_open(json, key, '{');
    for (; members->key; members++) {
        for (size_t i = 0; i < count; i++)
            html_add_number(&numbers, member_of((const char *)items + i * size, members),
                            members->size);
        html_emit_numbers(json, members->key, &numbers);
    }
    json_put_close(json, '}');
    buffer_release(&numbers);
}

void html_emit_layout(struct json_writer *json, const struct html_page *page)
{
    const struct lives *lives = page->lives;
    struct buffer words = BUFFER_INIT;
    add_words(&words, lives);
    json->failed = json->failed || words.failed;
    json_put_open(json, "layout", '{');
    json_put_string(json, "source", source_name(lives->source));
    html_emit_raw(json, "words", words.size > 0 ? words.bytes : "", words.size);
    json_put_count(json, "last", lives->last);
    json_put_count(json, "peak", lives->peak);
    json_put_count(json, "stride", lives->stride);
    emit_base64(json, "blocks", (const uint8_t *)lives->packed.bytes, lives->packed.size);
    emit_members(json, "pieces", of_pieces, lives->pieces, lives->piece_count,
                 sizeof(*lives->pieces));
    json_put_close(json, '}');
    buffer_release(&words);
}
