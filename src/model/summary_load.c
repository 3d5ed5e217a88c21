/* Reads files of summaries. */
#include <string.h>

#include "decode/core/sniff.h"
#include "decode/msgpack/value.h"
#include "model/summary.h"

/* Largest absolute value of a number that may be negative. */
#define MOST_BYTES (INT64_C(1) << 62)
#define MOST_ITEMS 4096 /* items of an array other than a curve */
#define BIN_LEAD   5    /* SUMMARY_BIN and a size in four bytes */

/* The state of reading one bin. */
struct reader {
    struct values values;
    struct summary *summary;
    uint64_t offset; /* offset of the map that is being read */
    struct error *err;
};

/* The pairs of a map that are still to be read, in the order of the file. */
struct pairs {
    const value *next;
    size_t left;
};

static bool bad(const struct reader *in, const char *key, const char *expected)
{
    return error_set_at(in->err, STATUS_BAD_INPUT, in->offset, "expected %s as '%s'", expected,
                        key);
}

static bool has_key(const struct reader *in, const struct pairs *pairs, const char *key)
{
    return pairs->left > 0 && value_tag(pairs->next[0]) == TAG_STRING &&
           text_equals(symbols_text(in->values.symbols, value_payload(pairs->next[0])), key);
}

/* The value of the next pair, which must have that key. */
static bool next_value(const struct reader *in, struct pairs *pairs, const char *key, value *v)
{
    if (!has_key(in, pairs, key))
        return error_set_at(in->err, STATUS_BAD_INPUT, in->offset, "expected the key '%s'", key);
    *v = pairs->next[1];
    pairs->next += 2;
    pairs->left--;
    return true;
}

static bool begin_map(struct reader *in, value v, const char *what, struct pairs *pairs)
{
    if (value_is_node(&in->values, v, NODE_DICT) &&
        value_mapping(&in->values, v, &pairs->next, &pairs->left)) {
        in->offset = value_node(&in->values, v)->offset;
        return true;
    }
    return error_set_at(in->err, STATUS_BAD_INPUT, in->offset, "expected %s, found %s", what,
                        value_kind_name(&in->values, v));
}

static bool end_map(const struct reader *in, const struct pairs *pairs)
{
    return pairs->left == 0 || error_set_at(in->err, STATUS_BAD_INPUT, in->offset,
                                            "%zu unknown members at the end of a map", pairs->left);
}

static bool read_text(struct reader *in, const char *key, value v, const char **to)
{
    if (value_tag(v) != TAG_STRING)
        return bad(in, key, "a text");
    struct text text = symbols_text(in->values.symbols, value_payload(v));
    if (text.size > SUMMARY_TEXT_MOST || memchr(text.bytes, '\0', text.size))
        return bad(in, key, "a short text without NUL characters");
    *to = summary_text(in->summary, text.bytes, text.size, in->err);
    return *to != NULL;
}

static bool is_whole(const struct reader *in, value v, int64_t *to)
{
    return v != VALUE_TRUE && v != VALUE_FALSE && value_to_i64(&in->values, v, to) &&
           *to >= -MOST_BYTES && *to <= MOST_BYTES;
}

static bool read_member(struct reader *in, const struct summary_member *member, value v, void *row)
{
    void *to = (char *)row + member->offset;
    int64_t number;
    switch (member->kind) {
    case SUMMARY_INTEGER:
        if (!is_whole(in, v, to))
            return bad(in, member->key, "a whole number");
        return true;
    case SUMMARY_COUNT:
        if (!is_whole(in, v, &number) || number < 0)
            return bad(in, member->key, "a whole number from 0");
        *(uint64_t *)to = (uint64_t)number;
        return true;
    case SUMMARY_FLAG:
        if (v != VALUE_TRUE && v != VALUE_FALSE)
            return bad(in, member->key, "true or false");
        *(bool *)to = v == VALUE_TRUE;
        return true;
    default:
        return read_text(in, member->key, v, to);
    }
}

static bool read_members(struct reader *in, struct pairs *pairs,
                         const struct summary_member *members, void *row)
{
    value v = 0;
    for (; members->key; members++) {
        if (members->is_new && !has_key(in, pairs, members->key)) {
            if (members->kind == SUMMARY_TEXT)
                *(const char **)(void *)((char *)row + members->offset) = "";
            continue;
        }
        if (!next_value(in, pairs, members->key, &v) || !read_member(in, members, v, row))
            return false;
    }
    return true;
}

/* Finds the next array of the map. */
static bool next_array(struct reader *in, struct pairs *pairs, const char *key, size_t most,
                       const value **items, size_t *count)
{
    value v = 0;
    if (!next_value(in, pairs, key, &v))
        return false;
    if (!value_sequence(&in->values, v, items, count) || *count > most)
        return bad(in, key, "an array of moderate length");
    return true;
}

static bool read_array(struct reader *in, struct pairs *pairs,
                       const struct summary_array_type *type, struct summary_device *device)
{
    const value *items;
    size_t count;
    uint64_t outer = in->offset;
    if (type->is_new && !has_key(in, pairs, type->key))
        return true;
    bool is_steps = type->members == summary_step_members;
    if (!next_array(in, pairs, type->key, is_steps ? SUMMARY_STEPS : MOST_ITEMS, &items, &count))
        return false;
    char *rows = summary_items(in->summary, count, type->item_size, in->err);
    if (!rows)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct pairs members;
        if (!begin_map(in, items[i], "a map", &members) ||
            !read_members(in, &members, type->members, rows + i * type->item_size) ||
            !end_map(in, &members))
            return false;
    }
    in->offset = outer;
    memcpy((char *)device + type->items_offset, &rows, sizeof(rows));
    memcpy((char *)device + type->count_offset, &count, sizeof(count));
    return true;
}

/* A curve is an array of differences, the first one to 0. */
static bool read_curve(struct reader *in, const char *key, const value *items, int64_t *to,
                       size_t count)
{
    int64_t sum = 0, change;
    for (size_t i = 0; i < count; i++) {
        if (!is_whole(in, items[i], &change) || __builtin_add_overflow(sum, change, &sum) ||
            sum < -MOST_BYTES || sum > MOST_BYTES)
            return bad(in, key, "numbers of bytes");
        to[i] = sum;
    }
    return true;
}

static bool read_curves(struct reader *in, struct pairs *pairs, struct summary_device *device)
{
    static const char *const keys[] = {"active_high", "active_low", "reserved"};
    const value *items[3];
    size_t counts[3];
    for (int i = 0; i < 3; i++) {
        if (!next_array(in, pairs, keys[i], SUMMARY_COLUMNS, &items[i], &counts[i]))
            return false;
        if (counts[i] != counts[0])
            return bad(in, keys[i], "as many columns as the other curves have");
    }
    const struct summary_curve *curve = &device->curve;
    return summary_curve_make(in->summary, device, counts[0], in->err) &&
           read_curve(in, keys[0], items[0], curve->high, counts[0]) &&
           read_curve(in, keys[1], items[1], curve->low, counts[0]) &&
           read_curve(in, keys[2], items[2], curve->reserved, counts[0]);
}

static bool read_device(struct reader *in, value v, struct summary_device *device)
{
    struct pairs pairs;
    if (!begin_map(in, v, "a device (a map)", &pairs) ||
        !read_members(in, &pairs, summary_device_members, device))
        return false;
    for (int i = 0; i < SUMMARY_ARRAYS; i++)
        if (!read_array(in, &pairs, &summary_arrays[i], device))
            return false;
    return read_curves(in, &pairs, device) && end_map(in, &pairs);
}

static bool read_summary(struct reader *in, value root)
{
    struct summary *summary = in->summary;
    struct pairs pairs;
    const value *devices;
    size_t count;
    if (!begin_map(in, root, "a summary (a map)", &pairs) ||
        !read_members(in, &pairs, summary_members, summary) ||
        !next_array(in, &pairs, "devices", MOST_ITEMS, &devices, &count) || !end_map(in, &pairs))
        return false;
    summary->devices = summary_items(summary, count, sizeof(*summary->devices), in->err);
    if (!summary->devices)
        return false;
    while (summary->device_count < count) {
        size_t next = summary->device_count++;
        if (!read_device(in, devices[next], &summary->devices[next]))
            return false;
    }
    return true;
}

/* Decodes the map in a bin. */
static bool decode_source(struct summary *summary, struct source *source, struct error *err)
{
    struct symbols *symbols = symbols_create(source->budget, err);
    struct reader in = {.summary = summary, .err = err};
    value root;
    bool ok = symbols && decode_msgpack_value(source, symbols, &in.values, &root, err);
    if (ok) {
        ok = read_summary(&in, root);
        values_release(&in.values);
    }
    symbols_destroy(symbols);
    return ok;
}

static struct summary *decode_bin(struct text bin, uint64_t offset, struct budget *budget,
                                  struct error *err)
{
    struct summary *summary = summary_create(budget->limit - budget->used, err);
    struct source source;
    if (!summary || !source_open_memory(&source, bin.bytes, bin.size, budget, err)) {
        summary_destroy(summary);
        return NULL;
    }
    bool ok = decode_source(summary, &source, err);
    source_close(&source);
    if (ok)
        return summary;
    if (err->has_offset)
        err->offset += offset;
    summary_destroy(summary);
    return NULL;
}

static bool read_header(struct source *source, struct error *err)
{
    size_t size = sizeof(SUMMARY_HEADER) - 1;
    if (!source_fill(source, size, err))
        return false;
    if ((size_t)(source->end - source->pos) >= size &&
        memcmp(source->pos, SUMMARY_HEADER, size - 1) == 0 &&
        !strchr(SUMMARY_VERSIONS, source->pos[size - 1]))
        return error_set(err, STATUS_BAD_INPUT,
                         "summaries of an unknown version (expected " SUMMARY_SCHEMA
                         "): another version of memsnap made them");
    if ((size_t)(source->end - source->pos) < size ||
        memcmp(source->pos, SUMMARY_HEADER, size - 1) != 0 || source->pos[size - 1] == '\0')
        return error_set_at(err, STATUS_BAD_INPUT, source_offset(source), "expected %s",
                            kind_name(KIND_SUMMARY));
    source->pos += size;
    return true;
}

/* Makes the next bin available at source->pos; its size is 0 at the end of the file. */
static bool next_bin(struct source *source, size_t *size, struct error *err)
{
    *size = 0;
    if (!source_fill(source, BIN_LEAD, err))
        return false;
    if (source->pos == source->end)
        return true;
    const uint8_t *p = source->pos;
    uint64_t offset = source_offset(source);
    if (source->end - p < BIN_LEAD || p[0] != SUMMARY_BIN)
        return error_set_at(err, STATUS_BAD_INPUT, offset, "expected a summary (a bin)");
    *size = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    if (*size == 0 || *size > SUMMARY_BIN_MOST)
        return error_set_at(err, STATUS_BAD_INPUT, offset,
                            "expected a summary of 1 to %zu bytes, found one of %zu",
                            SUMMARY_BIN_MOST, *size);
    source->pos += BIN_LEAD;
    if (!source_fill(source, *size, err))
        return false;
    return (size_t)(source->end - source->pos) >= *size ||
           error_set_at(err, STATUS_BAD_INPUT, offset,
                        "the file ends within a summary of %zu bytes", *size);
}

static bool read_bins(struct input *input, summary_taker *take, void *self, struct error *err)
{
    struct source *source = &input->source;
    size_t size;
    while (next_bin(source, &size, err)) {
        if (size == 0)
            return true;
        struct text bin = {(const char *)source->pos, size};
        struct summary *summary = decode_bin(bin, source_offset(source), input->budget, err);
        if (!summary || !take(self, summary, bin, err))
            return false;
        source->pos += size;
    }
    return false;
}

bool summaries_load_input(struct input *input, summary_taker *take, void *self, struct error *err)
{
    bool ok = read_header(&input->source, err) && read_bins(input, take, self, err);
    input_discard(input);
    return ok;
}
