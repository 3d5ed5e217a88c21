/* The live allocations of a memory timeline, and the rows about them. */
#include <string.h>

#include "base/units.h"
#include "decode/timeline/internal.h"

#define STEP          UINT64_C(512) /* between the addresses that are made up */
#define ADDRESSES_END (UINT64_C(1) << 62)
#define HASH_STEP     UINT64_C(0x9e3779b97f4a7c15)
#define FILE_SIZE     "<size>" /* name of the file in the frame that stands for a stack */
#define FILE_CATEGORY "<category>"

static bool is_list(const void *items, uint32_t id, const void *wanted)
{
    const struct piece_list *list = &((const struct piece_list *)items)[id], *other = wanted;
    return list->bytes == other->bytes && list->category == other->category;
}

/* "36.75 KiB" where that is exact, else "37,633 B". */
static void size_name(char out[UNITS_TEXT_SIZE], int64_t bytes)
{
    uint64_t shown;
    units_bytes(out, bytes, UNIT_AUTO);
    if (!units_parse_bytes(out, &shown) || shown != (uint64_t)bytes)
        units_bytes(out, bytes, UNIT_BYTES);
}

static bool make_stack(struct timeline_decoder *decoder, struct piece_list *list)
{
    struct symbols *symbols = decoder->symbols;
    char size[UNITS_TEXT_SIZE];
    const char *file = list->bytes > 0 ? FILE_SIZE : FILE_CATEGORY;
    struct frame frame = {.name = decoder->categories[list->category]};
    frame_id id;
    if (list->bytes > 0) {
        size_name(size, list->bytes);
        if (!symbols_string(symbols, size, strlen(size), &frame.name, decoder->err))
            return false;
    }
    return symbols_string(symbols, file, strlen(file), &frame.file, decoder->err) &&
           symbols_frame(symbols, frame, &id, decoder->err) &&
           symbols_stack(symbols, &id, 1, &list->stack, decoder->err);
}

bool timeline_list(struct timeline_decoder *decoder, uint8_t category, int64_t bytes,
                   uint32_t *list)
{
    struct piece_list wanted = {.bytes = bytes, .category = category, .latest = NO_PIECE};
    uint32_t tag = (uint32_t)((((uint64_t)bytes * 8 + category) * HASH_STEP) >> 32);
    if (idtable_find(&decoder->list_index, tag, is_list, decoder->lists, &wanted, list))
        return true;
    *list = (uint32_t)decoder->list_count;
    return make_stack(decoder, &wanted) &&
           vec_push(decoder->lists, decoder->list_count, decoder->list_capacity, decoder->budget,
                    decoder->err, wanted) &&
           idtable_add(&decoder->list_index, tag, *list, decoder->budget, decoder->err);
}

static bool hand_out(struct timeline_decoder *decoder, enum action action, uint32_t list,
                     int64_t time_us, uint64_t addr, int64_t bytes)
{
    struct event_row row = {.action = action,
                            .addr = addr,
                            .size = (uint64_t)bytes,
                            .time_us = time_us,
                            .stack = decoder->lists[list].stack};
    row.extra.category = decoder->categories[decoder->lists[list].category];
    return decoder->sink->event(decoder->sink->self, 0, &row, decoder->err);
}

static bool make_address(struct timeline_decoder *decoder, int64_t bytes, uint64_t *addr)
{
    *addr = decoder->next_addr;
    decoder->next_addr += ((uint64_t)bytes + STEP) / STEP * STEP;
    return decoder->next_addr < ADDRESSES_END ||
           error_set(decoder->err, STATUS_BAD_INPUT,
                     "the allocations of the timeline add up to more than 4 EiB");
}

/* Takes a spare piece, or a new one. */
static bool take_piece(struct timeline_decoder *decoder, uint32_t *piece)
{
    *piece = decoder->spare;
    if (*piece != NO_PIECE) {
        decoder->spare = decoder->pieces[*piece].before;
        return true;
    }
    if (decoder->piece_count == NO_PIECE)
        return error_set(decoder->err, STATUS_LIMIT, "more than %u live allocations", NO_PIECE);
    *piece = (uint32_t)decoder->piece_count;
    return vec_push(decoder->pieces, decoder->piece_count, decoder->piece_capacity, decoder->budget,
                    decoder->err, (struct piece){0});
}

bool timeline_grow(struct timeline_decoder *decoder, uint32_t list, int64_t time_us, int64_t bytes)
{
    uint64_t addr;
    uint32_t piece;
    if (!make_address(decoder, bytes, &addr) || !take_piece(decoder, &piece))
        return false;
    decoder->pieces[piece] = (struct piece){addr, bytes, decoder->lists[list].latest};
    decoder->lists[list].latest = piece;
    return hand_out(decoder, ACTION_ALLOC, list, time_us, addr, bytes);
}

bool timeline_shrink(struct timeline_decoder *decoder, uint32_t list, int64_t time_us)
{
    uint32_t index = decoder->lists[list].latest;
    struct piece piece = decoder->pieces[index];
    decoder->lists[list].latest = piece.before;
    decoder->pieces[index] = (struct piece){.before = decoder->spare};
    decoder->spare = index;
    return hand_out(decoder, ACTION_FREE_COMPLETED, list, time_us, piece.addr, piece.bytes);
}

bool timeline_shrink_unknown(struct timeline_decoder *decoder, uint32_t list, int64_t time_us,
                             int64_t bytes)
{
    uint64_t addr;
    decoder->facts.unmatched_count++;
    return make_address(decoder, bytes, &addr) &&
           hand_out(decoder, ACTION_FREE_COMPLETED, list, time_us, addr, bytes);
}
