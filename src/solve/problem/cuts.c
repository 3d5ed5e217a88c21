#include "solve/problem/cuts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/code/site_pattern.h"
#include "base/ascii.h"
#include "base/hash.h"

#define SHOWN_NAMES     3
#define LONGEST_SHOWN   36
#define LONGEST_MATCHED 4096 /* bytes of a prefix that is matched with a pattern */

enum {
    HAS_NUMBERED = 1,   /* numbered children: 0, 1, or down1, down2 */
    HAS_OTHERS = 2,     /* children with other names, or with another stem */
    HOLDS_NUMBERED = 4, /* it or a module below it has numbered children */
    IS_SERIES = 8,      /* of a stem: it occurs with several numbers */
    IS_CALLED = 16,     /* see tree_add_call() */
    HOLDS_INNER = 32,   /* it or a module below it has numbered children, with children, in a
                           numbered child */
};

/* A module; or the stem ("down") of modules that have children themselves. */
struct tree_node {
    uint64_t hash;  /* 0: free */
    uint64_t first; /* of a module: the stem of its first numbered child, as a hash; of a stem: its
                       first number, as a hash */
    unsigned flags;
};

void tree_init(struct tree *tree, struct budget *budget)
{
    *tree = (struct tree){.seed = hash_seed(), .budget = budget};
}

void tree_release(struct tree *tree)
{
    free(tree->nodes);
    budget_give(tree->budget, tree->capacity * sizeof(*tree->nodes));
    *tree = (struct tree){0};
}

static struct tree_node *find(const struct tree *tree, uint64_t hash)
{
    size_t at = (size_t)hash & (tree->capacity - 1);
    while (tree->nodes[at].hash != 0 && tree->nodes[at].hash != hash)
        at = (at + 1) & (tree->capacity - 1);
    return &tree->nodes[at];
}

static bool grow(struct tree *tree, struct error *err)
{
    struct tree old = *tree;
    size_t capacity = old.capacity ? 2 * old.capacity : 64;
    if (!budget_take(tree->budget, capacity * sizeof(*tree->nodes), err))
        return false;
    struct tree_node *nodes = calloc(capacity, sizeof(*nodes));
    if (!nodes) {
        budget_give(tree->budget, capacity * sizeof(*tree->nodes));
        return error_out_of_memory(err);
    }
    tree->nodes = nodes;
    tree->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.nodes[i].hash != 0)
            *find(tree, old.nodes[i].hash) = old.nodes[i];
    free(old.nodes);
    budget_give(tree->budget, old.capacity * sizeof(*old.nodes));
    return true;
}

/* The node with that hash, which is added if need be. NULL on failure. */
static struct tree_node *add(struct tree *tree, uint64_t hash, struct error *err)
{
    if (tree->count * 2 >= tree->capacity && !grow(tree, err))
        return NULL;
    struct tree_node *node = find(tree, hash);
    tree->count += node->hash == 0;
    node->hash = hash;
    return node;
}

static bool add_flags(struct tree *tree, uint64_t hash, unsigned flags, struct error *err)
{
    struct tree_node *node = add(tree, hash, err);
    if (node)
        node->flags |= flags;
    return node != NULL;
}

/* A prefix of a module's name, which names one of its ancestors. Hashes are computed component by
 * component. */
struct prefix {
    struct text name;
    size_t end; /* length of the prefix; 0 is the root */
    uint64_t hash;
    bool is_leaf; /* the module has no children, as far as is known */
};

static size_t component_size(const struct prefix *prefix)
{
    const char *from = prefix->name.bytes + prefix->end + (prefix->end > 0);
    const char *end = prefix->name.bytes + prefix->name.size;
    const char *dot = memchr(from, '.', (size_t)(end - from));
    return (size_t)((dot ? dot : end) - from);
}

static bool at_end(const struct prefix *prefix)
{
    return prefix->end >= prefix->name.size;
}

static const char *component(const struct prefix *prefix)
{
    return prefix->name.bytes + prefix->end + (prefix->end > 0);
}

/* The length of the component without the number at its end. */
static size_t stem_size(const struct prefix *prefix)
{
    const char *from = component(prefix);
    size_t size = component_size(prefix);
    while (size > 0 && ascii_is_digit(from[size - 1]))
        size--;
    return size;
}

/* The component is that of a module without children. */
static bool ends_in_leaf(const struct prefix *prefix)
{
    return prefix->is_leaf &&
           component(prefix) + component_size(prefix) == prefix->name.bytes + prefix->name.size;
}

/* The hash of the component's stem; 1 if the component is only a number. */
static uint64_t stem_hash(const struct prefix *prefix)
{
    size_t size = stem_size(prefix);
    return size == 0 ? 1 : hash_bytes(component(prefix), size, ~prefix->hash) | 1;
}

static unsigned flags_of(const struct tree *tree, uint64_t hash)
{
    return tree->capacity > 0 ? find(tree, hash)->flags : 0;
}

/* True for 0, and for down1 if there is a down2 beside it. */
static bool is_numbered(const struct tree *tree, const struct prefix *prefix)
{
    size_t size = component_size(prefix), stem = stem_size(prefix);
    if (stem == size)
        return false;
    return stem == 0 || (!ends_in_leaf(prefix) && flags_of(tree, stem_hash(prefix)) & IS_SERIES);
}

static void descend(struct prefix *prefix)
{
    size_t size = component_size(prefix), begin = prefix->end + (prefix->end > 0);
    prefix->hash = hash_bytes(prefix->name.bytes + begin, size, prefix->hash) | 1;
    prefix->end = begin + size;
    if (prefix->end == 0) /* an empty first component */
        prefix->end = prefix->name.size > 0;
}

static struct prefix root_of(const struct tree *tree, struct text name, bool is_leaf)
{
    return (struct prefix){.name = name, .hash = tree->seed | 1, .is_leaf = is_leaf};
}

bool tree_add_stems(struct tree *tree, struct text name, bool is_leaf, struct error *err)
{
    for (struct prefix walk = root_of(tree, name, is_leaf); !at_end(&walk); descend(&walk)) {
        size_t stem = stem_size(&walk), size = component_size(&walk);
        if (stem == 0 || stem == size || ends_in_leaf(&walk))
            continue;
        uint64_t number = hash_bytes(component(&walk) + stem, size - stem, tree->seed) | 1;
        struct tree_node *node = add(tree, stem_hash(&walk), err);
        if (!node)
            return false;
        if (node->first != 0 && node->first != number)
            node->flags |= IS_SERIES;
        node->first = node->first ? node->first : number;
    }
    return true;
}

/* Numbered children with several stems are parts of a block, such as attention1 and mlp1. */
static bool add_child(struct tree *tree, const struct prefix *walk, bool numbered,
                      struct error *err)
{
    struct tree_node *node = add(tree, walk->hash, err);
    if (!node)
        return false;
    uint64_t stem = numbered ? stem_hash(walk) : 0;
    bool same = numbered && (node->first == 0 || node->first == stem);
    node->first = node->first ? node->first : stem;
    node->flags |= (numbered ? HAS_NUMBERED : 0u) | (same ? 0u : HAS_OTHERS);
    return true;
}

/* Marks the modules around the second numbered component, if that has children. */
static bool add_inner(struct tree *tree, struct text name, bool is_leaf, struct error *err)
{
    size_t numbered = 0, end = 0;
    for (struct prefix walk = root_of(tree, name, is_leaf); !at_end(&walk);) {
        bool is = is_numbered(tree, &walk);
        size_t before = walk.end;
        descend(&walk);
        if (is && !at_end(&walk) && ++numbered == 2)
            end = before;
    }
    for (struct prefix walk = root_of(tree, name, is_leaf); numbered > 1 && walk.end <= end;
         descend(&walk))
        if (!add_flags(tree, walk.hash, HOLDS_INNER, err))
            return false;
    return true;
}

bool tree_add(struct tree *tree, struct text name, bool is_leaf, struct error *err)
{
    bool numbered = false;
    struct prefix walk = root_of(tree, name, is_leaf), again = walk;
    for (; !at_end(&walk); descend(&walk)) {
        bool is = is_numbered(tree, &walk);
        numbered |= is;
        if (!add_child(tree, &walk, is, err))
            return false;
    }
    /* Only components before the first number count: a block cannot contain blocks. */
    for (; numbered && !at_end(&again); descend(&again)) {
        if (!add_flags(tree, again.hash, HOLDS_NUMBERED, err))
            return false;
        numbered = !is_numbered(tree, &again);
    }
    return add_inner(tree, name, is_leaf, err);
}

bool tree_add_call(struct tree *tree, struct text name, struct error *err)
{
    struct prefix walk = root_of(tree, name, false);
    while (!at_end(&walk))
        descend(&walk);
    tree->knows_calls = true;
    return add_flags(tree, walk.hash, IS_CALLED, err);
}

bool tree_is_in_numbered(const struct tree *tree, struct text name, size_t size)
{
    struct prefix walk = root_of(tree, name, false);
    bool numbered = false;
    for (; !numbered && !at_end(&walk) && walk.end < size; descend(&walk))
        numbered = is_numbered(tree, &walk);
    return numbered;
}

size_t tree_called_from(const struct tree *tree, struct text name, size_t size)
{
    struct prefix walk = root_of(tree, name, false);
    while (!at_end(&walk) &&
           (walk.end < size || (tree->knows_calls && !(flags_of(tree, walk.hash) & IS_CALLED))))
        descend(&walk);
    return walk.end;
}

static size_t block_of(const struct tree *tree, struct text name, bool inner)
{
    struct prefix walk = root_of(tree, name, true);
    bool in_block = false;
    while (!at_end(&walk)) {
        unsigned flags = flags_of(tree, walk.hash);
        bool goes_on = tree->knows_calls && !(flags & IS_CALLED);
        goes_on |= inner && flags & HOLDS_INNER;
        flags &= ~(unsigned)(IS_CALLED | HOLDS_INNER);
        bool container = in_block
                             ? flags == HAS_NUMBERED || flags == (HAS_NUMBERED | HOLDS_NUMBERED)
                             : walk.end == 0 || flags & HOLDS_NUMBERED;
        if (!container && !goes_on)
            break;
        in_block |= is_numbered(tree, &walk);
        descend(&walk);
    }
    return walk.end;
}

static size_t components(struct text name, size_t depth)
{
    size_t end = 0;
    for (; end < name.size; end++)
        if (name.bytes[end] == '.' && --depth == 0)
            break;
    return end;
}

/* The length of the shortest prefix that matches. */
static size_t matching(const char *pattern, struct text name)
{
    for (size_t end = 1; end <= name.size && end <= LONGEST_MATCHED; end++)
        if ((end == name.size || name.bytes[end] == '.') &&
            pattern_matches(pattern, (struct text){name.bytes, end}))
            return end;
    return 0;
}

size_t cuts_module(const struct cuts *cuts, const struct tree *tree, struct text name)
{
    switch (cuts->kind) {
    case CUT_LEAVES:
        return name.size;
    case CUT_DEPTH:
        return components(name, cuts->depth);
    case CUT_PATTERN:
        return matching(cuts->pattern, name);
    default:
        return block_of(tree, name, cuts->inner);
    }
}

bool cuts_unmatched(const char *option, const char *pattern, const char *what,
                    const struct text *names, size_t count, struct error *err)
{
    char list[SHOWN_NAMES * (LONGEST_SHOWN + 2) + sizeof("; there are ...")] = "";
    size_t size = 0, shown = 0;
    for (size_t i = 0; i < count && shown <= SHOWN_NAMES; i++) {
        struct text name = names[i];
        if (name.size == 0 || (i > 0 && text_same(name, names[i - 1])))
            continue;
        const char *before = shown > 0 ? ", " : "; there are ";
        int longest = (int)(name.size < LONGEST_SHOWN ? name.size : LONGEST_SHOWN);
        if (shown++ < SHOWN_NAMES)
            size += (size_t)snprintf(list + size, sizeof(list) - size, "%s%.*s", before, longest,
                                     name.bytes);
        else
            snprintf(list + size, sizeof(list) - size, ", ...");
    }
    return error_set(err, STATUS_USAGE, "--%s: no %s matches '%.60s'%s", option, what, pattern,
                     list);
}
