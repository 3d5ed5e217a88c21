#include "decode/core/value.h"

#include <string.h>

#include "decode/core/bytes.h"

void values_init(struct values *values, struct symbols *symbols, struct budget *budget)
{
    *values = (struct values){.symbols = symbols};
    arena_init(&values->arena, budget);
}

void values_release(struct values *values)
{
    vec_free(values->nodes, values->capacity, sizeof *values->nodes, values->arena.budget);
    arena_release(&values->arena);
}

bool value_new_node(struct values *values, enum node_kind kind, uint64_t offset, value *v,
                    struct error *err)
{
    if (values->count > VALUE_PAYLOAD_MAX)
        return error_set_at(err, STATUS_LIMIT, offset, "more than %u values outside events",
                            VALUE_PAYLOAD_MAX);
    if (values->count == values->capacity &&
        !vec_reserve(values->nodes, values->capacity, values->count + 1, values->arena.budget, err))
        return false;
    values->nodes[values->count] = (struct node){.kind = (uint8_t)kind, .offset = offset};
    *v = value_make(TAG_NODE, (uint32_t)values->count++);
    return true;
}

bool value_new_int(struct values *values, int64_t integer, uint64_t offset, value *v,
                   struct error *err)
{
    if (integer >= 0 && integer <= VALUE_PAYLOAD_MAX) {
        *v = value_make(TAG_INT, (uint32_t)integer);
        return true;
    }
    if (!value_new_node(values, NODE_INT, offset, v, err))
        return false;
    value_node(values, *v)->as.integer = integer;
    return true;
}

bool value_new_long(struct values *values, const uint8_t *bytes, size_t size, uint64_t offset,
                    value *v, struct error *err)
{
    /* Remove redundant sign bytes, so that equal integers have equal bytes. */
    while (size > 1 && ((bytes[size - 1] == 0x00 && bytes[size - 2] < 0x80) ||
                        (bytes[size - 1] == 0xff && bytes[size - 2] >= 0x80)))
        size--;
    if (size <= 8) {
        uint64_t word = size > 0 && bytes[size - 1] >= 0x80 ? UINT64_MAX : 0;
        for (size_t i = size; i-- > 0;)
            word = word << 8 | bytes[i];
        return value_new_int(values, (int64_t)word, offset, v, err);
    }
    if (size == 9 && bytes[8] == 0) {
        uint64_t word = load_le64(bytes);
        if (!value_new_node(values, NODE_UNSIGNED, offset, v, err))
            return false;
        value_node(values, *v)->as.natural = word;
        return true;
    }
    return value_new_bytes(values, NODE_BIGINT, bytes, size, offset, v, err);
}

bool value_new_bytes(struct values *values, enum node_kind kind, const uint8_t *bytes, size_t size,
                     uint64_t offset, value *v, struct error *err)
{
    if (size > UINT32_MAX)
        return error_set_at(err, STATUS_LIMIT, offset, "a byte string longer than 4 GiB");
    uint8_t *copy = arena_alloc(&values->arena, size, err);
    if (copy == NULL || !value_new_node(values, kind, offset, v, err))
        return false;
    if (size > 0)
        memcpy(copy, bytes, size);
    struct node *node = value_node(values, *v);
    node->as.bytes = copy;
    node->count = (uint32_t)size;
    return true;
}

bool value_new_items(struct values *values, enum node_kind kind, const value *items, size_t count,
                     uint64_t offset, value *v, struct error *err)
{
    return value_new_node(values, kind, offset, v, err) &&
           value_add_items(values, *v, items, count, err);
}

bool value_add_items(struct values *values, value v, const value *items, size_t count,
                     struct error *err)
{
    struct node *node = value_node(values, v);
    size_t need = node->count + count;
    if (need > UINT32_MAX)
        return error_set_at(err, STATUS_LIMIT, node->offset, "a container of over 2^32 items");
    if (count == 0)
        return true;
    size_t room = node->as.items == NULL ? 0 : (size_t)1 << node->log2_capacity;
    if (need > room) {
        uint8_t log2 = node->log2_capacity;
        while (((size_t)1 << log2) < need)
            log2++;
        value *grown = arena_alloc(&values->arena, sizeof(value) << log2, err);
        if (grown == NULL)
            return false;
        if (node->count > 0)
            memcpy(grown, node->as.items, node->count * sizeof(value));
        node->as.items = grown;
        node->log2_capacity = log2;
    }
    memcpy(node->as.items + node->count, items, count * sizeof(value));
    node->count = (uint32_t)need;
    return true;
}

bool value_to_i64(const struct values *values, value v, int64_t *out)
{
    if (value_tag(v) == TAG_INT)
        *out = value_payload(v);
    else if (v == VALUE_TRUE || v == VALUE_FALSE)
        *out = v == VALUE_TRUE;
    else if (value_is_node(values, v, NODE_INT))
        *out = value_node(values, v)->as.integer;
    else
        return false;
    return true;
}

bool value_to_u64(const struct values *values, value v, uint64_t *out)
{
    if (value_is_node(values, v, NODE_UNSIGNED)) {
        *out = value_node(values, v)->as.natural;
        return true;
    }
    int64_t integer;
    if (!value_to_i64(values, v, &integer) || integer < 0)
        return false;
    *out = (uint64_t)integer;
    return true;
}

bool value_is_emptied(const struct values *values, value v)
{
    const struct node *node = value_node(values, v);
    return node->role != ROLE_NONE && node->role != ROLE_USED;
}

bool value_sequence(const struct values *values, value v, const value **items, size_t *count)
{
    if (value_tag(v) != TAG_NODE)
        return false;
    const struct node *node = value_node(values, v);
    if (node->kind == NODE_OBJECT)
        return node->as.items[OBJECT_LIST] != VALUE_UNSET &&
               value_sequence(values, node->as.items[OBJECT_LIST], items, count);
    if ((node->kind != NODE_LIST && node->kind != NODE_TUPLE) || value_is_emptied(values, v))
        return false;
    *items = node->as.items;
    *count = node->count;
    return true;
}

bool value_mapping(const struct values *values, value v, const value **pairs, size_t *count)
{
    if (value_tag(v) != TAG_NODE)
        return false;
    const struct node *node = value_node(values, v);
    if (node->kind == NODE_OBJECT)
        return node->as.items[OBJECT_DICT] != VALUE_UNSET &&
               value_mapping(values, node->as.items[OBJECT_DICT], pairs, count);
    if (node->kind != NODE_DICT || value_is_emptied(values, v))
        return false;
    *pairs = node->as.items;
    *count = node->count / 2;
    return true;
}

static const char *const_kind_name(value v)
{
    return v == VALUE_NONE ? "None" : v == VALUE_MARK ? "a mark" : "a bool";
}

const char *value_kind_name(const struct values *values, value v)
{
    static const char *const of_node[] = {
        [NODE_INT] = "an int",
        [NODE_UNSIGNED] = "an int",
        [NODE_BIGINT] = "an int beyond 64 bits",
        [NODE_FLOAT] = "a float",
        [NODE_BYTES] = "bytes",
        [NODE_BYTEARRAY] = "a bytearray",
        [NODE_LIST] = "a list",
        [NODE_TUPLE] = "a tuple",
        [NODE_SET] = "a set",
        [NODE_FROZENSET] = "a frozenset",
        [NODE_DICT] = "a dict",
        [NODE_GLOBAL] = "a class or function",
        [NODE_OBJECT] = "an instance of a class",
        [NODE_PERSISTENT] = "a persistent id",
        [NODE_EXTENSION] = "an extension code",
        [NODE_FRAME] = "a frame",
        [NODE_STACK] = "a list of frames",
        [NODE_EVENT] = "an event",
        [NODE_BUFFER] = "an out-of-band buffer",
        [NODE_READONLY_BUFFER] = "an out-of-band buffer",
    };
    switch (value_tag(v)) {
    case TAG_CONST:
        return const_kind_name(v);
    case TAG_INT:
        return "an int";
    case TAG_STRING:
        return "a string";
    case TAG_NODE:
        return of_node[value_node(values, v)->kind];
    case TAG_FRAME:
        return "a frame";
    case TAG_STACK:
        return "a list of frames";
    case TAG_EVENT:
        return "an event";
    }
    return "nothing";
}
