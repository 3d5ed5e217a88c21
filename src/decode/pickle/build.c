/* Opcodes that build containers and objects from values. */
#include "decode/core/bytes.h"
#include "decode/pickle/vm.h"

bool pickle_push_container(struct pickle_vm *vm, enum node_kind kind)
{
    value v;
    enum node_role role = ROLE_NONE;
    if (vm->rows.sink != NULL && (kind == NODE_DICT || kind == NODE_LIST))
        role = pickle_role_here(vm, kind == NODE_DICT);
    if (!value_new_node(&vm->values, kind, vm->rows.offset, &v, vm->err))
        return false;
    return (role == ROLE_NONE || pickle_role_taken(vm, v, role)) && pickle_push(vm, v);
}

/* Replaces the top `count` values (and the MARK below them) by one node that contains them. */
static bool collect(struct pickle_vm *vm, enum node_kind kind, size_t first, bool marked)
{
    value v;
    if (!value_new_items(&vm->values, kind, vm->stack + first, vm->depth - first, vm->rows.offset,
                         &v, vm->err))
        return false;
    if (marked)
        pickle_drop_to_mark(vm);
    else
        vm->depth = first;
    return pickle_push(vm, v);
}

static bool collect_marked(struct pickle_vm *vm, enum node_kind kind)
{
    size_t first;
    if (!pickle_top_mark(vm, &first))
        return false;
    if (kind == NODE_DICT && (vm->depth - first) % 2 != 0)
        return pickle_fail(vm, "a dict with a key but no value");
    if (first < vm->depth || (kind != NODE_DICT && kind != NODE_LIST) || vm->rows.sink == NULL)
        return collect(vm, kind, first, true);
    pickle_drop_to_mark(vm); /* every container in protocol 0 begins this way */
    return pickle_push_container(vm, kind);
}

/* The container that an opcode for a list, set or dict (`kind`) modifies. */
static bool changed_part(struct pickle_vm *vm, value target, enum node_kind kind, value *v)
{
    *v = target;
    if (value_is_node(&vm->values, target, kind))
        return true;
    if (!pickle_is_opaque(vm, target))
        return pickle_fail(vm, "items are %s %s", kind == NODE_DICT ? "set on" : "added to",
                           value_kind_name(&vm->values, target));
    return kind == NODE_DICT ? pickle_object_part(vm, target, OBJECT_DICT, NODE_DICT, v)
                             : pickle_object_part(vm, target, OBJECT_LIST, NODE_LIST, v);
}

/* Appends the values from `first` on to the container just below, at `target`. */
static bool extend(struct pickle_vm *vm, size_t target, size_t first, enum node_kind kind)
{
    value v;
    size_t count = vm->depth - first;
    if (kind == NODE_DICT && count % 2 != 0)
        return pickle_fail(vm, "a dict key without a value");
    if (count == 0)
        return true;
    if (!changed_part(vm, vm->stack[target], kind, &v))
        return false;
    switch ((enum node_role)value_node(&vm->values, v)->role) {
    case ROLE_NONE:
        return value_add_items(&vm->values, v, vm->stack + first, count, vm->err);
    case ROLE_USED:
        return pickle_fail(vm, "%s changes after it was used", value_kind_name(&vm->values, v));
    default:
        return pickle_emit_items(vm, v, first);
    }
}

static bool extend_one(struct pickle_vm *vm, enum node_kind kind)
{
    size_t count = kind == NODE_DICT ? 2 : 1;
    if (!pickle_have(vm, count + 1) || !extend(vm, vm->depth - count - 1, vm->depth - count, kind))
        return false;
    vm->depth -= count;
    return true;
}

static bool extend_marked(struct pickle_vm *vm, enum node_kind kind)
{
    size_t first;
    if (!pickle_top_mark(vm, &first))
        return false;
    size_t floor = vm->mark_count > 1 ? (size_t)vm->marks[vm->mark_count - 2] + 1 : 0;
    if (first - 1 < floor + 1)
        return pickle_fail(vm, "no container below the MARK");
    if (!extend(vm, first - 2, first, kind))
        return false;
    pickle_drop_to_mark(vm);
    return true;
}

static bool extension(struct pickle_vm *vm, size_t width)
{
    if (!pickle_need(vm, width))
        return false;
    const uint8_t *p = vm->source->pos;
    int64_t code = width == 1 ? p[0] : width == 2 ? load_le16(p) : (int32_t)load_le32(p);
    vm->source->pos += width;
    if (code <= 0)
        return pickle_fail(vm, "extension code %d: they begin at 1", (int)code);
    value v;
    if (!value_new_node(&vm->values, NODE_EXTENSION, vm->rows.offset, &v, vm->err))
        return false;
    value_node(&vm->values, v)->as.integer = code;
    return pickle_push(vm, v);
}

static bool pop(struct pickle_vm *vm)
{
    if (vm->depth == 0)
        return pickle_fail(vm, "stack underflow: POP of nothing");
    if (vm->stack[--vm->depth] == VALUE_MARK)
        vm->mark_count--;
    return true;
}

static bool stack_global(struct pickle_vm *vm)
{
    if (!pickle_have(vm, 2))
        return false;
    if (value_tag(vm->stack[vm->depth - 2]) != TAG_STRING ||
        value_tag(vm->stack[vm->depth - 1]) != TAG_STRING)
        return pickle_fail(vm, "STACK_GLOBAL: two strings expected");
    return collect(vm, NODE_GLOBAL, vm->depth - 2, false);
}

static bool push_buffer(struct pickle_vm *vm, enum node_kind kind, uint64_t number)
{
    value v;
    if (!value_new_node(&vm->values, kind, vm->rows.offset, &v, vm->err))
        return false;
    value_node(&vm->values, v)->as.natural = number;
    return pickle_push(vm, v);
}

static bool readonly_buffer(struct pickle_vm *vm)
{
    if (!pickle_have(vm, 1))
        return false;
    value top = vm->stack[vm->depth - 1];
    if (value_is_node(&vm->values, top, NODE_BUFFER)) {
        vm->depth--;
        return push_buffer(vm, NODE_READONLY_BUFFER, value_node(&vm->values, top)->as.natural);
    }
    /* bytes are read-only already */
    return pickle_is_opaque(vm, top) || value_is_node(&vm->values, top, NODE_BYTES) ||
           value_is_node(&vm->values, top, NODE_READONLY_BUFFER) ||
           pickle_fail(vm, "READONLY_BUFFER of %s", value_kind_name(&vm->values, top));
}

bool pickle_build_op(struct pickle_vm *vm, uint8_t op)
{
    size_t first;
    switch (op) {
    case '0': /* POP */
        return pop(vm);
    case '1': /* POP_MARK */
        if (!pickle_top_mark(vm, &first))
            return false;
        pickle_drop_to_mark(vm);
        return true;
    case '2': /* DUP */
        return pickle_have(vm, 1) && pickle_push(vm, vm->stack[vm->depth - 1]);
    case 'a': /* APPEND */
        return extend_one(vm, NODE_LIST);
    case 's': /* SETITEM */
        return extend_one(vm, NODE_DICT);
    case 'e': /* APPENDS */
        return extend_marked(vm, NODE_LIST);
    case 0x90: /* ADDITEMS */
        return extend_marked(vm, NODE_SET);
    case 'u': /* SETITEMS */
        return extend_marked(vm, NODE_DICT);
    case 'd': /* DICT */
        return collect_marked(vm, NODE_DICT);
    case 'l': /* LIST */
        return collect_marked(vm, NODE_LIST);
    case 't': /* TUPLE */
        return collect_marked(vm, NODE_TUPLE);
    case 0x91: /* FROZENSET */
        return collect_marked(vm, NODE_FROZENSET);
    case 0x85: /* TUPLE1 */
    case 0x86: /* TUPLE2 */
    case 0x87: /* TUPLE3 */
        return pickle_have(vm, (size_t)op - 0x84) &&
               collect(vm, NODE_TUPLE, vm->depth - ((size_t)op - 0x84), false);
    case 'R':  /* REDUCE */
    case 0x81: /* NEWOBJ */
    case 0x92: /* NEWOBJ_EX */
    case 'o':  /* OBJ */
    case 'b':  /* BUILD */
        return pickle_object_op(vm, op);
    case 0x93: /* STACK_GLOBAL */
        return stack_global(vm);
    case 'Q': /* BINPERSID */
        return pickle_have(vm, 1) && collect(vm, NODE_PERSISTENT, vm->depth - 1, false);
    case 0x82: /* EXT1 */
    case 0x83: /* EXT2 */
        return extension(vm, (size_t)op - 0x81);
    case 0x84: /* EXT4 */
        return extension(vm, 4);
    case 0x97: /* NEXT_BUFFER */
        return push_buffer(vm, NODE_BUFFER, vm->buffer_count++);
    case 0x98: /* READONLY_BUFFER */
        return readonly_buffer(vm);
    default:
        return pickle_fail(vm, "unknown pickle opcode 0x%02x", op);
    }
}
