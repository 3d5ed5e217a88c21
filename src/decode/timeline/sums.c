/* The sums of each category in a .json timeline. */
#include <string.h>

#include "decode/timeline/internal.h"

/* Frees the latest allocations of a category until their sum is `bytes` less. The rest of one that
 * is larger is allocated again. */
static bool lower(struct timeline_decoder *decoder, uint8_t category, int64_t time_us,
                  int64_t bytes)
{
    uint32_t list;
    if (!timeline_list(decoder, category, 0, &list))
        return false;
    while (bytes > 0 && decoder->lists[list].latest != NO_PIECE) {
        int64_t latest = decoder->pieces[decoder->lists[list].latest].bytes;
        if (!timeline_shrink(decoder, list, time_us) ||
            (latest > bytes && !timeline_grow(decoder, list, time_us, latest - bytes)))
            return false;
        bytes = latest > bytes ? 0 : bytes - latest;
    }
    return bytes == 0 || timeline_shrink_unknown(decoder, list, time_us, bytes);
}

static bool raise(struct timeline_decoder *decoder, uint8_t category, int64_t time_us,
                  int64_t bytes)
{
    uint32_t list;
    return timeline_list(decoder, category, 0, &list) &&
           timeline_grow(decoder, list, time_us, bytes);
}

/* Applies decreases before increases, so that no moment between two rows is higher than both. */
static bool apply(struct timeline_decoder *decoder, const int64_t sums[], int64_t time_us)
{
    for (uint8_t i = 0; i < TIMELINE_CATEGORIES; i++)
        if (sums[i] < decoder->sums[i] && !lower(decoder, i, time_us, decoder->sums[i] - sums[i]))
            return false;
    for (uint8_t i = 0; i < TIMELINE_CATEGORIES; i++)
        if (sums[i] > decoder->sums[i] && !raise(decoder, i, time_us, sums[i] - decoder->sums[i]))
            return false;
    memcpy(decoder->sums, sums, sizeof(decoder->sums));
    return true;
}

/* Reads a row of sums: [0, parameter, optimizer_state, ...]. */
static bool read_sums(struct timeline_decoder *decoder, int64_t sums[TIMELINE_CATEGORIES])
{
    uint64_t offset;
    bool more;
    int count = 0;
    if (!json_offset(&decoder->reader, &offset, decoder->err) ||
        !json_open(&decoder->reader, '[', "the sizes of a time (an array)", &more, decoder->err))
        return false;
    for (; more; count++) {
        int64_t number;
        if (!timeline_number(decoder, "a size (a whole number)", &number) ||
            !json_more(&decoder->reader, '[', &more, decoder->err))
            return false;
        if (count > 0 && count <= TIMELINE_CATEGORIES)
            sums[count - 1] = number;
    }
    return count == TIMELINE_CATEGORIES + 1 ||
           error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                        "expected %d sizes for each time, found %d", TIMELINE_CATEGORIES + 1,
                        count);
}

/* The memory from before the profile is a row of its own, which repeats the first time. */
static void note_older(struct timeline_decoder *decoder)
{
    if (decoder->time_count < 2 || decoder->times_us[0] != decoder->times_us[1])
        return;
    for (int i = 0; i < TIMELINE_CATEGORIES; i++)
        if (__builtin_add_overflow(decoder->facts.older_bytes, decoder->sums[i],
                                   &decoder->facts.older_bytes))
            decoder->facts.older_bytes = INT64_MAX;
}

bool timeline_read_sums(struct timeline_decoder *decoder)
{
    uint64_t offset;
    bool more;
    size_t row = 0;
    if (!json_open(&decoder->reader, '[', "the sizes (an array)", &more, decoder->err))
        return false;
    while (more) {
        int64_t sums[TIMELINE_CATEGORIES] = {0};
        if (!json_offset(&decoder->reader, &offset, decoder->err) || !read_sums(decoder, sums))
            return false;
        if (row == decoder->time_count)
            return error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                                "more sizes than times (%zu)", decoder->time_count);
        if (!apply(decoder, sums, decoder->times_us[row++]))
            return false;
        if (row == 1)
            note_older(decoder);
        if (!json_more(&decoder->reader, '[', &more, decoder->err))
            return false;
    }
    return row == decoder->time_count ||
           json_unexpected(&decoder->reader, "sizes for each of the times", decoder->err);
}
