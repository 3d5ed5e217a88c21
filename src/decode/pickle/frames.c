/* Frames, stacks and pool ids: finished values to symbols. */
#include "decode/pickle/vm.h"

bool pickle_to_frame(struct pickle_vm *vm, value v, frame_id *id)
{
    struct frame frame = {0};
    const value *pairs;
    size_t count;
    if (value_tag(v) == TAG_FRAME || value_is_node(&vm->values, v, NODE_FRAME)) {
        *id = value_tag(v) == TAG_FRAME ? value_payload(v)
                                        : (frame_id)value_node(&vm->values, v)->as.natural;
        return true;
    }
    if (value_tag(v) == TAG_STRING) { /* a formatted line in place of a frame */
        frame.name = value_payload(v);
        return symbols_frame(vm->symbols, frame, id, vm->err);
    }
    if (!value_mapping(&vm->values, v, &pairs, &count))
        return pickle_fail(vm, "a frame is %s: a dict expected", value_kind_name(&vm->values, v));
    for (size_t i = 0; i < count; i++) {
        value field = pairs[2 * i + 1];
        uint64_t line;
        switch (pickle_key(vm, pairs[2 * i])) {
        case KEY_NAME:
            frame.name = pickle_text(field);
            break;
        case KEY_FILENAME:
            frame.file = pickle_text(field);
            break;
        case KEY_LINE:
            frame.line =
                value_to_u64(&vm->values, field, &line) && line <= UINT32_MAX ? (uint32_t)line : 0;
            break;
        default:
            break;
        }
    }
    if (!symbols_frame(vm->symbols, frame, id, vm->err))
        return false;
    struct node *node = value_node(&vm->values, v);
    node->kind = NODE_FRAME;
    node->as.natural = *id;
    return true;
}

bool pickle_to_stack(struct pickle_vm *vm, value v, stack_id *id)
{
    const value *items;
    size_t count;
    if (value_tag(v) == TAG_STACK || value_is_node(&vm->values, v, NODE_STACK)) {
        *id = value_tag(v) == TAG_STACK ? value_payload(v)
                                        : (stack_id)value_node(&vm->values, v)->as.natural;
        return true;
    }
    if (v == VALUE_NONE) {
        *id = STACK_NONE;
        return true;
    }
    bool is_line = value_tag(v) == TAG_STRING;
    if (is_line) {
        items = &v;
        count = value_payload(v) == STRING_EMPTY ? 0 : 1;
    } else if (!value_sequence(&vm->values, v, &items, &count)) {
        return pickle_bad_field(vm, "stack", "frames", "a list", v);
    }
    if (!vec_grow((void **)&vm->frames, &vm->frame_capacity, count, sizeof *vm->frames, vm->budget,
                  vm->err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!pickle_to_frame(vm, items[i], &vm->frames[i]))
            return false;
    if (!symbols_stack(vm->symbols, vm->frames, count, id, vm->err))
        return false;
    if (is_line)
        return true;
    struct node *node = value_node(&vm->values, v);
    node->kind = NODE_STACK;
    node->as.natural = *id;
    return true;
}

bool pickle_to_pool(struct pickle_vm *vm, value v, uint64_t pool[2])
{
    const value *items;
    size_t count;
    uint64_t id[2];
    if (!value_sequence(&vm->values, v, &items, &count) || count != 2 ||
        !value_to_u64(&vm->values, items[0], &id[0]) ||
        !value_to_u64(&vm->values, items[1], &id[1]))
        return pickle_fail(vm, "a pool id is not a pair of ints");
    pool[0] = id[0];
    pool[1] = id[1];
    return true;
}
