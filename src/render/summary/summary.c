#include "render/summary/summary.h"

#include <string.h>

#include "render/core/pack.h"

static void pack_word(msgpack_packer *packer, const char *word)
{
    pack_text(packer, word, strlen(word));
}

static size_t count_members(const struct summary_member *members)
{
    size_t count = 0;
    while (members[count].key)
        count++;
    return count;
}

static void pack_members(msgpack_packer *packer, const struct summary_member *member,
                         const void *row)
{
    for (; member->key; member++) {
        const void *at = (const char *)row + member->offset;
        pack_word(packer, member->key);
        if (member->kind == SUMMARY_INTEGER)
            msgpack_pack_int64(packer, *(const int64_t *)at);
        else if (member->kind == SUMMARY_COUNT)
            msgpack_pack_uint64(packer, *(const uint64_t *)at);
        else if (member->kind == SUMMARY_TEXT)
            pack_word(packer, *(const char *const *)at);
        else if (*(const bool *)at)
            msgpack_pack_true(packer);
        else
            msgpack_pack_false(packer);
    }
}

static void pack_array(msgpack_packer *packer, const struct summary_array_type *type,
                       const struct summary_device *device)
{
    const char *rows;
    size_t count;
    memcpy(&rows, (const char *)device + type->items_offset, sizeof(rows));
    memcpy(&count, (const char *)device + type->count_offset, sizeof(count));
    pack_word(packer, type->key);
    msgpack_pack_array(packer, count);
    for (size_t i = 0; i < count; i++) {
        msgpack_pack_map(packer, count_members(type->members));
        pack_members(packer, type->members, rows + i * type->item_size);
    }
}

/* Differences are small numbers, which take few bytes. */
static void pack_curve(msgpack_packer *packer, const char *key, const int64_t *values, size_t count)
{
    int64_t before = 0;
    pack_word(packer, key);
    msgpack_pack_array(packer, count);
    for (size_t i = 0; i < count; before = values[i++])
        msgpack_pack_int64(packer, values[i] - before);
}

#define CURVES 3

static void pack_device(msgpack_packer *packer, const struct summary_device *device)
{
    const struct summary_curve *curve = &device->curve;
    msgpack_pack_map(packer, count_members(summary_device_members) + SUMMARY_ARRAYS + CURVES);
    pack_members(packer, summary_device_members, device);
    for (int i = 0; i < SUMMARY_ARRAYS; i++)
        pack_array(packer, &summary_arrays[i], device);
    pack_curve(packer, "active_high", curve->high, curve->columns);
    pack_curve(packer, "active_low", curve->low, curve->columns);
    pack_curve(packer, "reserved", curve->reserved, curve->columns);
}

bool summary_pack(struct buffer *bin, const struct summary *summary, struct error *err)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, bin, pack_to_buffer);
    msgpack_pack_map(&packer, count_members(summary_members) + 1);
    pack_members(&packer, summary_members, summary);
    pack_word(&packer, "devices");
    msgpack_pack_array(&packer, summary->device_count);
    for (size_t i = 0; i < summary->device_count; i++)
        pack_device(&packer, &summary->devices[i]);
    return !bin->failed || error_out_of_memory(err);
}

void summaries_begin(FILE *out)
{
    fwrite(SUMMARY_HEADER, 1, sizeof(SUMMARY_HEADER) - 1, out);
}

void summaries_add(FILE *out, struct text bin)
{
    size_t size = bin.size;
    const uint8_t lead[] = {SUMMARY_BIN, (uint8_t)(size >> 24), (uint8_t)(size >> 16),
                            (uint8_t)(size >> 8), (uint8_t)size};
    fwrite(lead, 1, sizeof(lead), out);
    fwrite(bin.bytes, 1, size, out);
}
