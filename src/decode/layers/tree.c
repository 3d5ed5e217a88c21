/* Reads a layer trace from a pickle or msgpack, through inert values. */
#include "decode/layers/layers.h"
#include "decode/layers/value.h"
#include "decode/msgpack/value.h"
#include "decode/pickle/decode.h"

#define MOST_COLUMNS 64

static bool finish_row(struct layers_value *in, const struct layer_row *row)
{
    return layer_row_check(row, in->offset, in->err) &&
           in->sink->row(in->sink->self, row, in->offset, in->err);
}

/* Not every value has an offset. For those without, errors give the offset of the container. */
static void move_to(struct layers_value *in, value v, uint64_t holder)
{
    in->offset = value_tag(v) == TAG_NODE ? value_node(in->values, v)->offset : holder;
}

static bool read_rows(struct layers_value *in, value v)
{
    const value *items;
    size_t count;
    move_to(in, v, in->offset);
    if (!value_sequence(in->values, v, &items, &count))
        return layers_bad(in, "traces (a list)", v);
    uint64_t holder = in->offset;
    for (size_t i = 0; i < count; i++) {
        struct layer_row row = {0};
        move_to(in, items[i], holder);
        if (!layers_take_trace(in, &row, items[i]) || !finish_row(in, &row))
            return false;
    }
    return true;
}

/* The field of each column in memsnap's own form; LAYER_FIELDS for unknown ones. */
struct columns {
    enum layer_field fields[MOST_COLUMNS];
    size_t count;
};

static bool read_columns(struct layers_value *in, value v, struct columns *columns)
{
    const value *items;
    size_t count;
    move_to(in, v, in->offset);
    if (!value_sequence(in->values, v, &items, &count))
        return layers_bad(in, "columns (an array)", v);
    if (count > MOST_COLUMNS)
        return error_set_at(in->err, STATUS_LIMIT, in->offset, "more than %d columns",
                            MOST_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        if (value_tag(items[i]) != TAG_STRING)
            return layers_bad(in, "the name of a column", items[i]);
        columns->fields[i] = layer_field_find(layers_value_text(in, items[i]));
        if (columns->fields[i] == LAYER_FIELDS &&
            !in->sink->unknown_key(in->sink->self, layers_value_text(in, items[i]), in->err))
            return false;
    }
    columns->count = count;
    return true;
}

static bool read_table_row(struct layers_value *in, value v, uint64_t holder,
                           const struct columns *columns)
{
    struct layer_row row = {0};
    const value *cells;
    size_t count;
    move_to(in, v, holder);
    if (!value_sequence(in->values, v, &cells, &count))
        return layers_bad(in, "a row (an array)", v);
    if (count != columns->count)
        return error_set_at(in->err, STATUS_BAD_INPUT, in->offset,
                            "expected a row of %zu values, one for each column, found %zu",
                            columns->count, count);
    for (size_t i = 0; i < count; i++)
        if (columns->fields[i] < LAYER_FIELDS && cells[i] != VALUE_NONE &&
            !layers_take_field(in, &row, columns->fields[i], cells[i]))
            return false;
    return finish_row(in, &row);
}

static bool read_table(struct layers_value *in, value names, value rows)
{
    struct columns columns = {.count = 0};
    const value *items;
    size_t count;
    if (!read_columns(in, names, &columns))
        return false;
    move_to(in, rows, in->offset);
    if (!value_sequence(in->values, rows, &items, &count))
        return layers_bad(in, "rows (an array)", rows);
    uint64_t holder = in->offset;
    for (size_t i = 0; i < count; i++)
        if (!read_table_row(in, items[i], holder, &columns))
            return false;
    return true;
}

static bool take_once(struct layers_value *in, value *place, value v, const char *key)
{
    if (*place != VALUE_UNSET)
        return error_set_at(in->err, STATUS_BAD_INPUT, in->offset, "a second '%s'", key);
    *place = v;
    return true;
}

static bool check_layout(struct layers_value *in, value v)
{
    if (text_equals(layers_value_text(in, v), LAYERS_TABLE_LAYOUT))
        return true;
    return layers_bad(in, "\"" LAYERS_TABLE_LAYOUT "\", the only layout that is known,", v);
}

/* Reads the value of a key beside the rows. */
static bool take_other(struct layers_value *in, struct text key, value v)
{
    enum layer_fact fact = layer_fact_find(key);
    if (fact < LAYER_FACTS)
        return layers_take_fact(in, fact, v);
    if (text_equals(key, LAYERS_MADE))
        return layers_take_storages(in, v);
    return text_equals(key, LAYERS_OPERATORS) ? layers_take_operators(in, v)
                                              : in->sink->unknown_key(in->sink->self, key, in->err);
}

static bool read_root(struct layers_value *in, value root)
{
    value traces = VALUE_UNSET, columns = VALUE_UNSET, rows = VALUE_UNSET;
    const value *pairs;
    size_t count;
    bool ok = true;
    move_to(in, root, 0);
    if (!value_mapping(in->values, root, &pairs, &count))
        return read_rows(in, root);
    for (size_t i = 0; ok && i < count; i++) {
        struct text key = layers_value_text(in, pairs[2 * i]);
        value v = pairs[2 * i + 1];
        if (text_equals(key, "traces"))
            ok = take_once(in, &traces, v, "traces");
        else if (text_equals(key, "columns"))
            ok = take_once(in, &columns, v, "columns");
        else if (text_equals(key, "rows"))
            ok = take_once(in, &rows, v, "rows");
        else if (text_equals(key, LAYERS_TABLE_KEY))
            ok = check_layout(in, v);
        else
            ok = take_other(in, key, v);
    }
    if (!ok)
        return false;
    if (traces != VALUE_UNSET)
        return read_rows(in, traces);
    if (columns == VALUE_UNSET || rows == VALUE_UNSET)
        return error_set_at(in->err, STATUS_BAD_INPUT, in->offset, "no key 'traces'");
    return read_table(in, columns, rows);
}

static bool decode_layers(struct source *source, struct symbols *symbols,
                          const struct layer_sink *sink,
                          bool (*decode)(struct source *, struct symbols *, struct values *,
                                         value *, struct error *),
                          struct error *err)
{
    struct values values;
    value root;
    if (!decode(source, symbols, &values, &root, err))
        return false;
    struct layers_value in = {.values = &values, .sink = sink, .err = err};
    bool ok = read_root(&in, root);
    values_release(&values);
    return ok;
}

bool decode_pickle_layers(struct source *source, struct symbols *symbols,
                          const struct layer_sink *sink, struct error *err)
{
    return decode_layers(source, symbols, sink, decode_pickle_value, err);
}

bool decode_msgpack_layers(struct source *source, struct symbols *symbols,
                           const struct layer_sink *sink, struct error *err)
{
    return decode_layers(source, symbols, sink, decode_msgpack_value, err);
}
