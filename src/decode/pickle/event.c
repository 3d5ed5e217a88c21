/* One event, field by field: the same rules for the hot path and for finished dicts. */
#include "decode/pickle/vm.h"

static bool not_negative(struct pickle_vm *vm, bool negative, const char *key)
{
    return !negative || pickle_fail(vm, "'%s' of an event is negative", key);
}

/* The value of a signed field, where it fits. */
static bool signed_field(struct pickle_vm *vm, uint64_t bits, bool negative, const char *key,
                         int64_t *out)
{
    if (!negative && bits > INT64_MAX)
        return pickle_fail(vm, "'%s' of an event is beyond 63 bits", key);
    *out = (int64_t)bits;
    return true;
}

bool pickle_event_int(struct pickle_vm *vm, struct event_builder *event, enum key key,
                      uint64_t bits, bool negative)
{
    if (key < 32)
        event->seen |= EVENT_SEEN(key);
    switch (key) {
    case KEY_ADDR:
        event->row.addr = bits;
        return not_negative(vm, negative, "addr");
    case KEY_DEVICE_FREE:
        event->device_free = bits;
        return not_negative(vm, negative, "device_free");
    case KEY_SIZE:
        event->row.size = bits;
        return not_negative(vm, negative, "size");
    case KEY_STREAM: /* a handle: whatever 64 bits it has */
        event->row.extra.stream = (int64_t)bits;
        return true;
    case KEY_TIME_US:
        return signed_field(vm, bits, negative, "time_us", &event->row.time_us);
    case KEY_ACTION:
    case KEY_FRAMES:
    case KEY_POOL_ID:
        return pickle_fail(vm, "'%s' of an event is an int",
                           key == KEY_ACTION   ? "action"
                           : key == KEY_FRAMES ? "frames"
                                               : "pool_id");
    default: /* text that is none, or a key of no meaning here */
        return true;
    }
}

static bool wrong_kind(struct pickle_vm *vm, const char *key, value v)
{
    return pickle_fail(vm, "'%s' of an event is %s", key, value_kind_name(&vm->values, v));
}

bool pickle_event_value(struct pickle_vm *vm, struct event_builder *event, enum key key, value v)
{
    struct event_extra *extra = &event->row.extra;
    uint64_t natural;
    int64_t integer;
    string_id text = pickle_text(v);
    if (key == KEY_ACTION) {
        if (value_tag(v) != TAG_STRING)
            return wrong_kind(vm, "action", v);
        pickle_event_action(vm, event, text);
        return true;
    }
    if (value_to_u64(&vm->values, v, &natural))
        return pickle_event_int(vm, event, key, natural, false);
    if (value_to_i64(&vm->values, v, &integer))
        return pickle_event_int(vm, event, key, (uint64_t)integer, true);
    if (v == VALUE_NONE) /* as if it were not there */
        return true;
    switch (key) {
    case KEY_ADDR:
        return wrong_kind(vm, "addr", v);
    case KEY_DEVICE_FREE:
        return wrong_kind(vm, "device_free", v);
    case KEY_SIZE:
        return wrong_kind(vm, "size", v);
    case KEY_STREAM:
        return wrong_kind(vm, "stream", v);
    case KEY_TIME_US:
        return wrong_kind(vm, "time_us", v);
    case KEY_FRAMES:
        return pickle_to_stack(vm, v, &event->row.stack);
    case KEY_FORWARD_FRAMES:
        return pickle_to_stack(vm, v, &extra->forward_stack);
    case KEY_POOL_ID:
        return pickle_to_pool(vm, v, extra->pool);
    case KEY_COMPILE_CONTEXT:
        extra->compile_context = text;
        return true;
    case KEY_USER_METADATA:
        extra->user_metadata = text;
        return true;
    case KEY_CATEGORY:
        extra->category = text;
        return true;
    default:
        return true;
    }
}

/* Which fields an event of this kind cannot do without. */
static uint32_t required_fields(enum action action)
{
    switch (action) {
    case ACTION_OOM:
        return EVENT_SEEN(KEY_SIZE);
    case ACTION_SNAPSHOT:
    case ACTION_WORKSPACE_SNAPSHOT:
    case ACTION_OTHER:
        return 0;
    default:
        return EVENT_SEEN(KEY_ADDR) | EVENT_SEEN(KEY_SIZE);
    }
}

static uint32_t missing_fields(const struct event_builder *event)
{
    return (required_fields(event->row.action) | EVENT_SEEN(KEY_ACTION)) & ~event->seen;
}

bool pickle_event_complete(const struct event_builder *event)
{
    return missing_fields(event) == 0;
}

bool pickle_event_end(struct pickle_vm *vm, struct event_builder *event, uint32_t device, value *v)
{
    uint32_t missing = missing_fields(event);
    if (missing != 0)
        return pickle_fail(vm, "an event without '%s'",
                           (missing & EVENT_SEEN(KEY_ACTION)) != 0 ? "action"
                           : (missing & EVENT_SEEN(KEY_SIZE)) != 0 ? "size"
                                                                   : "addr");
    if (event->row.action == ACTION_OOM && (event->seen & EVENT_SEEN(KEY_DEVICE_FREE)) != 0)
        event->row.addr = event->device_free;
    if (vm->event_count > VALUE_PAYLOAD_MAX)
        return error_set_at(vm->err, STATUS_LIMIT, vm->op_offset, "more than %u events",
                            VALUE_PAYLOAD_MAX);
    *v = value_make(TAG_EVENT, (uint32_t)vm->event_count++);
    return vm->sink->event(vm->sink->self, device, &event->row, vm->err);
}

static bool emit_dict(struct pickle_vm *vm, uint32_t device, value *v, const value *pairs,
                      size_t count)
{
    struct event_builder event;
    pickle_event_begin(&event);
    vm->op_offset = value_node(&vm->values, *v)->offset;
    for (size_t i = 0; i < count; i++) {
        enum key key = pickle_key(vm, pairs[2 * i]);
        if (!pickle_is_event_key(key) && !pickle_unknown_key(vm, SCOPE_EVENT, pairs[2 * i]))
            return false;
        if (!pickle_event_value(vm, &event, key, pairs[2 * i + 1]))
            return false;
    }
    struct node *node = value_node(&vm->values, *v);
    if (!pickle_event_end(vm, &event, device, v))
        return false;
    node->kind = NODE_EVENT;
    node->as.natural = value_payload(*v);
    return true;
}

bool pickle_emit_event(struct pickle_vm *vm, uint32_t device, value *v)
{
    const value *pairs;
    size_t count;
    bool is_again = value_tag(*v) == TAG_EVENT || value_is_node(&vm->values, *v, NODE_EVENT);
    if (is_again) {
        uint64_t sequence = value_tag(*v) == TAG_EVENT ? value_payload(*v)
                                                       : value_node(&vm->values, *v)->as.natural;
        vm->event_count++;
        return vm->sink->event_again(vm->sink->self, device, sequence, vm->err);
    }
    if (!value_mapping(&vm->values, *v, &pairs, &count))
        return pickle_fail(vm, "an event is %s: a dict expected", value_kind_name(&vm->values, *v));
    return emit_dict(vm, device, v, pairs, count);
}
