#include "decode/run/grid.h"

#include "decode/run/words.h"

#define QUOTED 60 /* bytes of the input in an error */

bool tables_bad(const struct tables_reader *in, const char *expected, struct text found)
{
    return error_set(in->err, STATUS_BAD_INPUT, "line %llu: expected %s, found '%.*s'",
                     (unsigned long long)in->line, expected,
                     (int)(found.size < QUOTED ? found.size : QUOTED), found.bytes);
}

/* True for a rule such as "=====  ===". */
bool tables_is_border(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.bytes[i] != '=' && text.bytes[i] != ' ')
            return false;
    return text.size > 1 && *text.bytes == '=';
}

void tables_begin_row(struct tables_reader *in)
{
    in->row = (struct run_table_row){.module = in->module, .device = STRING_EMPTY};
    for (size_t i = 0; i < RUN_KINDS; i++)
        in->row.bytes[i] = RUN_NO_BYTES;
}

bool tables_finish_row(struct tables_reader *in)
{
    if (in->row.bytes[RUN_TOTAL] == RUN_NO_BYTES)
        return error_set(in->err, STATUS_BAD_INPUT, "line %llu: no total for this device",
                         (unsigned long long)in->begin);
    in->row.state = (uint8_t)(in->in_module ? in->state : RUN_STATE_NONE);
    in->row.call = in->in_module ? in->call : 0;
    in->row.slack = in->unit > 1 ? in->unit / 200 + 1 : 0; /* two digits after the point */
    return in->sink->row(in->sink->self, &in->row, in->err);
}

bool tables_take_size(struct tables_reader *in, enum run_kind kind, struct text text)
{
    int64_t unit;
    if (!run_size_parse(text, &in->row.bytes[kind], &unit))
        return tables_bad(in, "a size such as '12.5 MiB'", text);
    if (in->unit != 0 && unit != in->unit)
        return tables_bad(in, "the unit of the sizes above", text);
    in->unit = unit;
    return true;
}

bool tables_take_device(struct tables_reader *in, struct text text)
{
    if (text.size == 0)
        return tables_bad(in, "a device", text);
    return symbols_string(in->symbols, text.bytes, text.size, &in->row.device, in->err);
}

bool tables_skip(struct text *text, const char *prefix)
{
    if (!text_starts(*text, prefix))
        return false;
    text->bytes += strlen(prefix);
    text->size -= strlen(prefix);
    return true;
}

/* "# 1" after a state, or alone. */
bool tables_parse_call(struct text text, uint32_t *call)
{
    int64_t number;
    if (!tables_skip(&text, "# ") || !text_number(text, &number) || number < 1 ||
        number >= UINT32_MAX)
        return false;
    *call = (uint32_t)number;
    return true;
}

/* "Peak Forward # 1"; empty or ".." repeats the state of the row above. */
static bool take_state(struct tables_reader *in, struct text text)
{
    if (text.size == 0 || text_equals(text, ".."))
        return in->state != RUN_STATE_NONE ||
               tables_bad(in, "a state and the number of a call", text);
    size_t at = text.size;
    while (at > 0 && text.bytes[at - 1] != '#')
        at--;
    if (at < 2 ||
        !tables_parse_call((struct text){text.bytes + at - 1, text.size - at + 1}, &in->call) ||
        !run_state_parse(text_trim((struct text){text.bytes, at - 1}), &in->state))
        return tables_bad(in, "a state and the number of a call", text);
    return true;
}

static struct text cell(const struct tables_reader *in, struct text line, size_t column)
{
    size_t begin = in->starts[column], end = line.size;
    if (column + 1 < in->column_count && in->starts[column + 1] < end)
        end = in->starts[column + 1];
    if (begin > end)
        begin = end;
    return text_trim((struct text){line.bytes + begin, end - begin});
}

/* The first line of a table shows where its columns are. */
bool tables_begin(struct tables_reader *in, struct text line)
{
    in->column_count = 0;
    for (size_t i = 0; i < line.size; i++) {
        if (line.bytes[i] != '=' || (i > 0 && line.bytes[i - 1] == '='))
            continue;
        if (in->column_count == COLUMNS_MOST)
            return tables_bad(in, "a table of fewer columns", line);
        in->starts[in->column_count++] = i;
    }
    in->place = PLACE_HEAD;
    in->begin = in->line;
    in->unit = 0;
    in->state = RUN_STATE_NONE;
    return true;
}

static bool take_titles(struct tables_reader *in, struct text line)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < in->column_count; i++) {
        struct text title = cell(in, line, i);
        enum run_kind kind;
        if (text_equals(title, "State & Call"))
            in->columns[i] = COLUMN_STATE;
        else if (text_equals(title, "Device"))
            in->columns[i] = COLUMN_DEVICE;
        else if (run_kind_parse(title, &kind))
            in->columns[i] = kind;
        else
            return tables_bad(in, "the name of a column", title);
        if (seen >> in->columns[i] & 1)
            return tables_bad(in, "each column once", title);
        seen |= UINT32_C(1) << in->columns[i];
    }
    if (!(seen >> RUN_TOTAL & 1) || !(seen >> COLUMN_DEVICE & 1))
        return tables_bad(in, "columns Device and Total", line);
    if ((seen >> COLUMN_STATE & 1) != (in->in_module ? 1u : 0u))
        return tables_bad(in, in->in_module ? "a column State & Call" : "a table without states",
                          line);
    in->place = PLACE_RULE;
    return true;
}

static bool take_cells(struct tables_reader *in, struct text line)
{
    tables_begin_row(in);
    for (size_t i = 0; i < in->column_count; i++) {
        struct text text = cell(in, line, i);
        unsigned column = in->columns[i];
        if (!(column == COLUMN_STATE    ? take_state(in, text)
              : column == COLUMN_DEVICE ? tables_take_device(in, text)
                                        : tables_take_size(in, (enum run_kind)column, text)))
            return false;
    }
    return tables_finish_row(in);
}

bool tables_take_line(struct tables_reader *in, struct text line)
{
    switch (in->place) {
    case PLACE_HEAD:
        return tables_is_border(line) ? tables_bad(in, "the titles of the columns", line)
                                      : take_titles(in, line);
    case PLACE_RULE:
        if (!tables_is_border(line))
            return tables_bad(in, "a line of =", line);
        in->place = PLACE_BODY;
        return true;
    default:
        if (!tables_is_border(line))
            return take_cells(in, line);
        in->place = PLACE_OUTSIDE;
        return true;
    }
}
