#define _GNU_SOURCE /* qsort_r */
#include "analysis/layers/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/idtable.h"

/* In deeper names the rest is one component, which bounds the nodes per name. */
#define MOST_LEVELS 32

struct grower {
    struct layers_report *report;
    struct idtable table; /* nodes by parent and component */
    uint64_t seed;
};

static bool add_node(struct grower *grower, uint32_t parent, struct text component, uint32_t *id,
                     struct error *err)
{
    struct layers_report *report = grower->report;
    if (!vec_reserve(report->nodes, report->node_capacity, report->node_count + 1,
                     report->trace->budget, err))
        return false;
    *id = (uint32_t)report->node_count++;
    report->nodes[*id] = (struct layers_node){.component = component,
                                              .parent = parent,
                                              .first_child = LAYERS_NONE,
                                              .last_child = LAYERS_NONE,
                                              .next_sibling = LAYERS_NONE,
                                              .module = LAYERS_NONE};
    if (parent == LAYERS_NONE)
        return true;
    struct layers_node *holder = &report->nodes[parent];
    if (holder->last_child == LAYERS_NONE)
        holder->first_child = *id;
    else
        report->nodes[holder->last_child].next_sibling = *id;
    holder->last_child = *id;
    holder->child_count++;
    return true;
}

static bool is_child(const void *nodes, uint32_t id, const void *wanted)
{
    const struct layers_node *node = (const struct layers_node *)nodes + id, *like = wanted;
    return node->parent == like->parent && text_same(node->component, like->component);
}

static bool find_child(struct grower *grower, uint32_t parent, struct text component, uint32_t *id,
                       struct error *err)
{
    struct budget *budget = grower->report->trace->budget;
    uint32_t tag =
        (uint32_t)hash_bytes(component.bytes, component.size, hash_word(parent, grower->seed));
    const struct layers_node wanted = {.parent = parent, .component = component};
    return idtable_find(&grower->table, tag, is_child, grower->report->nodes, &wanted, id) ||
           (add_node(grower, parent, component, id, err) &&
            idtable_add(&grower->table, tag, *id, budget, err));
}

static bool add_module(struct grower *grower, uint32_t index, struct error *err)
{
    struct layers_report *report = grower->report;
    struct text rest = symbols_text(report->trace->symbols, report->modules[index].name);
    uint32_t node = 0;
    for (int level = 0; rest.size > 0; level++) {
        const char *dot = level < MOST_LEVELS ? memchr(rest.bytes, '.', rest.size) : NULL;
        struct text component = {rest.bytes, dot ? (size_t)(dot - rest.bytes) : rest.size};
        size_t used = component.size + (dot ? 1 : 0);
        rest = (struct text){rest.bytes + used, rest.size - used};
        if (component.size > 0 && component.bytes[0] == '_')
            continue;
        if (!find_child(grower, node, component, &node, err))
            return false;
    }
    struct layers_node *at = &report->nodes[node];
    if (!report->modules[index].is_leaf)
        at->own_params += report->modules[index].params;
    else
        at->module = index; /* the last of those that differ only in wrappers */
    if (report->modules[index].is_leaf && report->modules[index].params > at->params)
        at->params = report->modules[index].params;
    at->activations += report->modules[index].activations;
    at->all_gathered += report->modules[index].all_gathered;
    at->modules++;
    return true;
}

/* Children come after their parents. The parameters of a module that ran already include those of
 * the modules in it. */
static bool sum_up(struct layers_report *report, struct error *err)
{
    size_t capacity = 0;
    int64_t *inner = NULL; /* parameters of all children */
    if (!vec_reserve(inner, capacity, report->node_count, report->trace->budget, err))
        return false;
    memset(inner, 0, capacity * sizeof(*inner));
    for (size_t i = report->node_count; i-- > 0;) {
        struct layers_node *node = &report->nodes[i];
        if (inner[i] > node->params)
            node->params = inner[i];
        node->params += node->own_params;
        if (i == 0)
            break;
        struct layers_node *parent = &report->nodes[node->parent];
        inner[node->parent] += node->params;
        parent->activations += node->activations;
        parent->all_gathered += node->all_gathered;
        parent->modules += node->modules;
    }
    vec_free(inner, capacity, sizeof(*inner), report->trace->budget);
    return true;
}

static int by_weight(const void *left, const void *right, void *nodes_of)
{
    const struct layers_node *nodes = nodes_of;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int64_t weight_a = nodes[a].activations + nodes[a].params;
    int64_t weight_b = nodes[b].activations + nodes[b].params;
    if (weight_a != weight_b)
        return weight_a < weight_b ? 1 : -1;
    return (a > b) - (a < b); /* parents first */
}

/* Shows the children of the root, or the heaviest of them. Returns the number of lines. */
static size_t show_outermost(struct layers_report *report, const uint32_t *order, size_t top)
{
    struct layers_node *nodes = report->nodes;
    size_t lines = 0;
    nodes[0].expanded = true;
    for (size_t i = 1; i < report->node_count; i++) {
        struct layers_node *node = &nodes[order[i]];
        if (node->parent != 0)
            continue;
        node->shown = lines < top;
        lines += node->shown;
    }
    report->cut_nodes = nodes[0].child_count - lines;
    return lines;
}

/* Expands the heaviest nodes while there are lines left for their children. A node that only
 * contains one other node needs no line of its own. */
static void choose_lines(struct layers_report *report, const uint32_t *order)
{
    struct layers_node *nodes = report->nodes;
    size_t top = report->options.top ? report->options.top : SIZE_MAX;
    size_t lines = show_outermost(report, order, top);
    for (size_t i = 1; i < report->node_count; i++) {
        struct layers_node *node = &nodes[order[i]];
        bool chain = node->child_count == 1 && node->module == LAYERS_NONE;
        size_t more = node->child_count - chain;
        if (!node->shown || node->child_count == 0 || more > top - lines)
            continue;
        lines += more;
        node->expanded = true;
        node->shown = !chain;
        for (uint32_t n = node->first_child; n != LAYERS_NONE; n = nodes[n].next_sibling)
            nodes[n].shown = true;
    }
}

static bool choose(struct layers_report *report, struct error *err)
{
    size_t capacity = 0;
    uint32_t *order = NULL;
    if (!vec_reserve(order, capacity, report->node_count, report->trace->budget, err))
        return false;
    for (size_t i = 0; i < report->node_count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, report->node_count, sizeof(*order), by_weight, report->nodes);
    choose_lines(report, order);
    vec_free(order, capacity, sizeof(*order), report->trace->budget);
    return true;
}

bool layers_build_tree(struct layers_report *report, struct error *err)
{
    struct grower grower = {.report = report, .seed = hash_seed()};
    uint32_t root;
    bool ok = add_node(&grower, LAYERS_NONE, (struct text){"", 0}, &root, err);
    for (size_t i = 0; ok && i < report->module_count; i++)
        ok = add_module(&grower, (uint32_t)i, err);
    idtable_release(&grower.table, report->trace->budget);
    return ok && sum_up(report, err) && choose(report, err);
}
