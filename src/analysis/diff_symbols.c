#include "analysis/diff_symbols.h"

#include <string.h>

bool translate_string(struct translation *translation, string_id id, string_id *translated,
                      struct error *err)
{
    struct text text = symbols_text(translation->from, id);
    return symbols_string(translation->to, text.bytes, text.size, translated, err);
}

static bool make_twin(struct translation *translation, frame_id id, struct frame_twin *twin,
                      struct error *err)
{
    struct frame frame = symbols_frame_at(translation->from, id);
    frame_id exact, bare;
    if (!translate_string(translation, frame.file, &frame.file, err) ||
        !translate_string(translation, frame.name, &frame.name, err) ||
        !symbols_frame(translation->to, frame, &exact, err))
        return false;
    frame.line = 0;
    if (!symbols_frame(translation->to, frame, &bare, err))
        return false;
    *twin = (struct frame_twin){exact + 1, bare + 1};
    return true;
}

bool translate_frame(struct translation *translation, frame_id id, bool bare, frame_id *translated,
                     struct error *err)
{
    size_t count = symbols_frame_count(translation->from);
    if (id >= translation->frame_count) {
        if (!vec_grow((void **)&translation->frames, &translation->frame_capacity, count,
                      sizeof(*translation->frames), translation->budget, err))
            return false;
        memset(translation->frames + translation->frame_count, 0,
               (count - translation->frame_count) * sizeof(*translation->frames));
        translation->frame_count = count;
    }
    struct frame_twin *twin = &translation->frames[id];
    if (twin->exact == 0 && !make_twin(translation, id, twin, err))
        return false;
    *translated = (bare ? twin->bare : twin->exact) - 1;
    return true;
}

bool translate_stack(struct translation *translation, stack_id id, bool bare, stack_id *translated,
                     struct error *err)
{
    struct stack stack = symbols_stack_at(translation->from, id);
    if (!vec_grow((void **)&translation->scratch, &translation->scratch_capacity, stack.count,
                  sizeof(*translation->scratch), translation->budget, err))
        return false;
    for (size_t i = 0; i < stack.count; i++)
        if (!translate_frame(translation, stack.frames[i], bare, &translation->scratch[i], err))
            return false;
    return symbols_stack(translation->to, translation->scratch, stack.count, translated, err);
}

void translation_release(struct translation *translation)
{
    vec_free(translation->frames, translation->frame_capacity, sizeof(*translation->frames),
             translation->budget);
    vec_free(translation->scratch, translation->scratch_capacity, sizeof(*translation->scratch),
             translation->budget);
    *translation = (struct translation){0};
}

int symbols_compare(const struct symbols *symbols, string_id a, string_id b)
{
    if (a == b)
        return 0;
    struct text x = symbols_text(symbols, a), y = symbols_text(symbols, b);
    int order = memcmp(x.bytes, y.bytes, x.size < y.size ? x.size : y.size);
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

static int compare_frames(const struct symbols *symbols, frame_id a, frame_id b)
{
    struct frame x = symbols_frame_at(symbols, a), y = symbols_frame_at(symbols, b);
    int order = symbols_compare(symbols, x.file, y.file);
    if (order == 0)
        order = (x.line > y.line) - (x.line < y.line);
    return order ? order : symbols_compare(symbols, x.name, y.name);
}

int symbols_compare_stacks(const struct symbols *symbols, stack_id a, stack_id b)
{
    struct stack x = symbols_stack_at(symbols, a), y = symbols_stack_at(symbols, b);
    for (size_t i = 0; i < x.count && i < y.count; i++) {
        int order =
            x.frames[i] == y.frames[i] ? 0 : compare_frames(symbols, x.frames[i], y.frames[i]);
        if (order)
            return order;
    }
    return (x.count > y.count) - (x.count < y.count);
}
