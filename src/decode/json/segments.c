#include "decode/json/decoder.h"

enum field {
    FIELD_DEVICE,
    FIELD_ADDRESS,
    FIELD_TOTAL_SIZE,
    FIELD_ALLOCATED_SIZE,
    FIELD_ACTIVE_SIZE,
    FIELD_REQUESTED_SIZE,
    FIELD_STREAM,
    FIELD_SEGMENT_TYPE,
    FIELD_SEGMENT_POOL_ID,
    FIELD_IS_EXPANDABLE,
    FIELD_FRAMES,
    FIELD_BLOCKS,
    FIELD_COUNT,
};

static const struct text field_names[FIELD_COUNT] = {
    [FIELD_DEVICE] = JSON_NAME("device"),
    [FIELD_ADDRESS] = JSON_NAME("address"),
    [FIELD_TOTAL_SIZE] = JSON_NAME("total_size"),
    [FIELD_ALLOCATED_SIZE] = JSON_NAME("allocated_size"),
    [FIELD_ACTIVE_SIZE] = JSON_NAME("active_size"),
    [FIELD_REQUESTED_SIZE] = JSON_NAME("requested_size"),
    [FIELD_STREAM] = JSON_NAME("stream"),
    [FIELD_SEGMENT_TYPE] = JSON_NAME("segment_type"),
    [FIELD_SEGMENT_POOL_ID] = JSON_NAME("segment_pool_id"),
    [FIELD_IS_EXPANDABLE] = JSON_NAME("is_expandable"),
    [FIELD_FRAMES] = JSON_NAME("frames"),
    [FIELD_BLOCKS] = JSON_NAME("blocks"),
};

static const enum field needed[] = {FIELD_DEVICE, FIELD_ADDRESS, FIELD_TOTAL_SIZE, FIELD_BLOCKS};
#define NEEDED_COUNT (sizeof(needed) / sizeof(needed[0]))

static bool read_blocks(struct json_decoder *decoder, struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    bool more;

    decoder->block_count = 0;
    if (!json_open(reader, '[', "blocks (an array)", &more, err))
        return false;
    while (more) {
        size_t count = decoder->block_count;
        bool has_address;

        if (!vec_grow((void **)&decoder->blocks, &decoder->block_capacity, count + 1,
                      sizeof(*decoder->blocks), decoder->budget, err) ||
            !vec_grow((void **)&decoder->has_address, &decoder->has_address_capacity, count + 1, 1,
                      decoder->budget, err) ||
            !json_decode_block(decoder, &decoder->blocks[count], &has_address, err))
            return false;
        decoder->has_address[count] = has_address;
        decoder->block_count++;
        if (!json_more(reader, '[', &more, err))
            return false;
    }
    return true;
}

/* Where the file has no address, a block follows the ones before it. */
static bool place_blocks(struct json_decoder *decoder, uint64_t address, uint64_t start,
                         struct error *err)
{
    for (size_t i = 0; i < decoder->block_count; i++) {
        struct block_row *block = &decoder->blocks[i];

        if (!decoder->has_address[i])
            block->address = address;
        if (__builtin_add_overflow(address, block->size, &address))
            return error_set_at(err, STATUS_BAD_INPUT, start,
                                "a segment with blocks beyond the last address");
    }
    return true;
}

static bool read_field(struct json_decoder *decoder, enum field field, struct segment_row *row,
                       struct error *err)
{
    static const char size[] = "a size (an integer from 0)";

    switch (field) {
    case FIELD_DEVICE:
        return json_value_device(decoder, &row->device, err);
    case FIELD_ADDRESS:
        return json_value_u64(decoder, "an address (an integer from 0)", &row->address, err);
    case FIELD_TOTAL_SIZE:
        return json_value_u64(decoder, size, &row->total_size, err);
    case FIELD_ALLOCATED_SIZE:
        return json_value_u64(decoder, size, &row->allocated_size, err);
    case FIELD_ACTIVE_SIZE:
        return json_value_u64(decoder, size, &row->active_size, err);
    case FIELD_REQUESTED_SIZE:
        return json_value_u64(decoder, size, &row->requested_size, err);
    case FIELD_STREAM:
        return json_value_bits(decoder, "a stream (an integer)", &row->stream, err);
    case FIELD_SEGMENT_TYPE:
        return json_value_text(decoder, &row->segment_type, err);
    case FIELD_SEGMENT_POOL_ID:
        return json_value_pool(decoder, row->pool, err);
    case FIELD_IS_EXPANDABLE:
        return json_value_bool(decoder, &row->is_expandable, err);
    case FIELD_FRAMES:
        return json_frames_read(&decoder->frames, &row->stack, err);
    case FIELD_BLOCKS:
        return read_blocks(decoder, err);
    case FIELD_COUNT:
        break;
    }
    return false;
}

/* As if the key had not been there. */
static void reset_field(enum field field, struct segment_row *row)
{
    if (field == FIELD_ALLOCATED_SIZE)
        row->allocated_size = 0;
    else if (field == FIELD_ACTIVE_SIZE)
        row->active_size = 0;
    else if (field == FIELD_REQUESTED_SIZE)
        row->requested_size = 0;
    else if (field == FIELD_STREAM)
        row->stream = 0;
    else if (field == FIELD_SEGMENT_TYPE)
        row->segment_type = STRING_EMPTY;
    else if (field == FIELD_SEGMENT_POOL_ID)
        row->pool[0] = row->pool[1] = 0;
    else if (field == FIELD_IS_EXPANDABLE)
        row->is_expandable = false;
    else if (field == FIELD_FRAMES)
        row->stack = STACK_NONE;
}

/* One key's value, which is the segment's or nobody's. */
static bool decode_key(struct json_decoder *decoder, struct text key, struct segment_row *row,
                       unsigned *seen, struct error *err)
{
    unsigned field = json_name_index(field_names, FIELD_COUNT, key);
    bool null = false;

    if (field == FIELD_COUNT)
        return json_unknown(decoder, JSON_IN_SEGMENT, key, err);
    if (!json_take_null(&decoder->reader, &null, err))
        return false;
    if (null) {
        *seen &= ~(1u << field);
        reset_field((enum field)field, row);
        return true;
    }
    *seen |= 1u << field;
    return read_field(decoder, (enum field)field, row, err);
}

static bool decode_segment(struct json_decoder *decoder, struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    struct segment_row row = {0};
    unsigned seen = 0;
    uint64_t start;
    bool more;

    if (!json_offset(reader, &start, err) ||
        !json_open(reader, '{', "a segment (an object)", &more, err))
        return false;
    decoder->block_count = 0;
    while (more) {
        struct text key;

        if (!json_read_key(reader, &key, err) || !decode_key(decoder, key, &row, &seen, err) ||
            !json_more(reader, '{', &more, err))
            return false;
    }
    for (size_t i = 0; i < NEEDED_COUNT; i++)
        if (!(seen & 1u << needed[i]))
            return json_missing(start, "a segment", field_names[needed[i]].bytes, err);
    if (!place_blocks(decoder, row.address, start, err))
        return false;
    row.blocks = decoder->blocks;
    row.block_count = decoder->block_count;
    return decoder->sink->segment(decoder->sink->self, &row, err);
}

bool json_decode_segments(struct json_decoder *decoder, struct error *err)
{
    bool more;

    if (!json_open(&decoder->reader, '[', "segments (an array)", &more, err))
        return false;
    while (more)
        if (!decode_segment(decoder, err) || !json_more(&decoder->reader, '[', &more, err))
            return false;
    return true;
}
