#include "analysis/flame/order.h"

#include <stdlib.h>
#include <string.h>

/* One node among its siblings. */
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
    if (!vec_grow((void **)&flame->children, &flame->children_capacity, count + 1,
                  sizeof(*flame->children), flame->budget, err) ||
        !vec_grow((void **)&places, &capacity, count + 1, sizeof(*places), flame->budget, err))
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

/* sums[node]: what one category has in it. */
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
    bool ok = vec_grow((void **)&flame->category, &flame->category_capacity, nodes,
                       sizeof(*flame->category), flame->budget, err) &&
              vec_grow((void **)&sums, &sums_capacity, nodes, sizeof(*sums), flame->budget, err) &&
              vec_grow((void **)&most, &most_capacity, nodes, sizeof(*most), flame->budget, err);
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

void flame_walk_begin(struct flame_walk *walk, const struct flame *flame)
{
    walk->flame = flame;
    walk->depth = 0;
    walk->next[0] = 0;
}

/* next[d] is the place, among its siblings, of the node to visit at depth d + 1. */
bool flame_walk_next(struct flame_walk *walk)
{
    const struct flame *flame = walk->flame;
    for (;;) {
        uint32_t parent = walk->depth > 0 ? walk->path[walk->depth - 1] : 0;
        const struct flame_node *node = &flame->nodes[parent];
        uint32_t place = walk->next[walk->depth];
        if (place < node->child_count) {
            walk->next[walk->depth]++;
            walk->path[walk->depth++] = flame->children[node->first_child + place];
            walk->next[walk->depth] = 0;
            return true;
        }
        if (walk->depth == 0)
            return false;
        walk->depth--;
    }
}
