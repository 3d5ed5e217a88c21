#include "render/export/pickler_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_TARGET ((size_t)64 * 1024) /* CPython's _FRAME_SIZE_TARGET */
#define FRAME_ROOM   (2 * FRAME_TARGET + 256)
#define BATCH        1000 /* CPython's _BATCHSIZE */

static void write_out(struct pickler *pickle, const char *bytes, size_t size)
{
    if (size && !pickle->write_errno && fwrite_unlocked(bytes, 1, size, pickle->out) != size)
        pickle->write_errno = errno ? errno : EIO;
}

/* `count` bytes of a number, little-endian. */
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

void pickler_end_value(struct pickler *pickle)
{
    if (pickle->used >= FRAME_TARGET)
        end_frame(pickle);
}

/* An opcode with its operand. */
static void pickler_op(struct pickler *pickle, const char *bytes, size_t size)
{
    memcpy(pickle->frame + pickle->used, bytes, size);
    pickle->used += size;
}

void pickler_code(struct pickler *pickle, int code)
{
    char byte = (char)code;
    pickler_op(pickle, &byte, 1);
}

void pickler_number(struct pickler *pickle, int code, uint64_t value, size_t count)
{
    char bytes[9] = {(char)code};
    put_little(bytes + 1, value, count);
    pickler_op(pickle, bytes, 1 + count);
}

bool pickler_begin(struct pickler *pickle, FILE *out, const struct symbols *symbols,
                   struct budget *budget, struct error *err)
{
    static const char header[] = {(char)OP_PROTO, 4};
    char *frame = malloc(FRAME_ROOM);
    if (!frame)
        return error_out_of_memory(err);
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
        return error_out_of_memory(err);
    if (pickle->write_errno)
        return error_set(err, STATUS_IO, "cannot write: %s", strerror(pickle->write_errno));
    return true;
}

bool pickler_end(struct pickler *pickle, struct error *err)
{
    pickler_code(pickle, OP_STOP);
    end_frame(pickle);
    return pickler_is_well(pickle, err);
}

void pickler_dict_begin(struct pickler *pickle)
{
    static const char ops[] = {OP_EMPTY_DICT, OP_MARK};
    pickler_op(pickle, ops, sizeof(ops));
}

void pickler_dict_end(struct pickler *pickle)
{
    pickler_code(pickle, OP_SETITEMS);
    pickler_end_value(pickle);
}

void pickler_list_begin(struct pickler *pickle, struct pickler_list *list)
{
    list->pending = 0;
    pickler_code(pickle, OP_EMPTY_LIST);
}

void pickler_item(struct pickler *pickle, struct pickler_list *list)
{
    if (list->pending == BATCH) {
        pickler_code(pickle, OP_APPENDS);
        list->pending = 0;
    }
    if (list->pending++ == 0)
        pickler_code(pickle, OP_MARK);
}

void pickler_list_end(struct pickler *pickle, struct pickler_list *list)
{
    if (list->pending > 0)
        pickler_code(pickle, OP_APPENDS);
    list->pending = 0;
    pickler_end_value(pickle);
}

void pickler_utf8(struct pickler *pickle, const char *bytes, size_t size)
{
    char header[9];
    size_t header_size = 1 + (size <= UINT8_MAX ? 1 : size <= UINT32_MAX ? 4 : 8);
    header[0] = (char)(size <= UINT8_MAX    ? OP_SHORT_BINUNICODE
                       : size <= UINT32_MAX ? OP_BINUNICODE
                                            : OP_BINUNICODE8);
    put_little(header + 1, size, header_size - 1);
    if (size > FRAME_TARGET) { /* between frames, as CPython writes it */
        end_frame(pickle);
        write_out(pickle, header, header_size);
        write_out(pickle, bytes, size);
        return;
    }
    memcpy(pickle->frame + pickle->used, header, header_size);
    memcpy(pickle->frame + pickle->used + header_size, bytes, size);
    pickle->used += header_size + size;
}

/* A number in the shortest little-endian two's complement form. */
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
    pickler_op(pickle, bytes, 2 + size);
}

void pickler_count(struct pickler *pickle, uint64_t value)
{
    if (value <= UINT8_MAX)
        pickler_number(pickle, OP_BININT1, value, 1);
    else if (value <= UINT16_MAX)
        pickler_number(pickle, OP_BININT2, value, 2);
    else if (value <= INT32_MAX)
        pickler_number(pickle, OP_BININT, value, 4);
    else
        put_long(pickle, value, false);
    pickler_end_value(pickle);
}

void pickler_integer(struct pickler *pickle, int64_t value)
{
    if (value >= 0) {
        pickler_count(pickle, (uint64_t)value);
        return;
    }
    if (value >= INT32_MIN)
        pickler_number(pickle, OP_BININT, (uint32_t)(int32_t)value, 4);
    else
        put_long(pickle, (uint64_t)value, true);
    pickler_end_value(pickle);
}

void pickler_real(struct pickler *pickle, double value)
{
    char bytes[9] = {OP_BINFLOAT};
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    for (size_t i = 0; i < 8; i++) /* greatest first */
        bytes[1 + i] = (char)(bits >> (56 - 8 * i));
    pickler_op(pickle, bytes, sizeof(bytes));
    pickler_end_value(pickle);
}

void pickler_flag(struct pickler *pickle, bool value)
{
    pickler_code(pickle, value ? OP_NEWTRUE : OP_NEWFALSE);
    pickler_end_value(pickle);
}

void pickler_none(struct pickler *pickle)
{
    pickler_code(pickle, OP_NONE);
    pickler_end_value(pickle);
}

void pickler_pair(struct pickler *pickle, const uint64_t pair[2])
{
    pickler_count(pickle, pair[0]);
    pickler_count(pickle, pair[1]);
    pickler_code(pickle, OP_TUPLE2);
    pickler_end_value(pickle);
}
