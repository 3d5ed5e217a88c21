#include "decode/yaml/value.h"

#include <string.h>
#include <yaml.h>

#include "base/idtable.h"
#include "decode/yaml/scalar.h"
#include "decode/yaml/tags.h"

/* What libyaml holds besides the token it reads: buffers, and tokens it looked ahead at. */
#define LIBRARY_MEMORY ((size_t)1024 * 1024 + 8 * YAML_TOKEN_MOST)

#define NO_ANCHOR UINT32_MAX

/* A list or dict that has not ended yet. */
struct open {
    value container;
    value key; /* of a dict: VALUE_UNSET if a key is next */
    string_id tag;
    uint32_t anchor;
    uint64_t line;
};

struct anchor {
    string_id name;
    value v;
};

struct reader {
    yaml_parser_t parser;
    struct source *source;
    struct values *values;
    struct open stack[YAML_DEPTH_MOST];
    size_t depth;
    struct anchor *anchors;
    size_t anchor_count, anchor_capacity;
    struct idtable by_name;
    value root;
    bool has_root;
    size_t since_event; /* bytes read */
    bool failed;        /* reading failed: `err` has the reason */
    struct error *err;
};

static bool out_of_place(struct reader *in, uint64_t line, const char *message)
{
    return error_set(in->err, STATUS_BAD_INPUT, "line %llu: %s", (unsigned long long)line, message);
}

/* Called by libyaml. */
static int read_bytes(void *self, unsigned char *bytes, size_t size, size_t *taken)
{
    struct reader *in = self;
    struct source *source = in->source;
    *taken = 0;
    if (in->since_event > YAML_TOKEN_MOST) {
        in->failed = true;
        error_set_at(in->err, STATUS_LIMIT, source_offset(source),
                     "more than %zu KiB of YAML without a value", YAML_TOKEN_MOST / 1024);
        return 0;
    }
    if (source->pos == source->end && !source_fill(source, 1, in->err)) {
        in->failed = true;
        return 0;
    }
    size_t left = (size_t)(source->end - source->pos);
    *taken = left < size ? left : size;
    memcpy(bytes, source->pos, *taken);
    source->pos += *taken;
    in->since_event += *taken;
    return 1;
}

static bool is_anchor(const void *items, uint32_t id, const void *wanted)
{
    return ((const struct anchor *)items)[id].name == *(const string_id *)wanted;
}

static bool find_anchor(const struct reader *in, string_id name, uint32_t *at)
{
    return idtable_find(&in->by_name, name * UINT32_C(2654435761), is_anchor, in->anchors, &name,
                        at);
}

static bool intern(struct reader *in, const yaml_char_t *text, string_id *id)
{
    const char *bytes = (const char *)text;
    return symbols_string(in->values->symbols, bytes, strlen(bytes), id, in->err);
}

/* Gives a node its name; a later node may take the name over. */
static bool set_anchor(struct reader *in, const yaml_char_t *text, value v, uint32_t *at)
{
    string_id name;
    *at = NO_ANCHOR;
    if (!text)
        return true;
    if (!intern(in, text, &name))
        return false;
    if (find_anchor(in, name, at)) {
        in->anchors[*at].v = v;
        return true;
    }
    struct budget *budget = in->source->budget;
    *at = (uint32_t)in->anchor_count;
    return vec_push(in->anchors, in->anchor_count, in->anchor_capacity, budget, in->err,
                    (struct anchor){name, v}) &&
           idtable_add(&in->by_name, name * UINT32_C(2654435761), *at, budget, in->err);
}

/* Puts a finished value where it belongs. */
static bool attach(struct reader *in, value v)
{
    if (in->depth == 0) {
        in->root = v;
        in->has_root = true;
        return true;
    }
    struct open *top = &in->stack[in->depth - 1];
    if (value_is_node(in->values, top->container, NODE_LIST))
        return value_add_items(in->values, top->container, &v, 1, in->err);
    if (top->key == VALUE_UNSET) {
        top->key = v;
        return true;
    }
    const value pair[] = {top->key, v};
    top->key = VALUE_UNSET;
    return value_add_items(in->values, top->container, pair, 2, in->err);
}

static bool take_alias(struct reader *in, const yaml_event_t *event, uint64_t line)
{
    string_id name;
    uint32_t at;
    if (!intern(in, event->data.alias.anchor, &name))
        return false;
    if (!find_anchor(in, name, &at))
        return out_of_place(in, line, "an alias of an anchor that is not above it");
    return attach(in, in->anchors[at].v);
}

static bool take_scalar(struct reader *in, const yaml_event_t *event, uint64_t line)
{
    struct text text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    const char *tag = (const char *)event->data.scalar.tag;
    bool is_plain = event->data.scalar.plain_implicit && !tag, failed = false;
    uint32_t anchor;
    value v;
    if (is_plain)
        failed = !yaml_plain_scalar(in->values, text, line, &v, in->err);
    else if (!tag ||
             !yaml_global(in->values, (struct text){tag, strlen(tag)}, line, &v, &failed, in->err))
        failed = !yaml_string(in->values, text, line, &v, in->err);
    return !failed && set_anchor(in, event->data.scalar.anchor, v, &anchor) && attach(in, v);
}

static bool begin(struct reader *in, enum node_kind kind, const yaml_char_t *tag,
                  const yaml_char_t *anchor, uint64_t line)
{
    struct open open = {.key = VALUE_UNSET, .tag = STRING_EMPTY, .line = line};
    if (in->depth == YAML_DEPTH_MOST)
        return error_set(in->err, STATUS_LIMIT, "line %llu: nested more than %d levels deep",
                         (unsigned long long)line, YAML_DEPTH_MOST);
    if (!value_new_node(in->values, kind, line, &open.container, in->err) ||
        (tag && !intern(in, tag, &open.tag)) ||
        !set_anchor(in, anchor, open.container, &open.anchor))
        return false;
    in->stack[in->depth++] = open;
    return true;
}

static bool end(struct reader *in)
{
    const struct open open = in->stack[--in->depth];
    struct text tag = symbols_text(in->values->symbols, open.tag);
    value v = open.container;
    if (yaml_is_instance(tag)) {
        if (!yaml_instance(in->values, tag, open.container, open.line, &v, in->err))
            return false;
        if (open.anchor != NO_ANCHOR && in->anchors[open.anchor].v == open.container)
            in->anchors[open.anchor].v = v;
    }
    return attach(in, v);
}

static bool take_event(struct reader *in, const yaml_event_t *event)
{
    uint64_t line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return !in->has_root || out_of_place(in, line, "expected one YAML document, not several");
    case YAML_ALIAS_EVENT:
        return take_alias(in, event, line);
    case YAML_SCALAR_EVENT:
        return take_scalar(in, event, line);
    case YAML_SEQUENCE_START_EVENT:
        return begin(in, NODE_LIST, event->data.sequence_start.tag,
                     event->data.sequence_start.anchor, line);
    case YAML_MAPPING_START_EVENT:
        return begin(in, NODE_DICT, event->data.mapping_start.tag, event->data.mapping_start.anchor,
                     line);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return end(in);
    default:
        return true;
    }
}

static bool syntax_error(struct reader *in)
{
    const yaml_parser_t *parser = &in->parser;
    const char *problem = parser->problem ? parser->problem : "unknown error";
    if (in->failed)
        return false;
    if (parser->error == YAML_MEMORY_ERROR)
        return error_out_of_memory(in->err);
    if (parser->error == YAML_READER_ERROR)
        return error_set_at(in->err, STATUS_BAD_INPUT, parser->problem_offset,
                            "expected YAML: %.120s", problem);
    return error_set(in->err, STATUS_BAD_INPUT, "line %zu: expected YAML: %.120s",
                     parser->problem_mark.line + 1, problem);
}

static bool read_events(struct reader *in)
{
    for (bool at_end = false; !at_end;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&in->parser, &event))
            return syntax_error(in);
        in->since_event = 0;
        at_end = event.type == YAML_STREAM_END_EVENT;
        bool ok = take_event(in, &event);
        yaml_event_delete(&event);
        if (!ok)
            return false;
    }
    return in->has_root ||
           error_set(in->err, STATUS_BAD_INPUT, "expected a YAML document, found none");
}

bool decode_yaml_value(struct source *source, struct symbols *symbols, struct values *values,
                       value *root, struct error *err)
{
    struct values made;
    struct reader in = {.source = source, .values = &made, .err = err};
    if (!budget_take(source->budget, LIBRARY_MEMORY, err))
        return false;
    if (!yaml_parser_initialize(&in.parser)) {
        budget_give(source->budget, LIBRARY_MEMORY);
        return error_out_of_memory(err);
    }
    values_init(&made, symbols, source->budget);
    yaml_parser_set_input(&in.parser, read_bytes, &in);
    bool ok = read_events(&in);
    yaml_parser_delete(&in.parser);
    budget_give(source->budget, LIBRARY_MEMORY);
    vec_free(in.anchors, in.anchor_capacity, sizeof(*in.anchors), source->budget);
    idtable_release(&in.by_name, source->budget);
    if (ok) {
        *values = made;
        *root = in.root;
    } else {
        values_release(&made);
    }
    return ok;
}
