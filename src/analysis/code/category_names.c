/* Names of categories, including the user's own, and of confidences. */
#include <string.h>

#include "analysis/code/reason.h"

static const char *const names[] = {
    [CATEGORY_PARAMETER] = "parameter",
    [CATEGORY_GRADIENT] = "gradient",
    [CATEGORY_OPTIMIZER_STATE] = "optimizer_state",
    [CATEGORY_ACTIVATION] = "activation",
    [CATEGORY_INPUT] = "input",
    [CATEGORY_TEMPORARY] = "temporary",
    [CATEGORY_AUTOGRAD_DETAIL] = "autograd_detail",
    [CATEGORY_COMMUNICATION] = "communication",
    [CATEGORY_WORKSPACE] = "workspace",
    [CATEGORY_KV_CACHE] = "kv_cache",
    [CATEGORY_CAST_CACHE] = "cast_cache",
    [CATEGORY_UNKNOWN] = "unknown",
    [CATEGORY_COUNT] = "unexplained",
};

/* The user's own categories. These strings are never freed. */
static char *own_names[CATEGORY_LIMIT - CATEGORY_COUNT - 1];
static uint8_t own_count;

const char *category_name(enum category category)
{
    return category <= CATEGORY_COUNT ? names[category] : own_names[category - CATEGORY_COUNT - 1];
}

/* The index of a name, or CATEGORY_COUNT + 1 + own_count if there is no such name. */
static uint8_t index_of(const char *name)
{
    uint8_t i = 0;
    while (i < CATEGORY_COUNT + 1 + own_count && strcmp(category_name((enum category)i), name) != 0)
        i++;
    return i;
}

bool category_find(const char *name, enum category *category)
{
    uint8_t i = index_of(name);
    if (i == CATEGORY_COUNT || i == CATEGORY_COUNT + 1 + own_count)
        return false;
    *category = (enum category)i;
    return true;
}

bool category_define(const char *name, uint8_t *category)
{
    uint8_t found = index_of(name);
    if (found < CATEGORY_COUNT + 1 + own_count) {
        *category = found;
        return found != CATEGORY_COUNT;
    }
    if (own_count == sizeof(own_names) / sizeof(own_names[0]))
        return false;
    own_names[own_count] = strdup(name);
    if (!own_names[own_count])
        return false;
    *category = (uint8_t)(CATEGORY_COUNT + 1 + own_count++);
    return true;
}

const char *confidence_name(enum confidence confidence)
{
    static const char *const words[] = {"low", "medium", "high"};
    return words[confidence];
}
