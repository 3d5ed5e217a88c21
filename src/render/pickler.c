#include "render/pickler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define FRAME_TARGET ((size_t)64 * 1024) /* CPython's _FRAME_SIZE_TARGET */
#define FRAME_ROOM   (2 * FRAME_TARGET + 64)
#define BATCH        1000 /* CPython's _BATCHSIZE */

enum {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_BINUNICODE = 'X',
    OP_EMPTY_LIST = ']',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_SETITEMS = 'u',
    OP_EMPTY_DICT = '}',
    OP_BINFLOAT = 'G',
    OP_PROTO = 0x80,
    OP_TUPLE2 = 0x86,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
};

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
    [WORD_INACTIVE] = "inactive",
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

static void write_out(struct pickler *pickle, const char *bytes, size_t size)
{
    if (size && !pickle->write_errno && fwrite_unlocked(bytes, 1, size, pickle->out) != size)
        pickle->write_errno = errno ? errno : EIO;
}

/* `count` bytes of a number, least first. */
static void put_little(char *to, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (char)(value >> (8 * i));
}

static void end_frame(struct pickler *pickle)
{
    char header[9] = {(char)OP_FRAME};
    if (pickle->used == 0)
        return;
    put_little(header + 1, pickle->used, 8);
    write_out(pickle, header, sizeof(header));
    write_out(pickle, pickle->frame, pickle->used);
    pickle->used = 0;
}

/* One opcode with its operand, at most FRAME_TARGET bytes: no frame ends within it. */
static inline void put_op(struct pickler *pickle, const char *bytes, size_t size)
{
    if (pickle->used >= FRAME_TARGET)
        end_frame(pickle);
    memcpy(pickle->frame + pickle->used, bytes, size);
    pickle->used += size;
}

static inline void put_code(struct pickler *pickle, int code)
{
    char byte = (char)code;
    put_op(pickle, &byte, 1);
}

/* An opcode and a number of `count` bytes. */
static void put_number(struct pickler *pickle, int code, uint64_t value, size_t count)
{
    char bytes[9] = {(char)code};
    put_little(bytes + 1, value, count);
    put_op(pickle, bytes, 1 + count);
}

bool pickler_begin(struct pickler *pickle, FILE *out, const struct symbols *symbols,
                   struct budget *budget, struct error *err)
{
    static const char header[] = {(char)OP_PROTO, 4};
    char *frame = malloc(FRAME_ROOM);
    if (!frame)
        return error_set(err, STATUS_LIMIT, "out of memory");
    *pickle = (struct pickler){.out = out, .symbols = symbols, .budget = budget, .frame = frame};
    write_out(pickle, header, sizeof(header));
    return true;
}

static void memo_release(struct pickler_memo *memo, struct budget *budget)
{
    vec_free(memo->items, memo->capacity, sizeof(*memo->items), budget);
}

void pickler_release(struct pickler *pickle)
{
    memo_release(&pickle->strings, pickle->budget);
    memo_release(&pickle->frames, pickle->budget);
    memo_release(&pickle->stacks, pickle->budget);
    buffer_release(&pickle->scratch);
    free(pickle->frame);
    *pickle = (struct pickler){0};
}

bool pickler_is_well(const struct pickler *pickle, struct error *err)
{
    if (pickle->no_memory)
        return error_set(err, STATUS_LIMIT, "out of memory");
    if (pickle->write_errno)
        return error_set(err, STATUS_IO, "cannot write: %s", strerror(pickle->write_errno));
    return true;
}

bool pickler_end(struct pickler *pickle, struct error *err)
{
    put_code(pickle, OP_STOP);
    end_frame(pickle);
    return pickler_is_well(pickle, err);
}

void pickler_dict_begin(struct pickler *pickle)
{
    static const char ops[] = {OP_EMPTY_DICT, OP_MARK};
    put_op(pickle, ops, sizeof(ops));
}

void pickler_dict_end(struct pickler *pickle)
{
    put_code(pickle, OP_SETITEMS);
}

void pickler_list_begin(struct pickler *pickle, struct pickler_list *list)
{
    list->pending = 0;
    put_code(pickle, OP_EMPTY_LIST);
}

void pickler_item(struct pickler *pickle, struct pickler_list *list)
{
    if (list->pending == BATCH)
        pickler_list_end(pickle, list);
    if (list->pending++ == 0)
        put_code(pickle, OP_MARK);
}

void pickler_list_end(struct pickler *pickle, struct pickler_list *list)
{
    if (list->pending > 0)
        put_code(pickle, OP_APPENDS);
    list->pending = 0;
}

/* Puts what was just written into the memo; its place, plus 1, or 0 where the memo is full. */
static uint32_t memoize(struct pickler *pickle)
{
    if (pickle->memoized == UINT32_MAX)
        return 0;
    put_code(pickle, OP_MEMOIZE);
    return ++pickle->memoized;
}

static void put_again(struct pickler *pickle, uint32_t place)
{
    uint32_t index = place - 1;
    if (index <= UINT8_MAX)
        put_number(pickle, OP_BINGET, index, 1);
    else
        put_number(pickle, OP_LONG_BINGET, index, 4);
}

/* Where the memo has an id; NULL on STATUS_LIMIT. Until the memo grows again. */
static uint32_t *memo_at(struct pickler *pickle, struct pickler_memo *memo, uint32_t id,
                         struct error *err)
{
    size_t before = memo->capacity;
    if (!vec_grow((void **)&memo->items, &memo->capacity, (size_t)id + 1, sizeof(*memo->items),
                  pickle->budget, err))
        return NULL;
    memset(memo->items + before, 0, (memo->capacity - before) * sizeof(*memo->items));
    return &memo->items[id];
}

static void put_utf8(struct pickler *pickle, const char *bytes, size_t size)
{
    char header[9];
    size_t header_size = 1 + (size <= UINT8_MAX ? 1 : size <= UINT32_MAX ? 4 : 8);
    header[0] = (char)(size <= UINT8_MAX    ? OP_SHORT_BINUNICODE
                       : size <= UINT32_MAX ? OP_BINUNICODE
                                            : OP_BINUNICODE8);
    put_little(header + 1, size, header_size - 1);
    if (pickle->used >= FRAME_TARGET || size > FRAME_TARGET)
        end_frame(pickle);
    if (size > FRAME_TARGET) { /* between frames, as CPython writes it */
        write_out(pickle, header, header_size);
        write_out(pickle, bytes, size);
        return;
    }
    memcpy(pickle->frame + pickle->used, header, header_size);
    memcpy(pickle->frame + pickle->used + header_size, bytes, size);
    pickle->used += header_size + size;
}

void pickler_text(struct pickler *pickle, struct text text)
{
    size_t valid = utf8_valid_prefix(text.bytes, text.size, UTF8_ALLOW_SURROGATES);
    if (valid == text.size) {
        put_utf8(pickle, text.bytes, text.size);
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
    put_utf8(pickle, scratch->bytes ? scratch->bytes : "", scratch->size);
}

void pickler_word(struct pickler *pickle, enum pickler_word word)
{
    if (pickle->words[word]) {
        put_again(pickle, pickle->words[word]);
        return;
    }
    put_utf8(pickle, words[word], strlen(words[word]));
    pickle->words[word] = memoize(pickle);
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
    pickler_text(pickle, symbols_text(pickle->symbols, id));
    *place = memoize(pickle);
    return true;
}

static bool put_frame(struct pickler *pickle, frame_id id, struct error *err)
{
    uint32_t *place = memo_at(pickle, &pickle->frames, id, err);
    if (!place)
        return false;
    if (*place) {
        put_again(pickle, *place);
        return true;
    }
    struct frame frame = symbols_frame_at(pickle->symbols, id);
    put_code(pickle, OP_EMPTY_DICT);
    *place = memoize(pickle);
    put_code(pickle, OP_MARK);
    pickler_word(pickle, WORD_NAME);
    if (!pickler_string(pickle, frame.name, err))
        return false;
    pickler_word(pickle, WORD_FILENAME);
    if (!pickler_string(pickle, frame.file, err))
        return false;
    pickler_word(pickle, WORD_LINE);
    pickler_count(pickle, frame.line);
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
    for (size_t i = 0; i < stack.count; i++) {
        pickler_item(pickle, &list);
        if (!put_frame(pickle, stack.frames[i], err))
            return false;
    }
    pickler_list_end(pickle, &list);
    return true;
}

/* As many bytes, least first, as two's complement takes. */
static void put_long(struct pickler *pickle, uint64_t value, bool negative)
{
    char bytes[11] = {(char)OP_LONG1};
    char sign = negative ? (char)0xff : 0;
    put_little(bytes + 2, value, 8);
    bytes[10] = sign;
    size_t size = 9;
    while (size > 1 && bytes[2 + size - 1] == sign && (bytes[2 + size - 2] & 0x80) == (sign & 0x80))
        size--;
    bytes[1] = (char)size;
    put_op(pickle, bytes, 2 + size);
}

void pickler_count(struct pickler *pickle, uint64_t value)
{
    if (value <= UINT8_MAX)
        put_number(pickle, OP_BININT1, value, 1);
    else if (value <= UINT16_MAX)
        put_number(pickle, OP_BININT2, value, 2);
    else if (value <= INT32_MAX)
        put_number(pickle, OP_BININT, value, 4);
    else
        put_long(pickle, value, false);
}

void pickler_integer(struct pickler *pickle, int64_t value)
{
    if (value >= 0)
        pickler_count(pickle, (uint64_t)value);
    else if (value >= INT32_MIN)
        put_number(pickle, OP_BININT, (uint32_t)(int32_t)value, 4);
    else
        put_long(pickle, (uint64_t)value, true);
}

void pickler_real(struct pickler *pickle, double value)
{
    char bytes[9] = {OP_BINFLOAT};
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    for (size_t i = 0; i < 8; i++) /* greatest first */
        bytes[1 + i] = (char)(bits >> (56 - 8 * i));
    put_op(pickle, bytes, sizeof(bytes));
}

void pickler_flag(struct pickler *pickle, bool value)
{
    put_code(pickle, value ? OP_NEWTRUE : OP_NEWFALSE);
}

void pickler_none(struct pickler *pickle)
{
    put_code(pickle, OP_NONE);
}

void pickler_pair(struct pickler *pickle, const uint64_t pair[2])
{
    pickler_count(pickle, pair[0]);
    pickler_count(pickle, pair[1]);
    put_code(pickle, OP_TUPLE2);
}
