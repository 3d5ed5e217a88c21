#include <stdlib.h>
#include <string.h>

#include "decode/json/reader.h"
#include "decode/layers/fields.h"
#include "decode/layers/layers.h"

struct layers_json {
    struct json_reader reader;
    struct symbols *symbols;
    const struct layer_sink *sink;
    struct error *err;
    uint32_t storages; /* number of storages in the lists of all rows */
};

static bool unknown(struct layers_json *json, struct text key)
{
    return json->sink->unknown_key(json->sink->self, key, json->err) &&
           json_skip(&json->reader, json->err);
}

static bool read_string(struct layers_json *json, const struct field *field, string_id *out)
{
    struct text text;
    return json_read_string(&json->reader, field->expected, &text, json->err) &&
           symbols_string(json->symbols, text.bytes, text.size, out, json->err);
}

static bool read_bool(struct layers_json *json, const struct field *field, bool *out)
{
    enum json_literal literal = JSON_LITERAL_NONE;
    uint8_t byte;
    if (!json_peek(&json->reader, &byte, json->err))
        return false;
    if ((byte == 't' || byte == 'f') && !json_read_literal(&json->reader, &literal, json->err))
        return false;
    if (literal == JSON_LITERAL_NONE)
        return json_unexpected(&json->reader, field->expected, json->err);
    *out = literal == JSON_LITERAL_TRUE;
    return true;
}

static bool read_duration(struct layers_json *json, const struct field *field, void *row,
                          uint64_t offset)
{
    struct json_number number;
    char digits[JSON_MAX_NUMBER + 1];
    uint8_t byte;
    if (!json_peek(&json->reader, &byte, json->err))
        return false;
    if (byte != '-' && (byte < '0' || byte > '9'))
        return json_unexpected(&json->reader, field->expected, json->err);
    if (!json_read_number(&json->reader, &number, json->err))
        return false;
    memcpy(digits, number.bytes, number.size);
    digits[number.size] = '\0';
    return field_set_real(field, row, strtod(digits, NULL), offset, json->err);
}

/* Reads the numbers of storages of a row. */
static bool read_list(struct layers_json *json, const struct field *field,
                      struct storage_list *list)
{
    struct json_integer integer;
    uint64_t offset;
    uint32_t number;
    bool more;
    *list = (struct storage_list){.first = json->storages};
    if (!json_open(&json->reader, '[', field->expected, &more, json->err))
        return false;
    while (more) {
        if (!json_offset(&json->reader, &offset, json->err) ||
            !json_read_integer(&json->reader, STORAGE_NUMBER, &integer, json->err) ||
            !layer_storage_number(integer.negative, integer.magnitude, offset, &number,
                                  json->err) ||
            !json->sink->storage(json->sink->self, number, json->err) ||
            !json_more(&json->reader, '[', &more, json->err))
            return false;
        list->count++;
        json->storages++;
    }
    return true;
}

static bool read_value(struct layers_json *json, const struct field *field, void *row)
{
    struct json_integer integer;
    uint64_t offset;
    if (!json_offset(&json->reader, &offset, json->err))
        return false;
    switch ((enum field_kind)field->kind) {
    case FIELD_STRING:
        return read_string(json, field, field_at(field, row));
    case FIELD_BOOL:
        return read_bool(json, field, field_at(field, row));
    case FIELD_DURATION:
        return read_duration(json, field, row, offset);
    default:
        return json_read_integer(&json->reader, field->expected, &integer, json->err) &&
               field_set_integer(field, row, integer.negative, integer.magnitude, offset,
                                 json->err);
    }
}

static bool read_field(struct layers_json *json, struct layer_row *row, enum layer_field index)
{
    const struct field *field = &layer_fields[index];
    layer_set_present(row, index);
    return field->kind == FIELD_OTHER ? read_list(json, field, layer_list(row, index))
                                      : read_value(json, field, row);
}

static bool read_fact(struct layers_json *json, enum layer_fact fact)
{
    struct layer_facts *facts = json->sink->facts;
    uint64_t offset;
    if (!json_offset(&json->reader, &offset, json->err) ||
        !read_value(json, &layer_fact_fields[fact], facts))
        return false;
    facts->present |= UINT32_C(1) << fact;
    return fact != FACT_SCHEMA ||
           layer_schema_check(symbols_text(json->symbols, facts->schema), offset, json->err);
}

/* Reads [bytes, row] or [bytes, row, held]. */
static bool read_made(struct layers_json *json)
{
    struct layer_storage storage = {0};
    struct json_integer integer;
    uint64_t begin, offset;
    size_t item = 0;
    bool more;
    if (!json_offset(&json->reader, &begin, json->err) ||
        !json_open(&json->reader, '[', STORAGE_MADE, &more, json->err))
        return false;
    for (; more; item++) {
        if (item == STORAGE_MOST)
            return error_set_at(json->err, STATUS_BAD_INPUT, begin,
                                "expected " STORAGE_MADE ", found more");
        if (!json_offset(&json->reader, &offset, json->err) ||
            !json_read_integer(&json->reader, STORAGE_MADE, &integer, json->err) ||
            !layer_storage_set(&storage, item, integer.negative, integer.magnitude, offset,
                               json->err) ||
            !json_more(&json->reader, '[', &more, json->err))
            return false;
    }
    if (item < STORAGE_LEAST)
        return error_set_at(json->err, STATUS_BAD_INPUT, begin,
                            "expected " STORAGE_MADE ", found less");
    return json->sink->made(json->sink->self, &storage, begin, json->err);
}

static bool read_storages(struct layers_json *json)
{
    bool more;
    if (!json_open(&json->reader, '[', "storages (an array)", &more, json->err))
        return false;
    while (more)
        if (!read_made(json) || !json_more(&json->reader, '[', &more, json->err))
            return false;
    return true;
}

static bool read_event(struct layers_json *json, struct layer_row *row)
{
    struct text key;
    bool more;
    if (!json_open(&json->reader, '{', "an event (an object)", &more, json->err))
        return false;
    while (more) {
        if (!json_read_key(&json->reader, &key, json->err))
            return false;
        enum layer_field field = layer_field_find(key);
        if (!(field < LAYER_FIELDS ? read_field(json, row, field) : unknown(json, key)) ||
            !json_more(&json->reader, '{', &more, json->err))
            return false;
    }
    return true;
}

static bool read_row(struct layers_json *json)
{
    struct layer_row row = {0};
    struct text key;
    uint64_t offset;
    bool more;
    if (!json_offset(&json->reader, &offset, json->err) ||
        !json_open(&json->reader, '{', "a trace (an object)", &more, json->err))
        return false;
    while (more) {
        if (!json_read_key(&json->reader, &key, json->err))
            return false;
        enum layer_field field = layer_field_find(key);
        bool ok;
        if (field < LAYER_FIELDS)
            ok = read_field(json, &row, field);
        else if (text_equals(key, "event"))
            ok = read_event(json, &row);
        else
            ok = unknown(json, key);
        if (!ok || !json_more(&json->reader, '{', &more, json->err))
            return false;
    }
    return layer_row_check(&row, offset, json->err) &&
           json->sink->row(json->sink->self, &row, offset, json->err);
}

static bool read_rows(struct layers_json *json)
{
    bool more;
    if (!json_open(&json->reader, '[', "traces (an array)", &more, json->err))
        return false;
    while (more)
        if (!read_row(json) || !json_more(&json->reader, '[', &more, json->err))
            return false;
    return true;
}

static bool read_operator_field(struct layers_json *json, struct layer_operator *operation,
                                enum operator_field index)
{
    const struct field *field = &layer_operator_fields[index];
    operation->present |= UINT32_C(1) << index;
    return field->kind == FIELD_OTHER ? read_list(json, field, &operation->made)
                                      : read_value(json, field, operation);
}

static bool read_operator(struct layers_json *json)
{
    struct layer_operator operation = {0};
    struct text key;
    uint64_t offset;
    bool more;
    if (!json_offset(&json->reader, &offset, json->err) ||
        !json_open(&json->reader, '{', "an operator (an object)", &more, json->err))
        return false;
    while (more) {
        if (!json_read_key(&json->reader, &key, json->err))
            return false;
        enum operator_field field = layer_operator_find(key);
        if (!(field < OPERATOR_FIELDS ? read_operator_field(json, &operation, field)
                                      : unknown(json, key)) ||
            !json_more(&json->reader, '{', &more, json->err))
            return false;
    }
    return layer_operator_check(&operation, offset, json->err) &&
           json->sink->operation(json->sink->self, &operation, offset, json->err);
}

static bool read_operators(struct layers_json *json)
{
    bool more;
    if (!json_open(&json->reader, '[', "operators (an array)", &more, json->err))
        return false;
    while (more)
        if (!read_operator(json) || !json_more(&json->reader, '[', &more, json->err))
            return false;
    return true;
}

/* Reads the value of a key beside the rows. */
static bool read_other(struct layers_json *json, struct text key)
{
    enum layer_fact fact = layer_fact_find(key);
    if (fact < LAYER_FACTS)
        return read_fact(json, fact);
    if (text_equals(key, LAYERS_MADE))
        return read_storages(json);
    return text_equals(key, LAYERS_OPERATORS) ? read_operators(json) : unknown(json, key);
}

static bool read_root(struct layers_json *json)
{
    struct text key;
    uint64_t offset;
    bool more, found = false;
    if (!json_open(&json->reader, '{', "an object or an array", &more, json->err))
        return false;
    while (more) {
        if (!json_offset(&json->reader, &offset, json->err) ||
            !json_read_key(&json->reader, &key, json->err))
            return false;
        bool traces = text_equals(key, "traces");
        if (traces && found)
            return error_set_at(json->err, STATUS_BAD_INPUT, offset, "a second 'traces'");
        found = found || traces;
        if (!(traces ? read_rows(json) : read_other(json, key)) ||
            !json_more(&json->reader, '{', &more, json->err))
            return false;
    }
    return found || error_set_at(json->err, STATUS_BAD_INPUT, 0, "no key 'traces'");
}

bool decode_json_layers(struct source *source, struct symbols *symbols,
                        const struct layer_sink *sink, struct error *err)
{
    struct layers_json json = {.symbols = symbols, .sink = sink, .err = err};
    uint8_t byte;
    json_reader_init(&json.reader, source);
    bool ok = json_begin(&json.reader, err) && json_peek(&json.reader, &byte, err) &&
              (byte == '[' ? read_rows(&json) : read_root(&json)) && json_finish(&json.reader, err);
    json_reader_release(&json.reader);
    return ok;
}
