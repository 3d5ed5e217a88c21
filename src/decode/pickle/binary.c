/* Opcodes of strings, bytes and numbers in binary. */
#include <string.h>

#include "base/utf8.h"
#include "decode/core/bytes.h"
#include "decode/pickle/vm.h"

bool pickle_string(struct pickle_vm *vm, const uint8_t *bytes, size_t size, value *v)
{
    string_id id;
    size_t valid = utf8_valid_prefix((const char *)bytes, size, UTF8_ALLOW_SURROGATES);
    if (valid != size)
        return pickle_fail(vm, "invalid UTF-8 in a string, %zu bytes into it", valid);
    if (!symbols_string(vm->symbols, (const char *)bytes, size, &id, vm->err))
        return false;
    if (id > VALUE_PAYLOAD_MAX)
        return error_set_at(vm->err, STATUS_LIMIT, vm->rows.offset, "too many different strings");
    *v = value_make(TAG_STRING, id);
    return true;
}

bool pickle_old_string(struct pickle_vm *vm, const uint8_t *bytes, size_t size, value *v)
{
    bool is_text = utf8_valid_prefix((const char *)bytes, size, UTF8_ALLOW_SURROGATES) == size;
    if (is_text || vm->rows.sink != NULL) /* a snapshot has only text, so other bytes are damage */
        return pickle_string(vm, bytes, size, v);
    return value_new_bytes(&vm->values, NODE_BYTES, bytes, size, vm->rows.offset, v, vm->err);
}

/* Reads a string or bytes after a length of `width` bytes. */
static bool sized_op(struct pickle_vm *vm, uint8_t op, size_t width)
{
    if (!pickle_need(vm, width))
        return false;
    const uint8_t *p = vm->source->pos;
    uint64_t size = width == 1 ? p[0] : width == 4 ? load_le32(p) : load_le64(p);
    if (op == 'T' && size > INT32_MAX)
        return pickle_fail(vm, "negative length of a string");
    if (size > SIZE_MAX / 4)
        return pickle_fail(vm, "a string of %llu bytes cannot follow", (unsigned long long)size);
    vm->source->pos += width;
    if (!pickle_need(vm, (size_t)size))
        return false;
    const uint8_t *bytes = vm->source->pos;
    value v;
    bool ok;
    switch (op) {
    case 'B':  /* BINBYTES */
    case 'C':  /* SHORT_BINBYTES */
    case 0x8e: /* BINBYTES8 */
        ok = value_new_bytes(&vm->values, NODE_BYTES, bytes, (size_t)size, vm->rows.offset, &v,
                             vm->err);
        break;
    case 0x96: /* BYTEARRAY8 */
        ok = value_new_bytes(&vm->values, NODE_BYTEARRAY, bytes, (size_t)size, vm->rows.offset, &v,
                             vm->err);
        break;
    case 'U': /* SHORT_BINSTRING */
    case 'T': /* BINSTRING */
        ok = pickle_old_string(vm, bytes, (size_t)size, &v);
        break;
    default:
        ok = pickle_string(vm, bytes, (size_t)size, &v);
    }
    vm->source->pos += size;
    return ok && pickle_push(vm, v);
}

static bool push_int(struct pickle_vm *vm, int64_t integer)
{
    value v;
    return value_new_int(&vm->values, integer, vm->rows.offset, &v, vm->err) && pickle_push(vm, v);
}

/* LONG1 and LONG4: two's complement after its length. */
static bool long_op(struct pickle_vm *vm, size_t width)
{
    if (!pickle_need(vm, width))
        return false;
    uint32_t size = width == 1 ? *vm->source->pos : load_le32(vm->source->pos);
    if (size > INT32_MAX)
        return pickle_fail(vm, "negative length of an integer");
    vm->source->pos += width;
    if (!pickle_need(vm, size))
        return false;
    value v;
    if (!value_new_long(&vm->values, vm->source->pos, size, vm->rows.offset, &v, vm->err))
        return false;
    vm->source->pos += size;
    return pickle_push(vm, v);
}

static bool float_op(struct pickle_vm *vm)
{
    if (!pickle_need(vm, 8))
        return false;
    uint64_t bits = __builtin_bswap64(load_le64(vm->source->pos)); /* big-endian in the file */
    vm->source->pos += 8;
    value v;
    if (!value_new_node(&vm->values, NODE_FLOAT, vm->rows.offset, &v, vm->err))
        return false;
    memcpy(&value_node(&vm->values, v)->as.real, &bits, sizeof bits);
    return pickle_push(vm, v);
}

static bool fixed_int_op(struct pickle_vm *vm, uint8_t op)
{
    size_t width = op == 'K' ? 1 : op == 'M' ? 2 : 4;
    if (!pickle_need(vm, width))
        return false;
    const uint8_t *p = vm->source->pos;
    vm->source->pos += width;
    return push_int(vm, op == 'K' ? p[0] : op == 'M' ? load_le16(p) : (int32_t)load_le32(p));
}

bool pickle_binary_op(struct pickle_vm *vm, uint8_t op)
{
    switch (op) {
    case 'K': /* BININT1 */
    case 'M': /* BININT2 */
    case 'J': /* BININT */
        return fixed_int_op(vm, op);
    case 0x8a: /* LONG1 */
        return long_op(vm, 1);
    case 0x8b: /* LONG4 */
        return long_op(vm, 4);
    case 'G': /* BINFLOAT */
        return float_op(vm);
    case 'U':  /* SHORT_BINSTRING */
    case 'C':  /* SHORT_BINBYTES */
    case 0x8c: /* SHORT_BINUNICODE */
        return sized_op(vm, op, 1);
    case 'T': /* BINSTRING */
    case 'B': /* BINBYTES */
    case 'X': /* BINUNICODE */
        return sized_op(vm, op, 4);
    case 0x8d: /* BINUNICODE8 */
    case 0x8e: /* BINBYTES8 */
    default:   /* BYTEARRAY8 */
        return sized_op(vm, op, 8);
    }
}
