/* Parses events in the form in which picklers write them, directly from the bytes.
 *
 * Nearly all of a large snapshot has one shape: a flat dict of memoized or inline strings,
 * integers, and a list of references to frames. It is parsed here without the stack, as a
 * transaction: either the whole event is parsed and handed on, or nothing has changed and the
 * pickle machine reads the same bytes by the general path. So anything unexpected, including an
 * error, makes this parser give up; only additions to the memo must be undone. */
#include "decode/pickle/patterns.h"

/* Reads the pair of a pool_id, whose first number was already read. */
static __attribute__((noinline)) const uint8_t *pool_pair(struct hot hot, uint64_t first, value *v)
{
    struct pickle_vm *vm = hot.vm;
    uint64_t second;
    bool negative;
    size_t slot;
    if (first > VALUE_PAYLOAD_MAX || !hot_int(&hot, &second, &negative) || negative ||
        second > VALUE_PAYLOAD_MAX || *hot.p != 0x86) /* TUPLE2 */
        return NULL;
    hot.p++;
    if (vm->last_pool == VALUE_UNSET || vm->last_pool_id[0] != first ||
        vm->last_pool_id[1] != second) {
        const value items[2] = {value_make(TAG_INT, (uint32_t)first),
                                value_make(TAG_INT, (uint32_t)second)};
        if (!value_new_items(&vm->values, NODE_TUPLE, items, 2, vm->rows.offset, &vm->last_pool,
                             vm->err))
            return NULL;
        vm->last_pool_id[0] = first;
        vm->last_pool_id[1] = second;
    }
    *v = vm->last_pool;
    return hot_memo(&hot, *v, &slot) ? hot.p : NULL;
}

HOT bool hot_pool(struct hot *hot, uint64_t first, value *v)
{
    value pair;
    const uint8_t *after = pool_pair(*hot, first, &pair);
    if (after == NULL)
        return false;
    hot->p = after;
    *v = pair;
    return true;
}

HOT bool hot_list(struct hot *hot, value *v)
{
    value stack;
    const uint8_t *after = hot_frame_list(hot->vm, hot->p, hot->end, &stack);
    if (after == NULL)
        return false;
    hot->p = after;
    *v = stack;
    return true;
}

/* Stores the integer fields of every event, without a call of pickle_event_int() in the usual case.
 */
HOT bool int_field(struct hot *hot, struct event_draft *event, unsigned key, uint64_t bits,
                   bool negative)
{
    if (!negative && (int64_t)bits >= 0) {
        switch (key) {
        case EVENT_ADDR:
            event->row.addr = bits;
            event->seen |= EVENT_SEEN(key);
            return true;
        case EVENT_SIZE:
            event->row.size = bits;
            event->seen |= EVENT_SEEN(key);
            return true;
        case EVENT_STREAM:
            event->row.extra.stream = (int64_t)bits;
            return true;
        case EVENT_TIME_US:
            event->row.time_us = (int64_t)bits;
            return true;
        default:
            break;
        }
    }
    if (key >= EVENT_FIELDS)
        return true;
    if (!field_is_number(row_field(ROW_EVENT, key)))
        return false; /* leave it to the general path */
    event->seen |= EVENT_SEEN(key);
    return field_set_integer(row_field(ROW_EVENT, key), event, negative, negative ? 0 - bits : bits,
                             hot->vm->rows.offset, hot->vm->err);
}

HOT bool value_field(struct hot *hot, struct event_draft *event, unsigned key, value v)
{
    if (value_tag(v) == TAG_STRING) {
        switch (key) {
        case EVENT_ACTION:
            rows_event_action(&hot->vm->rows, event, value_payload(v));
            return true;
        case EVENT_COMPILE_CONTEXT:
            event->row.extra.compile_context = value_payload(v);
            return true;
        case EVENT_USER_METADATA:
            event->row.extra.user_metadata = value_payload(v);
            return true;
        default:
            break;
        }
    } else if (value_tag(v) == TAG_STACK && key == EVENT_FRAMES) {
        event->row.stack = value_payload(v);
        return true;
    }
    return key >= EVENT_FIELDS || rows_event_field(&hot->vm->rows, event, key, v);
}

/* Reads a key that differs from the last event's key at this position. It is looked up, and
 * remembered if it is a reference to an entry from before this event, which is not undone when the
 * parser gives up. A key that is unknown to memsnap for the first time is left to the machine,
 * since reporting it could not be undone either. */
static __attribute__((noinline)) const uint8_t *other_key(struct hot hot, struct key_shape *shape,
                                                          size_t extent, unsigned *key)
{
    struct pickle_vm *vm = hot.vm;
    value name;
    skip_frame_op(&hot);
    const uint8_t *p = hot.p;
    if (!hot_value(&hot, &name))
        return NULL;
    *key = rows_field(&vm->rows, ROW_EVENT, name);
    if (*key >= EVENT_FIELDS)
        return rows_knows_unknown_key(&vm->rows, ROW_EVENT, name) ? hot.p : NULL;
    bool is_short = *p == 'h';
    if ((is_short && p[1] < extent) || (*p == 'j' && load_le32(p + 1) < extent)) {
        shape->mask = is_short ? UINT64_C(0xffff) : UINT64_C(0xffffffffff);
        shape->reference = load_le64(p) & shape->mask;
        shape->size = is_short ? 2 : 5;
        shape->field = *key;
    }
    return hot.p;
}

HOT bool hot_key(struct hot *hot, size_t field, size_t extent, unsigned *key)
{
    struct key_shape *shape = &hot->vm->shape[field % SHAPE_FIELDS];
    if ((load_le64(hot->p) & shape->mask) == shape->reference && shape->mask != 0) {
        *key = shape->field;
        hot->p += shape->size;
        return true;
    }
    unsigned other;
    const uint8_t *after = other_key(*hot, shape, extent, &other);
    if (after == NULL)
        return false;
    hot->p = after;
    *key = other;
    return true;
}

/* Reads the next key and its value; `extent` is the extent of the memo before the event. */
HOT bool hot_field(struct hot *hot, struct event_draft *event, size_t field, size_t extent)
{
    value v;
    uint64_t bits;
    bool negative;
    unsigned key;
    if (!hot_key(hot, field, extent, &key))
        return false;
    skip_frame_op(hot);
    switch (*hot->p) {
    case 'K':
    case 'M':
    case 'J':
    case 0x8a:
        if (!hot_int(hot, &bits, &negative))
            return false;
        if (*hot->p != 'K' && *hot->p != 'M' && *hot->p != 'J' && *hot->p != 0x8a)
            return int_field(hot, event, key, bits, negative);
        if (negative || !hot_pool(hot, bits, &v))
            return false;
        break;
    case 'N': /* NONE */
        v = VALUE_NONE;
        hot->p++;
        break;
    case ']': /* EMPTY_LIST */
        if ((key != EVENT_FRAMES && key != EVENT_FORWARD_FRAMES) || !hot_list(hot, &v))
            return false;
        break;
    default:
        if (!hot_value(hot, &v))
            return false;
    }
    return value_field(hot, event, key, v);
}

/* Parses one event, at its EMPTY_DICT: fields and memo. Hands nothing on yet. */
HOT bool hot_event(struct hot *hot, struct event_draft *event, size_t *slot)
{
    size_t extent = hot->vm->memo.extent;
    event_begin(event);
    hot->p++;
    if (!hot_memo(hot, VALUE_UNSET, slot) || *hot->p != '(') /* MARK */
        return false;
    hot->p++;
    for (size_t field = 0; *hot->p != 'u'; field++) /* SETITEMS */
        if (!hot_field(hot, event, field, extent))
            return false;
    hot->p++;
    if (*slot == SIZE_MAX && !hot_memo(hot, VALUE_UNSET, slot))
        return false;
    return hot->p <= hot->end && event_missing(event) == 0;
}

/* Parses the event at hot->p, by its pattern or token by token. NULL: nothing has changed, and the
 * machine must read it. */
HOT struct event_draft *any_event(struct hot *hot, struct event_draft *built, size_t *slot)
{
    struct pickle_vm *vm = hot->vm;
    const uint8_t *begin = hot->p;
    size_t extent = vm->memo.extent;
    struct event_draft *event = pattern_event(hot, slot);
    if (event != NULL)
        return event;
    hot->p = begin;
    memo_take_back(&vm->memo, extent);
    if (hot_event(hot, built, slot)) {
        if (patterns_worthwhile(vm) && vm->memo.unset == 0)
            patterns_learn(vm, begin, hot->p, extent, built);
        return built;
    }
    memo_take_back(&vm->memo, extent);
    return NULL;
}

bool pickle_hot_events(struct pickle_vm *vm, bool *consumed)
{
    struct source *source = vm->source;
    bool batch = vm->stack[vm->depth - 1] != vm->open_trace;
    do {
        if ((size_t)(source->end - source->pos) < USUAL_EVENT)
            source_look_ahead(source, LOOK_AHEAD);
        if (*source->pos != '}' || source->pos == source->end)
            break;
        vm->rows.offset = source_offset(source);
        struct hot hot = {vm, source->pos, source->end};
        struct event_draft built, *event;
        size_t slot;
        value v;
        event = any_event(&hot, &built, &slot);
        if (event == NULL && (size_t)(source->end - source->pos) < LOOK_AHEAD && !source->at_eof &&
            !source->failed) {
            source_look_ahead(source, LOOK_AHEAD); /* it may have been cut off */
            hot = (struct hot){vm, source->pos, source->end};
            event = any_event(&hot, &built, &slot);
        }
        if (event == NULL)
            break;
        if (!rows_event_end(&vm->rows, event, value_node(&vm->values, vm->open_trace)->count, &v) ||
            !pickle_push(vm, v))
            return false;
        fill_slot(&hot, slot, v);
        source->pos = hot.p;
        vm->settled = vm->depth;
        vm->unappended++;
        *consumed = true;
    } while (batch);
    return true;
}
