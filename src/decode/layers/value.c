#include "decode/layers/value.h"

#include <string.h>

/* Any number of rows may share a mapping, so its size is bounded. */
#define MOST_KEYS 64

#define COLUMN_EVENT LAYER_FIELDS /* in a list of columns: the column of the nested event */

/* An instance of a class, in any of the ways in which a pickle creates it. */
struct instance {
    struct text class;
    const value *args;
    size_t arg_count;
    value kwargs; /* VALUE_UNSET: none */
};

bool layers_bad(const struct layers_value *in, const char *expected, value v)
{
    return error_set_at(in->err, STATUS_BAD_INPUT, in->offset, "expected %s, found %s", expected,
                        value_kind_name(in->values, v));
}

struct text layers_value_text(const struct layers_value *in, value v)
{
    return value_tag(v) == TAG_STRING ? symbols_text(in->values->symbols, value_payload(v))
                                      : (struct text){"", 0};
}

static struct text class_name(const struct layers_value *in, value v)
{
    return value_is_node(in->values, v, NODE_GLOBAL)
               ? layers_value_text(in, value_node(in->values, v)->as.items[1])
               : (struct text){"", 0};
}

/* Resolves the copyreg functions with which protocols 0 and 1, and some C code, create instances of
 * a named tuple. */
static bool read_instance(const struct layers_value *in, value v, struct instance *out)
{
    const struct values *values = in->values;
    if (!value_is_node(values, v, NODE_OBJECT))
        return false;
    const value *parts = value_node(values, v)->as.items;
    struct instance instance = {.class = class_name(in, parts[OBJECT_CLASS]),
                                .kwargs = parts[OBJECT_KWARGS]};
    if (!value_sequence(values, parts[OBJECT_ARGS], &instance.args, &instance.arg_count))
        return false;
    size_t count = instance.arg_count;
    if (text_equals(instance.class, "_reconstructor") && count == 3) { /* class, tuple, its items */
        instance.class = class_name(in, instance.args[0]);
        if (!value_sequence(values, instance.args[2], &instance.args, &instance.arg_count))
            return false;
    } else if (text_equals(instance.class, "__newobj__") && count > 0) { /* class, item... */
        instance.class = class_name(in, instance.args[0]);
        instance.args++;
        instance.arg_count--;
    } else if (text_equals(instance.class, "__newobj_ex__") &&
               count == 3) { /* class, items, dict */
        instance.class = class_name(in, instance.args[0]);
        instance.kwargs = instance.args[2];
        if (!value_sequence(values, instance.args[1], &instance.args, &instance.arg_count))
            return false;
    }
    *out = instance;
    return true;
}

static bool take_number(struct layers_value *in, void *row, const struct field *field, value v)
{
    const struct values *values = in->values;
    uint64_t magnitude;
    int64_t integer;
    if (field->kind == FIELD_DURATION && value_is_node(values, v, NODE_FLOAT))
        return field_set_real(field, row, value_node(values, v)->as.real, in->offset, in->err);
    if (value_to_u64(values, v, &magnitude))
        return field_set_integer(field, row, false, magnitude, in->offset, in->err);
    if (value_to_i64(values, v, &integer))
        return field_set_integer(field, row, true, 0 - (uint64_t)integer, in->offset, in->err);
    return layers_bad(in, field->expected, v);
}

/* A whole number as its sign and magnitude. */
static bool whole(const struct layers_value *in, value v, bool *negative, uint64_t *magnitude)
{
    int64_t integer;
    *negative = !value_to_u64(in->values, v, magnitude);
    if (!*negative)
        return true;
    *magnitude = value_to_i64(in->values, v, &integer) ? 0 - (uint64_t)integer : 0;
    return *magnitude > 0;
}

/* Any number of rows may share a list, so all together are bounded by the sink's memory. */
static bool take_list(struct layers_value *in, const struct field *field, struct storage_list *list,
                      value v)
{
    const value *items;
    size_t count;
    if (!value_sequence(in->values, v, &items, &count))
        return layers_bad(in, field->expected, v);
    *list = (struct storage_list){.first = in->storages};
    for (size_t i = 0; i < count; i++, list->count++, in->storages++) {
        bool negative;
        uint64_t magnitude;
        uint32_t number;
        if (!whole(in, items[i], &negative, &magnitude))
            return layers_bad(in, STORAGE_NUMBER, items[i]);
        if (!layer_storage_number(negative, magnitude, in->offset, &number, in->err) ||
            !in->sink->storage(in->sink->self, number, in->err))
            return false;
    }
    return true;
}

bool layers_take_storages(struct layers_value *in, value v)
{
    const value *items, *pair;
    size_t count, size;
    if (!value_sequence(in->values, v, &items, &count))
        return layers_bad(in, "storages (a list)", v);
    for (size_t i = 0; i < count; i++) {
        struct layer_storage storage = {0};
        if (!value_sequence(in->values, items[i], &pair, &size) || size < STORAGE_LEAST ||
            size > STORAGE_MOST)
            return layers_bad(in, STORAGE_MADE, items[i]);
        for (size_t k = 0; k < size; k++) {
            bool negative;
            uint64_t magnitude;
            if (!whole(in, pair[k], &negative, &magnitude))
                return layers_bad(in, STORAGE_MADE, pair[k]);
            if (!layer_storage_set(&storage, k, negative, magnitude, in->offset, in->err))
                return false;
        }
        if (!in->sink->made(in->sink->self, &storage, in->offset, in->err))
            return false;
    }
    return true;
}

static bool take_value(struct layers_value *in, const struct field *field, void *row, value v)
{
    bool is_bool = v == VALUE_TRUE || v == VALUE_FALSE;
    if (field->kind == FIELD_STRING && value_tag(v) == TAG_STRING) {
        *(string_id *)field_at(field, row) = value_payload(v);
        return true;
    }
    if (field->kind == FIELD_BOOL && is_bool) {
        *(bool *)field_at(field, row) = v == VALUE_TRUE;
        return true;
    }
    if (field_is_number(field) && !is_bool)
        return take_number(in, row, field, v);
    return layers_bad(in, field->expected, v);
}

bool layers_take_field(struct layers_value *in, struct layer_row *row, enum layer_field index,
                       value v)
{
    const struct field *field = &layer_fields[index];
    layer_set_present(row, index);
    return field->kind == FIELD_OTHER ? take_list(in, field, layer_list(row, index), v)
                                      : take_value(in, field, row, v);
}

static bool take_operator_field(struct layers_value *in, struct layer_operator *operation,
                                struct text key, value v)
{
    enum operator_field index = layer_operator_find(key);
    if (index == OPERATOR_FIELDS)
        return in->sink->unknown_key(in->sink->self, key, in->err);
    const struct field *field = &layer_operator_fields[index];
    operation->present |= UINT32_C(1) << index;
    return field->kind == FIELD_OTHER ? take_list(in, field, &operation->made, v)
                                      : take_value(in, field, operation, v);
}

static bool take_operator(struct layers_value *in, value v)
{
    struct layer_operator operation = {0};
    const value *pairs;
    size_t count;
    if (!value_mapping(in->values, v, &pairs, &count))
        return layers_bad(in, "an operator (a dict)", v);
    if (count > MOST_KEYS)
        return error_set_at(in->err, STATUS_LIMIT, in->offset, "an operator with more than %d keys",
                            MOST_KEYS);
    for (size_t i = 0; i < count; i++)
        if (!take_operator_field(in, &operation, layers_value_text(in, pairs[2 * i]),
                                 pairs[2 * i + 1]))
            return false;
    return layer_operator_check(&operation, in->offset, in->err) &&
           in->sink->operation(in->sink->self, &operation, in->offset, in->err);
}

bool layers_take_operators(struct layers_value *in, value v)
{
    const value *items;
    size_t count;
    if (!value_sequence(in->values, v, &items, &count))
        return layers_bad(in, "operators (a list)", v);
    for (size_t i = 0; i < count; i++)
        if (!take_operator(in, items[i]))
            return false;
    return true;
}

bool layers_take_fact(struct layers_value *in, enum layer_fact fact, value v)
{
    struct layer_facts *facts = in->sink->facts;
    if (!take_value(in, &layer_fact_fields[fact], facts, v))
        return false;
    facts->present |= UINT32_C(1) << fact;
    return fact != FACT_SCHEMA || layer_schema_check(layers_value_text(in, v), in->offset, in->err);
}

static bool take_event(struct layers_value *in, struct layer_row *row, value v);

static bool take_pair(struct layers_value *in, struct layer_row *row, value key, value v,
                      bool in_event)
{
    if (value_tag(key) != TAG_STRING)
        return layers_bad(in, "a key (a string)", key);
    struct text text = layers_value_text(in, key);
    enum layer_field field = layer_field_find(text);
    if (field < LAYER_FIELDS)
        return layers_take_field(in, row, field, v);
    if (text_equals(text, "event") && !in_event)
        return take_event(in, row, v);
    return in->sink->unknown_key(in->sink->self, text, in->err);
}

static bool take_mapping(struct layers_value *in, struct layer_row *row, value v, bool in_event)
{
    const value *pairs;
    size_t count;
    if (!value_mapping(in->values, v, &pairs, &count))
        return layers_bad(in, in_event ? "an event" : "a trace (a LayerMemoryTrace or a dict)", v);
    if (count > MOST_KEYS)
        return error_set_at(in->err, STATUS_LIMIT, in->offset, "a trace with more than %d keys",
                            MOST_KEYS);
    for (size_t i = 0; i < count; i++)
        if (!take_pair(in, row, pairs[2 * i], pairs[2 * i + 1], in_event))
            return false;
    return true;
}

/* Reads the arguments of a named tuple's class: `columns` by position, and others by name. */
static bool take_arguments(struct layers_value *in, struct layer_row *row,
                           const struct instance *instance, const enum layer_field *columns,
                           size_t column_count, bool in_event)
{
    if (instance->arg_count > column_count)
        return error_set_at(in->err, STATUS_BAD_INPUT, in->offset,
                            "expected %zu members of %.60s, found %zu", column_count,
                            instance->class.bytes, instance->arg_count);
    for (size_t i = 0; i < instance->arg_count; i++)
        if (!(columns[i] == COLUMN_EVENT
                  ? take_event(in, row, instance->args[i])
                  : layers_take_field(in, row, columns[i], instance->args[i])))
            return false;
    return instance->kwargs == VALUE_UNSET || take_mapping(in, row, instance->kwargs, in_event);
}

static bool take_event(struct layers_value *in, struct layer_row *row, value v)
{
    static const enum layer_field members[] = {LAYER_MEMORY_DIFF, LAYER_MEMORY_ACTIVATIONS};
    struct instance event;
    if (!read_instance(in, v, &event))
        return take_mapping(in, row, v, true);
    if (text_equals(event.class, "TraceForwardEvent"))
        return take_arguments(in, row, &event, members, 2, true);
    if (text_equals(event.class, "TraceBackwardEvent"))
        return take_arguments(in, row, &event, members + 1, 1, true);
    return layers_bad(in, "an event", v);
}

bool layers_take_trace(struct layers_value *in, struct layer_row *row, value v)
{
    static const enum layer_field members[] = {
        LAYER_MODULE_NAME, LAYER_MODULE_PARAMS, LAYER_ALLOCATED,          LAYER_RESERVED,
        LAYER_IS_FORWARD,  LAYER_ALL_GATHERED,  LAYER_CUMUL_ALL_GATHERED, COLUMN_EVENT};
    struct instance trace;
    if (!read_instance(in, v, &trace))
        return take_mapping(in, row, v, false);
    if (!text_equals(trace.class, "LayerMemoryTrace"))
        return layers_bad(in, "a trace (a LayerMemoryTrace or a dict)", v);
    return take_arguments(in, row, &trace, members, sizeof(members) / sizeof(members[0]), false);
}
