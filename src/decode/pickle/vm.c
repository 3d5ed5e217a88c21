#include "decode/pickle/vm.h"

#include <stdarg.h>
#include <stdio.h>

bool pickle_fail(struct pickle_vm *vm, const char *format, ...)
{
    char text[sizeof vm->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set_at(vm->err, STATUS_BAD_INPUT, vm->rows.offset, "%s", text);
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
    size_t there = (size_t)(source->end - source->pos);
    return error_set_at(vm->err, STATUS_BAD_INPUT, source_offset(source) + there,
                        "truncated pickle: expected %zu more byte%s", count - there,
                        count - there == 1 ? "" : "s");
}

bool pickle_grow_stack(struct pickle_vm *vm)
{
    if (vm->depth >= UINT32_MAX / 2)
        return error_set_at(vm->err, STATUS_LIMIT, vm->rows.offset, "the pickle stack is too deep");
    return vec_reserve(vm->stack, vm->stack_capacity, vm->depth + 1, vm->budget, vm->err);
}

bool pickle_top_mark(struct pickle_vm *vm, size_t *first)
{
    *first = vm->mark_count > 0 ? (size_t)vm->marks[vm->mark_count - 1] + 1 : 0;
    return vm->mark_count > 0 || pickle_fail(vm, "no MARK on the stack");
}

void pickle_drop_to_mark(struct pickle_vm *vm)
{
    vm->depth = vm->marks[--vm->mark_count];
}

bool pickle_have(struct pickle_vm *vm, size_t count)
{
    size_t floor = vm->mark_count > 0 ? (size_t)vm->marks[vm->mark_count - 1] + 1 : 0;
    return vm->depth - floor >= count ||
           pickle_fail(vm, "stack underflow: expected %zu values", count);
}
