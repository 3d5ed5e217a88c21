/* Reads single values: numbers, strings, frames, stacks and pool ids. */
#include "decode/core/pytext.h"
#include "decode/rows/reader.h"

/* True for a value that was converted to a frame or a stack, by its tag or the kind of its node. */
static bool known(const struct row_reader *rows, value v, enum value_tag tag, enum node_kind kind,
                  uint32_t *id)
{
    if (value_tag(v) == tag)
        *id = value_payload(v);
    else if (value_is_node(rows->values, v, kind))
        *id = (uint32_t)value_node(rows->values, v)->as.natural;
    else
        return false;
    return true;
}

static void become(struct row_reader *rows, value v, enum node_kind kind, uint32_t id)
{
    struct node *node = value_node(rows->values, v);
    node->kind = (uint8_t)kind;
    node->as.natural = id;
}

bool rows_frame(struct row_reader *rows, value v, frame_id *id)
{
    struct symbols *symbols = rows->values->symbols;
    struct frame_draft frame = {0};
    const value *pairs;
    size_t count;
    if (known(rows, v, TAG_FRAME, NODE_FRAME, id))
        return true;
    if (value_tag(v) == TAG_STRING)
        return traceback_frame(&rows->lines, value_payload(v), id, rows->err);
    if (!value_mapping(rows->values, v, &pairs, &count))
        return rows_expected(rows, snapshot_rows[ROW_FRAME].expected_dict, v);
    for (size_t i = 0; i < count; i++) {
        unsigned field = rows_field(rows, ROW_FRAME, pairs[2 * i]);
        if (field != NO_FIELD &&
            !rows_store(rows, row_field(ROW_FRAME, field), &frame, pairs[2 * i + 1]))
            return false;
    }
    if (!frame_finish(&frame, symbols, id, rows->err))
        return false;
    become(rows, v, NODE_FRAME, *id);
    return true;
}

static bool read_stack(struct row_reader *rows, const struct field *field, value v, stack_id *id)
{
    const value *items;
    size_t count;
    if (known(rows, v, TAG_STACK, NODE_STACK, id))
        return true;
    bool is_line = value_tag(v) == TAG_STRING; /* a formatted line in place of the list */
    if (is_line) {
        items = &v;
        count = value_payload(v) == STRING_EMPTY ? 0 : 1;
    } else if (!value_sequence(rows->values, v, &items, &count)) {
        return rows_expected(rows, field->expected, v);
    }
    if (!vec_reserve(rows->frames, rows->frame_capacity, count, rows->budget, rows->err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!rows_frame(rows, items[i], &rows->frames[i]))
            return false;
    traceback_order(rows->values->symbols, rows->frames, count);
    if (!symbols_stack(rows->values->symbols, rows->frames, count, id, rows->err))
        return false;
    if (!is_line)
        become(rows, v, NODE_STACK, *id);
    return true;
}

static bool store_pool(struct row_reader *rows, const struct field *field, uint64_t pool[2],
                       value v)
{
    const value *items;
    size_t count;
    uint64_t id[2];
    int64_t single;
    if (value_to_i64(rows->values, v, &single)) {
        pool[0] = (uint64_t)single;
        pool[1] = 0;
        return true;
    }
    if (!value_sequence(rows->values, v, &items, &count) || count != 2 ||
        !value_to_u64(rows->values, items[0], &id[0]) ||
        !value_to_u64(rows->values, items[1], &id[1]))
        return rows_expected(rows, field->expected, v);
    pool[0] = id[0];
    pool[1] = id[1];
    return true;
}

static bool store_integer(struct row_reader *rows, const struct field *field, void *row, value v)
{
    uint64_t magnitude;
    int64_t integer = 0;
    bool negative = !value_to_u64(rows->values, v, &magnitude);
    if (negative && !value_to_i64(rows->values, v, &integer))
        return rows_expected(rows, field->expected, v);
    return field_set_integer(field, row, negative, negative ? 0 - (uint64_t)integer : magnitude,
                             rows->offset, rows->err);
}

static bool store_any_text(struct row_reader *rows, value v, string_id *id)
{
    struct buffer *text = &rows->text;
    if (value_tag(v) == TAG_STRING) {
        *id = value_payload(v);
        return true;
    }
    buffer_clear(text);
    rows_python_text(rows->values, v, PYTEXT_CLIP_LEVELS, PYTEXT_CLIP_BYTES, text);
    if (pytext_clip(text))
        buffer_puts(text, "...");
    return text->failed
               ? error_out_of_memory(rows->err)
               : symbols_string(rows->values->symbols, text->bytes, text->size, id, rows->err);
}

bool rows_store(struct row_reader *rows, const struct field *field, void *row, value v)
{
    void *at = field_at(field, row);
    uint64_t line;
    switch ((enum field_kind)field->kind) {
    case FIELD_LOOSE_STRING:
        *(string_id *)at = value_tag(v) == TAG_STRING ? value_payload(v) : STRING_EMPTY;
        return true;
    case FIELD_ANY_TEXT:
        return store_any_text(rows, v, at);
    case FIELD_LOOSE_BOOL:
        *(bool *)at = v == VALUE_TRUE;
        return true;
    case FIELD_LOOSE_LINE:
        *(uint32_t *)at =
            value_to_u64(rows->values, v, &line) && line <= UINT32_MAX ? (uint32_t)line : 0;
        return true;
    case FIELD_STACK:
        return read_stack(rows, field, v, at);
    case FIELD_POOL:
        return store_pool(rows, field, at, v);
    default:
        return store_integer(rows, field, row, v);
    }
}
