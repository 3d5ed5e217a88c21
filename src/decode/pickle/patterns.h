/* Recognises whole events by byte patterns.
 *
 * Consecutive events differ in a few numbers; keys, opcodes and most values are the same bytes at
 * the same places. A pattern consists of the bytes of an event, to be compared under a mask, and of
 * holes for the numbers. An event that matches is read without parsing its tokens, except for its
 * list of frames, which hot_frames.c reads. Patterns are learned from events that were read token
 * by token, and are valid until a memo entry is overwritten. */
#ifndef MEMSNAP_DECODE_PICKLE_PATTERNS_H
#define MEMSNAP_DECODE_PICKLE_PATTERNS_H

#include "decode/pickle/hot.h"

#define PATTERNS        8
#define PATTERN_CHUNKS  16 /* 256 bytes */
#define PATTERN_PUSHES  16
#define PATTERN_INTS    4
#define PATTERN_NO_PUSH UINT32_MAX

_Static_assert(PATTERNS <= SPAN_NOTES, "a span notes the number of a pattern");

typedef uint64_t chunk __attribute__((vector_size(16))); /* unit of comparison */

/* The bytes before or after the list of frames. */
struct pattern_part {
    chunk bytes[PATTERN_CHUNKS], mask[PATTERN_CHUNKS]; /* mask: 0 in holes and after the end */
    uint32_t size, chunks;
    uint32_t push_count, put_count;
    uint32_t event_push;          /* the event's index in `pushes`, or PATTERN_NO_PUSH */
    value pushes[PATTERN_PUSHES]; /* values added to the memo */
    struct pattern_put {          /* an explicit index, which must be the memo's next one */
        uint32_t offset, push;    /* of the index in the part; of the value in `pushes` */
        uint32_t mask;            /* by the width of the index */
    } puts[PATTERN_PUSHES];
};

struct pattern {
    struct pattern_part head, tail; /* without a list of frames the head is the whole event */
    bool has_list;
    struct memo_shape shape; /* of the event's memo entries; step 0: all of them must be stored */
    struct pattern_int {     /* in the head: addr, size, stream, time_us */
        uint32_t offset;
        uint64_t mask;  /* selects its bytes; 0: the value is `fixed` */
        uint64_t sign;  /* the sign bit: negative values do not match */
        uint64_t fixed; /* 0, unless `mask` is 0 */
    } ints[PATTERN_INTS];
    struct pattern_reference { /* in the head: a memo index */
        uint32_t offset;
        uint32_t mask; /* selects its bytes; 0: not a reference, but a fixed value in `event` */
    } action, compile_context, user_metadata, stack;
    struct event_draft event; /* the fields outside the holes; complete */
    uint32_t next;            /* the pattern that followed it last time */
};

/* True if an event that matches no pattern should be learned. When many events in a row are new,
 * only some are. */
bool patterns_worthwhile(struct pickle_vm *vm);

/* Learns from the event at [begin, end), which was parsed as `event` while the memo grew from
 * `extent`. Ignores events of unsupported form. */
void patterns_learn(struct pickle_vm *vm, const uint8_t *begin, const uint8_t *end, size_t extent,
                    const struct event_draft *event);

/* True if the bytes at p match the part. Reads up to 16 bytes beyond them, which are padding at the
 * end of the source (SOURCE_PAD). */
HOT bool pattern_part_fits(const struct pattern_part *part, const uint8_t *p, const uint8_t *end)
{
    chunk differ = {0, 0};
    if (p > end || (size_t)(end - p) < part->size)
        return false;
    for (uint32_t i = 0; i < part->chunks; i++) {
        chunk at;
        memcpy(&at, p + i * sizeof at, sizeof at);
        differ |= (at ^ part->bytes[i]) & part->mask[i];
    }
    return (differ[0] | differ[1]) == 0;
}

/* The pattern that matches the event at p, or NULL. First tries the one that the recorded sequence
 * of frame lists predicts or, without a prediction, the one that followed the last pattern before.
 */
HOT struct pattern *pattern_of(struct pickle_vm *vm, const uint8_t *p, const uint8_t *end)
{
    struct pattern_cache *cache = &vm->patterns;
    uint32_t *next = &cache->patterns[cache->last].next, guess = *next;
    met_span expected;
    if (spans_expect(&vm->spans, &expected) && met_span_note(expected) < cache->count)
        guess = met_span_note(expected);
    if (!pattern_part_fits(&cache->patterns[guess].head, p, end)) {
        guess = 0;
        while (guess < cache->count && !pattern_part_fits(&cache->patterns[guess].head, p, end))
            guess++;
        if (guess == cache->count)
            return NULL;
    }
    *next = cache->last = guess;
    return &cache->patterns[guess];
}

/* Skips the part at p. `*slot` becomes the memo slot of the event if it is in this part and may not
 * be left out. */
HOT bool pattern_part_take(struct hot *hot, const struct pattern_part *part, bool leave_out,
                           size_t *slot)
{
    struct memo *memo = &hot->vm->memo;
    size_t extent = memo->extent;
    for (uint32_t i = 0; i < part->put_count; i++) {
        const struct pattern_put *put = &part->puts[i];
        if ((load_le32(hot->p + put->offset) & put->mask) != extent + put->push)
            return false;
    }
    uint32_t i = 0;
    if (leave_out && part->event_push == 0) { /* usually the first, or the only one */
        memo_skip(memo);
        i = 1;
    } else if (part->event_push != PATTERN_NO_PUSH) {
        *slot = memo_slot(memo) + part->event_push;
    }
    for (; i < part->push_count; i++)
        if (!memo_append(memo, part->pushes[i], hot->vm->err))
            return false;
    hot->p += part->size;
    return true;
}

/* Looks up a reference in the memo; false if the value does not have the tag. */
HOT bool pattern_payload(const struct pattern_reference *reference, struct pickle_vm *vm,
                         const uint8_t *p, enum value_tag tag, uint32_t *payload)
{
    size_t index = load_le32(p + reference->offset) & reference->mask;
    value v = memo_at(&vm->memo, index); /* VALUE_UNSET never has the tag */
    *payload = value_payload(v);
    return value_tag(v) == tag;
}

/* Reads the references of the event at p, like pattern_ints(). */
HOT bool pattern_references(struct pattern *pattern, struct pickle_vm *vm, const uint8_t *p)
{
    struct event_draft *event = &pattern->event;
    struct event_extra *extra = &event->row.extra;
    if (pattern->action.mask != 0) {
        string_id name;
        if (!pattern_payload(&pattern->action, vm, p, TAG_STRING, &name))
            return false;
        rows_event_action(&vm->rows, event, name);
    }
    return (pattern->compile_context.mask == 0 ||
            pattern_payload(&pattern->compile_context, vm, p, TAG_STRING,
                            &extra->compile_context)) &&
           (pattern->user_metadata.mask == 0 ||
            pattern_payload(&pattern->user_metadata, vm, p, TAG_STRING, &extra->user_metadata)) &&
           (pattern->stack.mask == 0 ||
            pattern_payload(&pattern->stack, vm, p, TAG_STACK, &event->row.stack));
}

HOT uint64_t pattern_int(const struct pattern_int *hole, const uint8_t *p, uint64_t *negative)
{
    uint64_t bits = load_le64(p + hole->offset) & hole->mask;
    *negative |= bits & hole->sign;
    return bits | hole->fixed;
}

/* Reads the integers of the event at p; false if one is out of range. */
HOT bool pattern_ints(struct pattern *pattern, const uint8_t *p)
{
    struct event_draft *event = &pattern->event;
    uint64_t negative = 0;
    event->row.addr = pattern_int(&pattern->ints[0], p, &negative);
    event->row.size = pattern_int(&pattern->ints[1], p, &negative);
    event->row.extra.stream = (int64_t)pattern_int(&pattern->ints[2], p, &negative);
    event->row.time_us = (int64_t)pattern_int(&pattern->ints[3], p, &negative);
    return negative == 0;
}

/* Reads the list of frames at hot->p if it is the expected one, in the usual form. With `leave_out`
 * it must also be put into the memo, where its entry is left out. On false nothing was read:
 * hot_frame_list() reads the list. */
HOT bool expected_list(struct hot *hot, bool leave_out, value *v)
{
    struct pickle_vm *vm = hot->vm;
    struct hot at = {vm, hot->p + 1, hot->end};
    size_t early = hot_memo_index(&at);
    if (*at.p++ != '(' || at.p > hot->end) /* MARK */
        return false;
    uint32_t index = spans_guess(&vm->spans, at.p, (size_t)(hot->end - at.p));
    if (index == 0)
        return false;
    const struct span *span = &vm->spans.spans[index];
    at.p += span->size;
    if (*at.p == '(' || span->stack > VALUE_PAYLOAD_MAX)
        return false; /* continues */
    *v = value_make(TAG_STACK, span->stack);
    size_t late = hot_memo_index(&at), put = early & late; /* one of them is SIZE_MAX */
    if (late != SIZE_MAX && early != SIZE_MAX)
        return false;
    if (put == vm->memo.extent && leave_out)
        memo_skip(&vm->memo);
    else if (leave_out ||
             (put != SIZE_MAX && (put != vm->memo.extent || !memo_append(&vm->memo, *v, vm->err))))
        return false;
    spans_met(&vm->spans, index, vm->patterns.last);
    hot->p = at.p;
    return true;
}

/* Reads the event at hot->p if it matches a pattern, like hot_event(). The returned event belongs
 * to the pattern. On NULL the memo may have grown. */
HOT struct event_draft *pattern_event(struct hot *hot, size_t *slot)
{
    struct pickle_vm *vm = hot->vm;
    struct memo *memo = &vm->memo;
    if (vm->patterns.count == 0 || memo->unset != 0)
        return NULL;
    struct pattern *pattern = pattern_of(vm, hot->p, hot->end);
    const uint8_t *begin = hot->p;
    size_t first = memo->extent;
    bool is_expected = true;
    *slot = SIZE_MAX;
    if (pattern == NULL || !pattern_ints(pattern, begin) || !pattern_references(pattern, vm, begin))
        return NULL;
    bool leave_out = pattern->shape.step > 0 && memo_may_leave_out(memo);
    if (!pattern_part_take(hot, &pattern->head, leave_out, slot))
        return NULL;
    if (pattern->has_list) {
        value stack;
        is_expected = expected_list(hot, leave_out, &stack);
        if (!is_expected && leave_out) { /* since hot_frame_list() leaves nothing out */
            memo_take_back(memo, first);
            hot->p = begin;
            leave_out = false;
            if (!pattern_part_take(hot, &pattern->head, false, slot))
                return NULL;
        }
        if (!is_expected)
            hot->p = hot_frame_list(vm, hot->p, hot->end, &stack);
        if (hot->p == NULL || !pattern_part_fits(&pattern->tail, hot->p, hot->end) ||
            !pattern_part_take(hot, &pattern->tail, leave_out, slot))
            return NULL;
        pattern->event.row.stack = value_payload(stack);
    }
    if (leave_out) {
        if (!memo_leave_out(memo, first, vm->rows.event_count, pattern->shape, vm->err))
            return NULL;
    } else if (is_expected && memo->extent - first == pattern->shape.step) {
        memo_met_event(memo, first);
    }
    vm->patterns.strangers = 0;
    return &pattern->event;
}

#endif
