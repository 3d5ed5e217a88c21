#include "unit/decode/pickle/writer.h"

#include <string.h>

#include "unit/decode/pickle/pickle.h"

uint32_t writer_roll(struct writer *w, uint32_t sides)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)(w->random >> 32) % sides;
}

/* True now and then in an event that is written in unusual ways. */
static bool oddly(struct writer *w, uint32_t sides)
{
    return w->odd && writer_roll(w, sides) == 0;
}

void writer_put(struct writer *w, const void *bytes, size_t size)
{
    buffer_add(&w->out, bytes, size);
}

void writer_put_byte(struct writer *w, int byte)
{
    writer_put(w, &(uint8_t){(uint8_t)byte}, 1);
}

void writer_put_number(struct writer *w, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; i++)
        writer_put_byte(w, (int)(number >> (8 * i) & 0xff));
}

uint32_t writer_memoize(struct writer *w)
{
    if (w->style == MEMO_NEXT) {
        writer_put_byte(w, 0x94);
    } else if (w->style != MEMO_NONE) {
        writer_put_byte(w, w->memo < 256 ? 'q' : 'r');
        writer_put_number(w, w->memo, w->memo < 256 ? 1 : 4);
    }
    return w->style == MEMO_NONE ? UINT32_MAX : w->memo++;
}

void writer_get(struct writer *w, uint32_t index)
{
    bool is_short = index < 256 && !oddly(w, 10);
    writer_put_byte(w, is_short ? 'h' : 'j');
    writer_put_number(w, index, is_short ? 1 : 4);
}

void writer_text(struct writer *w, const char *string)
{
    size_t i = 0;
    while (i < w->text_count && strcmp(w->texts[i], string) != 0)
        i++;
    if (i < w->text_count && w->text_memo[i] != UINT32_MAX && !oddly(w, 10)) {
        writer_get(w, w->text_memo[i]);
        return;
    }
    writer_put_byte(w, 0x8c);
    writer_put_byte(w, (int)strlen(string));
    writer_put(w, string, strlen(string));
    uint32_t index = writer_memoize(w);
    if (i == w->text_count) {
        ck_assert_uint_lt(w->text_count, WRITER_TEXTS);
        w->texts[w->text_count++] = string;
    }
    w->text_memo[i] = index;
}

void writer_integer(struct writer *w, uint64_t number)
{
    if (number < 256 && !oddly(w, 10)) {
        writer_put_byte(w, 'K');
        writer_put_number(w, number, 1);
    } else if (number < 65536 && !oddly(w, 10)) {
        writer_put_byte(w, 'M');
        writer_put_number(w, number, 2);
    } else if (number < UINT32_C(1) << 31 && !oddly(w, 10)) {
        writer_put_byte(w, 'J');
        writer_put_number(w, number, 4);
    } else {
        size_t width = 1;
        while (width < 8 && number >> (8 * width - 1) != 0)
            width++;
        width += number >> 63;
        writer_put_byte(w, 0x8a);
        writer_put_byte(w, (int)width);
        writer_put_number(w, number, width < 8 ? width : 8);
        if (width > 8)
            writer_put_byte(w, 0);
    }
}

static void frame(struct writer *w)
{
    if (w->frame_count == 4 && !oddly(w, 10)) {
        writer_get(w, w->frames[writer_roll(w, 4)]);
        return;
    }
    uint32_t index = UINT32_MAX;
    writer_put_byte(w, '}');
    if (w->style != MEMO_PUT_LATE)
        index = writer_memoize(w);
    writer_put_byte(w, '(');
    writer_text(w, "line");
    writer_integer(w, writer_roll(w, 3));
    writer_text(w, "name");
    writer_text(w, writer_roll(w, 2) ? "f" : "g");
    writer_put_byte(w, 'u');
    if (w->style == MEMO_PUT_LATE)
        index = writer_memoize(w);
    if (index != UINT32_MAX && w->frame_count < 4)
        w->frames[w->frame_count++] = index;
}

static void frames(struct writer *w)
{
    if (w->stack_count > 0 && writer_roll(w, 3) == 0) {
        writer_get(w, w->stacks[writer_roll(w, w->stack_count)]);
        return;
    }
    uint32_t index = UINT32_MAX;
    writer_put_byte(w, ']');
    if (w->style != MEMO_PUT_LATE)
        index = writer_memoize(w);
    if (!oddly(w, 8)) {
        writer_put_byte(w, '(');
        for (uint32_t i = writer_roll(w, 4); i < 4; i++)
            frame(w);
        writer_put_byte(w, 'e');
    }
    if (w->style == MEMO_PUT_LATE)
        index = writer_memoize(w);
    if (index != UINT32_MAX) {
        w->stacks[w->stack_count % 4] = index;
        w->stack_count += w->stack_count < 4;
    }
}

void writer_field(struct writer *w, unsigned which, uint64_t event)
{
    static const char *const actions[] = {"alloc", "free_requested", "free_completed",
                                          "segment_alloc", "something_new"};
    static const uint64_t sizes[] = {8, 200, 3000, 70000, UINT64_C(3) << 32, UINT64_C(1) << 63};
    static const char *const keys[] = {"action", "addr",    "size",          "stream",    "time_us",
                                       "frames", "pool_id", "user_metadata", "unheard_of"};
    writer_text(w, keys[which]);
    switch (which) {
    case 0:
        writer_text(w, actions[writer_roll(w, oddly(w, 5) ? 5 : 3)]);
        break;
    case 1:
        writer_integer(w, (oddly(w, 5) ? UINT64_C(0xff) << 56 : UINT64_C(0x7f) << 40) | event << 9);
        break;
    case 2:
        writer_integer(w, sizes[writer_roll(w, oddly(w, 5) ? 6 : 4)]);
        break;
    case 3:
        writer_put_byte(w, 'J');
        writer_put_number(w, writer_roll(w, 20) ? 7 : UINT32_MAX, 4);
        break;
    case 4:
        writer_integer(w, UINT64_C(1783874668016747) + event);
        break;
    case 5:
        frames(w);
        break;
    case 6:
        writer_integer(w, writer_roll(w, 2));
        writer_integer(w, 0);
        writer_put_byte(w, 0x86);
        writer_memoize(w);
        break;
    case 7:
        if (oddly(w, 5))
            writer_put_byte(w, 'N');
        else if (oddly(w, 5))
            writer_put(w, "](K\1K\2e", 7);
        else
            writer_text(w, writer_roll(w, 2) ? "N/A" : "step");
        break;
    default:
        writer_integer(w, writer_roll(w, 2));
    }
}

uint32_t writer_event(struct writer *w, uint64_t number)
{
    uint32_t index = UINT32_MAX;
    w->odd = writer_roll(w, 4) == 0;
    if (oddly(w, 10))
        writer_put(w, "\x95\0\0\0\0\0\0\0\0", 9); /* FRAME */
    writer_put_byte(w, '}');
    if (w->style != MEMO_PUT_LATE)
        index = writer_memoize(w);
    writer_put_byte(w, '(');
    bool backwards = oddly(w, 10);
    for (unsigned i = 0; i < 9; i++) {
        unsigned which = backwards ? 8 - i : i;
        if (which < 3 || !oddly(w, 10))
            writer_field(w, which, number);
        if (oddly(w, 40))
            writer_field(w, which, number); /* again: the last counts */
    }
    writer_put_byte(w, 'u');
    return w->style == MEMO_PUT_LATE ? writer_memoize(w) : index;
}

void writer_overwrite(struct writer *w, const char *old, const char *new)
{
    size_t i = 0;
    while (i < w->text_count && strcmp(w->texts[i], old) != 0)
        i++;
    if (i == w->text_count || w->text_memo[i] == UINT32_MAX)
        return;
    writer_put_byte(w, 0x8c);
    writer_put_byte(w, (int)strlen(new));
    writer_put(w, new, strlen(new));
    writer_put_byte(w, 'r');
    writer_put_number(w, w->text_memo[i], 4);
    writer_put_byte(w, '0'); /* POP */
}
