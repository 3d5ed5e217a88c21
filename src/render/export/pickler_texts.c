#include <string.h>

#include "base/traceback.h"
#include "base/utf8.h"
#include "render/export/pickler_internal.h"

static const char *const words[WORD_COUNT] = {
    [WORD_ACTION] = "action",
    [WORD_ACTIVE_ALLOCATED] = "active_allocated",
    [WORD_ACTIVE_PENDING_FREE] = "active_pending_free",
    [WORD_ACTIVE_SIZE] = "active_size",
    [WORD_ADDR] = "addr",
    [WORD_ADDRESS] = "address",
    [WORD_ALLOCATED_SIZE] = "allocated_size",
    [WORD_ALLOCATOR_SETTINGS] = "allocator_settings",
    [WORD_BLOCKS] = "blocks",
    [WORD_CATEGORY] = "category",
    [WORD_COMPILE_CONTEXT] = "compile_context",
    [WORD_DEVICE] = "device",
    [WORD_DEVICE_FREE] = "device_free",
    [WORD_DEVICE_TRACES] = "device_traces",
    [WORD_END] = "END",
    [WORD_EXTERNAL_ANNOTATIONS] = "external_annotations",
    [WORD_FILENAME] = "filename",
    [WORD_FORWARD_FRAMES] = "forward_frames",
    [WORD_FRAMES] = "frames",
    [WORD_FX_NODE_NAME] = "fx_node_name",
    [WORD_FX_NODE_OP] = "fx_node_op",
    [WORD_FX_NODE_TARGET] = "fx_node_target",
    [WORD_FX_ORIGINAL_TRACE] = "fx_original_trace",
    [WORD_HOST_SEGMENTS] = "host_segments",
    [WORD_HOST_TRACES] = "host_traces",
    [WORD_INACTIVE] = "inactive",
    [WORD_INTERNAL_METADATA] = "internal_metadata",
    [WORD_IS_EXPANDABLE] = "is_expandable",
    [WORD_LINE] = "line",
    [WORD_NAME] = "name",
    [WORD_POOL_ID] = "pool_id",
    [WORD_REQUESTED_SIZE] = "requested_size",
    [WORD_SEGMENT_POOL_ID] = "segment_pool_id",
    [WORD_SEGMENT_TYPE] = "segment_type",
    [WORD_SEGMENTS] = "segments",
    [WORD_SIZE] = "size",
    [WORD_STAGE] = "stage",
    [WORD_START] = "START",
    [WORD_STATE] = "state",
    [WORD_STREAM] = "stream",
    [WORD_TIME_US] = "time_us",
    [WORD_TOTAL_SIZE] = "total_size",
    [WORD_USER_METADATA] = "user_metadata",
};

/* Memoizes the value just written. Returns its index plus 1, or 0 if the memo is full. */
static uint32_t memoize(struct pickler *pickle)
{
    if (pickle->memoized == UINT32_MAX)
        return 0;
    pickler_code(pickle, OP_MEMOIZE);
    return ++pickle->memoized;
}

static void put_again(struct pickler *pickle, uint32_t place)
{
    uint32_t index = place - 1;
    if (index <= UINT8_MAX)
        pickler_number(pickle, OP_BINGET, index, 1);
    else
        pickler_number(pickle, OP_LONG_BINGET, index, 4);
    pickler_end_value(pickle);
}

/* The memo's slot for an id; NULL on STATUS_LIMIT. Valid until the memo grows again. */
static uint32_t *memo_at(struct pickler *pickle, struct pickler_memo *memo, uint32_t id,
                         struct error *err)
{
    size_t before = memo->capacity;
    if (!vec_reserve(memo->items, memo->capacity, (size_t)id + 1, pickle->budget, err))
        return NULL;
    memset(memo->items + before, 0, (memo->capacity - before) * sizeof(*memo->items));
    return &memo->items[id];
}

static void put_text(struct pickler *pickle, struct text text)
{
    size_t valid = utf8_valid_prefix(text.bytes, text.size, UTF8_ALLOW_SURROGATES);
    if (valid == text.size) {
        pickler_utf8(pickle, text.bytes, text.size);
        return;
    }
    struct buffer *scratch = &pickle->scratch;
    buffer_clear(scratch);
    for (size_t at = 0;;) {
        buffer_add(scratch, text.bytes + at, valid);
        at += valid;
        if (at == text.size)
            break;
        buffer_puts(scratch, "\xef\xbf\xbd");
        at++;
        valid = utf8_valid_prefix(text.bytes + at, text.size - at, UTF8_ALLOW_SURROGATES);
    }
    pickle->no_memory = pickle->no_memory || scratch->failed;
    pickler_utf8(pickle, scratch->bytes ? scratch->bytes : "", scratch->size);
}

void pickler_text(struct pickler *pickle, struct text text)
{
    put_text(pickle, text);
    pickler_end_value(pickle);
}

void pickler_word(struct pickler *pickle, enum pickler_word word)
{
    if (pickle->words[word]) {
        put_again(pickle, pickle->words[word]);
        return;
    }
    pickler_utf8(pickle, words[word], strlen(words[word]));
    pickle->words[word] = memoize(pickle);
    pickler_end_value(pickle);
}

bool pickler_string(struct pickler *pickle, string_id id, struct error *err)
{
    uint32_t *place = memo_at(pickle, &pickle->strings, id, err);
    if (!place)
        return false;
    if (*place) {
        put_again(pickle, *place);
        return true;
    }
    put_text(pickle, symbols_text(pickle->symbols, id));
    *place = memoize(pickle);
    pickler_end_value(pickle);
    return true;
}

static bool put_field(struct pickler *pickle, enum pickler_word key, string_id text,
                      struct error *err)
{
    if (text == STRING_EMPTY)
        return true;
    pickler_word(pickle, key);
    return pickler_string(pickle, text, err);
}

/* The fields that torch adds to a frame of generated code. */
static bool put_fx_fields(struct pickler *pickle, const struct frame_detail *detail,
                          struct error *err)
{
    return put_field(pickle, WORD_FX_NODE_OP, detail->fx_op, err) &&
           put_field(pickle, WORD_FX_NODE_NAME, detail->fx_name, err) &&
           put_field(pickle, WORD_FX_NODE_TARGET, detail->fx_target, err) &&
           put_field(pickle, WORD_FX_ORIGINAL_TRACE, detail->fx_trace, err);
}

static bool put_frame(struct pickler *pickle, frame_id id, struct error *err)
{
    struct frame frame = symbols_frame_at(pickle->symbols, id);
    struct frame_detail detail = symbols_detail_at(pickle->symbols, frame.detail);
    if (detail.text != STRING_EMPTY)
        return pickler_string(pickle, detail.text, err);
    uint32_t *place = memo_at(pickle, &pickle->frames, id, err);
    if (!place)
        return false;
    if (*place) {
        put_again(pickle, *place);
        return true;
    }
    pickler_code(pickle, OP_EMPTY_DICT);
    *place = memoize(pickle);
    pickler_code(pickle, OP_MARK);
    pickler_word(pickle, WORD_NAME);
    if (!pickler_string(pickle, frame.name, err))
        return false;
    pickler_word(pickle, WORD_FILENAME);
    if (!pickler_string(pickle, frame.file, err))
        return false;
    pickler_word(pickle, WORD_LINE);
    pickler_count(pickle, frame.line);
    if (!put_fx_fields(pickle, &detail, err))
        return false;
    pickler_dict_end(pickle);
    return true;
}

bool pickler_stack(struct pickler *pickle, stack_id id, struct error *err)
{
    uint32_t *place = memo_at(pickle, &pickle->stacks, id, err);
    if (!place)
        return false;
    if (*place) {
        put_again(pickle, *place);
        return true;
    }
    struct stack stack = symbols_stack_at(pickle->symbols, id);
    struct pickler_list list;
    pickler_list_begin(pickle, &list);
    *place = memoize(pickle);
    bool outermost_first = traceback_is_ordered(pickle->symbols, stack.frames, stack.count);
    for (size_t i = 0; i < stack.count; i++) {
        pickler_item(pickle, &list);
        if (!put_frame(pickle, stack.frames[outermost_first ? stack.count - 1 - i : i], err))
            return false;
    }
    pickler_list_end(pickle, &list);
    return true;
}
