/* Reads strings, frames and stacks in the form in which picklers write them. */
#include "decode/pickle/hot.h"

/* Many pickles repeat the same few strings in every event, so a string is compared with recent ones
 * before it is checked and interned. */
static bool recent_string(struct pickle_vm *vm, const uint8_t *bytes, size_t size, value *v)
{
    uint8_t mix = size > 0 ? (uint8_t)(bytes[0] ^ bytes[size - 1]) : 0;
    struct known_string *known = &vm->strings[(size + mix) % RECENT_STRINGS];
    if (known->v == VALUE_UNSET || known->text.size != size ||
        memcmp(known->text.bytes, bytes, size) != 0) {
        if (!pickle_string(vm, bytes, size, &known->v)) {
            known->v = VALUE_UNSET;
            return false;
        }
        known->text = symbols_text(vm->symbols, value_payload(known->v));
    }
    *v = known->v;
    return true;
}

const uint8_t *hot_inline_string(struct hot hot, size_t prefix, size_t size, value *v)
{
    size_t slot;
    if ((size_t)(hot.end - hot.p) < prefix + size ||
        !recent_string(hot.vm, hot.p + prefix, size, v))
        return NULL;
    hot.p += prefix + size;
    return hot_memo(&hot, *v, &slot) ? hot.p : NULL;
}

/* Reads a frame written as { name, filename, line }. */
static const uint8_t *inline_frame(struct hot hot, frame_id *id)
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
        unsigned which = rows_field(&hot.vm->rows, ROW_FRAME, key);
        if (which == FRAME_LINE) {
            if (!hot_int(&hot, &bits, &negative) || negative || bits > UINT32_MAX)
                return NULL;
            frame.line = (uint32_t)bits;
        } else if ((which != FRAME_NAME && which != FRAME_FILENAME) || !hot_value(&hot, &v) ||
                   value_tag(v) != TAG_STRING) {
            return NULL;
        } else if (which == FRAME_NAME) {
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
    return rows_frame(&hot->vm->rows, v, id);
}

/* Reads frames one by one up to the APPENDS or APPEND, including further batches. */
static const uint8_t *frames_one_by_one(struct hot hot, uint8_t closing, stack_id *id)
{
    struct pickle_vm *vm = hot.vm;
    size_t count = 0;
    bool has_lines = false;
    for (;;) {
        value v;
        skip_frame_op(&hot);
        if (*hot.p == closing) {
            hot.p++;
            skip_frame_op(&hot);
            if (closing == 'a' || *hot.p != '(')
                break;
            hot.p++;
            continue;
        }
        if (closing == 'a' && count > 0)
            return NULL;
        if (count == vm->rows.frame_capacity &&
            !vec_reserve(vm->rows.frames, vm->rows.frame_capacity, count + 1, vm->budget, vm->err))
            return NULL;
        frame_id frame;
        if (*hot.p == '}') {
            hot.p = inline_frame(hot, &frame);
            if (hot.p == NULL)
                return NULL;
        } else if (!hot_value(&hot, &v) || !frame_of(&hot, v, &frame)) {
            return NULL;
        } else {
            has_lines = has_lines || value_tag(v) == TAG_STRING;
        }
        vm->rows.frames[count++] = frame;
    }
    if (has_lines)
        traceback_order(vm->symbols, vm->rows.frames, count);
    return symbols_stack(vm->symbols, vm->rows.frames, count, id, vm->err) ? hot.p : NULL;
}

/* True if another batch of the same list may follow an APPENDS: a MARK, or a FRAME before one. */
static bool may_go_on(uint8_t op)
{
    return op == '(' || op == 0x95;
}

/* The end, after its APPENDS, of a list that consists only of references; NULL for any other list.
 */
static const uint8_t *end_of_references(const struct hot *hot)
{
    const uint8_t *p = hot->p;
    while (*p == 'j' || *p == 'h')
        p += *p == 'j' ? 5 : 2;
    return *p == 'e' && p != hot->p && p < hot->end && !may_go_on(p[1]) ? p + 1 : NULL;
}

/* Reads a list of references that was not guessed: looked up by its bytes, else frame by frame. */
static const uint8_t *look_up(struct hot hot, stack_id *id)
{
    struct span_cache *spans = &hot.vm->spans;
    const uint8_t *after = spans_worthwhile(spans) ? end_of_references(&hot) : NULL;
    if (after == NULL)
        return frames_one_by_one(hot, 'e', id);
    size_t size = (size_t)(after - hot.p);
    uint32_t hash = spans_hash(hot.p, size);
    uint32_t index = spans_find(spans, hot.p, size, hash);
    if (index != 0) {
        *id = spans->spans[index].stack;
        spans_met(spans, index, hot.vm->patterns.last);
        return after;
    }
    bool added = frames_one_by_one(hot, 'e', id) != NULL &&
                 spans_add(spans, hot.p, size, hash, *id, hot.vm->patterns.last, hot.vm->err);
    return added ? after : NULL;
}

/* Reads references after the MARK. */
static inline const uint8_t *references(struct hot hot, stack_id *id)
{
    struct span_cache *spans = &hot.vm->spans;
    uint32_t index = spans_guess(spans, hot.p, (size_t)(hot.end - hot.p));
    if (index == 0)
        return look_up(hot, id);
    const uint8_t *after = hot.p + spans->spans[index].size;
    if (may_go_on(*after))
        return frames_one_by_one(hot, 'e', id);
    *id = spans->spans[index].stack;
    spans_met(spans, index, hot.vm->patterns.last);
    return after;
}

/* True if the string at hot->p is the only item of a list: an APPEND follows it. */
static bool is_single_string(const struct hot *hot)
{
    const uint8_t *p = hot->p;
    size_t room = (size_t)(hot->end - p), prefix = *p == 0x8c ? 2 : 5;
    size_t size = prefix == 2 ? p[1] : load_le32(p + 1);
    if (room < prefix || room - prefix < size)
        return false;
    p += prefix + size;
    p += *p == 0x94 ? 1 : *p == 'q' ? 2 : *p == 'r' ? 5 : 0;
    return p < hot->end && *p == 'a';
}

const uint8_t *hot_frame_list(struct pickle_vm *vm, const uint8_t *p, const uint8_t *end, value *v)
{
    struct hot hot = {vm, p, end};
    stack_id id = STACK_NONE;
    size_t slot, late;
    hot.p++;
    if (!hot_memo(&hot, VALUE_UNSET, &slot))
        return NULL;
    skip_frame_op(&hot);
    uint8_t next = *hot.p;
    if (next == '(') {
        hot.p++;
        hot.p = references(hot, &id);
    } else if (next == '}' || ((next == 'h' || next == 'j') && hot.p[next == 'h' ? 2 : 5] == 'a') ||
               ((next == 0x8c || next == 'X') && is_single_string(&hot))) {
        hot.p = frames_one_by_one(hot, 'a', &id);
    } else if (next == 0x94 || next == 'q' || next == 'r' || next == 'p') {
        return NULL; /* memoized after a FRAME: it may still be empty */
    }                /* else empty */
    if (hot.p == NULL || id > VALUE_PAYLOAD_MAX)
        return NULL;
    *v = value_make(TAG_STACK, id);
    fill_slot(&hot, slot, *v);
    return hot_memo(&hot, *v, &late) ? hot.p : NULL;
}

bool pickle_hot_stack(struct pickle_vm *vm, bool *consumed, value *v)
{
    struct source *source = vm->source;
    if ((size_t)(source->end - source->pos) < LOOK_AHEAD)
        source_look_ahead(source, LOOK_AHEAD);
    struct hot hot = {vm, source->pos, source->end};
    size_t extent = vm->memo.extent;
    const uint8_t *after = hot_frame_list(vm, hot.p, hot.end, v);
    *consumed = after != NULL && after <= hot.end;
    if (*consumed) {
        source->pos = after;
    } else {
        memo_take_back(&vm->memo, extent);
    }
    return true;
}
