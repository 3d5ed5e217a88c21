#include "analysis/pool/pools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

const char *stream_text(char out[STREAM_TEXT_SIZE], int64_t stream)
{
    snprintf(out, STREAM_TEXT_SIZE, stream == 0 ? "%" PRIx64 : "0x%" PRIx64, (uint64_t)stream);
    return out;
}

void pool_rows_init(struct pool_rows *rows, struct budget *budget)
{
    *rows = (struct pool_rows){.budget = budget, .seed = hash_seed()};
}

void pool_rows_release(struct pool_rows *rows)
{
    if (!rows->budget)
        return;
    idtable_release(&rows->table, rows->budget);
    vec_free(rows->items, rows->capacity, sizeof(*rows->items), rows->budget);
    rows->items = NULL;
    rows->count = rows->capacity = 0;
}

const char *pool_text(char out[POOL_TEXT_SIZE], const struct pool_key *key)
{
    char stream[STREAM_TEXT_SIZE];
    int used = snprintf(out, POOL_TEXT_SIZE, "%s", key->is_small ? "small" : "large");
    if (key->stream != 0)
        used += snprintf(out + used, POOL_TEXT_SIZE - (size_t)used, ", stream %s",
                         stream_text(stream, key->stream));
    if (key->pool[0] != 0 || key->pool[1] != 0)
        snprintf(out + used, POOL_TEXT_SIZE - (size_t)used, ", %s pool (%llu, %llu)",
                 pool_key_is_captured(key) ? "graph" : "private", (unsigned long long)key->pool[0],
                 (unsigned long long)key->pool[1]);
    return out;
}

struct pool_key pool_key_of(const struct layout_segment *segment)
{
    return (struct pool_key){.is_small = segment->is_small,
                             .stream = segment->stream,
                             .pool = {segment->pool[0], segment->pool[1]}};
}

bool pool_key_equal(const struct pool_key *a, const struct pool_key *b)
{
    return a->is_small == b->is_small && a->stream == b->stream && a->pool[0] == b->pool[0] &&
           a->pool[1] == b->pool[1];
}

static bool has_key(const void *rows, uint32_t id, const void *key)
{
    return pool_key_equal(&((const struct pool_row *)rows)[id].key, key);
}

static bool find_row(struct pool_rows *rows, const struct pool_key *key, struct pool_row **row,
                     struct error *err)
{
    uint64_t words = hash_word((uint64_t)key->stream ^ key->is_small, rows->seed);
    words = hash_word(words ^ key->pool[0], rows->seed);
    uint32_t tag = (uint32_t)hash_word(words ^ key->pool[1], rows->seed), found;
    if (!idtable_find(&rows->table, tag, has_key, rows->items, key, &found)) {
        found = (uint32_t)rows->count;
        if (!idtable_add(&rows->table, tag, found, rows->budget, err) ||
            !vec_push(rows->items, rows->count, rows->capacity, rows->budget, err,
                      (struct pool_row){.key = *key, .pools = 1}))
            return false;
    }
    *row = &rows->items[found];
    return true;
}

/* The bytes of a hole in whole pages. Expandable segments can release these while the segment is in
 * use. */
static uint64_t whole_pages(const struct layout_segment *segment, const struct layout_span *hole)
{
    uint64_t page = allocator_page(segment->is_small);
    if (!segment->is_expandable || hole->addr < segment->address)
        return 0;
    uint64_t from = hole->addr - segment->address, to;
    if (__builtin_add_overflow(from, hole->size, &to))
        return 0;
    from = allocator_round_up(from, page);
    to -= to % page;
    return from < to ? to - from : 0;
}

uint64_t pool_releasable(const struct layout_segment *segment, const struct layout_span *hole,
                         bool is_whole)
{
    return is_whole ? hole->size : whole_pages(segment, hole);
}

bool pool_segment_is_whole(const struct layout_segment *segment)
{
    bool is_whole = true;
    for (size_t i = 0; i < segment->span_count; i++)
        is_whole = is_whole && segment->spans[i].state == SPAN_HOLE;
    return is_whole;
}

static void count_span(struct pool_row *row, const struct layout_segment *segment,
                       const struct layout_span *span, bool is_whole)
{
    if (span->state != SPAN_HOLE) {
        row->active_bytes += span->size;
        row->requested_bytes += span->requested;
        row->allocated_bytes += span->state == SPAN_ALLOCATED ? span->size : 0;
        return;
    }
    uint64_t releasable = pool_releasable(segment, span, is_whole);
    row->releasable_bytes += releasable;
    row->inactive_split_bytes += span->size - releasable;
    if (span->size > row->largest_hole_bytes)
        row->largest_hole_bytes = span->size;
}

static void add_up(struct pool_row *sum, const struct pool_row *row)
{
    sum->pools += row->pools;
    sum->segments += row->segments;
    sum->reserved_bytes += row->reserved_bytes;
    sum->allocated_bytes += row->allocated_bytes;
    sum->active_bytes += row->active_bytes;
    sum->requested_bytes += row->requested_bytes;
    sum->inactive_split_bytes += row->inactive_split_bytes;
    sum->releasable_bytes += row->releasable_bytes;
    sum->after_graphs_bytes += row->after_graphs_bytes;
    sum->fixed_reserved_bytes += row->fixed_reserved_bytes;
    sum->fixed_active_bytes += row->fixed_active_bytes;
    if (row->largest_hole_bytes > sum->largest_hole_bytes)
        sum->largest_hole_bytes = row->largest_hole_bytes;
}

bool pool_rows_add(struct pool_rows *rows, const struct layout_segment *segment, size_t *at,
                   struct error *err)
{
    const struct pool_key key = pool_key_of(segment);
    struct pool_row *row;
    if (!find_row(rows, &key, &row, err))
        return false;
    if (at)
        *at = (size_t)(row - rows->items);
    bool is_whole = pool_segment_is_whole(segment);
    struct pool_row one = {.segments = 1, .reserved_bytes = segment->size};
    for (size_t i = 0; i < segment->span_count; i++)
        count_span(&one, segment, &segment->spans[i], is_whole);
    if (pool_key_is_private(&key))
        one.after_graphs_bytes = one.releasable_bytes;
    if (!segment->is_expandable && one.active_bytes > 0) {
        one.fixed_reserved_bytes = segment->size;
        one.fixed_active_bytes = one.active_bytes;
    }
    add_up(row, &one);
    add_up(&rows->total, &one);
    return true;
}

static int larger_first(const void *a, const void *b)
{
    const struct pool_row *x = a, *y = b;
    if (x->reserved_bytes != y->reserved_bytes)
        return x->reserved_bytes > y->reserved_bytes ? -1 : 1;
    if (x->key.is_small != y->key.is_small)
        return x->key.is_small ? 1 : -1;
    for (int i = 0; i < 2; i++)
        if (x->key.pool[i] != y->key.pool[i])
            return x->key.pool[i] < y->key.pool[i] ? -1 : 1;
    return (x->key.stream > y->key.stream) - (x->key.stream < y->key.stream);
}

void pool_rows_finish(struct pool_rows *rows)
{
    idtable_release(&rows->table, rows->budget);
    rows->total.pools = rows->count;
    if (rows->count > 0)
        qsort(rows->items, rows->count, sizeof(*rows->items), larger_first);
    if (rows->count <= POOL_ROWS_MOST)
        return;
    struct pool_row *rest = &rows->items[POOL_ROWS_MOST - 1];
    for (size_t i = POOL_ROWS_MOST; i < rows->count; i++)
        add_up(rest, &rows->items[i]);
    rows->count = POOL_ROWS_MOST;
}
