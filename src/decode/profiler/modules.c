#include "decode/profiler/modules.h"

#include <string.h>

#define PREFIX     "nn.Module: "
#define DEPTH_MOST 256
#define PATH_MOST  ((size_t)1024)

/* A call that no other module contains. */
struct root {
    struct profile_range range;
    uint16_t thread;
    size_t leaves;
};

struct search {
    const struct profile *profile;
    struct root *roots;
    size_t count, capacity;
    struct error *err;
};

/* True if no module begins inside of the one that the cursor is at. */
static bool is_leaf(struct range_cursor cursor)
{
    int64_t until = range_end(&cursor.range);
    for (range_cursor_step(&cursor); cursor.more && cursor.range.start_ns < until;
         range_cursor_step(&cursor))
        if (cursor.range.label.kind == RANGE_MODULE)
            return false;
    return true;
}

/* Lists the roots of a thread. Checkpointing calls modules in the backward pass, too, which do not
 * count. */
static bool find_roots(struct search *search, size_t thread)
{
    struct range_cursor cursor = range_cursor_begin(&search->profile->ranges, thread);
    int64_t root_end = INT64_MIN, engine_end = INT64_MIN, leaf_end = INT64_MIN;
    size_t modules = 0; /* since the last leaf began */
    for (; cursor.more; range_cursor_step(&cursor)) {
        const struct profile_range *range = &cursor.range;
        if (range->label.kind == RANGE_ENGINE && range_end(range) > engine_end)
            engine_end = range_end(range);
        if (range->label.kind != RANGE_MODULE || range->start_ns < engine_end)
            continue;
        if (range->start_ns >= root_end) {
            if (!vec_push(search->roots, search->count, search->capacity, search->profile->budget,
                          search->err, (struct root){*range, (uint16_t)thread, 0}))
                return false;
            root_end = range_end(range);
        }
        /* a module that begins after the end of the one before makes that one a leaf */
        search->roots[search->count - 1].leaves += modules == 0 || range->start_ns >= leaf_end;
        leaf_end = range_end(range);
        modules++;
    }
    return true;
}

/* The numbers of the nodes made by the operators of the pass. */
static void find_nodes(struct forward_pass *pass, const struct profile *profile)
{
    uint32_t lowest = UINT32_MAX, highest = 0;
    struct range_cursor cursor = range_cursor_begin(&profile->ranges, pass->thread);
    for (; cursor.more && cursor.range.start_ns < pass->end_ns; range_cursor_step(&cursor)) {
        const struct profile_range *range = &cursor.range;
        if (range->start_ns < pass->start_ns || range->label.kind != RANGE_OPERATOR ||
            range->sequence == 0)
            continue;
        lowest = range->sequence < lowest ? range->sequence : lowest;
        highest = range->sequence > highest ? range->sequence : highest;
    }
    if (lowest <= highest && highest - lowest < profile->ranges.count) {
        pass->first_node = lowest;
        pass->node_count = highest - lowest + 1;
    }
}

static bool find_backward(struct forward_pass *pass, const struct profile *profile)
{
    pass->backward_end_ns = pass->start_ns;
    for (size_t i = 0; i < profile->thread_count; i++) {
        struct range_cursor cursor = range_cursor_begin(&profile->ranges, i);
        for (; cursor.more; range_cursor_step(&cursor)) {
            const struct profile_range *range = &cursor.range;
            if (range->label.kind == RANGE_ENGINE && range->start_ns >= pass->end_ns &&
                range->sequence - pass->first_node < pass->node_count &&
                range_end(range) > pass->backward_end_ns)
                pass->backward_end_ns = range_end(range);
        }
    }
    return pass->backward_end_ns > pass->start_ns;
}

static void enter_root(struct forward_pass *pass, const struct profile *profile,
                       const struct root *root)
{
    *pass = (struct forward_pass){.thread = root->thread,
                                  .start_ns = root->range.start_ns,
                                  .end_ns = range_end(&root->range)};
    find_nodes(pass, profile);
}

#define TRIES_MOST 8 /* calls of a model that are searched for a backward pass */

static void choose_root(const struct search *search, struct forward_pass *pass)
{
    const struct profile *profile = search->profile;
    const struct root *best = &search->roots[0];
    unsigned tries = 0;
    for (size_t i = 1; i < search->count; i++)
        if (search->roots[i].leaves >= best->leaves)
            best = &search->roots[i];
    string_id name = best->range.label.name;
    for (size_t i = search->count; i-- > 0 && tries < TRIES_MOST;) {
        if (search->roots[i].range.label.name != name)
            continue;
        tries++;
        enter_root(pass, profile, &search->roots[i]);
        if (find_backward(pass, profile))
            return;
    }
    enter_root(pass, profile, best);
    pass->backward_end_ns = pass->start_ns;
}

/* Modules that are open, outermost first. */
struct open_modules {
    struct profile_range ranges[DEPTH_MOST];
    size_t count;
};

/* "Block_0.Linear_1": without the model itself, unless that is all. */
static bool make_path(const struct profile *profile, const struct open_modules *open,
                      string_id *path, struct error *err)
{
    char text[PATH_MOST];
    size_t size = 0;
    for (size_t i = open->count > 1 ? 1 : 0; i < open->count; i++) {
        struct text name = symbols_text(profile->symbols, open->ranges[i].label.name);
        name.bytes += strlen(PREFIX);
        name.size -= strlen(PREFIX);
        name = text_first(name, (PATH_MOST - size) / 2);
        if (size > 0)
            text[size++] = '.';
        memcpy(text + size, name.bytes, name.size);
        size += name.size;
    }
    return symbols_string(profile->symbols, text, size, path, err);
}

static bool add_leaf(struct forward_pass *pass, const struct profile *profile,
                     const struct open_modules *open, struct error *err)
{
    const struct profile_range *range = &open->ranges[open->count - 1];
    struct leaf leaf = {.start_ns = range->start_ns,
                        .end_ns = pass->end_ns,
                        .depth = (uint32_t)(open->count > 1 ? open->count - 1 : 1)};
    if (pass->leaf_count > 0)
        pass->leaves[pass->leaf_count - 1].end_ns = leaf.start_ns;
    else
        leaf.start_ns = pass->start_ns;
    return make_path(profile, open, &leaf.path, err) &&
           vec_push(pass->leaves, pass->leaf_count, pass->leaf_capacity, profile->budget, err,
                    leaf);
}

static bool list_leaves(struct forward_pass *pass, const struct profile *profile, struct error *err)
{
    struct open_modules open = {.count = 0};
    struct range_cursor cursor = range_cursor_begin(&profile->ranges, pass->thread);
    for (; cursor.more && cursor.range.start_ns < pass->end_ns; range_cursor_step(&cursor)) {
        const struct profile_range *range = &cursor.range;
        if (range->label.kind != RANGE_MODULE || range->start_ns < pass->start_ns)
            continue;
        while (open.count > 0 && range_end(&open.ranges[open.count - 1]) <= range->start_ns)
            open.count--;
        if (open.count == DEPTH_MOST)
            continue;
        open.ranges[open.count++] = *range;
        if (is_leaf(cursor) && !add_leaf(pass, profile, &open, err))
            return false;
    }
    return true;
}

bool forward_pass_find(struct forward_pass *pass, const struct profile *profile, struct error *err)
{
    struct search search = {.profile = profile, .err = err};
    struct forward_pass found;
    bool ok = true;
    for (size_t i = 0; ok && i < profile->thread_count; i++)
        ok = find_roots(&search, i);
    if (ok && search.count == 0)
        ok = error_set(err, STATUS_BAD_INPUT,
                       "the profile has no calls of modules: record it with "
                       "torch.profiler.profile(profile_memory=True, with_stack=True)");
    if (ok)
        choose_root(&search, &found);
    vec_free(search.roots, search.capacity, sizeof(*search.roots), profile->budget);
    if (!ok)
        return false;
    ok = list_leaves(&found, profile, err) &&
         (found.leaf_count > 0 ||
          error_set(err, STATUS_BAD_INPUT, "the calls of modules in the profile take no time"));
    if (!ok) {
        forward_pass_release(&found, profile->budget);
        return false;
    }
    *pass = found;
    return true;
}

void forward_pass_release(struct forward_pass *pass, struct budget *budget)
{
    vec_free(pass->leaves, pass->leaf_capacity, sizeof(*pass->leaves), budget);
}

size_t forward_pass_leaf(const struct forward_pass *pass, int64_t time_ns)
{
    size_t low = 0, high = pass->leaf_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (pass->leaves[middle].start_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}
