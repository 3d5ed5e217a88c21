/* Formats inert values as Python's str() prints them. */
#include <inttypes.h>

#include "decode/core/pytext.h"
#include "decode/rows/reader.h"

struct printer {
    const struct values *values;
    struct buffer *out;
    size_t limit;
};

static void add_value(const struct printer *printer, value v, unsigned levels);

/* Adds the items of a container or, with `per` 2, the keys and values of a dict, between
 * brackets. */
static void add_items(const struct printer *printer, const value *items, size_t count, size_t per,
                      const char *brackets, unsigned levels)
{
    struct buffer *out = printer->out;
    buffer_putc(out, brackets[0]);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_puts(out, ", ");
        /* Every step adds to the text, so shared containers do not multiply the work. A buffer
         * that failed does not grow. */
        if (levels == 0 || out->size > printer->limit || out->failed) {
            buffer_puts(out, "...");
            break;
        }
        if (per == 2) {
            add_value(printer, items[2 * i], levels - 1);
            buffer_puts(out, ": ");
        }
        add_value(printer, items[per * i + per - 1], levels - 1);
    }
    buffer_putc(out, brackets[1]);
}

static size_t at_most(const struct printer *printer, size_t size)
{
    return size < printer->limit ? size : printer->limit;
}

/* "{1, 2}", "frozenset({1})", "set()" */
static void add_set(const struct printer *printer, const struct node *node, unsigned levels)
{
    bool is_frozen = node->kind == NODE_FROZENSET;
    bool is_call = is_frozen || node->count == 0;
    buffer_puts(printer->out, is_frozen ? "frozenset(" : is_call ? "set(" : "");
    if (node->count > 0)
        add_items(printer, node->as.items, node->count, 1, "{}", levels);
    buffer_puts(printer->out, is_call ? ")" : "");
}

static bool is_bytes(const struct values *values, value v)
{
    return value_is_node(values, v, NODE_BYTES) || value_is_node(values, v, NODE_BYTEARRAY);
}

static void add_bytes(const struct printer *printer, const struct node *node)
{
    bool is_array = node->kind == NODE_BYTEARRAY;
    buffer_puts(printer->out, is_array ? "bytearray(" : "");
    pytext_bytes(printer->out, node->as.bytes, at_most(printer, node->count));
    buffer_puts(printer->out, is_array ? ")" : "");
}

static void add_scalar(const struct printer *printer, value v)
{
    const struct values *values = printer->values;
    struct buffer *out = printer->out;
    uint64_t natural;
    int64_t integer;
    if (v == VALUE_TRUE || v == VALUE_FALSE || v == VALUE_NONE) {
        buffer_puts(out, v == VALUE_TRUE ? "True" : v == VALUE_FALSE ? "False" : "None");
    } else if (value_to_u64(values, v, &natural)) {
        buffer_printf(out, "%" PRIu64, natural);
    } else if (value_to_i64(values, v, &integer)) {
        buffer_printf(out, "%" PRId64, integer);
    } else if (value_tag(v) == TAG_STRING) {
        struct text text = symbols_text(values->symbols, value_payload(v));
        pytext_quoted(out, text.bytes, at_most(printer, text.size));
    } else if (value_is_node(values, v, NODE_FLOAT)) {
        pytext_real(out, value_node(values, v)->as.real);
    } else if (is_bytes(values, v)) {
        add_bytes(printer, value_node(values, v));
    } else if (!value_is_node(values, v, NODE_BIGINT) ||
               !pytext_int(out, value_node(values, v)->as.bytes, value_node(values, v)->count)) {
        buffer_printf(out, "<%s>", value_kind_name(values, v));
    }
}

static void add_value(const struct printer *printer, value v, unsigned levels)
{
    const value *items;
    size_t count;
    if (value_sequence(printer->values, v, &items, &count))
        add_items(printer, items, count, 1, "[]", levels);
    else if (value_mapping(printer->values, v, &items, &count))
        add_items(printer, items, count, 2, "{}", levels);
    else if (value_is_node(printer->values, v, NODE_SET) ||
             value_is_node(printer->values, v, NODE_FROZENSET))
        add_set(printer, value_node(printer->values, v), levels);
    else
        add_scalar(printer, v);
}

void rows_python_text(const struct values *values, value v, unsigned levels, size_t limit,
                      struct buffer *out)
{
    const struct printer printer = {values, out, limit};
    if (value_tag(v) == TAG_STRING) {
        struct text text = symbols_text(values->symbols, value_payload(v));
        buffer_add(out, text.bytes, text.size);
    } else {
        add_value(&printer, v, levels);
    }
}
