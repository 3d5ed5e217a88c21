#include "analysis/diff/symbols.h"

#include <string.h>

/* Extends an array to `need` items of `size` bytes; new items are zero. */
static bool cover(void **items, size_t *count, size_t *capacity, size_t need, size_t size,
                  struct budget *budget, struct error *err)
{
    if (need <= *count)
        return true;
    if (!vec_grow(items, capacity, need, size, budget, err))
        return false;
    char *first;
    memcpy(&first, items, sizeof(first));
    memset(first + *count * size, 0, (need - *count) * size);
    *count = need;
    return true;
}

bool translate_string(struct translation *translation, string_id id, string_id *translated,
                      struct error *err)
{
    if (!cover((void **)&translation->strings, &translation->string_count,
               &translation->string_capacity, symbols_string_count(translation->from),
               sizeof(*translation->strings), translation->budget, err))
        return false;
    string_id *known = &translation->strings[id];
    if (*known == 0) {
        struct text text = symbols_text(translation->from, id);
        string_id made;
        if (!symbols_string(translation->to, text.bytes, text.size, &made, err))
            return false;
        *known = made + 1;
    }
    *translated = *known - 1;
    return true;
}

static bool make_twin(struct translation *translation, frame_id id, struct frame_twin *twin,
                      struct error *err)
{
    struct frame frame = symbols_frame_at(translation->from, id);
    frame_id exact, bare;
    frame.detail = DETAIL_NONE; /* call sites are compared by their code only */
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
    if (!cover((void **)&translation->frames, &translation->frame_count,
               &translation->frame_capacity, symbols_frame_count(translation->from),
               sizeof(*translation->frames), translation->budget, err))
        return false;
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
    if (!vec_reserve(translation->scratch, translation->scratch_capacity, stack.count,
                     translation->budget, err))
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
    vec_free(translation->strings, translation->string_capacity, sizeof(*translation->strings),
             translation->budget);
    vec_free(translation->scratch, translation->scratch_capacity, sizeof(*translation->scratch),
             translation->budget);
    *translation = (struct translation){0};
}

int symbols_compare(const struct symbols *symbols, string_id a, string_id b)
{
    return text_compare(symbols_text(symbols, a), symbols_text(symbols, b));
}
