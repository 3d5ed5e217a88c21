#include "render/dump/internal.h"

#include <string.h>

/* State of a node or text. Values from SHARED + 1 on are SHARED plus its number. */
enum { UNMET, ONCE, SHARED };

struct visit {
    uint32_t node, next; /* the item to look at next */
};

struct visits {
    struct visit *items;
    size_t depth, capacity;
};

bool dump_text_is_plain(struct text text)
{
    const uint8_t *p = (const uint8_t *)text.bytes, *end = p + text.size;
    while ((size_t)(end - p) >= 6 && (p = memchr(p, 0xED, (size_t)(end - p) - 5)) != NULL) {
        if (p[1] >= 0xA0 && p[1] <= 0xAF && p[3] == 0xED && p[4] >= 0xB0)
            return false;
        p++;
    }
    return true;
}

bool dump_global_is_plain(const struct values *values, const struct node *global)
{
    struct text module = symbols_text(values->symbols, value_payload(global->as.items[0]));
    struct text name = symbols_text(values->symbols, value_payload(global->as.items[1]));
    return module.size + name.size < DUMP_SHORT_TEXT && !memchr(name.bytes, '.', name.size) &&
           dump_text_is_plain(module) && dump_text_is_plain(name);
}

static void count(uint32_t *state)
{
    *state = *state == UNMET ? ONCE : SHARED;
}

static void count_text(struct dump_refs *refs, const struct values *values, value v)
{
    if (symbols_text(values->symbols, value_payload(v)).size > DUMP_SHORT_TEXT)
        count(&refs->texts[value_payload(v)]);
}

static bool is_opaque(const struct node *node)
{
    return node->kind == NODE_OBJECT || node->kind == NODE_GLOBAL ||
           node->kind == NODE_PERSISTENT || node->kind == NODE_EXTENSION;
}

/* Visits one value. The values inside it are visited later. */
static bool visit(struct dump_refs *refs, const struct values *values, struct visits *visits,
                  value v, struct error *err)
{
    if (value_tag(v) == TAG_STRING)
        count_text(refs, values, v);
    if (value_tag(v) != TAG_NODE)
        return true;
    uint32_t index = value_payload(v);
    const struct node *node = &values->nodes[index];
    switch ((enum node_kind)node->kind) {
    case NODE_BYTES:
    case NODE_BYTEARRAY:
    case NODE_BIGINT:
        count(&refs->nodes[index]);
        return true;
    case NODE_EXTENSION:
        refs->nodes[index] = ONCE; /* written in full wherever it is met */
        return true;
    case NODE_GLOBAL: /* written in full too, but for long texts */
        refs->nodes[index] = ONCE;
        if (!dump_global_is_plain(values, node)) {
            count_text(refs, values, node->as.items[0]);
            count_text(refs, values, node->as.items[1]);
        }
        return true;
    case NODE_TUPLE: /* Python has one empty tuple only */
        if (node->count == 0)
            return true;
        break;
    case NODE_LIST:
    case NODE_SET:
    case NODE_FROZENSET:
    case NODE_DICT:
    case NODE_OBJECT:
    case NODE_PERSISTENT:
        break;
    default:
        return true;
    }
    count(&refs->nodes[index]);
    if (refs->nodes[index] == SHARED)
        return true;
    if (!vec_push(visits->items, visits->depth, visits->capacity, refs->budget, err,
                  (struct visit){.node = index}))
        return false;
    if (visits->depth > refs->depth)
        refs->depth = visits->depth;
    return true;
}

static bool visit_from(struct dump_refs *refs, const struct values *values, struct visits *visits,
                       value root, struct error *err)
{
    bool ok = visit(refs, values, visits, root, err);
    while (ok && visits->depth > 0) {
        struct visit *top = &visits->items[visits->depth - 1];
        const struct node *node = &values->nodes[top->node];
        if (top->next < node->count)
            ok = visit(refs, values, visits, node->as.items[top->next++], err);
        else
            visits->depth--;
    }
    return ok;
}

/* Visits them from the last made to the first, since a value is usually made after the values
 * inside it. */
static bool visit_discarded(struct dump_refs *refs, const struct values *values,
                            struct visits *visits, bool objects, struct error *err)
{
    for (size_t i = values->count; i-- > 0;) {
        const struct node *node = &values->nodes[i];
        value v = value_make(TAG_NODE, (uint32_t)i);
        if (refs->nodes[i] != UNMET || !is_opaque(node) || (node->kind == NODE_OBJECT) != objects)
            continue;
        if (!vec_grow((void **)&refs->discarded, &refs->discarded_capacity,
                      refs->discarded_count + 1, sizeof(value), refs->budget, err) ||
            !visit_from(refs, values, visits, v, err))
            return false;
        refs->discarded[refs->discarded_count++] = v;
    }
    return true;
}

static bool visit_all(struct dump_refs *refs, const struct values *values, value root,
                      struct error *err)
{
    struct visits visits = {0};
    bool ok = visit_from(refs, values, &visits, root, err) &&
              visit_discarded(refs, values, &visits, true, err) &&
              visit_discarded(refs, values, &visits, false, err);
    vec_free(visits.items, visits.capacity, sizeof(visits.items[0]), refs->budget);
    return ok;
}

bool dump_refs_build(struct dump_refs *refs, const struct values *values, value root,
                     struct budget *budget, struct error *err)
{
    struct dump_refs built = {.budget = budget};
    size_t node_count = values->count, text_count = symbols_string_count(values->symbols);
    bool ok = vec_reserve(built.nodes, built.node_capacity, node_count + 1, budget, err) &&
              vec_reserve(built.texts, built.text_capacity, text_count + 1, budget, err);
    if (ok) {
        memset(built.nodes, 0, node_count * sizeof(built.nodes[0]));
        memset(built.texts, 0, text_count * sizeof(built.texts[0]));
        ok = visit_all(&built, values, root, err);
    }
    if (ok)
        *refs = built;
    else
        dump_refs_release(&built);
    return ok;
}

void dump_refs_release(struct dump_refs *refs)
{
    vec_free(refs->nodes, refs->node_capacity, sizeof(refs->nodes[0]), refs->budget);
    vec_free(refs->texts, refs->text_capacity, sizeof(refs->texts[0]), refs->budget);
    vec_free(refs->discarded, refs->discarded_capacity, sizeof(value), refs->budget);
}

static enum meeting meet(struct dump_refs *refs, uint32_t *state, uint32_t *id)
{
    if (*state < SHARED)
        return MET_ONLY_HERE;
    enum meeting meeting = *state == SHARED ? MET_FIRST : MET_AGAIN;
    if (meeting == MET_FIRST)
        *state = SHARED + ++refs->last_id;
    *id = *state - SHARED;
    return meeting;
}

enum meeting dump_refs_meet_node(struct dump_refs *refs, value v, uint32_t *id)
{
    return meet(refs, &refs->nodes[value_payload(v)], id);
}

enum meeting dump_refs_meet_text(struct dump_refs *refs, string_id text, uint32_t *id)
{
    return meet(refs, &refs->texts[text], id);
}

bool dump_refs_node_is_shared(const struct dump_refs *refs, value v)
{
    return refs->nodes[value_payload(v)] >= SHARED;
}

bool dump_refs_text_is_shared(const struct dump_refs *refs, string_id text)
{
    return refs->texts[text] >= SHARED;
}
