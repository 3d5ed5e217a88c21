#include "model/trend.h"

const char *const trend_unit_names[TREND_UNITS] = {
    [TREND_BYTES] = "bytes",
    [TREND_BYTES_A_STEP] = "bytes_per_step",
    [TREND_EVENTS] = "events",
};

void trend_init(struct trend *trend, size_t max_memory)
{
    *trend = (struct trend){.budget = {.limit = max_memory}};
    arena_init(&trend->texts, &trend->budget);
}

void trend_release(struct trend *trend)
{
    vec_free(trend->points, trend->capacity, sizeof(*trend->points), &trend->budget);
    arena_release(&trend->texts);
    *trend = (struct trend){0};
}

bool trend_text(struct trend *trend, struct text *text, struct error *err)
{
    char *copy = arena_alloc(&trend->texts, text->size + 1, err);
    if (!copy)
        return false;
    if (text->size > 0)
        memcpy(copy, text->bytes, text->size);
    copy[text->size] = '\0';
    text->bytes = copy;
    return true;
}

void trend_shares_release(struct trend_shares *shares, struct trend *trend)
{
    vec_free(shares->items, shares->capacity, sizeof(*shares->items), &trend->budget);
    *shares = (struct trend_shares){0};
}
