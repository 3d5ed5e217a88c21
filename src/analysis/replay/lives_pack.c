#include <stdlib.h>

#include "analysis/replay/lives.h"

static bool exists_at(uint32_t from, uint32_t to, uint32_t moment)
{
    return from <= moment && moment < to;
}

/* True if a block exists at a moment that is kept. */
static bool is_kept(const struct lives *lives, uint32_t from, uint32_t to)
{
    uint64_t next = ((uint64_t)from + lives->stride - 1) / lives->stride * lives->stride;
    return (next <= lives->last && next < to) || exists_at(from, to, lives->peak) ||
           exists_at(from, to, lives->last);
}

static size_t pieces_kept(const struct lives *lives)
{
    size_t count = 0;
    for (size_t i = 0; i < lives->piece_count; i++)
        count += is_kept(lives, lives->pieces[i].from, lives->pieces[i].to);
    return count;
}

static void add_number(struct buffer *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        buffer_putc(out, (char)(0x80 | (number & 0x7F)));
    buffer_putc(out, (char)number);
}

static void add_life(struct buffer *out, const struct block_life *life, uint32_t before)
{
    uint64_t moments = life->to == MOMENT_NEVER ? 0 : life->to - life->from;
    bool is_usual =
        life->to == MOMENT_NEVER ? life->pending == MOMENT_NEVER : life->pending == life->to - 1;
    add_number(out, life->from - before);
    add_number(out, 2 * moments + !is_usual);
    if (is_usual)
        return;
    bool waits = life->pending < life->to;
    uint32_t pending = life->pending > life->from ? life->pending : life->from;
    add_number(out, waits ? (uint64_t)pending - life->from + 1 : 0);
}

/* The end of the blocks from `first` on that have its address and size. *kept is the number of
 * those that are kept. */
static size_t end_of_spot(const struct lives *lives, size_t first, size_t *kept)
{
    const struct block_life *blocks = lives->blocks;
    size_t end = first;
    *kept = 0;
    for (; end < lives->block_count && blocks[end].addr == blocks[first].addr &&
           blocks[end].size == blocks[first].size;
         end++)
        *kept += is_kept(lives, blocks[end].from, blocks[end].to);
    return end;
}

/* Packs the lives. Stops when they take more than `most` bytes. */
static void pack(struct lives *lives, size_t most)
{
    struct buffer *out = &lives->packed;
    uint64_t addr = 0;
    size_t kept;
    buffer_clear(out);
    for (size_t first = 0, end; first < lives->block_count && out->size <= most; first = end) {
        end = end_of_spot(lives, first, &kept);
        uint32_t before = 0;
        if (kept == 0)
            continue;
        add_number(out, lives->blocks[first].addr - addr);
        add_number(out, lives->blocks[first].size);
        add_number(out, kept);
        addr = lives->blocks[first].addr;
        for (size_t i = first; i < end && out->size <= most; i++) {
            if (!is_kept(lives, lives->blocks[i].from, lives->blocks[i].to))
                continue;
            add_life(out, &lives->blocks[i], before);
            before = lives->blocks[i].from;
        }
    }
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_blocks(const void *a, const void *b)
{
    const struct block_life *x = a, *y = b;
    int order = compare(x->addr, y->addr);
    order = order != 0 ? order : compare(x->size, y->size);
    return order != 0 ? order : compare(x->from, y->from);
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece_life *x = a, *y = b;
    int order = compare(x->addr, y->addr);
    return order != 0 ? order : compare(x->from, y->from);
}

static void keep_pieces(struct lives *lives)
{
    size_t count = 0;
    for (size_t i = 0; i < lives->piece_count; i++)
        if (is_kept(lives, lives->pieces[i].from, lives->pieces[i].to))
            lives->pieces[count++] = lives->pieces[i];
    lives->piece_count = count;
    if (count > 0)
        qsort(lives->pieces, count, sizeof(*lives->pieces), compare_pieces);
}

bool lives_pack(struct lives *lives, bool *fits, struct error *err)
{
    if (lives->block_count > 0)
        qsort(lives->blocks, lives->block_count, sizeof(*lives->blocks), compare_blocks);
    for (;;) {
        pack(lives, LIVES_BYTES);
        *fits = lives->packed.size <= LIVES_BYTES && pieces_kept(lives) <= LIVES_PIECES;
        if (*fits || lives->stride > lives->last)
            break;
        lives->stride = lives->stride > UINT32_MAX / 2 ? UINT32_MAX : 2 * lives->stride;
    }
    keep_pieces(lives);
    return !lives->packed.failed || error_out_of_memory(err);
}
