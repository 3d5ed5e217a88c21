/* Long traces whose events differ a little, and now and then more: decoded by patterns, they must
 * give the same rows as decoded opcode by opcode. */
#include <stdlib.h>
#include <string.h>

#include "decode/pickle/vm.h"
#include "unit/decode/pickle/pickle.h"
#include "unit/decode/pickle/writer.h"

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
    writer_put(w, "eeu.", 4);
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
    writer_put(&w, BYTES("\x80\x04}(\x8c\x0d"
                         "device_traces](]("));
    return w;
}

/* Each run has other random numbers, and another style. */
START_TEST(patterns_change_nothing)
{
    struct writer w = begin(_i);
    for (uint64_t i = 0; i < 400; i++) {
        uint32_t index = writer_event(&w, i);
        if (index != UINT32_MAX && writer_roll(&w, 50) == 0)
            writer_get(&w, index); /* the same event again */
        if (i == 300)
            writer_overwrite(&w, "time_us", "stream");
    }
    check_both_ways(&w);
}
END_TEST

#define CALM_EVENTS 3000

/* The memo entries of one event. `list` or `pair` is UINT32_MAX if it refers to that of another
 * event.
 */
struct entries {
    uint32_t event, list, pair;
};

/* Writes a pool_id, which is memoized as well, or refers to that of an earlier event. */
static void pool(struct writer *w, uint32_t number, const struct entries *before,
                 struct entries *entries)
{
    uint32_t other =
        number > 0 && writer_roll(w, 30) == 0 ? before[writer_roll(w, number)].pair : UINT32_MAX;
    writer_text(w, "pool_id");
    if (other != UINT32_MAX) {
        writer_get(w, other);
        return;
    }
    writer_integer(w, number / 50 % 3);
    writer_integer(w, 1);
    writer_put_byte(w, 0x86);
    entries->pair = writer_memoize(w);
}

/* Writes an event of which only the event itself, its list of frames and its pool are memoized. The
 * lists come in turns. */
static struct entries calm_event(struct writer *w, uint32_t number, const struct entries *before,
                                 int pools)
{
    struct entries entries = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    bool is_late = w->style == MEMO_PUT_LATE;
    uint32_t other =
        number > 0 && writer_roll(w, 40) == 0 ? before[writer_roll(w, number)].list : UINT32_MAX;
    writer_put_byte(w, '}');
    if (!is_late)
        entries.event = writer_memoize(w);
    writer_put_byte(w, '(');
    writer_field(w, 0, number);
    writer_field(w, 1, number);
    writer_field(w, 2, number);
    if (pools == 1)
        pool(w, number, before, &entries);
    writer_text(w, "frames");
    if (other != UINT32_MAX) {
        writer_get(w, other);
    } else {
        writer_put_byte(w, ']');
        if (!is_late)
            entries.list = writer_memoize(w);
        writer_put_byte(w, '(');
        for (uint32_t i = 0; i < number % 3 + 1; i++)
            writer_get(w, w->frames[writer_roll(w, 100) == 0 ? 3 : (number + i) % 4]);
        writer_put_byte(w, 'e');
        if (is_late)
            entries.list = writer_memoize(w);
    }
    if (pools == 2)
        pool(w, number, before, &entries);
    writer_put_byte(w, 'u');
    if (is_late)
        entries.event = writer_memoize(w);
    return entries;
}

/* References to entries that the fast path did not memoize, as a list of frames or as a repeated
 * event. Finally, such entries are overwritten. */
START_TEST(what_is_left_out_is_known)
{
    struct writer w = begin(_i);
    struct entries *all = calloc(CALM_EVENTS, sizeof *all);
    ck_assert_ptr_nonnull(all);
    if (w.style == MEMO_NONE)
        w.style = MEMO_NEXT;
    while (w.frame_count < 4) /* in events of their own */
        writer_event(&w, 0);
    w.odd = false;
    for (uint32_t i = 0; i < CALM_EVENTS; i++) {
        all[i] = calm_event(&w, i, all, _i / 4 % 3);
        if (writer_roll(&w, 60) == 0)
            writer_get(&w, all[writer_roll(&w, i + 1)].event);
        if (i == CALM_EVENTS * 2 / 3 && _i % 3 == 0) {
            uint32_t target = all[writer_roll(&w, i)].event;
            writer_get(&w, all[i].event); /* in place of another event */
            writer_put_byte(&w, 'r');
            writer_put_number(&w, target, 4);
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
