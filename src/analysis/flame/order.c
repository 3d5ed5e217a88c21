#include "analysis/flame/order.h"

#include <stdlib.h>
#include <string.h>

/* A node, to be sorted among its siblings. */
struct place {
    uint64_t total;
    uint32_t parent, node;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static bool order_children(struct flame *flame, struct error *err)
{
    struct place *places = NULL;
    size_t capacity = 0, count = flame->node_count - 1;
    if (!vec_reserve(flame->children, flame->children_capacity, count + 1, flame->budget, err) ||
        !vec_reserve(places, capacity, count + 1, flame->budget, err))
        return false;
    for (size_t i = 0; i < count; i++)
        places[i] =
            (struct place){flame->nodes[i + 1].total, flame->nodes[i + 1].parent, (uint32_t)i + 1};
    qsort(places, count, sizeof(*places), compare_places);
    for (size_t i = 0; i < count; i++) {
        struct flame_node *parent = &flame->nodes[places[i].parent];
        if (parent->child_count++ == 0)
            parent->first_child = (uint32_t)i;
        flame->children[i] = places[i].node;
    }
    vec_free(places, capacity, sizeof(*places), flame->budget);
    return true;
}

bool flame_order(struct flame *flame, struct error *err)
{
    for (size_t i = 0; i < flame->node_count; i++)
        flame->nodes[i].total = flame->nodes[i].self;
    for (size_t i = flame->node_count; i-- > 1;)
        flame->nodes[flame->nodes[i].parent].total += flame->nodes[i].total;
    return order_children(flame, err);
}

/* sums[node]: the weight of one category in the subtree. */
static void sum_category(const struct flame *flame, const struct flame_mark *marks, size_t count,
                         size_t category, uint64_t *sums)
{
    memset(sums, 0, flame->node_count * sizeof(*sums));
    for (size_t i = 0; i < count; i++)
        if (marks[i].category == category)
            sums[marks[i].node] += marks[i].weight;
    for (size_t i = flame->node_count; i-- > 1;)
        sums[flame->nodes[i].parent] += sums[i];
}

bool flame_order_categories(struct flame *flame, const struct flame_mark *marks, size_t count,
                            struct error *err)
{
    uint64_t *sums = NULL, *most = NULL;
    size_t sums_capacity = 0, most_capacity = 0, nodes = flame->node_count;
    bool used[CATEGORY_LIMIT] = {false};
    bool ok = vec_reserve(flame->category, flame->category_capacity, nodes, flame->budget, err) &&
              vec_reserve(sums, sums_capacity, nodes, flame->budget, err) &&
              vec_reserve(most, most_capacity, nodes, flame->budget, err);
    if (ok) {
        memset(flame->category, CATEGORY_UNKNOWN, nodes);
        memset(most, 0, nodes * sizeof(*most));
        for (size_t i = 0; i < count; i++)
            used[marks[i].category] = true;
    }
    for (size_t category = 0; ok && category < CATEGORY_LIMIT; category++) {
        if (!used[category])
            continue;
        sum_category(flame, marks, count, category, sums);
        for (size_t i = 0; i < nodes; i++)
            if (sums[i] > most[i]) {
                most[i] = sums[i];
                flame->category[i] = (uint8_t)category;
            }
    }
    vec_free(sums, sums_capacity, sizeof(*sums), flame->budget);
    vec_free(most, most_capacity, sizeof(*most), flame->budget);
    return ok;
}

void flame_visitor_begin(struct flame_visitor *visitor, const struct flame *flame)
{
    visitor->flame = flame;
    visitor->depth = 0;
    visitor->next[0] = 0;
}

/* next[d]: which child of the node at depth d to visit next. */
bool flame_visitor_next(struct flame_visitor *visitor)
{
    const struct flame *flame = visitor->flame;
    for (;;) {
        uint32_t parent = visitor->depth > 0 ? visitor->path[visitor->depth - 1] : 0;
        const struct flame_node *node = &flame->nodes[parent];
        uint32_t place = visitor->next[visitor->depth];
        if (place < node->child_count) {
            visitor->next[visitor->depth]++;
            visitor->path[visitor->depth++] = flame->children[node->first_child + place];
            visitor->next[visitor->depth] = 0;
            return true;
        }
        if (visitor->depth == 0)
            return false;
        visitor->depth--;
    }
}
