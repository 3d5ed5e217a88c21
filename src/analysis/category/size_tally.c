#include "analysis/category/size_tally.h"

#include <string.h>

#include "base/hash.h"

void size_tallies_init(struct size_tallies *tallies, struct budget *budget)
{
    *tallies = (struct size_tallies){.seed = hash_seed(), .budget = budget};
}

void size_tallies_release(struct size_tallies *tallies)
{
    vec_free(tallies->slots, tallies->capacity, sizeof(*tallies->slots), tallies->budget);
    *tallies = (struct size_tallies){0};
}

static struct size_tally *find_slot(struct size_tally *slots, size_t count, uint64_t seed,
                                    uint64_t size)
{
    size_t at = (size_t)hash_word(size, seed) & (count - 1);
    while (slots[at].used && slots[at].size != size)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

static bool tallies_grow(struct size_tallies *tallies, struct error *err)
{
    size_t count = tallies->slot_count ? tallies->slot_count * 2 : 64, capacity = 0;
    struct size_tally *slots = NULL;
    if (!vec_reserve(slots, capacity, count, tallies->budget, err))
        return false;
    memset(slots, 0, count * sizeof(*slots));
    for (size_t i = 0; i < tallies->slot_count; i++)
        if (tallies->slots[i].used)
            *find_slot(slots, count, tallies->seed, tallies->slots[i].size) = tallies->slots[i];
    vec_free(tallies->slots, tallies->capacity, sizeof(*slots), tallies->budget);
    tallies->slots = slots;
    tallies->slot_count = count;
    tallies->capacity = capacity;
    return true;
}

struct size_tally *size_tallies_at(struct size_tallies *tallies, uint64_t size, struct error *err)
{
    if (tallies->used * 2 >= tallies->slot_count && !tallies_grow(tallies, err))
        return NULL;
    struct size_tally *tally = find_slot(tallies->slots, tallies->slot_count, tallies->seed, size);
    if (!tally->used) {
        *tally = (struct size_tally){.size = size, .used = true};
        tally->gradients.pass = tally->accumulated.pass = NO_RUN;
        tally->listed.pass = tally->left.pass = NO_RUN;
        tallies->used++;
    }
    return tally;
}

const struct size_tally *size_tallies_find(const struct size_tallies *tallies, uint64_t size)
{
    if (tallies->slot_count == 0)
        return NULL;
    const struct size_tally *tally =
        find_slot(tallies->slots, tallies->slot_count, tallies->seed, size);
    return tally->used ? tally : NULL;
}

double size_tallies_weight_bytes(const struct size_tallies *tallies)
{
    double bytes = 0;
    for (size_t i = 0; i < tallies->slot_count; i++)
        bytes += (double)tallies->slots[i].size * tallies->slots[i].count;
    return bytes;
}

void run_count_add(struct run_count *count, uint32_t pass)
{
    if (count->pass != pass) {
        count->pass = pass;
        count->now = 0;
    }
    count->now++;
    if (count->now > count->most)
        count->most = count->now;
}

void gathering_add(struct gathering *gathering, uint32_t made, uint32_t freed)
{
    bool goes_on = gathering->now > 0 && made < gathering->until;
    if (!goes_on)
        gathering->now = 0;
    if (!goes_on || freed < gathering->until)
        gathering->until = freed;
    gathering->now += gathering->now == 0 || made != gathering->last;
    gathering->last = made;
    if (gathering->now > gathering->most)
        gathering->most = gathering->now;
}

uint32_t size_tally_gradients(const struct size_tally *tally, bool stay)
{
    uint32_t most = tally->gradients.most, used = tally->accumulated.most;
    if (stay)
        return used;
    if (tally->is_dropped && used > most)
        most = used;
    return most > tally->most_live ? most : tally->most_live;
}
