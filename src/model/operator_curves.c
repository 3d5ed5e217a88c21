#include "model/operator_curves.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "decode/core/sniff.h"
#include "decode/pickle/decode.h"

#define MIB         1048576.0
#define WHOLE       4503599627370496.0    /* 2^52: doubles from here on have no fraction */
#define MOST_BYTES  4611686018427387904.0 /* 2^62 */
#define MOST_POINTS (UINT32_MAX - 1)

enum curve { CURVE_ALLOCATED, CURVE_ACTIVE, CURVE_RESERVED, CURVES };

static const struct {
    const char *key;
    size_t member; /* its offset in struct operator_point */
} curve_table[CURVES] = {
    {"memories_allocated", offsetof(struct operator_point, allocated)},
    {"memories_active", offsetof(struct operator_point, active)},
    {"memories_reserved", offsetof(struct operator_point, reserved)},
};

struct reader {
    const struct values *values;
    struct operator_curves *curves;
    uint64_t offset; /* offset of the present container */
    struct error *err;
};

static bool bad(const struct reader *in, const char *expected, value v)
{
    return error_set_at(in->err, STATUS_BAD_INPUT, in->offset, "expected %s, found %s", expected,
                        value_kind_name(in->values, v));
}

static bool is_bool(value v)
{
    return v == VALUE_TRUE || v == VALUE_FALSE;
}

/* The value of a key in the outermost dict; the last of equal keys counts. */
static bool find(struct reader *in, value root, const char *key, value *found)
{
    const value *pairs;
    size_t count;
    if (!value_mapping(in->values, root, &pairs, &count))
        return bad(in, "a dict", root);
    for (size_t i = count; i-- > 0;) {
        if (value_tag(pairs[2 * i]) != TAG_STRING)
            continue;
        struct text text = symbols_text(in->values->symbols, value_payload(pairs[2 * i]));
        if (text_equals(text, key)) {
            *found = pairs[2 * i + 1];
            if (value_tag(*found) == TAG_NODE)
                in->offset = value_node(in->values, *found)->offset;
            return true;
        }
    }
    return error_set_at(in->err, STATUS_BAD_INPUT, in->offset, "no key '%s'", key);
}

static bool read_mib(struct reader *in, value v, int64_t *bytes)
{
    uint64_t whole;
    double mib;
    if (value_is_node(in->values, v, NODE_FLOAT))
        mib = value_node(in->values, v)->as.real;
    else if (!is_bool(v) && value_to_u64(in->values, v, &whole))
        mib = (double)whole;
    else
        return bad(in, "a number of MiB", v);
    if (!(mib >= 0) || mib * MIB >= MOST_BYTES) /* also rejects NaN */
        return error_set_at(in->err, STATUS_BAD_INPUT, in->offset,
                            "expected a number of MiB, found %g", mib);
    mib *= MIB; /* exact: a multiplication by a power of two */
    *bytes = (int64_t)(mib < WHOLE ? mib + 0.5 : mib);
    return true;
}

static bool read_point(struct reader *in, enum curve curve, value v, struct operator_point *point)
{
    const value *items;
    size_t count;
    if (!value_sequence(in->values, v, &items, &count) || count != 2 ||
        value_tag(items[0]) != TAG_STRING)
        return bad(in, "an operator and a number of MiB (a tuple)", v);
    point->name = value_payload(items[0]);
    return read_mib(in, items[1], (int64_t *)(void *)((char *)point + curve_table[curve].member));
}

/* Fills one column of the points; `set` has a flag byte for each point. */
static bool read_curve(struct reader *in, enum curve curve, const value *pairs, uint8_t *set)
{
    struct operator_curves *curves = in->curves;
    uint64_t index;
    if (curves->count > 0)
        memset(set, 0, curves->count);
    for (size_t i = 0; i < curves->count; i++) {
        if (is_bool(pairs[2 * i]) || !value_to_u64(in->values, pairs[2 * i], &index))
            return bad(in, "the number of an operator", pairs[2 * i]);
        if (index >= curves->count || set[index])
            return error_set_at(in->err, STATUS_BAD_INPUT, in->offset,
                                "operator %llu %s, among %zu in %s", (unsigned long long)index,
                                index < curves->count ? "twice" : "is out of place", curves->count,
                                curve_table[curve].key);
        set[index] = 1;
        if (!read_point(in, curve, pairs[2 * i + 1], &curves->points[index]))
            return false;
    }
    return true;
}

static bool read_curves(struct reader *in, value root)
{
    struct operator_curves *curves = in->curves;
    const value *pairs[CURVES];
    size_t counts[CURVES], point_capacity = 0, set_capacity = 0;
    uint64_t offsets[CURVES];
    uint8_t *set = NULL;
    value v;
    for (enum curve i = 0; i < CURVES; i++) {
        if (!find(in, root, curve_table[i].key, &v))
            return false;
        if (!value_mapping(in->values, v, &pairs[i], &counts[i])) {
            /* an empty defaultdict() is an instance to which nothing was added */
            if (!value_is_node(in->values, v, NODE_OBJECT))
                return bad(in, "a dict of operators", v);
            counts[i] = 0;
        }
        offsets[i] = in->offset;
        if (counts[i] != counts[0] || counts[i] > MOST_POINTS)
            return error_set_at(in->err, STATUS_BAD_INPUT, in->offset,
                                "%zu operators in %s, but %zu in %s", counts[i], curve_table[i].key,
                                counts[0], curve_table[0].key);
    }
    curves->count = counts[0];
    bool ok = vec_reserve(curves->points, point_capacity, curves->count, curves->budget, in->err) &&
              vec_reserve(set, set_capacity, curves->count, curves->budget, in->err);
    for (enum curve i = 0; ok && i < CURVES; i++) {
        in->offset = offsets[i];
        ok = read_curve(in, i, pairs[i], set);
    }
    vec_free(set, set_capacity, 1, curves->budget);
    return ok;
}

static bool read_markers(struct reader *in, value root)
{
    struct operator_curves *curves = in->curves;
    const value *pairs;
    size_t count, capacity = 0;
    uint64_t at;
    value v;
    if (!find(in, root, "markers", &v))
        return false;
    if (!value_mapping(in->values, v, &pairs, &count))
        return value_is_node(in->values, v, NODE_OBJECT) || bad(in, "a dict of markers", v);
    if (!vec_reserve(curves->markers, capacity, count, curves->budget, in->err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (value_tag(pairs[2 * i]) != TAG_STRING)
            return bad(in, "the name of a marker", pairs[2 * i]);
        if (is_bool(pairs[2 * i + 1]) || !value_to_u64(in->values, pairs[2 * i + 1], &at) ||
            at > curves->count)
            return bad(in, "a marker's place among the operators", pairs[2 * i + 1]);
        curves->markers[curves->marker_count++] =
            (struct operator_marker){value_payload(pairs[2 * i]), (uint32_t)at};
    }
    return true;
}

static bool read_all(struct reader *in, value root)
{
    value retries;
    if (!read_curves(in, root) || !read_markers(in, root) ||
        !find(in, root, "num_alloc_retries", &retries))
        return false;
    return (!is_bool(retries) &&
            value_to_u64(in->values, retries, &in->curves->num_alloc_retries)) ||
           bad(in, "the number of retries", retries);
}

static bool decode(struct operator_curves *curves, struct source *source, struct error *err)
{
    struct values values;
    enum encoding encoding;
    value root;
    if (!sniff_encoding(source, &encoding, err))
        return false;
    if (encoding != ENCODING_PICKLE)
        return error_set(err, STATUS_BAD_INPUT, "memory curves of MemoryTracker, but not a pickle");
    curves->protocol = pickle_protocol(source);
    if (!decode_pickle_value(source, curves->symbols, &values, &root, err))
        return false;
    struct reader in = {.values = &values, .curves = curves, .err = err};
    bool ok = read_all(&in, root);
    values_release(&values);
    return ok;
}

struct operator_curves *operator_curves_load_input(struct input *input, struct error *err)
{
    struct operator_curves *curves = calloc(1, sizeof(*curves));
    if (!curves) {
        input_discard(input);
        error_out_of_memory(err);
        return NULL;
    }
    curves->budget = input->budget;
    curves->symbols = symbols_create(curves->budget, err);
    bool ok = curves->symbols && decode(curves, &input->source, err);
    curves->compression = input->source.compression;
    input_close(input);
    curves->input_bytes = input->bytes;
    if (ok)
        return curves;
    operator_curves_destroy(curves);
    return NULL;
}

void operator_curves_destroy(struct operator_curves *curves)
{
    if (!curves)
        return;
    /* the budget is destroyed, too */
    vec_free(curves->points, 0, sizeof(*curves->points), curves->budget);
    vec_free(curves->markers, 0, sizeof(*curves->markers), curves->budget);
    symbols_destroy(curves->symbols);
    free(curves->budget);
    free(curves);
}
