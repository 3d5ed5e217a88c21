#include <stdlib.h>

#include "analysis/replay/lives.h"

static bool exists_at(uint32_t from, uint32_t to, uint32_t moment)
{
    return from <= moment && moment < to;
}

/* True if it exists at a moment that is kept. */
static bool is_kept(const struct lives *lives, uint32_t from, uint32_t to)
{
    uint64_t next = ((uint64_t)from + lives->stride - 1) / lives->stride * lives->stride;
    return (next <= lives->last && next < to) || exists_at(from, to, lives->peak) ||
           exists_at(from, to, lives->last);
}

static size_t count_kept(const struct lives *lives)
{
    size_t count = 0;
    for (size_t i = 0; i < lives->block_count; i++)
        count += is_kept(lives, lives->blocks[i].from, lives->blocks[i].to);
    for (size_t i = 0; i < lives->piece_count; i++)
        count += is_kept(lives, lives->pieces[i].from, lives->pieces[i].to);
    return count;
}

static int by_address(uint64_t a, uint64_t b, uint32_t a_from, uint32_t b_from)
{
    return a != b ? (a > b) - (a < b) : (a_from > b_from) - (a_from < b_from);
}

static int compare_blocks(const void *a, const void *b)
{
    const struct block_life *x = a, *y = b;
    return by_address(x->addr, y->addr, x->from, y->from);
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece_life *x = a, *y = b;
    return by_address(x->addr, y->addr, x->from, y->from);
}

bool lives_thin(struct lives *lives, size_t most)
{
    size_t blocks = 0, pieces = 0;
    while (count_kept(lives) > most) {
        if (lives->stride > lives->last)
            return false;
        lives->stride = lives->stride > UINT32_MAX / 2 ? UINT32_MAX : 2 * lives->stride;
    }
    for (size_t i = 0; i < lives->block_count; i++)
        if (is_kept(lives, lives->blocks[i].from, lives->blocks[i].to))
            lives->blocks[blocks++] = lives->blocks[i];
    for (size_t i = 0; i < lives->piece_count; i++)
        if (is_kept(lives, lives->pieces[i].from, lives->pieces[i].to))
            lives->pieces[pieces++] = lives->pieces[i];
    lives->block_count = blocks;
    lives->piece_count = pieces;
    if (blocks > 0)
        qsort(lives->blocks, blocks, sizeof(*lives->blocks), compare_blocks);
    if (pieces > 0)
        qsort(lives->pieces, pieces, sizeof(*lives->pieces), compare_pieces);
    return true;
}
