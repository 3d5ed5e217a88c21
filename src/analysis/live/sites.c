#include "analysis/live/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/idtable.h"
#include "model/sums.h"

/* A text, identified by its address. */
struct distinct {
    struct text text;
    uint32_t index; /* in order of first appearance */
};

struct ranking {
    struct distinct *items;
    size_t count, capacity;
    struct idtable table;
    struct budget *budget;
    uint64_t seed;
};

static bool is_at(const void *items, uint32_t id, const void *wanted)
{
    const struct text known = ((const struct distinct *)items)[id].text, *text = wanted;
    return known.bytes == text->bytes && known.size == text->size;
}

static bool find_or_add(struct ranking *ranking, struct text text, uint32_t *index,
                        struct error *err)
{
    uint64_t place = hash_word((uint64_t)(uintptr_t)text.bytes, ranking->seed);
    uint32_t tag = (uint32_t)hash_word(place + text.size, ranking->seed);
    if (idtable_find(&ranking->table, tag, is_at, ranking->items, &text, index))
        return true;
    if (ranking->count >= IDTABLE_MAX_ID)
        return error_set(err, STATUS_LIMIT, "more than %u different names", IDTABLE_MAX_ID);
    *index = (uint32_t)ranking->count;
    return idtable_add(&ranking->table, tag, *index, ranking->budget, err) &&
           vec_push(ranking->items, ranking->count, ranking->capacity, ranking->budget, err,
                    (struct distinct){text, *index});
}

static int compare_distinct(const void *a, const void *b)
{
    return text_compare(((const struct distinct *)a)->text, ((const struct distinct *)b)->text);
}

/* ranks[i] < ranks[j] if texts[i] comes before texts[j] by text_compare(), and they are the same if
 * the texts are equal, so that sorting by name takes no longer for long names. Texts at the same
 * address are compared only once. */
static bool rank_texts(const struct text *texts, size_t count, uint32_t *ranks,
                       struct budget *budget, struct error *err)
{
    struct ranking ranking = {.budget = budget, .seed = hash_seed()};
    uint32_t *rank_of = NULL, rank = 0;
    size_t capacity = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = find_or_add(&ranking, texts[i], &ranks[i], err);
    idtable_release(&ranking.table, budget);
    ok = ok && vec_reserve(rank_of, capacity, ranking.count, budget, err);
    if (ok && ranking.count > 0) {
        qsort(ranking.items, ranking.count, sizeof(*ranking.items), compare_distinct);
        for (size_t i = 0; i < ranking.count; i++) {
            rank += i > 0 && compare_distinct(&ranking.items[i - 1], &ranking.items[i]) != 0;
            rank_of[ranking.items[i].index] = rank;
        }
        for (size_t i = 0; i < count; i++)
            ranks[i] = rank_of[ranks[i]];
    }
    vec_free(rank_of, capacity, sizeof(*rank_of), budget);
    vec_free(ranking.items, ranking.capacity, sizeof(*ranking.items), budget);
    return ok;
}

/* What the allocations of a group have in common. */
struct group_key {
    frame_id frame;
    string_id op, node; /* node: only without a frame */
    uint32_t category_and_source;
};

static struct group_key key_of(const struct live_set *set, const struct live_source *source,
                               enum category category)
{
    struct group_key key = {.op = source->site.op,
                            .category_and_source =
                                (uint32_t)category << 8 | (uint32_t)source->source << 1};
    if (!site_frame(set->sites, source->shown, &source->site, &key.frame)) {
        /* The labels of stacks without Python tell these apart too. */
        bool is_empty = source->shown == STACK_NONE;
        key.frame = NO_FRAME - (frame_id)is_empty;
        key.node = source->site.node;
        key.category_and_source |= source->site.has_backward;
    }
    return key;
}

static bool key_equal(struct group_key a, struct group_key b)
{
    return a.frame == b.frame && a.op == b.op && a.node == b.node &&
           a.category_and_source == b.category_and_source;
}

static void group_join(struct site_group *group, const struct live_bundle *bundle,
                       const struct live_source *source)
{
    int64_t bytes = bundle->weight > INT64_MAX ? INT64_MAX : (int64_t)bundle->weight;
    sum_add_capped(&group->bytes, bytes);
    group->count += bundle->count;
    group->stacks++;
    if (bytes > group->most_bytes) {
        group->most_bytes = bytes;
        group->source = *source;
    }
}

/* The groups, and the set from which their sources come. */
struct group_lookup {
    const struct live_set *set;
    const struct site_group *items;
};

static bool has_key(const void *lookup, uint32_t id, const void *wanted)
{
    const struct group_lookup *groups = lookup;
    const struct site_group *group = &groups->items[id];
    return key_equal(*(const struct group_key *)wanted,
                     key_of(groups->set, &group->source, group->category));
}

/* Adds a bundle, whose kind is its category, to its group. */
static bool group_add(const struct live_set *set, struct site_groups *groups, struct idtable *table,
                      struct live_bundle *bundle, uint64_t seed, struct error *err)
{
    enum category category = (enum category)bundle->kind;
    struct live_source source;
    if (!live_source_of(set, &bundle->example, &source, err))
        return false;
    struct group_key key = key_of(set, &source, category);
    uint64_t words = hash_word((uint64_t)key.frame << 32 | key.op, seed);
    words += (uint64_t)key.node << 32 | key.category_and_source;
    uint32_t tag = (uint32_t)hash_word(words, seed);
    const struct group_lookup lookup = {set, groups->items};
    if (!idtable_find(table, tag, has_key, &lookup, &key, &bundle->group)) {
        bundle->group = (uint32_t)groups->count;
        if (!idtable_add(table, tag, bundle->group, groups->budget, err) ||
            !vec_push(
                groups->items, groups->count, groups->capacity, groups->budget, err,
                (struct site_group){.source = source, .category = category, .most_bytes = -1}))
            return false;
    }
    group_join(&groups->items[bundle->group], bundle, &source);
    return true;
}

enum { NAME_FILE, NAME_FUNCTION, NAME_OP, NAME_NODE, NAMES };

/* A group to sort, with the parts of its names that the comparison needs. */
struct sort_key {
    int64_t bytes;
    const uint32_t *names; /* NAMES ranks: see rank_texts() */
    uint32_t line, category_and_source;
    uint32_t group;
    bool has_stack;
};

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_groups(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    if (x->has_stack != y->has_stack)
        return x->has_stack ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    int order = compare_numbers(x->names[NAME_FILE], y->names[NAME_FILE]);
    if (!order)
        order = compare_numbers(x->line, y->line);
    for (int i = NAME_FUNCTION; !order && i < NAMES; i++)
        order = compare_numbers(x->names[i], y->names[i]);
    if (!order)
        order = compare_numbers(x->category_and_source, y->category_and_source);
    return order ? order : compare_numbers(x->group, y->group);
}

static struct sort_key sort_key_of(const struct live_set *set, const struct site_group *group,
                                   uint32_t index, struct text names[NAMES])
{
    const struct symbols *symbols = site_table_symbols(set->sites);
    struct group_key key = key_of(set, &group->source, group->category);
    struct frame frame = {0};
    frame_id id;
    if (site_frame(set->sites, group->source.shown, &group->source.site, &id))
        frame = symbols_frame_at(symbols, id);
    names[NAME_FILE] = symbols_text(symbols, frame.file);
    names[NAME_FUNCTION] = symbols_text(symbols, frame.name);
    names[NAME_OP] = symbols_text(symbols, key.op);
    names[NAME_NODE] = symbols_text(symbols, key.node);
    return (struct sort_key){
        .bytes = group->bytes,
        .line = frame.line,
        .category_and_source = key.category_and_source,
        .group = index,
        .has_stack = group->source.shown != STACK_NONE,
    };
}

/* Makes the sort keys: keys[i] belongs to group i and refers to `*ranks`. */
static bool make_keys(const struct live_set *set, const struct site_groups *groups,
                      struct sort_key *keys, uint32_t **ranks, size_t *capacity, struct error *err)
{
    struct text *texts = NULL;
    size_t count = groups->count * NAMES, text_capacity = 0;
    bool ok = vec_reserve(texts, text_capacity, count, groups->budget, err) &&
              vec_grow((void **)ranks, capacity, count, sizeof(**ranks), groups->budget, err);
    for (size_t i = 0; ok && i < groups->count; i++) {
        keys[i] = sort_key_of(set, &groups->items[i], (uint32_t)i, &texts[i * NAMES]);
        keys[i].names = &(*ranks)[i * NAMES];
    }
    ok = ok && rank_texts(texts, count, *ranks, groups->budget, err);
    vec_free(texts, text_capacity, sizeof(*texts), groups->budget);
    return ok;
}

/* Sorts the groups. places[i] is the new index of group i. */
static bool sort_groups(const struct live_set *set, struct site_groups *groups, uint32_t *places,
                        struct error *err)
{
    struct sort_key *keys = NULL;
    struct site_group *sorted = NULL;
    uint32_t *ranks = NULL;
    size_t keys_capacity = 0, sorted_capacity = 0, ranks_capacity = 0;
    bool ok = vec_reserve(keys, keys_capacity, groups->count, groups->budget, err) &&
              vec_reserve(sorted, sorted_capacity, groups->count, groups->budget, err) &&
              make_keys(set, groups, keys, &ranks, &ranks_capacity, err);
    if (ok && groups->count > 0) {
        qsort(keys, groups->count, sizeof(*keys), compare_groups);
        for (size_t i = 0; i < groups->count; i++) {
            sorted[i] = groups->items[keys[i].group];
            groups->placed += keys[i].has_stack;
            places[keys[i].group] = (uint32_t)i;
        }
        memcpy(groups->items, sorted, groups->count * sizeof(*sorted));
    }
    vec_free(ranks, ranks_capacity, sizeof(*ranks), groups->budget);
    vec_free(keys, keys_capacity, sizeof(*keys), groups->budget);
    vec_free(sorted, sorted_capacity, sizeof(*sorted), groups->budget);
    return ok;
}

bool site_groups_of(const struct live_set *set, struct live_bundles *bundles,
                    struct site_groups *groups, struct error *err)
{
    struct site_groups made = {.budget = bundles->budget};
    struct idtable table = {0};
    uint64_t seed = hash_seed();
    uint32_t *places = NULL;
    size_t places_capacity = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < bundles->count; i++)
        ok = group_add(set, &made, &table, &bundles->items[i], seed, err);
    idtable_release(&table, made.budget);
    ok = ok && vec_reserve(places, places_capacity, made.count, made.budget, err) &&
         sort_groups(set, &made, places, err);
    for (size_t i = 0; ok && i < bundles->count; i++)
        bundles->items[i].group = places[bundles->items[i].group];
    vec_free(places, places_capacity, sizeof(*places), made.budget);
    if (!ok) {
        site_groups_release(&made);
        return false;
    }
    *groups = made;
    return true;
}

bool site_groups_bundle(const struct live_set *set, struct live_bundles *bundles, uint32_t *members,
                        struct error *err)
{
    uint32_t index;
    live_bundles_init(bundles, set->timeline->snapshot->budget);
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        if (!live_bundles_add(bundles, set, live, live_category(set, live), live->size, &index,
                              err)) {
            live_bundles_release(bundles);
            return false;
        }
        if (members)
            members[i] = index;
    }
    return true;
}

bool site_groups_make(const struct live_set *set, struct site_groups *groups, struct error *err)
{
    return site_groups_make_members(set, groups, NULL, err);
}

bool site_groups_make_members(const struct live_set *set, struct site_groups *groups,
                              uint32_t *members, struct error *err)
{
    struct live_bundles bundles;
    if (!site_groups_bundle(set, &bundles, members, err))
        return false;
    bool ok = site_groups_of(set, &bundles, groups, err);
    for (size_t i = 0; ok && members && i < set->count; i++)
        members[i] = bundles.items[members[i]].group;
    live_bundles_release(&bundles);
    return ok;
}

void site_groups_release(struct site_groups *groups)
{
    vec_free(groups->items, groups->capacity, sizeof(*groups->items), groups->budget);
    *groups = (struct site_groups){0};
}
