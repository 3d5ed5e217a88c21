/* The rows of a .raw.json timeline. */
#include "decode/timeline/internal.h"

/* Finds an allocation for a free. A category may have changed without a row. */
static bool find_list(struct timeline_decoder *decoder, const struct timeline_change *change,
                      uint32_t *list)
{
    uint32_t own;
    if (!timeline_list(decoder, change->category, -change->bytes, &own))
        return false;
    *list = own;
    for (uint8_t i = 0; i < TIMELINE_CATEGORIES && decoder->lists[*list].latest == NO_PIECE; i++)
        if (!timeline_list(decoder, i, -change->bytes, list))
            return false;
    if (decoder->lists[*list].latest == NO_PIECE)
        *list = own;
    decoder->facts.recategorized_count += *list != own;
    return true;
}

static bool apply(struct timeline_decoder *decoder, const struct timeline_change *change)
{
    int64_t time_us = change->time_ns < 0 ? decoder->first_time_us : change->time_ns / 1000;
    uint32_t list;
    if (change->bytes > 0) {
        if (change->action == CHANGE_PREEXISTING) {
            decoder->facts.older_count++;
            if (__builtin_add_overflow(decoder->facts.older_bytes, change->bytes,
                                       &decoder->facts.older_bytes))
                decoder->facts.older_bytes = INT64_MAX;
        }
        return timeline_list(decoder, change->category, change->bytes, &list) &&
               timeline_grow(decoder, list, time_us, change->bytes);
    }
    if (!find_list(decoder, change, &list))
        return false;
    return decoder->lists[list].latest == NO_PIECE
               ? timeline_shrink_unknown(decoder, list, time_us, -change->bytes)
               : timeline_shrink(decoder, list, time_us);
}

static bool apply_older(struct timeline_decoder *decoder)
{
    for (size_t i = 0; i < decoder->older_count; i++)
        if (!apply(decoder, &decoder->older[i]))
            return false;
    decoder->older_count = 0;
    return true;
}

/* Rows from before the profile get the time of the first one in it. */
static bool note_time(struct timeline_decoder *decoder, int64_t time_ns)
{
    if (time_ns < 0 || decoder->first_time_us != TIME_NONE)
        return true;
    decoder->first_time_us = time_ns / 1000;
    return apply_older(decoder);
}

static bool take(struct timeline_decoder *decoder, const struct timeline_change *change)
{
    if (change->time_ns < 0 && decoder->first_time_us == TIME_NONE)
        return vec_push(decoder->older, decoder->older_count, decoder->older_capacity,
                        decoder->budget, decoder->err, *change);
    return apply(decoder, change);
}

/* A new version of a tensor is two rows: minus its bytes in the old category, plus its bytes in the
 * new one. They say nothing if the category is the same, as that of a weight after its update. */
static bool says_nothing(const struct timeline_change *old, const struct timeline_change *new)
{
    return new->action == CHANGE_INCREMENT_VERSION &&new->time_ns == old->time_ns &&new->category ==
           old->category &&new->bytes == -old->bytes;
}

bool timeline_raw_row(struct timeline_decoder *decoder, const int64_t numbers[4], uint64_t offset)
{
    if (numbers[1] < CHANGE_PREEXISTING || numbers[1] > CHANGE_DESTROY)
        return error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                            "expected an action from 1 to 4 in the row");
    if (numbers[3] < 0 || numbers[3] >= TIMELINE_CATEGORIES)
        return error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                            "expected a category from 0 to %d in the row", TIMELINE_CATEGORIES - 1);
    const struct timeline_change change = {.time_ns = numbers[0],
                                           .bytes = numbers[2],
                                           .action = (uint8_t)numbers[1],
                                           .category = (uint8_t)numbers[3]};
    if (!note_time(decoder, change.time_ns))
        return false;
    if (decoder->has_held) {
        decoder->has_held = false;
        if (says_nothing(&decoder->held, &change))
            return true;
        if (!take(decoder, &decoder->held))
            return false;
    }
    if (change.action == CHANGE_INCREMENT_VERSION && change.bytes < 0) {
        decoder->held = change;
        decoder->has_held = true;
        return true;
    }
    return change.bytes == 0 || take(decoder, &change);
}

bool timeline_raw_end(struct timeline_decoder *decoder)
{
    return (!decoder->has_held || take(decoder, &decoder->held)) && apply_older(decoder);
}
