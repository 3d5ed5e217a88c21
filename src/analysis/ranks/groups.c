#include <stdlib.h>

#include "analysis/ranks/internal.h"

static size_t find_group(const struct ranks *ranks, const struct site_keys *keys,
                         const size_t *leaders, size_t count, size_t row)
{
    for (size_t group = 0; group < count; group++)
        if (site_keys_common(keys, ranks, leaders[group], row) >= RANKS_ALIKE)
            return group;
    return count;
}

/* Sets the group of each row. Returns the number of groups. */
static size_t assign(struct ranks *ranks, const struct site_keys *keys)
{
    size_t leaders[RANKS_GROUPS_MOST], count = 0;
    bool has_mixed = false;
    for (size_t i = 0; i < ranks->row_count; i++) {
        size_t group = find_group(ranks, keys, leaders, count, i);
        if (group == count && count < RANKS_GROUPS_MOST)
            leaders[count++] = i;
        else if (group == count)
            has_mixed = true;
        ranks->rows[i].group = group;
    }
    return count + has_mixed;
}

static void list_members(struct ranks *ranks)
{
    size_t next = 0;
    for (size_t i = 0; i < ranks->row_count; i++)
        ranks->groups[ranks->rows[i].group].count++;
    for (size_t group = 0; group < ranks->group_count; group++) {
        ranks->groups[group].rows = ranks->members + next;
        next += ranks->groups[group].count;
        ranks->groups[group].count = 0;
    }
    for (size_t i = 0; i < ranks->row_count; i++) {
        struct rank_group *group = &ranks->groups[ranks->rows[i].group];
        group->rows[group->count++] = i;
        group->ooms += ranks->rows[i].device->ooms > 0;
    }
}

bool ranks_group(struct ranks *ranks, const struct site_keys *keys, struct error *err)
{
    ranks->group_count = assign(ranks, keys);
    ranks->groups = calloc(ranks->group_count + 1, sizeof(*ranks->groups));
    ranks->members = calloc(ranks->row_count + 1, sizeof(*ranks->members));
    if (!ranks->groups || !ranks->members)
        return error_out_of_memory(err);
    list_members(ranks);
    if (ranks->group_count > RANKS_GROUPS_MOST)
        ranks->groups[RANKS_GROUPS_MOST].is_mixed = true;
    return true;
}
