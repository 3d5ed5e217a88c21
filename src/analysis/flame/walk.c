#include "analysis/flame/flame.h"

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
