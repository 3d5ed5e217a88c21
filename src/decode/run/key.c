#include "decode/run/rows.h"

static bool read_number(struct text text, uint32_t *number)
{
    int64_t wide;
    if (!text_number(text, &wide) || wide < 0 || wide >= UINT32_MAX)
        return false;
    *number = (uint32_t)wide;
    return true;
}

/* Cuts off the text after the last point. */
static bool cut_last(struct text *text, struct text *last)
{
    size_t dot = text->size;
    while (dot > 0 && text->bytes[dot - 1] != '.')
        dot--;
    if (dot == 0)
        return false;
    *last = (struct text){text->bytes + dot, text->size - dot};
    text->size = dot - 1;
    return true;
}

bool run_key_parse(struct text text, struct symbols *symbols, struct run_key *key, bool *is_key,
                   struct error *err)
{
    struct run_key read = {0};
    struct text side, iteration, rank = {text.bytes, 0};
    *is_key = false;
    if (!cut_last(&text, &side) || !cut_last(&text, &iteration))
        return true;
    while (rank.size < text.size && text.bytes[rank.size] != '.')
        rank.size++;
    bool is_end = text_equals(side, "end");
    if ((!is_end && !text_equals(side, "start")) || text.size < rank.size + 2 ||
        !read_number(iteration, &read.iteration) || !read_number(rank, &read.rank))
        return true;
    read.side = is_end ? RUN_END : RUN_START;
    if (!symbols_string(symbols, text.bytes + rank.size + 1, text.size - rank.size - 1,
                        &read.function, err))
        return false;
    *key = read;
    *is_key = true;
    return true;
}
