#include "analysis/code/text_ranks.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/idtable.h"

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

static bool find_or_add(struct ranking *ranking, struct text text, uint32_t *index,
                        struct error *err)
{
    uint64_t place = hash_word((uint64_t)(uintptr_t)text.bytes, ranking->seed);
    uint32_t tag = (uint32_t)hash_word(place + text.size, ranking->seed), found;
    struct idprobe probe = idtable_probe(&ranking->table, tag);
    while (idtable_next(&ranking->table, &probe, &found)) {
        const struct text known = ranking->items[found].text;
        if (known.bytes == text.bytes && known.size == text.size) {
            *index = found;
            return true;
        }
    }
    if (ranking->count >= IDTABLE_MAX_ID)
        return error_set(err, STATUS_LIMIT, "more than %u different names", IDTABLE_MAX_ID);
    if (!vec_reserve(ranking->items, ranking->capacity, ranking->count + 1, ranking->budget, err) ||
        !idtable_reserve(&ranking->table, ranking->budget, err))
        return false;
    *index = (uint32_t)ranking->count++;
    ranking->items[*index] = (struct distinct){text, *index};
    idtable_insert(&ranking->table, tag, *index);
    return true;
}

static int compare_distinct(const void *a, const void *b)
{
    return text_compare(((const struct distinct *)a)->text, ((const struct distinct *)b)->text);
}

bool text_ranks_make(const struct text *texts, size_t count, uint32_t *ranks, struct budget *budget,
                     struct error *err)
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
