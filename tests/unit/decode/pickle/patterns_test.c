/* Long traces whose events differ in a little, now and then in more: taken by patterns, they must
 * give the same rows as opcode by opcode. */
#include <stdlib.h>
#include <string.h>

#include "decode/pickle/vm.h"
#include "unit/decode/pickle/pickle.h"

enum memo_style { MEMO_NONE, MEMO_NEXT, MEMO_PUT, MEMO_PUT_LATE };

#define TEXTS 24

/* Writes a pickle. */
struct writer {
    struct buffer out;
    enum memo_style style;
    uint32_t memo;   /* entries so far */
    uint64_t random; /* xorshift */
    const char *texts[TEXTS];
    uint32_t text_memo[TEXTS];
    size_t text_count;
    uint32_t stacks[4], stack_count; /* lists in the memo */
    uint32_t frames[4], frame_count; /* frames in the memo */
    bool odd;                        /* this event is written in unusual ways */
};

static uint32_t roll(struct writer *w, uint32_t sides)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)(w->random >> 32) % sides;
}

/* Now and then, in an event that is odd. */
static bool oddly(struct writer *w, uint32_t sides)
{
    return w->odd && roll(w, sides) == 0;
}

static void put(struct writer *w, const void *bytes, size_t size)
{
    buffer_add(&w->out, bytes, size);
}

static void put_byte(struct writer *w, int byte)
{
    put(w, &(uint8_t){(uint8_t)byte}, 1);
}

/* Little-endian. */
static void put_number(struct writer *w, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; i++)
        put_byte(w, (int)(number >> (8 * i) & 0xff));
}

static uint32_t memoize(struct writer *w)
{
    if (w->style == MEMO_NEXT) {
        put_byte(w, 0x94);
    } else if (w->style != MEMO_NONE) {
        put_byte(w, w->memo < 256 ? 'q' : 'r');
        put_number(w, w->memo, w->memo < 256 ? 1 : 4);
    }
    return w->style == MEMO_NONE ? UINT32_MAX : w->memo++;
}

static void get(struct writer *w, uint32_t index)
{
    bool is_short = index < 256 && !oddly(w, 10);
    put_byte(w, is_short ? 'h' : 'j');
    put_number(w, index, is_short ? 1 : 4);
}

static void text(struct writer *w, const char *string)
{
    size_t i = 0;
    while (i < w->text_count && strcmp(w->texts[i], string) != 0)
        i++;
    if (i < w->text_count && w->text_memo[i] != UINT32_MAX && !oddly(w, 10)) {
        get(w, w->text_memo[i]);
        return;
    }
    put_byte(w, 0x8c);
    put_byte(w, (int)strlen(string));
    put(w, string, strlen(string));
    uint32_t index = memoize(w);
    if (i == w->text_count) {
        ck_assert_uint_lt(w->text_count, TEXTS);
        w->texts[w->text_count++] = string;
    }
    w->text_memo[i] = index;
}

static void integer(struct writer *w, uint64_t number)
{
    if (number < 256 && !oddly(w, 10)) {
        put_byte(w, 'K');
        put_number(w, number, 1);
    } else if (number < 65536 && !oddly(w, 10)) {
        put_byte(w, 'M');
        put_number(w, number, 2);
    } else if (number < UINT32_C(1) << 31 && !oddly(w, 10)) {
        put_byte(w, 'J');
        put_number(w, number, 4);
    } else {
        size_t width = 1;
        while (width < 8 && number >> (8 * width - 1) != 0)
            width++;
        width += number >> 63;
        put_byte(w, 0x8a);
        put_byte(w, (int)width);
        put_number(w, number, width < 8 ? width : 8);
        if (width > 8)
            put_byte(w, 0);
    }
}

static void frame(struct writer *w)
{
    if (w->frame_count == 4 && !oddly(w, 10)) {
        get(w, w->frames[roll(w, 4)]);
        return;
    }
    uint32_t index = UINT32_MAX;
    put_byte(w, '}');
    if (w->style != MEMO_PUT_LATE)
        index = memoize(w);
    put_byte(w, '(');
    text(w, "line");
    integer(w, roll(w, 3));
    text(w, "name");
    text(w, roll(w, 2) ? "f" : "g");
    put_byte(w, 'u');
    if (w->style == MEMO_PUT_LATE)
        index = memoize(w);
    if (index != UINT32_MAX && w->frame_count < 4)
        w->frames[w->frame_count++] = index;
}

static void frames(struct writer *w)
{
    if (w->stack_count > 0 && roll(w, 3) == 0) {
        get(w, w->stacks[roll(w, w->stack_count)]);
        return;
    }
    uint32_t index = UINT32_MAX;
    put_byte(w, ']');
    if (w->style != MEMO_PUT_LATE)
        index = memoize(w);
    if (!oddly(w, 8)) {
        put_byte(w, '(');
        for (uint32_t i = roll(w, 4); i < 4; i++)
            frame(w);
        put_byte(w, 'e');
    }
    if (w->style == MEMO_PUT_LATE)
        index = memoize(w);
    if (index != UINT32_MAX) {
        w->stacks[w->stack_count % 4] = index;
        w->stack_count += w->stack_count < 4;
    }
}

static void field(struct writer *w, unsigned which, uint64_t event)
{
    static const char *const actions[] = {"alloc", "free_requested", "free_completed",
                                          "segment_alloc", "something_new"};
    static const uint64_t sizes[] = {8, 200, 3000, 70000, UINT64_C(3) << 32, UINT64_C(1) << 63};
    static const char *const keys[] = {"action", "addr",    "size",          "stream",    "time_us",
                                       "frames", "pool_id", "user_metadata", "unheard_of"};
    text(w, keys[which]);
    switch (which) {
    case 0:
        text(w, actions[roll(w, oddly(w, 5) ? 5 : 3)]);
        break;
    case 1:
        integer(w, (oddly(w, 5) ? UINT64_C(0xff) << 56 : UINT64_C(0x7f) << 40) | event << 9);
        break;
    case 2:
        integer(w, sizes[roll(w, oddly(w, 5) ? 6 : 4)]);
        break;
    case 3:
        put_byte(w, 'J');
        put_number(w, roll(w, 20) ? 7 : UINT32_MAX, 4);
        break;
    case 4:
        integer(w, UINT64_C(1783874668016747) + event);
        break;
    case 5:
        frames(w);
        break;
    case 6:
        integer(w, roll(w, 2));
        integer(w, 0);
        put_byte(w, 0x86);
        memoize(w);
        break;
    case 7:
        if (oddly(w, 5))
            put_byte(w, 'N');
        else
            text(w, roll(w, 2) ? "N/A" : "step");
        break;
    default:
        integer(w, roll(w, 2));
    }
}

/* Its index in the memo, or UINT32_MAX. */
static uint32_t event(struct writer *w, uint64_t number)
{
    uint32_t index = UINT32_MAX;
    w->odd = roll(w, 4) == 0;
    if (oddly(w, 10))
        put(w, "\x95\0\0\0\0\0\0\0\0", 9); /* FRAME */
    put_byte(w, '}');
    if (w->style != MEMO_PUT_LATE)
        index = memoize(w);
    put_byte(w, '(');
    bool backwards = oddly(w, 10);
    for (unsigned i = 0; i < 9; i++) {
        unsigned which = backwards ? 8 - i : i;
        if (which < 3 || !oddly(w, 10))
            field(w, which, number);
        if (oddly(w, 40))
            field(w, which, number); /* again: the last counts */
    }
    put_byte(w, 'u');
    return w->style == MEMO_PUT_LATE ? memoize(w) : index;
}

/* Overwrites the memo entry of one text with another text, which later references then get. */
static void overwrite(struct writer *w, const char *old, const char *new)
{
    size_t i = 0;
    while (i < w->text_count && strcmp(w->texts[i], old) != 0)
        i++;
    if (i == w->text_count || w->text_memo[i] == UINT32_MAX)
        return;
    put_byte(w, 0x8c);
    put_byte(w, (int)strlen(new));
    put(w, new, strlen(new));
    put_byte(w, 'r');
    put_number(w, w->text_memo[i], 4);
    put_byte(w, '0'); /* POP */
}

static char *rows_of(const struct buffer *pickle, rows_decoder *decoder)
{
    struct rows_outcome outcome = rows_decode(decoder, pickle->bytes, pickle->size, PLENTY);
    ck_assert_msg(outcome.ok, "byte %lld: %s", (long long)outcome.err.offset, outcome.err.text);
    char *rows = strdup(outcome.rows.bytes);
    buffer_release(&outcome.rows);
    return rows;
}

static bool opcode_by_opcode(struct source *source, struct symbols *symbols,
                             const struct row_sink *sink, struct decoded *decoded,
                             struct error *err)
{
    return pickle_snapshot(source, symbols, sink, true, decoded, err);
}

static void check_both_ways(struct writer *w)
{
    put(w, "eeu.", 4);
    char *fast = rows_of(&w->out, decode_pickle_snapshot);
    char *slow = rows_of(&w->out, opcode_by_opcode);
    size_t same = 0;
    while (fast[same] != 0 && fast[same] == slow[same])
        same++;
    ck_assert_msg(fast[same] == slow[same], "'%.60s' where '%.60s' is right", fast + same,
                  slow + same);
    free(fast);
    free(slow);
    buffer_release(&w->out);
}

static struct writer begin(int seed)
{
    struct writer w = {.style = (enum memo_style)(seed % 4),
                       .random = (uint64_t)(seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};
    put(&w, BYTES("\x80\x04}(\x8c\x0d"
                  "device_traces](]("));
    return w;
}

/* Each time other dice, and another style. */
START_TEST(patterns_change_nothing)
{
    struct writer w = begin(_i);
    for (uint64_t i = 0; i < 400; i++) {
        uint32_t index = event(&w, i);
        if (index != UINT32_MAX && roll(&w, 50) == 0)
            get(&w, index); /* the same event again */
        if (i == 300)
            overwrite(&w, "time_us", "stream");
    }
    check_both_ways(&w);
}
END_TEST

#define CALM_EVENTS 3000

/* The memo entries of one event. No list or pair if it referred to another event's. */
struct entries {
    uint32_t event, list, pair;
};

/* A pool_id is memoized as well. */
static void pool(struct writer *w, uint32_t number, const struct entries *before,
                 struct entries *entries)
{
    uint32_t other = number > 0 && roll(w, 30) == 0 ? before[roll(w, number)].pair : UINT32_MAX;
    text(w, "pool_id");
    if (other != UINT32_MAX) {
        get(w, other);
        return;
    }
    integer(w, number / 50 % 3);
    integer(w, 1);
    put_byte(w, 0x86);
    entries->pair = memoize(w);
}

/* Nothing but an event, its list and its pool goes into the memo, and the lists come in turns. */
static struct entries calm_event(struct writer *w, uint32_t number, const struct entries *before,
                                 int pools)
{
    struct entries entries = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    bool is_late = w->style == MEMO_PUT_LATE;
    uint32_t other = number > 0 && roll(w, 40) == 0 ? before[roll(w, number)].list : UINT32_MAX;
    put_byte(w, '}');
    if (!is_late)
        entries.event = memoize(w);
    put_byte(w, '(');
    field(w, 0, number);
    field(w, 1, number);
    field(w, 2, number);
    if (pools == 1)
        pool(w, number, before, &entries);
    text(w, "frames");
    if (other != UINT32_MAX) {
        get(w, other);
    } else {
        put_byte(w, ']');
        if (!is_late)
            entries.list = memoize(w);
        put_byte(w, '(');
        for (uint32_t i = 0; i < number % 3 + 1; i++)
            get(w, w->frames[roll(w, 100) == 0 ? 3 : (number + i) % 4]);
        put_byte(w, 'e');
        if (is_late)
            entries.list = memoize(w);
    }
    if (pools == 2)
        pool(w, number, before, &entries);
    put_byte(w, 'u');
    if (is_late)
        entries.event = memoize(w);
    return entries;
}

/* Refers to entries that the fast path did not memoize, as a list of frames or as a repeated event,
 * and finally overwrites them. */
START_TEST(what_is_left_out_is_known)
{
    struct writer w = begin(_i);
    struct entries *all = calloc(CALM_EVENTS, sizeof *all);
    ck_assert_ptr_nonnull(all);
    if (w.style == MEMO_NONE)
        w.style = MEMO_NEXT;
    while (w.frame_count < 4) /* in events of their own */
        event(&w, 0);
    w.odd = false;
    for (uint32_t i = 0; i < CALM_EVENTS; i++) {
        all[i] = calm_event(&w, i, all, _i / 4 % 3);
        if (roll(&w, 60) == 0)
            get(&w, all[roll(&w, i + 1)].event);
        if (i == CALM_EVENTS * 2 / 3 && _i % 3 == 0) {
            uint32_t target = all[roll(&w, i)].event;
            get(&w, all[i].event); /* in place of another event */
            put_byte(&w, 'r');
            put_number(&w, target, 4);
        }
    }
    free(all);
    check_both_ways(&w);
}
END_TEST

TCase *patterns_tests(void)
{
    TCase *tests = tcase_create("patterns");
    tcase_add_loop_test(tests, patterns_change_nothing, 0, 80);
    tcase_add_loop_test(tests, what_is_left_out_is_known, 0, 96);
    return tests;
}
