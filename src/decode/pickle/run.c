/* Runs a pickle from its first opcode to STOP. */
#include <string.h>

#include "decode/core/bytes.h"
#include "decode/pickle/vm.h"

#define NESTING_MAX 1000000 /* open MARKs */

/* Picklers do not write a memo index that exceeds the bytes read so far by more than this. */
#define MEMO_SLACK 65536

void pickle_vm_release(struct pickle_vm *vm)
{
    rows_release(&vm->rows);
    spans_release(&vm->spans);
    patterns_release(vm);
    values_release(&vm->values);
    vec_free(vm->stack, vm->stack_capacity, sizeof *vm->stack, vm->budget);
    vec_free(vm->marks, vm->mark_capacity, sizeof *vm->marks, vm->budget);
    memo_release(&vm->memo);
}

static bool push_mark(struct pickle_vm *vm)
{
    if (vm->mark_count >= NESTING_MAX)
        return error_set_at(vm->err, STATUS_LIMIT, vm->rows.offset,
                            "nested more than %d levels deep", NESTING_MAX);
    if (!vec_push(vm->marks, vm->mark_count, vm->mark_capacity, vm->budget, vm->err,
                  (uint32_t)vm->depth))
        return false;
    return pickle_push(vm, VALUE_MARK);
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

static void forget_references(struct pickle_vm *vm)
{
    spans_clear(&vm->spans);
    memset(vm->shape, 0, sizeof vm->shape);
    patterns_clear(vm);
}

/* Overwriting an entry clears all caches that depend on references to it. */
static bool memo_put(struct pickle_vm *vm, uint64_t index, value v)
{
    if (index > vm->rows.offset + MEMO_SLACK)
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
    return memo_put(vm, index, vm->stack[vm->depth - 1]);
}

/* Reads the decimal operand of GET and PUT. */
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

/* Opcodes that write and read the memo. */
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
    default: /* MEMOIZE: CPython uses the number of entries as the index */
        return memo_put_top(vm, vm->memo.extent - vm->memo.unset);
    }
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
    case 'K':
    case 'M':
    case 'J':
    case 0x8a:
    case 0x8b:
    case 'G':
    case 'U':
    case 'C':
    case 0x8c:
    case 'T':
    case 'B':
    case 'X':
    case 0x8d:
    case 0x8e:
    case 0x96:
        return pickle_binary_op(vm, op);
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
        return pickle_text_op(vm, op);
    case 'i': /* INST: pushes its class, then makes the instance */
        return pickle_text_op(vm, op) && pickle_object_op(vm, op);
    default:
        return pickle_build_op(vm, op);
    }
}

/* Lets the fast paths read the next bytes if they recognise them. */
static bool try_hot(struct pickle_vm *vm, uint8_t op, bool *consumed)
{
    *consumed = false;
    if (vm->rows.sink == NULL || vm->depth == 0)
        return true;
    if (op == '}' && pickle_in_trace(vm))
        return pickle_settle(vm) && (vm->general_only || pickle_hot_events(vm, consumed));
    value stack;
    if (op == ']' && !vm->general_only &&
        rows_field(&vm->rows, ROW_EVENT, vm->stack[vm->depth - 1]) == EVENT_FRAMES)
        return pickle_hot_stack(vm, consumed, &stack) && (!*consumed || pickle_push(vm, stack));
    return true;
}

bool pickle_run(struct pickle_vm *vm, value *result)
{
    for (;;) {
        vm->rows.offset = source_offset(vm->source);
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
    /* Data after the pickle is ignored, but reading on verifies the checksum of gzip data. */
    if (vm->source->compression == COMPRESSION_GZIP && !source_fill(vm->source, 1, vm->err))
        return false;
    *result = vm->stack[vm->depth - 1];
    return true;
}

/* Opcodes that write and read the memo. */
