/* The loops of a call tree: how much of a model they hold, and which of them are worth a cut. */
#include "analysis/chain/cut_internal.h"

int64_t cutter_weight(const struct cutter *cutter, const struct call_node *node)
{
    return (cutter->options->level == CHAIN_LOOPS ? call_weight : call_kept)(cutter->tree, node);
}

bool cutter_is_loop(const struct cutter *cutter, uint32_t index)
{
    return cutter->keeping[index] == 2;
}

/* True if no iteration that keeps something keeps twice as much as another such iteration. Lines
 * within a block may repeat too, but their iterations do different things. */
static bool is_alike(const struct cutter *cutter, const struct call_node *loop)
{
    const struct call_tree *tree = cutter->tree;
    int64_t least = INT64_MAX, most = 0;
    for (uint32_t child = loop->first_child; child < loop->end_child; child++) {
        int64_t kept = cutter_weight(cutter, &tree->nodes[child]);
        most = kept > most ? kept : most;
        least = kept > 0 && kept < least ? kept : least;
    }
    return most / 2 < least;
}

/* Visits children before their parents. */
void cutter_sum_loops(const struct cutter *cutter)
{
    const struct call_tree *tree = cutter->tree;
    for (size_t i = 1; i < tree->node_count; i++) {
        const struct call_node *node = &tree->nodes[i];
        if (node->kind == CALL_ITERATION && cutter_weight(cutter, node) > 0 &&
            cutter->keeping[node->parent] < 2)
            cutter->keeping[node->parent]++;
    }
    for (uint32_t i = (uint32_t)tree->node_count; i-- > 0;) {
        const struct call_node *node = &tree->nodes[i];
        if (cutter_is_loop(cutter, i)) {
            cutter->looped[i] = cutter_weight(cutter, node);
            if (is_alike(cutter, node))
                cutter->nested[i] = cutter_weight(cutter, node);
        }
        if (i > 0 && !cutter_is_loop(cutter, node->parent))
            cutter->looped[node->parent] += cutter->looped[i];
        if (i > 0)
            cutter->nested[node->parent] += cutter->nested[i];
    }
}

int64_t cutter_looped_within(const struct cutter *cutter, const struct call_node *loop)
{
    int64_t sum = 0;
    for (uint32_t child = loop->first_child; child < loop->end_child; child++)
        sum += cutter->nested[child];
    return sum;
}

bool cutter_one_dominates(const struct cutter *cutter, const struct call_node *loop)
{
    const struct call_tree *tree = cutter->tree;
    int64_t all = cutter_weight(cutter, &tree->nodes[0]);
    for (uint32_t child = loop->first_child; child < loop->end_child; child++) {
        int64_t kept = cutter_weight(cutter, &tree->nodes[child]);
        if (kept > all / 2 && cutter->looped[child] >= kept / 2)
            return true;
    }
    return false;
}

const struct call_node *cutter_main_loop(const struct cutter *cutter, uint32_t iteration)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *node = &tree->nodes[iteration];
    int64_t kept = cutter_weight(cutter, node);
    for (uint32_t next = iteration; !cutter_is_loop(cutter, next); node = &tree->nodes[next]) {
        for (uint32_t child = next = node->first_child; child < node->end_child; child++)
            if (cutter_weight(cutter, &tree->nodes[child]) >
                cutter_weight(cutter, &tree->nodes[next]))
                next = child;
        if (node->first_child == node->end_child ||
            cutter_weight(cutter, &tree->nodes[next]) < kept - kept / 4)
            return NULL;
    }
    return node;
}

bool cutter_is_several(const struct cutter *cutter, const struct call_node *loop,
                       uint32_t iteration)
{
    const struct call_tree *tree = cutter->tree;
    const struct call_node *inner = cutter_main_loop(cutter, iteration);
    for (uint32_t i = loop->first_child; inner && i < loop->end_child; i++) {
        int64_t kept = cutter_weight(cutter, &tree->nodes[i]);
        for (uint32_t k = inner->first_child; i != iteration && k < inner->end_child; k++) {
            int64_t inside = cutter_weight(cutter, &tree->nodes[k]);
            if (inside < kept - kept / 4 || kept < inside - inside / 4)
                return false;
        }
    }
    return inner && loop->end_child - loop->first_child > 1;
}

size_t cutter_dividing_depth(const struct cutter *cutter)
{
    const struct call_tree *tree = cutter->tree;
    uint32_t index = 0;
    for (;;) {
        const struct call_node *node = &tree->nodes[index];
        int64_t kept = cutter_weight(cutter, node);
        uint32_t main = node->first_child;
        for (uint32_t child = main; child < node->end_child; child++)
            if (cutter_weight(cutter, &tree->nodes[child]) >
                cutter_weight(cutter, &tree->nodes[main]))
                main = child;
        if (node->first_child == node->end_child || tree->nodes[main].kind != CALL_LINE ||
            tree->nodes[main].first_child == tree->nodes[main].end_child ||
            cutter_weight(cutter, &tree->nodes[main]) < kept - kept / 4)
            return node->level > cutter->outer ? node->level - cutter->outer + 1u : 1;
        index = main;
    }
}
