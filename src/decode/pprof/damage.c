/* Finds where a profile that protobuf-c refused is damaged. */
#include "decode/pprof/internal.h"

#include <inttypes.h>
#include <stdio.h>

#define DEPTH_MOST 8 /* nested messages; profiles have 3 */

/* A message, or a list of numbers, that is being read. */
struct span {
    const ProtobufCMessageDescriptor *message;
    const char *name; /* name of the field that holds it */
    const uint8_t *at, *end;
    unsigned depth;
    const uint8_t *file; /* its first byte */
    struct error *err;
};

static bool find_damage(struct span *span);

/* Always false. */
static bool refuse(const struct span *span, const uint8_t *at, const char *field,
                   const char *expected, const char *found)
{
    return error_set_at(span->err, STATUS_BAD_INPUT, (uint64_t)(at - span->file),
                        "expected %s in '%s' of a pprof profile, found %s", expected, field, found);
}

static bool take_varint(struct span *span, const char *field, const char *expected,
                        unsigned bytes_most, uint64_t *number)
{
    const uint8_t *begin = span->at;
    *number = 0;
    for (unsigned i = 0; i < bytes_most; i++) {
        if (span->at == span->end)
            return refuse(span, begin, field, expected, "its end");
        uint8_t byte = *span->at++;
        *number |= i < 9 ? (uint64_t)(byte & 0x7f) << (7 * i) : 0;
        if (!(byte & 0x80))
            return true;
    }
    return refuse(span, begin, field, expected, "a longer number");
}

static bool take_bytes(struct span *span, const char *field, uint64_t size)
{
    char expected[48], found[48];
    uint64_t left = (uint64_t)(span->end - span->at);
    if (size <= left) {
        span->at += size;
        return true;
    }
    snprintf(expected, sizeof(expected), "%" PRIu64 " bytes", size);
    snprintf(found, sizeof(found), "%" PRIu64, left);
    return refuse(span, span->at, field, expected, found);
}

static bool check_numbers(struct span numbers)
{
    uint64_t number;
    while (numbers.at < numbers.end)
        if (!take_varint(&numbers, numbers.name, "a number", 10, &number))
            return false;
    return true;
}

/* The value of a field of a length, which may be a message or a list of numbers. */
static bool check_length(struct span *span, const ProtobufCFieldDescriptor *field, const char *name)
{
    uint64_t size;
    if (!take_varint(span, name, "a length", 5, &size) || !take_bytes(span, name, size))
        return false;
    struct span inner = *span;
    inner.at = span->at - size;
    inner.end = span->at;
    inner.name = name;
    inner.depth++;
    if (!field || inner.depth == DEPTH_MOST || field->type == PROTOBUF_C_TYPE_BYTES)
        return true;
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return check_numbers(inner);
    inner.message = field->descriptor;
    return find_damage(&inner);
}

static bool check_field(struct span *span)
{
    enum { VARINT, FIXED_64, LENGTH, FIXED_32 = 5 };
    static const char *const wanted = "a field's number and wire type";
    const uint8_t *begin = span->at;
    uint64_t tag, number;
    if (!take_varint(span, span->name, wanted, 5, &tag))
        return false;
    unsigned type = tag & 7;
    if (tag >> 3 == 0)
        return refuse(span, begin, span->name, wanted, "number 0");
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(span->message, (unsigned)(tag >> 3));
    const char *name = field ? field->name : span->name;
    bool is_list = field && field->label == PROTOBUF_C_LABEL_REPEATED;
    bool is_number =
        field && (field->type == PROTOBUF_C_TYPE_INT64 || field->type == PROTOBUF_C_TYPE_UINT64);
    if (field && type != (is_number ? VARINT : LENGTH) && !(is_number && is_list && type == LENGTH))
        return refuse(span, begin, name, is_number ? "a number" : "a text or a message",
                      "another wire type");
    switch (type) {
    case VARINT:
        return take_varint(span, name, "a number", 10, &number);
    case FIXED_64:
        return take_bytes(span, name, 8);
    case LENGTH:
        return check_length(span, field, name);
    case FIXED_32:
        return take_bytes(span, name, 4);
    default:
        return refuse(span, begin, name, "a field of wire type 0, 1, 2 or 5", "another");
    }
}

/* True if there is none. */
static bool find_damage(struct span *span)
{
    while (span->at < span->end)
        if (!check_field(span))
            return false;
    return true;
}

bool pprof_refuse(const uint8_t *bytes, size_t size, struct error *err)
{
    struct span span = {.message = &memsnap__pprof__profile__descriptor,
                        .name = "profile",
                        .at = bytes,
                        .end = bytes + size,
                        .file = bytes,
                        .err = err};
    return find_damage(&span) ? error_set(err, STATUS_BAD_INPUT, "damaged pprof profile") : false;
}
