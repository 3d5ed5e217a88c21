/* Events in the form picklers write them, read straight from the bytes.
 *
 * Nearly all of a large snapshot is one shape: a flat dict of memoized or inline
 * strings, integers, and a list of references to frames. It is parsed here without
 * the stack, as a transaction: either the whole event is understood and handed
 * on, or nothing has happened and the machine takes the same bytes the general
 * way. So anything surprising, an error included, simply gives up here; only
 * what is added to the memo has to be taken back. */
#include "decode/bytes.h"
#include "decode/pickle_vm.h"

/* Enough for any usual event; a longer one takes the general way. */
#define LOOK_AHEAD ((size_t)16 * 1024)

struct hot {
    struct pickle_vm *vm;
    const uint8_t *p;
    const uint8_t
        *end; /* zero bytes follow, and 0 is no opcode we accept: short tokens need no check */
};

/* The position is one long chain of dependent additions, two dozen an event: it must stay in a
 * register. So whatever takes a `struct hot *` is inlined, and what is too rare or too large for that
 * takes a copy and returns the position behind what it read, NULL where it gave up. */
#define HOT  static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline))

/* The memo opcode that may stand at p: gives the value the next index. The usual pickler
 * numbers in order; other indices are left to the machine. `*slot` is SIZE_MAX without one. */
HOT bool hot_memo(struct hot *hot, value v, size_t *slot)
{
    struct pickle_vm *vm = hot->vm;
    *slot = SIZE_MAX;
    size_t index;
    switch (*hot->p) {
    case 0x94: /* MEMOIZE */
        index = vm->memo_extent;
        hot->p += 1;
        break;
    case 'q': /* BINPUT */
        index = hot->p[1];
        hot->p += 2;
        break;
    case 'r': /* LONG_BINPUT */
        index = load_le32(hot->p + 1);
        hot->p += 5;
        break;
    default:
        return true;
    }
    if (index != vm->memo_extent || vm->memo_count != vm->memo_extent)
        return false;
    if (vm->memo_extent == vm->memo_capacity &&
        !vec_grow((void **)&vm->memo, &vm->memo_capacity, index + 1, sizeof *vm->memo, vm->budget,
                  vm->err))
        return false;
    vm->memo[index] = v;
    vm->memo_extent++;
    vm->memo_count++;
    *slot = index;
    return true;
}

HOT void fill_slot(struct hot *hot, size_t slot, value v)
{
    if (slot != SIZE_MAX)
        hot->vm->memo[slot] = v;
}

HOT bool memo_value(const struct hot *hot, size_t index, value *v)
{
    if (index >= hot->vm->memo_extent)
        return false;
    *v = hot->vm->memo[index];
    return *v != VALUE_UNSET; /* as the slot of a container still open */
}

HOT void skip_frame_op(struct hot *hot)
{
    while (*hot->p == 0x95 && hot->end - hot->p > 9) /* FRAME */
        hot->p += 9;
}

COLD const uint8_t *inline_string(struct hot hot, size_t prefix, size_t size, value *v)
{
    size_t slot;
    if ((size_t)(hot.end - hot.p) < prefix + size ||
        !pickle_string(hot.vm, hot.p + prefix, size, v))
        return NULL;
    hot.p += prefix + size;
    return hot_memo(&hot, *v, &slot) ? hot.p : NULL;
}

HOT bool hot_string(struct hot *hot, size_t prefix, size_t size, value *v)
{
    value string;
    const uint8_t *behind = inline_string(*hot, prefix, size, &string);
    if (behind == NULL)
        return false;
    hot->p = behind;
    *v = string;
    return true;
}

/* A string or a reference into the memo. */
HOT bool hot_value(struct hot *hot, value *v)
{
    switch (*hot->p) {
    case 'h': /* BINGET */
        hot->p += 2;
        return memo_value(hot, hot->p[-1], v);
    case 'j': /* LONG_BINGET */
        hot->p += 5;
        return memo_value(hot, load_le32(hot->p - 4), v);
    case 0x8c: /* SHORT_BINUNICODE */
        return hot_string(hot, 2, hot->p[1], v);
    case 'X': /* BINUNICODE */
        return hot_string(hot, 5, load_le32(hot->p + 1), v);
    default:
        return false;
    }
}

/* An integer of up to 64 bits. */
HOT bool hot_int(struct hot *hot, uint64_t *bits, bool *negative)
{
    const uint8_t *p = hot->p;
    *negative = false;
    switch (*p) {
    case 'K': /* BININT1 */
        *bits = p[1];
        hot->p += 2;
        return true;
    case 'M': /* BININT2 */
        *bits = load_le16(p + 1);
        hot->p += 3;
        return true;
    case 'J': /* BININT */
        *bits = (uint64_t)(int64_t)(int32_t)load_le32(p + 1);
        *negative = (int64_t)*bits < 0;
        hot->p += 5;
        return true;
    case 0x8a: { /* LONG1 */
        size_t size = p[1];
        if (size == 0 || size > 9 || (size == 9 && p[10] != 0))
            return false;
        *bits = load_le64(p + 2);
        if (size < 8) {
            unsigned shift = (unsigned)(64 - 8 * size);
            *bits = (uint64_t)((int64_t)(*bits << shift) >> shift);
        }
        *negative = size < 9 && (int64_t)*bits < 0;
        hot->p += 2 + size;
        return true;
    }
    default:
        return false;
    }
}

/* { name, filename, line } written out. */
COLD const uint8_t *inline_frame(struct hot hot, frame_id *id)
{
    struct frame frame = {0};
    size_t slot, late;
    hot.p++;
    if (!hot_memo(&hot, VALUE_UNSET, &slot) || *hot.p != '(')
        return NULL;
    hot.p++;
    while (*hot.p != 'u') { /* SETITEMS */
        value key, v;
        uint64_t bits;
        bool negative;
        skip_frame_op(&hot);
        if (!hot_value(&hot, &key))
            return NULL;
        skip_frame_op(&hot);
        enum key which = pickle_key(hot.vm, key);
        if (which == KEY_LINE) {
            if (!hot_int(&hot, &bits, &negative) || negative || bits > UINT32_MAX)
                return NULL;
            frame.line = (uint32_t)bits;
        } else if ((which != KEY_NAME && which != KEY_FILENAME) || !hot_value(&hot, &v) ||
                   value_tag(v) != TAG_STRING) {
            return NULL;
        } else if (which == KEY_NAME) {
            frame.name = value_payload(v);
        } else {
            frame.file = value_payload(v);
        }
    }
    hot.p++;
    if (!symbols_frame(hot.vm->symbols, frame, id, hot.vm->err) || *id > VALUE_PAYLOAD_MAX)
        return NULL;
    fill_slot(&hot, slot, value_make(TAG_FRAME, *id));
    return hot_memo(&hot, value_make(TAG_FRAME, *id), &late) ? hot.p : NULL;
}

HOT bool frame_of(struct hot *hot, value v, frame_id *id)
{
    if (value_tag(v) == TAG_FRAME) {
        *id = value_payload(v);
        return true;
    }
    return pickle_to_frame(hot->vm, v, id);
}

/* Frames one by one up to the APPENDS or APPEND, further batches included. */
COLD const uint8_t *frames_one_by_one(struct hot hot, uint8_t closing, stack_id *id)
{
    struct pickle_vm *vm = hot.vm;
    size_t count = 0;
    for (;;) {
        value v;
        skip_frame_op(&hot);
        if (*hot.p == closing) {
            hot.p++;
            if (closing == 'a' || *hot.p != '(')
                break;
            hot.p++;
            continue;
        }
        if (closing == 'a' && count > 0)
            return NULL;
        if (!vec_grow((void **)&vm->frames, &vm->frame_capacity, count + 1, sizeof *vm->frames,
                      vm->budget, vm->err))
            return NULL;
        frame_id frame;
        if (*hot.p == '}') {
            hot.p = inline_frame(hot, &frame);
            if (hot.p == NULL)
                return NULL;
        } else if (!hot_value(&hot, &v) || !frame_of(&hot, v, &frame)) {
            return NULL;
        }
        vm->frames[count++] = frame;
    }
    return symbols_stack(vm->symbols, vm->frames, count, id, vm->err) ? hot.p : NULL;
}

/* Behind the MARK: references only, found by their bytes, or one by one. */
COLD const uint8_t *frame_list(struct hot hot, stack_id *id)
{
    struct pickle_vm *vm = hot.vm;
    const uint8_t *first = hot.p;
    uint32_t index = spans_guess(&vm->spans, first, (size_t)(hot.end - first));
    if (index == 0) {
        const uint8_t *p = first;
        while (*p == 'j' || *p == 'h')
            p += *p == 'j' ? 5 : 2;
        if (*p != 'e' || p == first || p >= hot.end || p[1] == '(')
            return frames_one_by_one(hot, 'e', id);
        size_t size = (size_t)(p + 1 - first);
        index = spans_find(&vm->spans, first, size);
        if (index == 0 && (frames_one_by_one(hot, 'e', id) == NULL ||
                           !spans_add(&vm->spans, first, size, *id, &index, vm->err)))
            return NULL;
    }
    const uint8_t *behind = first + vm->spans.spans[index].size;
    if (*behind == '(') /* another batch of the same list */
        return frames_one_by_one(hot, 'e', id);
    *id = vm->spans.spans[index].stack;
    spans_met(&vm->spans, index);
    return behind;
}

/* A list of frames, at its EMPTY_LIST. */
HOT bool hot_list(struct hot *hot, value *v)
{
    stack_id id = STACK_NONE;
    size_t slot, late;
    const uint8_t *behind = NULL;
    hot->p++;
    if (!hot_memo(hot, VALUE_UNSET, &slot))
        return false;
    skip_frame_op(hot);
    uint8_t next = *hot->p;
    if (next == '(') {
        hot->p++;
        behind = frame_list(*hot, &id);
    } else if (next == '}' ||
               ((next == 'h' || next == 'j') && hot->p[next == 'h' ? 2 : 5] == 'a')) {
        behind = frames_one_by_one(*hot, 'a', &id);
    } else {
        behind = hot->p; /* empty */
    }
    if (behind == NULL || id > VALUE_PAYLOAD_MAX)
        return false;
    hot->p = behind;
    *v = value_make(TAG_STACK, id);
    fill_slot(hot, slot, *v);
    return hot_memo(hot, *v, &late);
}

/* The pair of a pool_id, whose first number was read already. */
COLD const uint8_t *pool_pair(struct hot hot, uint64_t first, value *v)
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
        if (!value_new_items(&vm->values, NODE_TUPLE, items, 2, vm->op_offset, &vm->last_pool,
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
    const uint8_t *behind = pool_pair(*hot, first, &pair);
    if (behind == NULL)
        return false;
    hot->p = behind;
    *v = pair;
    return true;
}

/* The fields every event has, without the detour over pickle_event_int() where nothing is odd. */
HOT bool int_field(struct hot *hot, struct event_builder *event, enum key key,
                             uint64_t bits, bool negative)
{
    if (!negative && (int64_t)bits >= 0) {
        switch (key) {
        case KEY_ADDR:
            event->row.addr = bits;
            event->seen |= EVENT_SEEN(key);
            return true;
        case KEY_SIZE:
            event->row.size = bits;
            event->seen |= EVENT_SEEN(key);
            return true;
        case KEY_STREAM:
            event->row.extra.stream = (int64_t)bits;
            return true;
        case KEY_TIME_US:
            event->row.time_us = (int64_t)bits;
            return true;
        default:
            break;
        }
    }
    return pickle_event_int(hot->vm, event, key, bits, negative);
}

HOT bool value_field(struct hot *hot, struct event_builder *event, enum key key, value v)
{
    if (value_tag(v) == TAG_STRING) {
        switch (key) {
        case KEY_ACTION:
            pickle_event_action(hot->vm, event, value_payload(v));
            return true;
        case KEY_COMPILE_CONTEXT:
            event->row.extra.compile_context = value_payload(v);
            return true;
        case KEY_USER_METADATA:
            event->row.extra.user_metadata = value_payload(v);
            return true;
        default:
            break;
        }
    } else if (value_tag(v) == TAG_STACK && key == KEY_FRAMES) {
        event->row.stack = value_payload(v);
        return true;
    }
    return pickle_event_value(hot->vm, event, key, v);
}

HOT bool hot_field(struct hot *hot, struct event_builder *event)
{
    struct pickle_vm *vm = hot->vm;
    value name, v;
    uint64_t bits;
    bool negative;
    skip_frame_op(hot);
    if (!hot_value(hot, &name))
        return false;
    enum key key = pickle_key(vm, name);
    if (!pickle_is_event_key(key) && !pickle_unknown_key(vm, SCOPE_EVENT, name))
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
        if ((key != KEY_FRAMES && key != KEY_FORWARD_FRAMES) || !hot_list(hot, &v))
            return false;
        break;
    default:
        if (!hot_value(hot, &v))
            return false;
    }
    return value_field(hot, event, key, v);
}

/* One event, at its EMPTY_DICT: fields and memo, nothing handed on yet. */
HOT bool hot_event(struct hot *hot, struct event_builder *event, size_t *slot)
{
    pickle_event_begin(event);
    hot->p++;
    if (!hot_memo(hot, VALUE_UNSET, slot) || *hot->p != '(') /* MARK */
        return false;
    hot->p++;
    while (*hot->p != 'u') /* SETITEMS */
        if (!hot_field(hot, event))
            return false;
    hot->p++;
    if (*slot == SIZE_MAX && !hot_memo(hot, VALUE_UNSET, slot))
        return false;
    return hot->p <= hot->end && pickle_event_complete(event);
}

bool pickle_hot_events(struct pickle_vm *vm, bool *consumed)
{
    struct source *source = vm->source;
    bool batch = vm->stack[vm->depth - 1] != vm->open_trace;
    if (!pickle_settle(vm))
        return false;
    do {
        if (!source->at_eof && (size_t)(source->end - source->pos) < LOOK_AHEAD &&
            !source_fill(source, LOOK_AHEAD, vm->err))
            return false;
        if (*source->pos != '}' || source->pos == source->end)
            break;
        vm->op_offset = source_offset(source);
        struct hot hot = {vm, source->pos, source->end};
        struct event_builder event;
        size_t extent = vm->memo_extent, count = vm->memo_count, slot;
        if (!hot_event(&hot, &event, &slot)) {
            vm->memo_extent = extent;
            vm->memo_count = count;
            break;
        }
        value v;
        if (!pickle_event_end(vm, &event, value_node(&vm->values, vm->open_trace)->count, &v) ||
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

bool pickle_hot_stack(struct pickle_vm *vm, bool *consumed, value *v)
{
    struct source *source = vm->source;
    if (!source->at_eof && (size_t)(source->end - source->pos) < LOOK_AHEAD &&
        !source_fill(source, LOOK_AHEAD, vm->err))
        return false;
    struct hot hot = {vm, source->pos, source->end};
    size_t extent = vm->memo_extent, count = vm->memo_count;
    *consumed = hot_list(&hot, v) && hot.p <= hot.end;
    if (*consumed) {
        source->pos = hot.p;
    } else {
        vm->memo_extent = extent;
        vm->memo_count = count;
    }
    return true;
}
