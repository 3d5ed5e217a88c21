#include "decode/yaml/tags.h"

#include "decode/yaml/scalar.h"

#define PYTHON "tag:yaml.org,2002:python/"

static bool skip(struct text *text, const char *prefix)
{
    if (!text_starts(*text, prefix))
        return false;
    text->bytes += strlen(prefix);
    text->size -= strlen(prefix);
    return true;
}

/* Leaves the class's path in `tag`. */
static bool skip_instance(struct text *tag)
{
    return skip(tag, PYTHON "object/apply:") || skip(tag, PYTHON "object/new:") ||
           skip(tag, PYTHON "object:");
}

bool yaml_is_instance(struct text tag)
{
    return skip_instance(&tag);
}

/* "collections.defaultdict": the last point divides module and name. */
static bool new_global(struct values *values, struct text path, uint64_t line, value *v,
                       struct error *err)
{
    size_t dot = path.size;
    while (dot > 0 && path.bytes[dot - 1] != '.')
        dot--;
    struct text module = {path.bytes, dot > 0 ? dot - 1 : 0};
    struct text name = {path.bytes + dot, path.size - dot};
    value parts[2];
    return yaml_string(values, module, line, &parts[0], err) &&
           yaml_string(values, name, line, &parts[1], err) &&
           value_new_items(values, NODE_GLOBAL, parts, 2, line, v, err);
}

bool yaml_global(struct values *values, struct text tag, uint64_t line, value *v, bool *failed,
                 struct error *err)
{
    *failed = false;
    if (!skip(&tag, PYTHON "name:"))
        return false;
    *failed = !new_global(values, tag, line, v, err);
    return true;
}

/* The keys of object/apply and object/new in a mapping. */
static const struct {
    const char *key;
    enum object_part part;
    enum node_kind kind;
} members[] = {
    {"args", OBJECT_ARGS, NODE_LIST},
    {"kwds", OBJECT_KWARGS, NODE_DICT},
    {"listitems", OBJECT_LIST, NODE_LIST},
    {"dictitems", OBJECT_DICT, NODE_DICT},
};

static void take_members(const struct values *values, value content, value parts[OBJECT_PARTS])
{
    const value *pairs;
    size_t count;
    if (!value_mapping(values, content, &pairs, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        if (value_tag(pairs[2 * i]) != TAG_STRING)
            continue;
        struct text key = symbols_text(values->symbols, value_payload(pairs[2 * i]));
        for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
            if (text_equals(key, members[k].key) &&
                value_is_node(values, pairs[2 * i + 1], members[k].kind))
                parts[members[k].part] = pairs[2 * i + 1];
        if (text_equals(key, "state"))
            parts[OBJECT_STATE] = pairs[2 * i + 1];
    }
}

bool yaml_instance(struct values *values, struct text tag, value content, uint64_t line, value *v,
                   struct error *err)
{
    value parts[OBJECT_PARTS] = {VALUE_UNSET};
    bool is_state = text_starts(tag, PYTHON "object:");
    skip_instance(&tag);
    if (!new_global(values, tag, line, &parts[OBJECT_CLASS], err))
        return false;
    if (is_state)
        parts[OBJECT_STATE] = content;
    else if (value_is_node(values, content, NODE_LIST))
        parts[OBJECT_ARGS] = content;
    else
        take_members(values, content, parts);
    return value_new_items(values, NODE_OBJECT, parts, OBJECT_PARTS, line, v, err);
}
