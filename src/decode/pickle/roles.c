/* Recognises the containers of a snapshot.
 *
 *   root dict { segments: [...], device_traces: [[event...], ...], external_annotations: [...],
 *               host_segments: [...], host_traces: [event...] }
 *
 * Picklers push a container before its items, so its role is known from the stack, and its items
 * can be handed on as rows while it grows. If a pickle builds a container otherwise (from finished
 * items, by LIST or TUPLE), it is converted to rows when it is added to the root. */
#include "decode/pickle/vm.h"

#define DEVICES_MAX 4096

static enum node_role role_of(const struct pickle_vm *vm, value v)
{
    return value_tag(v) == TAG_NODE ? (enum node_role)value_node(&vm->values, v)->role : ROLE_NONE;
}

/* The container below the innermost MARK. */
static value batch_container(const struct pickle_vm *vm)
{
    size_t mark = vm->mark_count > 0 ? vm->marks[vm->mark_count - 1] : 0;
    return mark > 0 ? vm->stack[mark - 1] : VALUE_UNSET;
}

/* The number of values above the innermost MARK. */
static size_t batch_size(const struct pickle_vm *vm)
{
    return vm->depth - vm->marks[vm->mark_count - 1] - 1;
}

/* The role of a list of that key of the root; ROLE_NONE for other keys. host_traces is one trace.
 */
static enum node_role role_of_part(unsigned part)
{
    static const uint8_t roles[PART_COUNT] = {
        [PART_SEGMENTS] = ROLE_SEGMENTS,       [PART_TRACES] = ROLE_TRACES,
        [PART_ANNOTATIONS] = ROLE_ANNOTATIONS, [PART_HOST_SEGMENTS] = ROLE_HOST_SEGMENTS,
        [PART_HOST_TRACE] = ROLE_TRACE,
    };
    return part < PART_COUNT ? (enum node_role)roles[part] : ROLE_NONE;
}

static enum node_role role_of_key(const struct pickle_vm *vm, value key)
{
    return role_of_part(rows_field(&vm->rows, ROW_SNAPSHOT, key));
}

enum node_role pickle_role_here(const struct pickle_vm *vm, bool is_dict)
{
    if (vm->depth == 0)
        return is_dict ? ROLE_ROOT : ROLE_SEGMENTS;
    if (is_dict)
        return ROLE_NONE;
    value top = vm->stack[vm->depth - 1];
    value container = batch_container(vm);
    if (role_of(vm, top) == ROLE_TRACES || role_of(vm, container) == ROLE_TRACES)
        return ROLE_TRACE;
    bool set_one = vm->depth >= 2 && role_of(vm, vm->stack[vm->depth - 2]) == ROLE_ROOT;
    bool set_many = role_of(vm, container) == ROLE_ROOT && batch_size(vm) % 2 == 1;
    return set_one || set_many ? role_of_key(vm, top) : ROLE_NONE;
}

/* Rejects a second list under the same key, which would have to replace rows already handed out. */
static bool once(struct pickle_vm *vm, enum snapshot_part part)
{
    if (vm->seen & 1u << part)
        return pickle_fail(vm, "a second '%s'", row_field(ROW_SNAPSHOT, part)->name.bytes);
    vm->seen |= 1u << part;
    return true;
}

/* Rows are handed out before the pickle is complete, so all of them must belong to its final value.
 */
static bool same_root(struct pickle_vm *vm)
{
    if (vm->root == VALUE_UNSET)
        vm->root = vm->stack[0];
    return vm->root == vm->stack[0] || pickle_fail(vm, "the pickle holds a second snapshot");
}

static bool announce_trace(struct pickle_vm *vm, size_t device)
{
    if (device >= DEVICES_MAX && device != DEVICE_HOST)
        return error_set_at(vm->err, STATUS_LIMIT, vm->rows.offset,
                            "traces of more than %d devices", DEVICES_MAX);
    return vm->rows.sink->trace(vm->rows.sink->self, (uint32_t)device, vm->err);
}

static bool open_trace(struct pickle_vm *vm, value v, size_t device)
{
    if (!announce_trace(vm, device))
        return false;
    struct node *node = value_node(&vm->values, v);
    node->count = (uint32_t)device;
    node->as.natural = 0; /* events so far */
    vm->open_trace = v;
    vm->settled = 0;
    vm->unappended = 0;
    return true;
}

bool pickle_role_taken(struct pickle_vm *vm, value v, enum node_role role)
{
    if ((role == ROLE_SEGMENTS && !once(vm, PART_SEGMENTS)) ||
        (role == ROLE_TRACES && !once(vm, PART_TRACES)) ||
        (role == ROLE_HOST_SEGMENTS && !once(vm, PART_HOST_SEGMENTS)))
        return false;
    value_node(&vm->values, v)->role = (uint8_t)role;
    if (role != ROLE_TRACE)
        return true;
    if (!same_root(vm))
        return false;
    value top = vm->stack[vm->depth - 1], container = batch_container(vm);
    bool append_one = role_of(vm, top) == ROLE_TRACES;
    if (!append_one && role_of(vm, container) != ROLE_TRACES)
        return once(vm, PART_HOST_TRACE) && open_trace(vm, v, DEVICE_HOST);
    value traces = append_one ? top : container;
    size_t device = value_node(&vm->values, traces)->count + (append_one ? 0 : batch_size(vm));
    return open_trace(vm, v, device);
}

static bool settle_from(struct pickle_vm *vm, size_t first)
{
    uint32_t device = value_node(&vm->values, vm->open_trace)->count;
    for (size_t i = first > vm->settled ? first : vm->settled; i < vm->depth; i++) {
        if (!rows_event(&vm->rows, device, &vm->stack[i]))
            return false;
        vm->unappended++;
    }
    vm->settled = vm->depth;
    return true;
}

bool pickle_settle(struct pickle_vm *vm)
{
    return batch_container(vm) != vm->open_trace ||
           settle_from(vm, (size_t)vm->marks[vm->mark_count - 1] + 1);
}

static bool extend_trace(struct pickle_vm *vm, value trace, size_t first)
{
    if (trace != vm->open_trace)
        return pickle_fail(vm, "a trace goes on after another began");
    if (!settle_from(vm, first))
        return false;
    if (vm->unappended != vm->depth - first)
        return pickle_fail(vm, "events were taken off the stack before their trace had them");
    value_node(&vm->values, trace)->as.natural += vm->unappended;
    vm->unappended = 0;
    vm->settled = 0;
    return true;
}

/* Hands out a list of events that is already complete. */
static bool emit_whole_trace(struct pickle_vm *vm, uint32_t device, value v)
{
    const value *items;
    size_t count;
    if (!value_sequence(&vm->values, v, &items, &count))
        return pickle_fail(vm, "expected a trace (a list of events), found %s",
                           value_kind_name(&vm->values, v));
    if (!announce_trace(vm, device))
        return false;
    for (size_t i = 0; i < count; i++) {
        value event = items[i];
        if (!rows_event(&vm->rows, device, &event))
            return false;
    }
    value_node(&vm->values, v)->role = ROLE_USED;
    return true;
}

static bool emit_trace(struct pickle_vm *vm, uint32_t device, value v)
{
    if (role_of(vm, v) != ROLE_TRACE)
        return emit_whole_trace(vm, device, v);
    const struct node *node = value_node(&vm->values, v);
    if (node->count == device) /* its events have been handed out */
        return true;
    if (node->as.natural > 0)
        return pickle_fail(vm, "one list of events stands for two devices");
    return announce_trace(vm, device); /* one empty list for several devices */
}

static bool emit_row(struct pickle_vm *vm, enum node_role role, uint32_t index, value v)
{
    switch (role) {
    case ROLE_TRACES:
        return emit_trace(vm, index, v);
    case ROLE_ANNOTATIONS:
        return rows_annotation(&vm->rows, v);
    default:
        return rows_segment(&vm->rows, v, role == ROLE_HOST_SEGMENTS);
    }
}

/* Hands out a list of `role` that is already complete. */
static bool emit_list(struct pickle_vm *vm, enum node_role role, value v, const char *key)
{
    const value *items;
    size_t count;
    if (!value_sequence(&vm->values, v, &items, &count))
        return pickle_fail(vm, "expected a list for %s, found %s", key,
                           value_kind_name(&vm->values, v));
    for (size_t i = 0; i < count; i++)
        if (!emit_row(vm, role, (uint32_t)i, items[i]))
            return false;
    value_node(&vm->values, v)->role = ROLE_USED;
    return true;
}

static bool emit_root_pair(struct pickle_vm *vm, value key, value v)
{
    unsigned part = rows_field(&vm->rows, ROW_SNAPSHOT, key);
    enum node_role role = role_of_part(part);
    if (part == PART_SETTINGS)
        return rows_settings(&vm->rows, v);
    if (role == ROLE_NONE)
        return rows_unknown_key(&vm->rows, ROW_SNAPSHOT, key);
    if (part == PART_HOST_TRACE) {
        bool is_open =
            role_of(vm, v) == ROLE_TRACE && value_node(&vm->values, v)->count == DEVICE_HOST;
        return v == VALUE_NONE || is_open ||
               (once(vm, PART_HOST_TRACE) && emit_trace(vm, DEVICE_HOST, v));
    }
    if (role_of(vm, v) == role) /* its rows have been handed out */
        return true;
    return (part == PART_ANNOTATIONS || once(vm, (enum snapshot_part)part)) &&
           (v == VALUE_NONE || emit_list(vm, role, v, row_field(ROW_SNAPSHOT, part)->name.bytes));
}

bool pickle_emit_items(struct pickle_vm *vm, value container, size_t first)
{
    enum node_role role = role_of(vm, container);
    if (!same_root(vm))
        return false;
    if (role == ROLE_TRACE)
        return extend_trace(vm, container, first);
    size_t step = role == ROLE_ROOT ? 2 : 1;
    for (size_t i = first; i < vm->depth; i += step) {
        value v = vm->stack[i];
        uint32_t index = role == ROLE_TRACES ? value_node(&vm->values, container)->count++ : 0;
        if (!(role == ROLE_ROOT ? emit_root_pair(vm, v, vm->stack[i + 1])
                                : emit_row(vm, role, index, v)))
            return false;
    }
    return true;
}

bool pickle_emit_result(struct pickle_vm *vm, value root, bool *list_only)
{
    const value *items;
    size_t count;
    bool ok = true;
    enum node_role role = role_of(vm, root);
    *list_only = role == ROLE_SEGMENTS;
    if (vm->root != VALUE_UNSET && vm->root != root)
        return pickle_fail(vm, "the pickle begins with a snapshot but ends with another value");
    if (role == ROLE_ROOT || role == ROLE_SEGMENTS) {
        /* its rows have been handed out */
    } else if (value_mapping(&vm->values, root, &items, &count)) {
        for (size_t i = 0; i < count && ok; i++)
            ok = emit_root_pair(vm, items[2 * i], items[2 * i + 1]);
    } else if (value_sequence(&vm->values, root, &items, &count)) {
        *list_only = true;
        vm->seen |= 1u << PART_SEGMENTS;
        ok = emit_list(vm, ROLE_SEGMENTS, root, "segments");
    } else {
        return pickle_fail(vm, "expected a dict with 'segments', found %s",
                           value_kind_name(&vm->values, root));
    }
    if (!ok)
        return false;
    if (vm->unappended > 0)
        return pickle_fail(vm, "a trace was never finished");
    return (vm->seen & PARTS_NEEDED) != 0 ||
           pickle_fail(vm, "not an allocator snapshot: no key 'segments' or 'device_traces'");
}
