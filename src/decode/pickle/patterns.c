#include "decode/pickle/patterns.h"

/* Limits learning: after many unknown events in a row, only one in up to this many is learned from.
 */
#define STRANGERS_MAX   256
#define STRANGERS_TRIED 64

void patterns_clear(struct pickle_vm *vm)
{
    vm->patterns.count = vm->patterns.last = 0;
}

void patterns_release(struct pickle_vm *vm)
{
    struct pattern_cache *cache = &vm->patterns;
    vec_free(cache->patterns, cache->capacity, sizeof *cache->patterns, vm->budget);
}

bool patterns_worthwhile(struct pickle_vm *vm)
{
    vm->patterns.strangers++;
    return vm->patterns.strangers < STRANGERS_MAX || vm->patterns.strangers % STRANGERS_TRIED == 0;
}

/* Reads the tokens of an event again to determine which bytes must be equal in similar events.
 * Every function returns false if patterns do not support the event's form. */
struct learner {
    struct pickle_vm *vm;
    struct pattern *pattern;
    struct pattern_part *part; /* the part that contains p */
    const uint8_t *p, *end;
    const uint8_t *base; /* where the part begins */
    size_t extent;       /* extent of the memo before the event */
    size_t pushed;       /* entries added since */
    uint32_t seen;       /* EVENT_SEEN() of the keys found */
};

static bool step(struct learner *l, size_t count, uint8_t mask)
{
    size_t at = (size_t)(l->p - l->base);
    if ((size_t)(l->end - l->p) < count || at + count > sizeof l->part->bytes)
        return false;
    memcpy((uint8_t *)l->part->bytes + at, l->p, count);
    memset((uint8_t *)l->part->mask + at, mask, count);
    l->p += count;
    l->part->size = (uint32_t)(at + count);
    return true;
}

static bool same(struct learner *l, size_t count)
{
    return step(l, count, 0xff);
}

static bool hole(struct learner *l, size_t count, uint32_t *offset)
{
    *offset = (uint32_t)(l->p - l->base);
    return step(l, count, 0);
}

static uint32_t mask_of_index(size_t width)
{
    return width == 1 ? UINT32_C(0xff) : UINT32_MAX;
}

/* Reads the memo opcode that may be at p, like hot_memo(). `*push` is the index of its push in the
 * part. */
static bool memo_op(struct learner *l, uint32_t *push)
{
    struct pattern_part *part = l->part;
    size_t width = *l->p == 0x94 ? 0 : *l->p == 'q' ? 1 : *l->p == 'r' ? 4 : SIZE_MAX;
    *push = PATTERN_NO_PUSH;
    if (width == SIZE_MAX)
        return true;
    if (part->push_count == PATTERN_PUSHES || !same(l, 1))
        return false;
    *push = part->push_count++;
    part->pushes[*push] = memo_at(&l->vm->memo, l->extent + l->pushed++);
    if (width == 0)
        return true;
    struct pattern_put *put = &part->puts[part->put_count++];
    *put = (struct pattern_put){.push = *push, .mask = mask_of_index(width)};
    return hole(l, width, &put->offset);
}

/* The width of a reference's index, 0 for other opcodes. */
static size_t reference_width(uint8_t op)
{
    return op == 'h' ? 1 : op == 'j' ? 4 : 0;
}

/* Reads a string, or a reference to an entry from before the event. */
static bool same_value(struct learner *l, value *v)
{
    uint32_t push;
    size_t width = reference_width(*l->p);
    if (width > 0) {
        size_t index = load_le32(l->p + 1) & mask_of_index(width);
        *v = index < l->extent ? memo_at(&l->vm->memo, index) : VALUE_UNSET;
        return *v != VALUE_UNSET && same(l, 1 + width);
    }
    size_t prefix = *l->p == 0x8c ? 2 : *l->p == 'X' ? 5 : 0;
    if (prefix == 0 || !same(l, prefix))
        return false;
    const uint8_t *bytes = l->p;
    size_t size = prefix == 2 ? bytes[-1] : load_le32(bytes - 4);
    return same(l, size) && pickle_string(l->vm, bytes, size, v) && memo_op(l, &push);
}

/* The index of the key among a pattern's integers; PATTERN_INTS if it is not one. */
static size_t int_of_key(unsigned key)
{
    return key == EVENT_ADDR      ? 0
           : key == EVENT_SIZE    ? 1
           : key == EVENT_STREAM  ? 2
           : key == EVENT_TIME_US ? 3
                                  : PATTERN_INTS;
}

/* The position and width of the bytes of an integer; false for other opcodes. */
static bool int_token(const uint8_t *p, size_t *prefix, size_t *width)
{
    *prefix = *p == 0x8a ? 2 : 1;
    *width = *p == 'K' ? 1 : *p == 'M' ? 2 : *p == 'J' ? 4 : *p == 0x8a ? p[1] : 0;
    return *width > 0 && *width <= 9;
}

static bool int_value(struct learner *l, unsigned key)
{
    size_t prefix, width, second_prefix, second_width;
    uint32_t push, offset;
    size_t which = int_of_key(key);
    uint8_t op = *l->p;
    if (!int_token(l->p, &prefix, &width))
        return false;
    if (int_token(l->p + prefix + width, &second_prefix, &second_width)) /* a pair: pool_id */
        return same(l, prefix + width + second_prefix + second_width + 1) && l->p[-1] == 0x86 &&
               memo_op(l, &push);
    if (which == PATTERN_INTS)
        return same(l, prefix + width);
    if (l->part != &l->pattern->head || !same(l, prefix) ||
        !hole(l, width < 8 ? width : 8, &offset) || !same(l, width > 8))
        return false;
    unsigned unused = width < 8 ? (unsigned)(64 - 8 * width) : 0;
    bool has_sign =
        op == 'J' || op == 0x8a; /* integers of 9 bytes too: larger values do not fit a pattern */
    l->pattern->ints[which] =
        (struct pattern_int){.offset = offset,
                             .mask = UINT64_MAX >> unused,
                             .sign = has_sign ? (UINT64_C(1) << 63) >> unused : 0};
    return true;
}

/* The hole for a reference that is the value of a key; NULL: the value must be the same. */
static struct pattern_reference *hole_of_key(struct pattern *pattern, unsigned key)
{
    switch (key) {
    case EVENT_ACTION:
        return &pattern->action;
    case EVENT_COMPILE_CONTEXT:
        return &pattern->compile_context;
    case EVENT_USER_METADATA:
        return &pattern->user_metadata;
    case EVENT_FRAMES:
        return &pattern->stack;
    default:
        return NULL;
    }
}

static bool reference(struct learner *l, unsigned key)
{
    value v;
    size_t width = reference_width(*l->p);
    size_t index = load_le32(l->p + 1) & mask_of_index(width);
    struct pattern_reference *hole_for = hole_of_key(l->pattern, key);
    enum value_tag wanted = key == EVENT_FRAMES ? TAG_STACK : TAG_STRING;
    /* the pattern would keep the text of a container that may still change */
    if (key < EVENT_FIELDS && row_field(ROW_EVENT, key)->kind == FIELD_ANY_TEXT &&
        index < l->extent && value_tag(memo_at(&l->vm->memo, index)) == TAG_NODE)
        return false;
    if (hole_for == NULL || index >= l->extent || value_tag(memo_at(&l->vm->memo, index)) != wanted)
        return same_value(l, &v);
    hole_for->mask = mask_of_index(width);
    return l->part == &l->pattern->head && same(l, 1) && hole(l, width, &hole_for->offset);
}

/* The position after the memo opcode that may be at p, within the list of frames. */
static const uint8_t *after_memo_op(struct learner *l, const uint8_t *p)
{
    size_t size = *p == 0x94 ? 1 : *p == 'q' ? 2 : *p == 'r' ? 5 : 0;
    l->pushed += size > 0;
    return p + size;
}

/* Skips a list of references, which hot_frame_list() reads, and begins the tail. */
static bool list_of_frames(struct learner *l)
{
    if (l->part != &l->pattern->head || !same(l, 1)) /* EMPTY_LIST: compared, not stepped over */
        return false;
    l->part->size--;
    const uint8_t *p = after_memo_op(l, l->p);
    size_t width = reference_width(*p);
    if (width > 0 && p[1 + width] == 'a') /* APPEND */
        p += 2 + width;
    while (*p == '(') {
        p++;
        while ((width = reference_width(*p)) > 0)
            p += 1 + width;
        if (*p++ != 'e') /* APPENDS */
            return false;
    }
    l->p = l->base = after_memo_op(l, p);
    l->part = &l->pattern->tail;
    l->pattern->has_list = true;
    return l->p < l->end;
}

static bool field(struct learner *l)
{
    value v;
    size_t prefix, width;
    if (!same_value(l, &v))
        return false;
    unsigned key = rows_field(&l->vm->rows, ROW_EVENT, v);
    if (key < EVENT_FIELDS) {
        if ((l->seen & EVENT_SEEN(key)) != 0 || key == EVENT_DEVICE_FREE)
            return false;
        l->seen |= EVENT_SEEN(key);
    }
    if (*l->p == 'N') /* NONE */
        return same(l, 1);
    if (int_token(l->p, &prefix, &width))
        return int_value(l, key);
    if (*l->p == ']')
        return key == EVENT_FRAMES && list_of_frames(l);
    return reference_width(*l->p) > 0 ? reference(l, key) : same_value(l, &v);
}

static bool whole_event(struct learner *l)
{
    uint32_t early, late = PATTERN_NO_PUSH;
    if (!same(l, 1) || !memo_op(l, &early) || *l->p != '(' || !same(l, 1))
        return false;
    l->pattern->head.event_push = early;
    while (*l->p != 'u') /* SETITEMS */
        if (!field(l))
            return false;
    if (!same(l, 1) || (early == PATTERN_NO_PUSH && !memo_op(l, &late)))
        return false;
    if (late != PATTERN_NO_PUSH)
        l->part->event_push = late;
    return l->p == l->end;
}

/* The number of chunks for `size` bytes and the EMPTY_LIST after them. */
static uint32_t chunks_of(const struct pattern_part *part)
{
    return part->size / (uint32_t)sizeof(chunk) + 1;
}

/* Assumes that the list was memoized before the tail. Of the entries a part adds, the event is
 * either the first, or it is stored. */
static struct memo_shape shape_of(const struct pattern *pattern)
{
    const struct pattern_part *head = &pattern->head, *tail = &pattern->tail;
    bool in_head = head->event_push != PATTERN_NO_PUSH;
    if (!pattern->has_list || (in_head ? head->event_push : tail->event_push) != 0)
        return (struct memo_shape){0};
    uint32_t list = head->push_count;
    return (struct memo_shape){.step = (uint8_t)(head->push_count + 1 + tail->push_count),
                               .event_at = (uint8_t)(in_head ? 0 : list + 1),
                               .list_at = (uint8_t)list};
}

/* Returns a pattern to fill: a new one, or the oldest if the limit is reached. */
static struct pattern *make_room(struct pattern_cache *cache, struct budget *budget)
{
    struct error ignored;
    if (cache->patterns == NULL &&
        !vec_reserve(cache->patterns, cache->capacity, PATTERNS, budget, &ignored))
        return NULL;
    return &cache->patterns[cache->count < PATTERNS ? cache->count : cache->oldest];
}

void patterns_learn(struct pickle_vm *vm, const uint8_t *begin, const uint8_t *end, size_t extent,
                    const struct event_draft *event)
{
    struct pattern_cache *cache = &vm->patterns;
    struct pattern *pattern = make_room(cache, vm->budget);
    if (pattern == NULL)
        return;
    struct pattern learned = {.event = *event};
    struct learner l = {.vm = vm,
                        .pattern = &learned,
                        .part = &learned.head,
                        .p = begin,
                        .end = end,
                        .base = begin,
                        .extent = extent};
    const uint32_t needed =
        EVENT_SEEN(EVENT_ACTION) | EVENT_SEEN(EVENT_ADDR) | EVENT_SEEN(EVENT_SIZE);
    learned.head.event_push = learned.tail.event_push = PATTERN_NO_PUSH;
    const uint64_t fixed[PATTERN_INTS] = {event->row.addr, event->row.size,
                                          (uint64_t)event->row.extra.stream,
                                          (uint64_t)event->row.time_us};
    for (size_t i = 0; i < PATTERN_INTS; i++)
        learned.ints[i].fixed = fixed[i];
    if (!whole_event(&l) || (l.seen & needed) != needed)
        return;
    learned.head.chunks = chunks_of(&learned.head);
    learned.tail.chunks = chunks_of(&learned.tail);
    learned.shape = shape_of(&learned);
    *pattern = learned;
    if (cache->count < PATTERNS)
        cache->count++;
    else
        cache->oldest = (cache->oldest + 1) % PATTERNS;
}
