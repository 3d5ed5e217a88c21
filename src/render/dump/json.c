#include "render/dump/json.h"

#include <string.h>

#include "render/dump/internal.h"

#define SCHEMA "memsnap.dump/1"

/* Room for every level was allocated before the first byte was written. */
static void push(struct dumper *dumper, value v, enum shape shape, bool wrapped)
{
    dumper->levels[dumper->depth++] =
        (struct level){.node = value_payload(v), .shape = (uint8_t)shape, .wrapped = wrapped};
}

/* True if every key of the dict can be a JSON object key and no key occurs twice. */
static bool dict_is_plain(struct dumper *dumper, const struct node *dict)
{
    uint32_t number = ++dumper->dict_count;
    for (size_t i = 0; i < dict->count; i += 2) {
        value key = dict->as.items[i];
        if (value_tag(key) != TAG_STRING)
            return false;
        struct text text = dumper_text(dumper, key);
        if ((text.size > 0 && text.bytes[0] == '$') || !dump_text_is_plain(text) ||
            dump_refs_text_is_shared(&dumper->refs, value_payload(key)) ||
            dumper->last_dict[value_payload(key)] == number)
            return false;
        dumper->last_dict[value_payload(key)] = number;
    }
    return true;
}

static void open_dict(struct dumper *dumper, const char *key, value v, uint32_t id)
{
    struct json_writer *json = &dumper->json;
    bool plain = dict_is_plain(dumper, value_node(dumper->values, v));
    dumper_open(dumper, key, id);
    if (!plain)
        json_put_open(json, "$dict", '[');
    push(dumper, v, plain ? SHAPE_OBJECT : SHAPE_PAIRS, !plain);
}

static void open_array(struct dumper *dumper, const char *key, value v, const char *kind,
                       uint32_t id)
{
    bool wrapped = kind != NULL;
    if (wrapped)
        dumper_open(dumper, key, id);
    json_put_open(&dumper->json, wrapped ? kind : key, '[');
    push(dumper, v, SHAPE_ARRAY, wrapped);
}

static void put_container(struct dumper *dumper, const char *key, value v, uint32_t id)
{
    switch ((enum node_kind)value_node(dumper->values, v)->kind) {
    case NODE_LIST:
        open_array(dumper, key, v, id != 0 ? "$list" : NULL, id);
        return;
    case NODE_TUPLE:
        open_array(dumper, key, v, "$tuple", id);
        return;
    case NODE_SET:
        open_array(dumper, key, v, "$set", id);
        return;
    case NODE_FROZENSET:
        open_array(dumper, key, v, "$frozenset", id);
        return;
    case NODE_DICT:
        open_dict(dumper, key, v, id);
        return;
    default: /* NODE_OBJECT, NODE_PERSISTENT */
        dumper_open(dumper, key, id);
        push(dumper, v, SHAPE_INSTANCE, false);
    }
}

static void put_node(struct dumper *dumper, const char *key, value v)
{
    const struct node *node = value_node(dumper->values, v);
    uint32_t id = 0;
    if (dumper_put_scalar(dumper, key, node))
        return;
    if (dump_refs_meet_node(&dumper->refs, v, &id) == MET_AGAIN)
        dumper_put_ref(dumper, key, id);
    else if (node->kind == NODE_BYTES || node->kind == NODE_BYTEARRAY || node->kind == NODE_BIGINT)
        dumper_put_bytes(dumper, key, node, id);
    else
        put_container(dumper, key, v, id);
}

static void put_value(struct dumper *dumper, const char *key, value v)
{
    switch (value_tag(v)) {
    case TAG_INT:
        json_put_count(&dumper->json, key, value_payload(v));
        return;
    case TAG_STRING:
        dumper_put_text(dumper, key, v);
        return;
    case TAG_NODE:
        put_node(dumper, key, v);
        return;
    default: /* the only other tag where all is kept as values */
        if (v == VALUE_TRUE || v == VALUE_FALSE)
            json_put_bool(&dumper->json, key, v == VALUE_TRUE);
        else
            json_put_null(&dumper->json, key);
    }
}

static void put_part(struct dumper *dumper, enum object_part part, value v)
{
    static const char *const keys[OBJECT_PARTS] = {
        [OBJECT_CLASS] = "$class",     [OBJECT_ARGS] = "$args",   [OBJECT_KWARGS] = "$kwargs",
        [OBJECT_EARLIER] = "$earlier", [OBJECT_STATE] = "$state", [OBJECT_LIST] = "$items",
        [OBJECT_DICT] = "$dict",
    };
    const struct values *values = dumper->values;
    if (part == OBJECT_CLASS && value_is_node(values, v, NODE_GLOBAL) &&
        dump_global_is_plain(values, value_node(values, v)))
        dumper_put_plain_global(dumper, keys[part], value_node(values, v));
    else if (part == OBJECT_ARGS && value_is_node(values, v, NODE_TUPLE) &&
             !dump_refs_node_is_shared(&dumper->refs, v))
        open_array(dumper, keys[part], v, NULL, 0);
    else if (part == OBJECT_DICT && !dict_is_plain(dumper, value_node(values, v))) {
        json_put_open(&dumper->json, keys[part], '[');
        push(dumper, v, SHAPE_PAIRS, false);
    } else {
        put_value(dumper, keys[part], v);
    }
}

/* Writes the next item of a level. False if there is none. */
static bool put_next(struct dumper *dumper, struct level *level)
{
    struct json_writer *json = &dumper->json;
    const struct node *node = value_node(dumper->values, value_make(TAG_NODE, level->node));
    bool is_key = level->next % 2 == 0;
    if (level->shape == SHAPE_PAIRS && is_key && level->next > 0)
        json_put_close(json, ']');
    if (level->next == node->count)
        return false;
    value item = node->as.items[level->next++];
    switch ((enum shape)level->shape) {
    case SHAPE_OBJECT:
        if (is_key)
            json_put_text_key(json, dumper_text(dumper, item));
        else
            put_value(dumper, NULL, item);
        return true;
    case SHAPE_PAIRS:
        if (is_key)
            json_put_open(json, NULL, '[');
        break;
    case SHAPE_INSTANCE:
        if (node->kind == NODE_PERSISTENT)
            put_value(dumper, "$persid", item);
        else if (item != VALUE_UNSET)
            put_part(dumper, (enum object_part)(level->next - 1), item);
        return true;
    case SHAPE_ARRAY:
        break;
    }
    put_value(dumper, NULL, item);
    return true;
}

static void put_all(struct dumper *dumper, const char *key, value root)
{
    put_value(dumper, key, root);
    while (dumper->depth > 0) {
        struct level *level = &dumper->levels[dumper->depth - 1];
        if (put_next(dumper, level))
            continue;
        json_put_close(&dumper->json,
                       level->shape == SHAPE_ARRAY || level->shape == SHAPE_PAIRS ? ']' : '}');
        if (level->wrapped)
            json_put_close(&dumper->json, '}');
        dumper->depth--;
    }
}

static void put_line(struct dumper *dumper, const struct dump *dump)
{
    struct json_writer *json = &dumper->json;
    json_put_open(json, NULL, '{');
    json_put_string(json, "schema", SCHEMA);
    json_put_open(json, "input", '{');
    json_put_string(json, "path", dump->path);
    json_put_string(json, "format", "pickle");
    json_put_string(json, "compression", dump->gzip ? "gzip" : "none");
    json_put_close(json, '}');
    put_all(dumper, "value", dump->root);
    if (dumper->refs.discarded_count > 0) {
        json_put_open(json, "discarded", '[');
        for (size_t i = 0; i < dumper->refs.discarded_count; i++)
            put_all(dumper, NULL, dumper->refs.discarded[i]);
        json_put_close(json, ']');
    }
    json_put_close(json, '}');
    fputc('\n', json->out);
}

static bool make_room(struct dumper *dumper, struct error *err)
{
    size_t strings = symbols_string_count(dumper->values->symbols);
    /* plus 1 for an empty tuple, which the depth does not count */
    if (!vec_reserve(dumper->levels, dumper->level_capacity, dumper->refs.depth + 1, dumper->budget,
                     err) ||
        !vec_reserve(dumper->last_dict, dumper->last_dict_capacity, strings + 1, dumper->budget,
                     err))
        return false;
    memset(dumper->last_dict, 0, strings * sizeof(dumper->last_dict[0]));
    return true;
}

bool dump_json(FILE *out, const struct dump *dump, struct budget *budget, struct error *err)
{
    struct dumper dumper = {.values = dump->values, .budget = budget};
    if (!dump_refs_build(&dumper.refs, dump->values, dump->root, budget, err))
        return false;
    json_writer_init(&dumper.json, out);
    bool ok = make_room(&dumper, err);
    if (ok) {
        put_line(&dumper, dump);
        ok = !dumper.json.failed || error_out_of_memory(err);
    }
    json_writer_release(&dumper.json);
    vec_free(dumper.levels, dumper.level_capacity, sizeof(dumper.levels[0]), budget);
    vec_free(dumper.last_dict, dumper.last_dict_capacity, sizeof(dumper.last_dict[0]), budget);
    dump_refs_release(&dumper.refs);
    return ok;
}
