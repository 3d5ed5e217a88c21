#include "decode/json/decoder.h"

enum field { FIELD_STAGE, FIELD_NAME, FIELD_DEVICE, FIELD_TIME_US, FIELD_COUNT };

static const struct text field_names[FIELD_COUNT] = {
    [FIELD_STAGE] = JSON_NAME("stage"),
    [FIELD_NAME] = JSON_NAME("name"),
    [FIELD_DEVICE] = JSON_NAME("device"),
    [FIELD_TIME_US] = JSON_NAME("time_us"),
};

static bool read_stage(struct json_decoder *decoder, enum annotation_stage *stage,
                       struct error *err)
{
    static const struct text stages[] = {
        [ANNOTATION_START] = JSON_NAME("START"),
        [ANNOTATION_END] = JSON_NAME("END"),
    };
    struct text text;
    uint64_t offset;
    unsigned index;

    if (!json_offset(&decoder->reader, &offset, err) ||
        !json_read_string(&decoder->reader, "a stage (a string)", &text, err))
        return false;
    index = json_name_index(stages, 2, text);
    if (index == 2)
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "expected the stage START or END, found '%.*s'",
                            text.size > 40 ? 40 : (int)text.size, text.bytes);
    *stage = (enum annotation_stage)index;
    return true;
}

static bool read_field(struct json_decoder *decoder, enum field field, struct annotation_row *row,
                       struct error *err)
{
    switch (field) {
    case FIELD_STAGE:
        return read_stage(decoder, &row->stage, err);
    case FIELD_NAME:
        return json_value_text(decoder, &row->name, err);
    case FIELD_DEVICE:
        return json_value_device(decoder, &row->device, err);
    case FIELD_TIME_US:
        return json_value_bits(decoder, "a time (an integer)", &row->time_us, err);
    case FIELD_COUNT:
        break;
    }
    return false;
}

static bool decode_annotation(struct json_decoder *decoder, struct error *err)
{
    struct json_reader *reader = &decoder->reader;
    struct annotation_row row = {.time_us = TIME_NONE};
    bool has_stage = false;
    uint64_t start;
    bool more;

    if (!json_offset(reader, &start, err) ||
        !json_open(reader, '{', "an annotation (an object)", &more, err))
        return false;
    while (more) {
        struct text key;
        unsigned field;

        if (!json_read_key(reader, &key, err))
            return false;
        field = json_name_index(field_names, FIELD_COUNT, key);
        if (field == FIELD_COUNT) {
            if (!json_unknown(decoder, JSON_IN_ANNOTATION, key, err))
                return false;
        } else {
            has_stage |= field == FIELD_STAGE;
            if (!read_field(decoder, (enum field)field, &row, err))
                return false;
        }
        if (!json_more(reader, '{', &more, err))
            return false;
    }
    if (!has_stage)
        return json_missing(start, "an annotation", "stage", err);
    return decoder->sink->annotation(decoder->sink->self, &row, err);
}

bool json_decode_annotations(struct json_decoder *decoder, struct error *err)
{
    bool more;

    if (!json_open(&decoder->reader, '[', "external_annotations (an array)", &more, err))
        return false;
    while (more)
        if (!decode_annotation(decoder, err) || !json_more(&decoder->reader, '[', &more, err))
            return false;
    return true;
}
