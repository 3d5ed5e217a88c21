#include "decode/json/snapshot.h"

#include <string.h>

#include "decode/json/decoder.h"

#define MAX_DEVICES 4096

static bool decode_traces(struct json_decoder *decoder, struct error *err)
{
    uint32_t device = 0;
    bool more;

    if (!json_open(&decoder->reader, '[', "device_traces (an array)", &more, err))
        return false;
    for (; more; device++) {
        if (device == MAX_DEVICES)
            return error_set_at(err, STATUS_LIMIT, source_offset(decoder->reader.source),
                                "traces of more than %d devices", MAX_DEVICES);
        if (!json_decode_trace(decoder, device, err) ||
            !json_more(&decoder->reader, '[', &more, err))
            return false;
    }
    return true;
}

static bool decode_part(struct json_decoder *decoder, enum snapshot_part part, struct error *err)
{
    switch (part) {
    case PART_SEGMENTS:
        return json_decode_segments(decoder, false, err);
    case PART_TRACES:
        return decode_traces(decoder, err);
    case PART_SETTINGS:
        return json_decode_settings(decoder, err);
    case PART_ANNOTATIONS:
        return json_decode_annotations(decoder, err);
    case PART_HOST_SEGMENTS:
        return json_decode_segments(decoder, true, err);
    case PART_HOST_TRACE:
        return json_decode_trace(decoder, DEVICE_HOST, err);
    case PART_COUNT:
        break;
    }
    return false;
}

/* Reads the value of one key. A part may not occur twice, since its rows cannot be taken back. */
static bool decode_key(struct json_decoder *decoder, struct text key, uint64_t offset,
                       unsigned *seen, struct error *err)
{
    unsigned part = field_find(snapshot_rows[ROW_SNAPSHOT].fields, PART_COUNT, key);
    bool null;

    if (part == PART_COUNT)
        return json_unknown(decoder, ROW_SNAPSHOT, key, err);
    if (*seen & 1u << part)
        return error_set_at(err, STATUS_BAD_INPUT, offset, "a second '%s'",
                            row_field(ROW_SNAPSHOT, part)->name.bytes);
    *seen |= 1u << part;
    if (!json_take_null(&decoder->reader, &null, err))
        return false;
    return null || decode_part(decoder, (enum snapshot_part)part, err);
}

static bool decode_object(struct json_decoder *decoder, struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    unsigned seen = 0;
    uint64_t start, offset;
    bool more;

    if (!json_offset(reader, &start, err) ||
        !json_open(reader, '{', "an object or an array", &more, err))
        return false;
    while (more) {
        struct text key;

        if (!json_offset(reader, &offset, err) || !json_read_key(reader, &key, err) ||
            !decode_key(decoder, key, offset, &seen, err) || !json_more(reader, '{', &more, err))
            return false;
    }
    if (seen & PARTS_NEEDED)
        return true;
    return error_set_at(err, STATUS_BAD_INPUT, start,
                        "not an allocator snapshot: no key 'segments' or 'device_traces'");
}

static void release(struct json_decoder *decoder)
{
    struct budget *budget = decoder->budget;

    json_frames_release(&decoder->frames);
    buffer_release(&decoder->text);
    json_reader_release(&decoder->reader);
    vec_free(decoder->blocks, decoder->block_capacity, sizeof(*decoder->blocks), budget);
    vec_free(decoder->has_address, decoder->has_address_capacity, 1, budget);
    vec_free(decoder->told, decoder->told_capacity, 1, budget);
}

bool decode_json_snapshot(struct source *source, struct symbols *symbols,
                          const struct row_sink *sink, struct decoded *decoded, struct error *err)
{
    struct json_decoder decoder = {.symbols = symbols, .budget = source->budget, .sink = sink};
    bool ok, list_only = false;
    uint8_t byte;

    json_reader_init(&decoder.reader, source);
    ok = json_frames_init(&decoder.frames, &decoder.reader, symbols, err) &&
         json_begin(&decoder.reader, err) && json_peek(&decoder.reader, &byte, err);
    if (ok) {
        list_only = byte == '[';
        ok = (list_only ? json_decode_segments(&decoder, false, err)
                        : decode_object(&decoder, err)) &&
             json_finish(&decoder.reader, err);
    }
    release(&decoder);
    if (ok)
        *decoded =
            (struct decoded){.encoding = ENCODING_JSON, .protocol = -1, .list_only = list_only};
    return ok;
}
