/* Opcodes that write and read the memo. */
#include <string.h>

#include "decode/core/bytes.h"
#include "decode/pickle/vm.h"

/* Picklers do not write a memo index that exceeds the bytes read so far by more than this. */
#define MEMO_SLACK 65536

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

bool pickle_memo_op(struct pickle_vm *vm, uint8_t op)
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
