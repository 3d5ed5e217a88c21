/* Represents instances of classes, and everything else that only Python could create, as inert
 * nodes. */
#include "decode/pickle/vm.h"

bool pickle_is_opaque(const struct pickle_vm *vm, value v)
{
    if (value_tag(v) != TAG_NODE)
        return false;
    uint8_t kind = value_node(&vm->values, v)->kind;
    return kind == NODE_OBJECT || kind == NODE_GLOBAL || kind == NODE_PERSISTENT ||
           kind == NODE_EXTENSION;
}

static bool is_opaque_or(const struct pickle_vm *vm, value v, enum node_kind kind)
{
    return pickle_is_opaque(vm, v) || value_is_node(&vm->values, v, kind);
}

/* Creates an instance from its parts. */
static bool push_object(struct pickle_vm *vm, value class, value args, value kwargs)
{
    value v;
    const value parts[OBJECT_PARTS] = {
        [OBJECT_CLASS] = class, [OBJECT_ARGS] = args, [OBJECT_KWARGS] = kwargs};
    return value_new_items(&vm->values, NODE_OBJECT, parts, OBJECT_PARTS, vm->rows.offset, &v,
                           vm->err) &&
           pickle_push(vm, v);
}

/* Uses `count` values: the callable, its arguments, and its keyword arguments. */
static bool call(struct pickle_vm *vm, size_t count)
{
    if (!pickle_have(vm, count))
        return false;
    const value *parts = vm->stack + vm->depth - count;
    if (!pickle_is_opaque(vm, parts[0]))
        return pickle_fail(vm, "a call of %s", value_kind_name(&vm->values, parts[0]));
    if (!is_opaque_or(vm, parts[1], NODE_TUPLE))
        return pickle_fail(vm, "arguments are %s: a tuple expected",
                           value_kind_name(&vm->values, parts[1]));
    if (count == 3 && !is_opaque_or(vm, parts[2], NODE_DICT))
        return pickle_fail(vm, "named arguments are %s: a dict expected",
                           value_kind_name(&vm->values, parts[2]));
    vm->depth -= count;
    return push_object(vm, parts[0], parts[1], count == 3 ? parts[2] : VALUE_UNSET);
}

/* OBJ: MARK class args...; INST: MARK args... class. */
static bool instance(struct pickle_vm *vm, bool class_last)
{
    size_t first;
    if (!pickle_top_mark(vm, &first))
        return false;
    if (vm->depth == first)
        return pickle_fail(vm, "an instance without a class");
    value class = class_last ? vm->stack[vm->depth - 1] : vm->stack[first];
    if (!pickle_is_opaque(vm, class))
        return pickle_fail(vm, "an instance of %s", value_kind_name(&vm->values, class));
    size_t skip = class_last ? 0 : 1;
    value args;
    if (!value_new_items(&vm->values, NODE_TUPLE, vm->stack + first + skip, vm->depth - first - 1,
                         vm->rows.offset, &args, vm->err))
        return false;
    pickle_drop_to_mark(vm);
    return push_object(vm, class, args, VALUE_UNSET);
}

/* Replaces the modified value by an instance in place, so that all references to it see the change.
 */
static bool make_object(struct pickle_vm *vm, value target)
{
    if (value_is_node(&vm->values, target, NODE_OBJECT))
        return true;
    struct node node = *value_node(&vm->values, target);
    value class;
    if (!value_new_node(&vm->values, (enum node_kind)node.kind, node.offset, &class, vm->err))
        return false;
    *value_node(&vm->values, class) = node;
    *value_node(&vm->values, target) = (struct node){.kind = NODE_OBJECT, .offset = node.offset};
    const value parts[OBJECT_PARTS] = {[OBJECT_CLASS] = class};
    return value_add_items(&vm->values, target, parts, OBJECT_PARTS, vm->err);
}

bool pickle_object_part(struct pickle_vm *vm, value object, enum object_part part,
                        enum node_kind kind, value *v)
{
    if (!make_object(vm, object))
        return false;
    *v = value_node(&vm->values, object)->as.items[part];
    if (*v != VALUE_UNSET)
        return true;
    if (!value_new_node(&vm->values, kind, vm->rows.offset, v, vm->err))
        return false;
    value_node(&vm->values, object)->as.items[part] = *v;
    return true;
}

static bool build(struct pickle_vm *vm)
{
    if (!pickle_have(vm, 2))
        return false;
    value state = vm->stack[--vm->depth];
    value target = vm->stack[vm->depth - 1], states;
    if (!pickle_is_opaque(vm, target))
        return pickle_fail(vm, "BUILD of %s: an instance of a class expected",
                           value_kind_name(&vm->values, target));
    if (!make_object(vm, target))
        return false;
    value earlier = value_node(&vm->values, target)->as.items[OBJECT_STATE];
    if (earlier != VALUE_UNSET &&
        (!pickle_object_part(vm, target, OBJECT_EARLIER, NODE_LIST, &states) ||
         !value_add_items(&vm->values, states, &earlier, 1, vm->err)))
        return false;
    value_node(&vm->values, target)->as.items[OBJECT_STATE] = state;
    return true;
}

bool pickle_object_op(struct pickle_vm *vm, uint8_t op)
{
    switch (op) {
    case 'o': /* OBJ */
        return instance(vm, false);
    case 'i': /* INST */
        return instance(vm, true);
    case 'b': /* BUILD */
        return build(vm);
    default: /* REDUCE, NEWOBJ, NEWOBJ_EX */
        return call(vm, op == 0x92 ? 3 : 2);
    }
}
