#include "render/page/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/live/source.h"
#include "base/hash.h"
#include "model/live.h"
#include "render/core/escape.h"

#define GROW(stacks, array, capacity, need)                                                        \
    vec_reserve((stacks)->array, (stacks)->capacity, need, (stacks)->budget, err)

static const char *text_at(const struct html_stacks *stacks, size_t text, size_t *size)
{
    size_t begin = text > 0 ? stacks->text_ends[text - 1] : 0;
    *size = stacks->text_ends[text] - begin;
    return stacks->text.bytes ? stacks->text.bytes + begin : "";
}

static bool is_text(const void *stacks, uint32_t text, const void *wanted)
{
    size_t size;
    const char *bytes = text_at(stacks, text, &size);
    return text_same((struct text){bytes, size}, *(const struct text *)wanted);
}

/* Adds text that is already escaped. */
static bool add_shown(struct html_stacks *stacks, const char *bytes, size_t size, uint32_t *text,
                      struct error *err)
{
    uint32_t tag = (uint32_t)hash_bytes(bytes, size, hash_seed());
    const struct text wanted = {bytes, size};
    if (idtable_find(&stacks->by_text, tag, is_text, stacks, &wanted, text))
        return true;
    if (!GROW(stacks, text_ends, text_capacity, stacks->text_count + 1) ||
        !idtable_reserve(&stacks->by_text, stacks->budget, err))
        return false;
    buffer_add(&stacks->text, bytes, size);
    if (stacks->text.failed)
        return error_out_of_memory(err);
    *text = (uint32_t)stacks->text_count;
    stacks->text_ends[stacks->text_count++] = stacks->text.size;
    idtable_insert(&stacks->by_text, tag, *text);
    return true;
}

static bool is_full(const struct html_stacks *stacks)
{
    return stacks->text.size + HTML_TEXT_LENGTH_MOST * HTML_ESCAPE_MOST > HTML_TEXT_MOST;
}

/* Raw bytes. A long file name keeps its end, which says the most. */
static bool add_text(struct html_stacks *stacks, struct text text, bool is_file, uint32_t *id,
                     struct error *err)
{
    static const char dots[] = "\xe2\x80\xa6";
    struct buffer shown = BUFFER_INIT;
    struct text part =
        is_file ? text_last(text, HTML_TEXT_LENGTH_MOST) : text_first(text, HTML_TEXT_LENGTH_MOST);
    if (is_full(stacks))
        return add_shown(stacks, dots, sizeof(dots) - 1, id, err);
    if (part.size < text.size && is_file)
        buffer_puts(&shown, dots);
    escape_text(&shown, part.bytes, part.size);
    if (part.size < text.size && !is_file)
        buffer_puts(&shown, dots);
    bool ok = !shown.failed || error_out_of_memory(err);
    ok = ok && add_shown(stacks, shown.size ? shown.bytes : "", shown.size, id, err);
    buffer_release(&shown);
    return ok;
}

static bool add_frame(struct html_stacks *stacks, const struct symbols *symbols, frame_id id,
                      uint32_t *frame, struct error *err)
{
    if (stacks->frame_ids[id] > 0) {
        *frame = stacks->frame_ids[id] - 1;
        return true;
    }
    struct frame source = symbols_frame_at(symbols, id);
    struct html_frame made = {.line = source.line};
    if (!add_text(stacks, symbols_text(symbols, source.name), false, &made.name, err) ||
        !add_text(stacks, symbols_text(symbols, source.file), true, &made.file, err) ||
        !GROW(stacks, frames, frame_capacity, stacks->frame_count + 1))
        return false;
    *frame = (uint32_t)stacks->frame_count;
    stacks->frames[stacks->frame_count++] = made;
    stacks->frame_ids[id] = *frame + 1;
    return true;
}

static bool has_room(const struct html_stacks *stacks)
{
    return !is_full(stacks) && stacks->stacked_count < HTML_STACKED_MOST &&
           stacks->frame_count < HTML_FRAMES_MOST;
}

static bool add_frames(struct html_stacks *stacks, const struct symbols *symbols, stack_id id,
                       bool *whole, struct error *err)
{
    struct stack source = symbols_stack_at(symbols, id);
    size_t count = source.count < HTML_STACK_DEPTH_MOST ? source.count : HTML_STACK_DEPTH_MOST;
    size_t i = 0;
    if (!GROW(stacks, stacked, stacked_capacity, stacks->stacked_count + count))
        return false;
    for (; i < count && has_room(stacks); i++) {
        if (!add_frame(stacks, symbols, source.frames[i], &stacks->stacked[stacks->stacked_count],
                       err))
            return false;
        stacks->stacked_count++;
    }
    *whole = i == source.count;
    return true;
}

/* A line between the stack of a backward pass and the forward stack that it belongs to. */
static bool add_divider(struct html_stacks *stacks, struct error *err)
{
    static const struct text name = {"(its backward)", 14};
    struct html_frame made = {0};
    if (!has_room(stacks))
        return true;
    if (!add_text(stacks, name, false, &made.name, err) ||
        !add_text(stacks, (struct text){"", 0}, true, &made.file, err) ||
        !GROW(stacks, frames, frame_capacity, stacks->frame_count + 1) ||
        !GROW(stacks, stacked, stacked_capacity, stacks->stacked_count + 1))
        return false;
    stacks->stacked[stacks->stacked_count++] = (uint32_t)stacks->frame_count;
    stacks->frames[stacks->frame_count++] = made;
    return true;
}

/* The call site, the index of its frame, and the frames. */
static bool fill(struct html_stacks *stacks, struct html_stack *made, const struct live_set *set,
                 const struct live_source *source, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(set->sites);
    const struct site *site = &source->site;
    struct buffer label = BUFFER_INIT;
    live_source_label(set, source, NULL, false, &label);
    bool ok = !label.failed || error_out_of_memory(err);
    ok = ok && add_text(stacks, (struct text){label.bytes, label.size}, false, &made->label, err);
    buffer_release(&label);
    made->first = (uint32_t)stacks->stacked_count;
    if (!ok || !add_frames(stacks, symbols, source->own, &made->whole, err))
        return false;
    size_t before = 0;
    if (made->forward != STACK_NONE) {
        bool forward_whole;
        if (!add_divider(stacks, err))
            return false;
        before = stacks->stacked_count - made->first;
        if (!add_frames(stacks, symbols, made->forward, &forward_whole, err))
            return false;
        made->whole = made->whole && forward_whole;
    }
    uint32_t frame = site_line(site);
    if (frame != NO_FRAME && before + frame < stacks->stacked_count - made->first)
        made->site = (uint32_t)(before + frame);
    return true;
}

/* Finds the stack that was made of these two. */
static bool find_stack(const struct html_stacks *stacks, const struct html_stack *wanted,
                       uint32_t tag, uint32_t *stack)
{
    if (wanted->forward == STACK_NONE) {
        *stack = stacks->stack_ids[wanted->own] - 1;
        return stacks->stack_ids[wanted->own] > 0;
    }
    struct idprobe probe = idtable_probe(&stacks->by_pair, tag);
    while (idtable_next(&stacks->by_pair, &probe, stack))
        if (stacks->stacks[*stack].own == wanted->own &&
            stacks->stacks[*stack].forward == wanted->forward)
            return true;
    return false;
}

static bool add_stack(struct html_stacks *stacks, const struct live_set *set,
                      const struct live_source *source, uint32_t *stack, struct error *err)
{
    struct html_stack made = {.own = source->own,
                              .forward =
                                  source->source == SOURCE_FORWARD ? source->shown : STACK_NONE,
                              .site = HTML_NO_FRAME};
    uint32_t tag = (uint32_t)hash_word((uint64_t)made.own << 32 | made.forward, hash_seed());
    if (find_stack(stacks, &made, tag, stack))
        return true;
    if (!GROW(stacks, stacks, stack_capacity, stacks->stack_count + 1) ||
        !idtable_reserve(&stacks->by_pair, stacks->budget, err) ||
        !fill(stacks, &made, set, source, err))
        return false;
    *stack = (uint32_t)stacks->stack_count;
    stacks->stacks[stacks->stack_count++] = made;
    if (made.forward == STACK_NONE)
        stacks->stack_ids[made.own] = *stack + 1;
    else
        idtable_insert(&stacks->by_pair, tag, *stack);
    return true;
}

/* Stack 0 stands for memory allocated before recording began. */
static bool add_unrecorded(struct html_stacks *stacks, struct error *err)
{
    static const struct text label = {"allocated before recording began", 32};
    struct html_stack made = {.site = HTML_NO_FRAME, .whole = true};
    if (!GROW(stacks, stacks, stack_capacity, 1) ||
        !add_text(stacks, label, false, &made.label, err))
        return false;
    stacks->stacks[stacks->stack_count++] = made;
    return true;
}

/* A band, and its area in the picture. */
struct place {
    double area;
    size_t band;
};

static int by_area(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->area != y->area)
        return x->area > y->area ? -1 : 1;
    return (x->band > y->band) - (x->band < y->band);
}

/* Adds the annotations of a band. */
static bool add_note(struct html_stacks *stacks, const struct timeline *timeline,
                     const struct live *live, size_t band, struct error *err)
{
    uint32_t *note = &stacks->note_of_band[band];
    string_id text;
    *note = 0;
    if (!live_note_text(timeline, live, &text, err))
        return false;
    if (text == STRING_EMPTY)
        return true;
    if (!add_text(stacks, symbols_text(timeline->snapshot->symbols, text), false, note, err))
        return false;
    ++*note;
    stacks->has_notes = true;
    return true;
}

static bool add_bands(struct html_stacks *stacks, const struct html_page *page,
                      struct place *places, struct error *err)
{
    const struct bands *bands = page->bands;
    const struct live_set set = {.timeline = page->timeline, .sites = page->sites};
    for (size_t b = 0; b < bands->count; b++) {
        const struct band *band = &bands->items[b];
        places[b] = (struct place){(double)band->size * (double)(band->end - band->begin), b};
    }
    if (bands->count > 0)
        qsort(places, bands->count, sizeof(*places), by_area);
    for (size_t i = 0; i < bands->count; i++) {
        const struct band *band = &bands->items[places[i].band];
        uint32_t *stack = &stacks->of_band[places[i].band];
        const struct live live = band_live(band);
        struct live_source source;
        if (!add_note(stacks, page->timeline, &live, places[i].band, err))
            return false;
        if (band->stack == STACK_NONE && live_is_older(&set, &live))
            *stack = 0;
        else if (!live_source_of(&set, &live, &source, err) ||
                 !add_stack(stacks, &set, &source, stack, err))
            return false;
    }
    return true;
}

bool html_stacks_make(struct html_stacks *stacks, const struct html_page *page, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(page->sites);
    size_t frames = symbols_frame_count(symbols), stack_ids = symbols_stack_count(symbols);
    *stacks = (struct html_stacks){.budget = page->timeline->snapshot->budget};
    if (!GROW(stacks, frame_ids, frame_ids_capacity, frames + 1) ||
        !GROW(stacks, stack_ids, stack_ids_capacity, stack_ids + 1) ||
        !GROW(stacks, of_band, band_capacity, page->bands->count + 1) ||
        !GROW(stacks, note_of_band, note_capacity, page->bands->count + 1))
        return false;
    memset(stacks->frame_ids, 0, (frames + 1) * sizeof(*stacks->frame_ids));
    memset(stacks->stack_ids, 0, (stack_ids + 1) * sizeof(*stacks->stack_ids));
    struct place *places = calloc(page->bands->count + 1, sizeof(*places));
    bool ok = places || error_out_of_memory(err);
    ok = ok && add_unrecorded(stacks, err) && add_bands(stacks, page, places, err);
    free(places);
    return ok;
}

#define FREE(stacks, array, capacity)                                                              \
    vec_free((stacks)->array, (stacks)->capacity, sizeof(*(stacks)->array), (stacks)->budget)

void html_stacks_release(struct html_stacks *stacks)
{
    if (!stacks->budget)
        return;
    FREE(stacks, text_ends, text_capacity);
    FREE(stacks, frames, frame_capacity);
    FREE(stacks, stacked, stacked_capacity);
    FREE(stacks, stacks, stack_capacity);
    FREE(stacks, of_band, band_capacity);
    FREE(stacks, note_of_band, note_capacity);
    FREE(stacks, frame_ids, frame_ids_capacity);
    FREE(stacks, stack_ids, stack_ids_capacity);
    idtable_release(&stacks->by_text, stacks->budget);
    idtable_release(&stacks->by_pair, stacks->budget);
    buffer_release(&stacks->text);
    *stacks = (struct html_stacks){0};
}
