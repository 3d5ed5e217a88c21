#include "decode/pickle_vm.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "decode/bytes.h"

/* A memo index beyond this and the bytes read so far is not one a pickler writes. */
#define MEMO_SLACK 65536

#define NESTING_MAX 1000000 /* open MARKs */

void pickle_vm_release(struct pickle_vm *vm)
{
    pickle_words_release(vm);
    spans_release(&vm->spans);
    patterns_release(vm);
    values_release(&vm->values);
    vec_free(vm->stack, vm->stack_capacity, sizeof *vm->stack, vm->budget);
    vec_free(vm->marks, vm->mark_capacity, sizeof *vm->marks, vm->budget);
    memo_release(&vm->memo);
    vec_free(vm->blocks, vm->block_capacity, sizeof *vm->blocks, vm->budget);
    vec_free(vm->frames, vm->frame_capacity, sizeof *vm->frames, vm->budget);
}

bool pickle_fail(struct pickle_vm *vm, const char *format, ...)
{
    char text[sizeof vm->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set_at(vm->err, STATUS_BAD_INPUT, vm->op_offset, "%s", text);
}

bool pickle_need(struct pickle_vm *vm, size_t count)
{
    struct source *source = vm->source;
    if ((size_t)(source->end - source->pos) >= count)
        return true;
    if (!source_fill(source, count, vm->err))
        return false;
    if ((size_t)(source->end - source->pos) >= count)
        return true;
    return error_set_at(
        vm->err, STATUS_BAD_INPUT, source_offset(source) + (uint64_t)(source->end - source->pos),
        "truncated pickle: %zu more bytes expected", count - (size_t)(source->end - source->pos));
}

bool pickle_grow_stack(struct pickle_vm *vm)
{
    if (vm->depth >= UINT32_MAX / 2)
        return error_set_at(vm->err, STATUS_LIMIT, vm->op_offset, "the pickle stack is too deep");
    return vec_grow((void **)&vm->stack, &vm->stack_capacity, vm->depth + 1, sizeof *vm->stack,
                    vm->budget, vm->err);
}

static bool push_mark(struct pickle_vm *vm)
{
    if (vm->mark_count >= NESTING_MAX)
        return error_set_at(vm->err, STATUS_LIMIT, vm->op_offset,
                            "more than %d containers inside each other", NESTING_MAX);
    if (vm->mark_count == vm->mark_capacity &&
        !vec_grow((void **)&vm->marks, &vm->mark_capacity, vm->mark_count + 1, sizeof *vm->marks,
                  vm->budget, vm->err))
        return false;
    vm->marks[vm->mark_count++] = (uint32_t)vm->depth;
    return pickle_push(vm, VALUE_MARK);
}

static void forget_references(struct pickle_vm *vm)
{
    spans_clear(&vm->spans);
    memset(vm->shape, 0, sizeof vm->shape);
    patterns_clear(vm);
}

bool pickle_memo_put(struct pickle_vm *vm, uint64_t index, value v)
{
    if (index > vm->op_offset + MEMO_SLACK)
        return pickle_fail(vm, "memo index %llu is beyond anything written so far",
                           (unsigned long long)index);
    struct memo *memo = &vm->memo;
    while (memo->extent <= index) {
        if (!memo_append(memo, VALUE_UNSET, vm->err))
            return false;
        memo->unset++;
    }
    value old = memo_at(memo, index);
    if (old == VALUE_UNSET)
        memo->unset--;
    else if (old != v)
        forget_references(vm);
    return memo_set(memo, index, v, vm->err);
}

static bool memo_get(struct pickle_vm *vm, uint64_t index)
{
    value v = index <= SIZE_MAX ? memo_at(&vm->memo, (size_t)index) : VALUE_UNSET;
    if (v == VALUE_UNSET)
        return pickle_fail(vm, "memo entry %llu is read but was never written",
                           (unsigned long long)index);
    return pickle_push(vm, v);
}

static bool memo_put_top(struct pickle_vm *vm, uint64_t index)
{
    if (vm->depth == 0 || vm->stack[vm->depth - 1] == VALUE_MARK)
        return pickle_fail(vm, "nothing on the stack to put into the memo");
    return pickle_memo_put(vm, index, vm->stack[vm->depth - 1]);
}

/* The decimal operand of GET and PUT. */
static bool memo_text_index(struct pickle_vm *vm, uint64_t *index)
{
    const uint8_t *line;
    size_t size;
    if (!pickle_line(vm, &line, &size))
        return false;
    *index = 0;
    for (size_t i = 0; i < size; i++) {
        if (line[i] < '0' || line[i] > '9' || *index > UINT32_MAX)
            return pickle_fail(vm, "expected a memo index in decimal digits");
        *index = *index * 10 + (uint64_t)(line[i] - '0');
    }
    return size > 0 || pickle_fail(vm, "expected a memo index, found an empty line");
}

bool pickle_string(struct pickle_vm *vm, const uint8_t *bytes, size_t size, value *v)
{
    string_id id;
    size_t valid = utf8_valid_prefix((const char *)bytes, size, UTF8_ALLOW_SURROGATES);
    if (valid != size)
        return pickle_fail(vm, "invalid UTF-8 in a string, %zu bytes into it", valid);
    if (!symbols_string(vm->symbols, (const char *)bytes, size, &id, vm->err))
        return false;
    if (id > VALUE_PAYLOAD_MAX)
        return error_set_at(vm->err, STATUS_LIMIT, vm->op_offset, "too many different strings");
    *v = value_make(TAG_STRING, id);
    return true;
}

bool pickle_old_string(struct pickle_vm *vm, const uint8_t *bytes, size_t size, value *v)
{
    bool is_text = utf8_valid_prefix((const char *)bytes, size, UTF8_ALLOW_SURROGATES) == size;
    if (is_text || vm->sink != NULL) /* a snapshot has text only, or is damaged */
        return pickle_string(vm, bytes, size, v);
    return value_new_bytes(&vm->values, NODE_BYTES, bytes, size, vm->op_offset, v, vm->err);
}

/* A string or bytes behind a length of `width` bytes. */
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
        ok = value_new_bytes(&vm->values, NODE_BYTES, bytes, (size_t)size, vm->op_offset, &v,
                             vm->err);
        break;
    case 0x96: /* BYTEARRAY8 */
        ok = value_new_bytes(&vm->values, NODE_BYTEARRAY, bytes, (size_t)size, vm->op_offset, &v,
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
    return value_new_int(&vm->values, integer, vm->op_offset, &v, vm->err) && pickle_push(vm, v);
}

/* LONG1 and LONG4: two's complement behind its length. */
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
    if (!value_new_long(&vm->values, vm->source->pos, size, vm->op_offset, &v, vm->err))
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
    if (!value_new_node(&vm->values, NODE_FLOAT, vm->op_offset, &v, vm->err))
        return false;
    memcpy(&value_node(&vm->values, v)->as.real, &bits, sizeof bits);
    return pickle_push(vm, v);
}

bool pickle_push_container(struct pickle_vm *vm, enum node_kind kind)
{
    value v;
    enum node_role role = ROLE_NONE;
    if (vm->sink != NULL && (kind == NODE_DICT || kind == NODE_LIST))
        role = pickle_role_here(vm, kind == NODE_DICT);
    if (!value_new_node(&vm->values, kind, vm->op_offset, &v, vm->err))
        return false;
    return (role == ROLE_NONE || pickle_role_taken(vm, v, role)) && pickle_push(vm, v);
}

/* An opcode without effect on the values: PROTO, FRAME. */
static bool framing_op(struct pickle_vm *vm, uint8_t op)
{
    size_t width = op == 0x80 ? 1 : 8;
    if (!pickle_need(vm, width))
        return false;
    if (op == 0x80) {
        if (*vm->source->pos > 5)
            return pickle_fail(vm, "pickle protocol %d: 0 to 5 are known", *vm->source->pos);
        vm->protocol = *vm->source->pos;
    }
    vm->source->pos += width;
    return true;
}

static bool memo_op(struct pickle_vm *vm, uint8_t op)
{
    uint64_t index;
    switch (op) {
    case 'g': /* GET */
        return memo_text_index(vm, &index) && memo_get(vm, index);
    case 'p': /* PUT */
        return memo_text_index(vm, &index) && memo_put_top(vm, index);
    case 'h': /* BINGET */
    case 'q': /* BINPUT */
        if (!pickle_need(vm, 1))
            return false;
        index = *vm->source->pos++;
        return op == 'h' ? memo_get(vm, index) : memo_put_top(vm, index);
    case 'j': /* LONG_BINGET */
    case 'r': /* LONG_BINPUT */
        if (!pickle_need(vm, 4))
            return false;
        index = load_le32(vm->source->pos);
        vm->source->pos += 4;
        return op == 'j' ? memo_get(vm, index) : memo_put_top(vm, index);
    default: /* MEMOIZE: CPython numbers by how many entries there are */
        return memo_put_top(vm, vm->memo.extent - vm->memo.unset);
    }
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

static bool run_op(struct pickle_vm *vm, uint8_t op)
{
    switch (op) {
    case '(': /* MARK */
        return push_mark(vm);
    case 'N': /* NONE */
        return pickle_push(vm, VALUE_NONE);
    case 0x88: /* NEWTRUE */
        return pickle_push(vm, VALUE_TRUE);
    case 0x89: /* NEWFALSE */
        return pickle_push(vm, VALUE_FALSE);
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
    case 0x96: /* BYTEARRAY8 */
        return sized_op(vm, op, 8);
    case ']': /* EMPTY_LIST */
        return pickle_push_container(vm, NODE_LIST);
    case '}': /* EMPTY_DICT */
        return pickle_push_container(vm, NODE_DICT);
    case ')': /* EMPTY_TUPLE */
        return pickle_push_container(vm, NODE_TUPLE);
    case 0x8f: /* EMPTY_SET */
        return pickle_push_container(vm, NODE_SET);
    case 'g':
    case 'p':
    case 'h':
    case 'q':
    case 'j':
    case 'r':
    case 0x94:
        return memo_op(vm, op);
    case 0x80: /* PROTO */
    case 0x95: /* FRAME */
        return framing_op(vm, op);
    case 'I':
    case 'L':
    case 'F':
    case 'S':
    case 'V':
    case 'P':
    case 'c':
    case 'i':
        return pickle_text_op(vm, op);
    default:
        return pickle_build_op(vm, op);
    }
}

/* Lets the fast paths take what lies ahead, if they know it. */
static bool try_hot(struct pickle_vm *vm, uint8_t op, bool *consumed)
{
    *consumed = false;
    if (vm->sink == NULL || vm->depth == 0)
        return true;
    if (op == '}' && pickle_in_trace(vm))
        return pickle_settle(vm) && (vm->general_only || pickle_hot_events(vm, consumed));
    value stack;
    if (op == ']' && !vm->general_only && pickle_key(vm, vm->stack[vm->depth - 1]) == KEY_FRAMES)
        return pickle_hot_stack(vm, consumed, &stack) && (!*consumed || pickle_push(vm, stack));
    return true;
}

bool pickle_run(struct pickle_vm *vm, value *result)
{
    for (;;) {
        vm->op_offset = source_offset(vm->source);
        if (!pickle_need(vm, 1))
            return false;
        uint8_t op = *vm->source->pos;
        bool consumed = false;
        if ((op == '}' || op == ']') && !try_hot(vm, op, &consumed))
            return false;
        if (consumed)
            continue;
        vm->source->pos++;
        if (op == '.') /* STOP */
            break;
        if (!run_op(vm, op))
            return false;
    }
    if (vm->depth == 0 || vm->stack[vm->depth - 1] == VALUE_MARK)
        return pickle_fail(vm, "the pickle stops with nothing on its stack");
    /* What follows is not ours, but the checksum of gzip data lies behind it. */
    if (vm->source->compression == COMPRESSION_GZIP && !source_fill(vm->source, 1, vm->err))
        return false;
    *result = vm->stack[vm->depth - 1];
    return true;
}
