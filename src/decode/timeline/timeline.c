#include "decode/timeline/timeline.h"

#include <string.h>

#include "decode/timeline/internal.h"

/* The categories, in the order of their numbers in the file. */
static const char *const category_names[TIMELINE_CATEGORIES] = {
    "parameter",  "optimizer_state", "input",           "temporary",
    "activation", "gradient",        "autograd_detail", "unknown",
};

/* The array that begins the file: the first row of a .raw.json file, or the times of a .json file.
 */
static bool read_first(struct timeline_decoder *decoder)
{
    bool more;
    if (!json_open(&decoder->reader, '[', "a row or the times (an array)", &more, decoder->err))
        return false;
    while (more) {
        int64_t number;
        if (!timeline_number(decoder, "a time (a whole number)", &number) ||
            !vec_push(decoder->times_us, decoder->time_count, decoder->time_capacity,
                      decoder->budget, decoder->err, number) ||
            !json_more(&decoder->reader, '[', &more, decoder->err))
            return false;
    }
    return true;
}

static bool read_row(struct timeline_decoder *decoder)
{
    int64_t numbers[4];
    uint64_t offset;
    bool more;
    if (!json_offset(&decoder->reader, &offset, decoder->err) ||
        !json_open(&decoder->reader, '[', "a row (an array)", &more, decoder->err))
        return false;
    for (int i = 0; i < 4; i++)
        if (!more)
            return error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                                "expected [time, action, bytes, category], found %d number%s", i,
                                i == 1 ? "" : "s");
        else if (!timeline_number(decoder, "a whole number", &numbers[i]) ||
                 !json_more(&decoder->reader, '[', &more, decoder->err))
            return false;
    if (more)
        return error_set_at(decoder->err, STATUS_BAD_INPUT, offset,
                            "expected [time, action, bytes, category], found more numbers");
    return timeline_raw_row(decoder, numbers, offset);
}

/* Continues after the first row. */
static bool read_raw(struct timeline_decoder *decoder, uint64_t first_offset, bool more)
{
    if (decoder->time_count != 4)
        return error_set_at(decoder->err, STATUS_BAD_INPUT, first_offset,
                            "expected [time, action, bytes, category], or times and sizes");
    decoder->facts.is_sums = false;
    if (!timeline_raw_row(decoder, decoder->times_us, first_offset))
        return false;
    while (more)
        if (!read_row(decoder) || !json_more(&decoder->reader, '[', &more, decoder->err))
            return false;
    return timeline_raw_end(decoder);
}

/* [[...], [[ begins a .json file, [[...], [0 a .raw.json file. */
static bool begins_sums(struct timeline_decoder *decoder, bool *sums)
{
    const struct source *source = decoder->reader.source;
    uint8_t byte;
    if (!json_peek(&decoder->reader, &byte, decoder->err) ||
        !source_fill(decoder->reader.source, 64, decoder->err))
        return false;
    const uint8_t *p = source->pos;
    *sums = false;
    if (p == source->end || *p != '[')
        return true;
    for (p++; p < source->end && json_is_space(*p);)
        p++;
    *sums = p < source->end && (*p == '[' || *p == ']');
    return true;
}

static bool read_file(struct timeline_decoder *decoder)
{
    struct json_reader *reader = &decoder->reader;
    uint64_t offset;
    bool more, sums = false;
    if (!json_begin(reader, decoder->err) ||
        !json_open(reader, '[', "a memory timeline (an array)", &more, decoder->err) ||
        !json_offset(reader, &offset, decoder->err) || !read_first(decoder) ||
        !json_more(reader, '[', &more, decoder->err) || (more && !begins_sums(decoder, &sums)))
        return false;
    if (!sums)
        return read_raw(decoder, offset, more) && json_finish(reader, decoder->err);
    if (!timeline_read_sums(decoder) || !json_more(reader, '[', &more, decoder->err))
        return false;
    if (more)
        return json_unexpected(reader, "the end of the times and sizes", decoder->err);
    return json_finish(reader, decoder->err);
}

static bool init(struct timeline_decoder *decoder, struct source *source, struct symbols *symbols,
                 const struct row_sink *sink, struct error *err)
{
    *decoder = (struct timeline_decoder){.symbols = symbols,
                                         .sink = sink,
                                         .budget = source->budget,
                                         .spare = NO_PIECE,
                                         .next_addr = 512,
                                         .first_time_us = TIME_NONE,
                                         .err = err};
    decoder->facts = (struct profile_facts){
        .is_profile = true, .is_timeline = true, .is_sums = true, .rank = -1, .world_size = -1};
    json_reader_init(&decoder->reader, source);
    for (int i = 0; i < TIMELINE_CATEGORIES; i++)
        if (!symbols_string(symbols, category_names[i], strlen(category_names[i]),
                            &decoder->categories[i], err))
            return false;
    return true;
}

static void release(struct timeline_decoder *decoder)
{
    struct budget *budget = decoder->budget;
    vec_free(decoder->pieces, decoder->piece_capacity, sizeof(*decoder->pieces), budget);
    vec_free(decoder->lists, decoder->list_capacity, sizeof(*decoder->lists), budget);
    vec_free(decoder->older, decoder->older_capacity, sizeof(*decoder->older), budget);
    vec_free(decoder->times_us, decoder->time_capacity, sizeof(*decoder->times_us), budget);
    idtable_release(&decoder->list_index, budget);
    json_reader_release(&decoder->reader);
}

bool decode_timeline_snapshot(struct source *source, struct symbols *symbols,
                              const struct row_sink *sink, struct decoded *decoded,
                              struct error *err)
{
    struct timeline_decoder decoder;
    bool ok = init(&decoder, source, symbols, sink, err) && sink->trace(sink->self, 0, err) &&
              read_file(&decoder);
    if (ok)
        *decoded =
            (struct decoded){.encoding = ENCODING_JSON, .protocol = -1, .profile = decoder.facts};
    release(&decoder);
    return ok;
}
