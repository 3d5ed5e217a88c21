#include "decode/run/tables.h"

#include "decode/log/lines.h"
#include "decode/run/words.h"

#define COLUMNS_MOST  (RUN_KINDS + 2)
#define COLUMN_STATE  (RUN_KINDS)
#define COLUMN_DEVICE (RUN_KINDS + 1)
#define RULE_LEAST    20 /* dashes */
#define QUOTED        60 /* bytes of the input in an error */

enum place {
    PLACE_OUTSIDE,
    PLACE_HEAD, /* the titles of a table are next */
    PLACE_RULE, /* the line below the titles is next */
    PLACE_BODY,
    PLACE_LIST, /* below "Device: cuda:0" */
};

struct reader {
    struct symbols *symbols;
    const struct run_tables_sink *sink;
    enum place place;
    uint64_t line, begin; /* of the current line, and of the table or list */
    bool has_heading;     /* MemProfiler's own: then every line must be known */
    bool at_rule;         /* the last line was a rule of dashes */
    string_id module;
    bool in_module;
    enum run_state state;
    uint32_t call;
    size_t starts[COLUMNS_MOST], column_count; /* where the columns begin */
    unsigned columns[COLUMNS_MOST];            /* an enum run_kind, COLUMN_STATE or COLUMN_DEVICE */
    int64_t unit;                              /* of the table; 0: no size was read yet */
    struct run_table_row row;
    struct error *err;
};

static bool bad(const struct reader *in, const char *expected, struct text found)
{
    return error_set(in->err, STATUS_BAD_INPUT, "line %llu: expected %s, found '%.*s'",
                     (unsigned long long)in->line, expected,
                     (int)(found.size < QUOTED ? found.size : QUOTED), found.bytes);
}

static bool skip(struct text *text, const char *prefix)
{
    if (!text_starts(*text, prefix))
        return false;
    text->bytes += strlen(prefix);
    text->size -= strlen(prefix);
    return true;
}

static bool is_only(struct text text, char c, size_t least)
{
    size_t count = 0;
    while (count < text.size && text.bytes[count] == c)
        count++;
    return count == text.size && count >= least;
}

/* "=====  ===" */
static bool is_border(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.bytes[i] != '=' && text.bytes[i] != ' ')
            return false;
    return text.size > 1 && *text.bytes == '=';
}

static void begin_row(struct reader *in)
{
    in->row = (struct run_table_row){.module = in->module, .device = STRING_EMPTY};
    for (size_t i = 0; i < RUN_KINDS; i++)
        in->row.bytes[i] = RUN_NO_BYTES;
}

static bool finish_row(struct reader *in)
{
    if (in->row.bytes[RUN_TOTAL] == RUN_NO_BYTES)
        return error_set(in->err, STATUS_BAD_INPUT, "line %llu: no total for this device",
                         (unsigned long long)in->begin);
    in->row.state = (uint8_t)(in->in_module ? in->state : RUN_STATE_NONE);
    in->row.call = in->in_module ? in->call : 0;
    in->row.slack = in->unit > 1 ? in->unit / 200 + 1 : 0; /* two digits behind the point */
    return in->sink->row(in->sink->self, &in->row, in->err);
}

static bool take_size(struct reader *in, enum run_kind kind, struct text text)
{
    int64_t unit;
    if (!run_size_parse(text, &in->row.bytes[kind], &unit))
        return bad(in, "a size such as '12.5 MiB'", text);
    if (in->unit != 0 && unit != in->unit)
        return bad(in, "the unit of the sizes above", text);
    in->unit = unit;
    return true;
}

static bool take_device(struct reader *in, struct text text)
{
    if (text.size == 0)
        return bad(in, "a device", text);
    return symbols_string(in->symbols, text.bytes, text.size, &in->row.device, in->err);
}

/* "# 1" after a state, or alone. */
static bool parse_call(struct text text, uint32_t *call)
{
    int64_t number;
    if (!skip(&text, "# ") || !text_number(text, &number) || number < 1 || number >= UINT32_MAX)
        return false;
    *call = (uint32_t)number;
    return true;
}

/* "Peak Forward # 1"; empty or ".." repeats the state of the row above. */
static bool take_state(struct reader *in, struct text text)
{
    if (text.size == 0 || text_equals(text, ".."))
        return in->state != RUN_STATE_NONE || bad(in, "a state and the number of a call", text);
    size_t at = text.size;
    while (at > 0 && text.bytes[at - 1] != '#')
        at--;
    if (at < 2 || !parse_call((struct text){text.bytes + at - 1, text.size - at + 1}, &in->call) ||
        !run_state_parse(text_trim((struct text){text.bytes, at - 1}), &in->state))
        return bad(in, "a state and the number of a call", text);
    return true;
}

static struct text cell(const struct reader *in, struct text line, size_t column)
{
    size_t begin = in->starts[column], end = line.size;
    if (column + 1 < in->column_count && in->starts[column + 1] < end)
        end = in->starts[column + 1];
    if (begin > end)
        begin = end;
    return text_trim((struct text){line.bytes + begin, end - begin});
}

/* The first line of a table shows where its columns are. */
static bool begin_table(struct reader *in, struct text line)
{
    in->column_count = 0;
    for (size_t i = 0; i < line.size; i++) {
        if (line.bytes[i] != '=' || (i > 0 && line.bytes[i - 1] == '='))
            continue;
        if (in->column_count == COLUMNS_MOST)
            return bad(in, "a table of fewer columns", line);
        in->starts[in->column_count++] = i;
    }
    in->place = PLACE_HEAD;
    in->begin = in->line;
    in->unit = 0;
    in->state = RUN_STATE_NONE;
    return true;
}

static bool take_titles(struct reader *in, struct text line)
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
            return bad(in, "the name of a column", title);
        if (seen >> in->columns[i] & 1)
            return bad(in, "each column once", title);
        seen |= UINT32_C(1) << in->columns[i];
    }
    if (!(seen >> RUN_TOTAL & 1) || !(seen >> COLUMN_DEVICE & 1))
        return bad(in, "columns Device and Total", line);
    if ((seen >> COLUMN_STATE & 1) != (in->in_module ? 1u : 0u))
        return bad(in, in->in_module ? "a column State & Call" : "a table without states", line);
    in->place = PLACE_RULE;
    return true;
}

static bool take_cells(struct reader *in, struct text line)
{
    begin_row(in);
    for (size_t i = 0; i < in->column_count; i++) {
        struct text text = cell(in, line, i);
        unsigned column = in->columns[i];
        if (!(column == COLUMN_STATE    ? take_state(in, text)
              : column == COLUMN_DEVICE ? take_device(in, text)
                                        : take_size(in, (enum run_kind)column, text)))
            return false;
    }
    return finish_row(in);
}

static bool take_table_line(struct reader *in, struct text line)
{
    switch (in->place) {
    case PLACE_HEAD:
        return is_border(line) ? bad(in, "the titles of the columns", line) : take_titles(in, line);
    case PLACE_RULE:
        if (!is_border(line))
            return bad(in, "a line of =", line);
        in->place = PLACE_BODY;
        return true;
    default:
        if (!is_border(line))
            return take_cells(in, line);
        in->place = PLACE_OUTSIDE;
        return true;
    }
}

/* "\tActivation: 64.5 MiB"; the total is the last of a device. */
static bool take_list_line(struct reader *in, struct text line)
{
    struct text text = text_trim(line);
    const char *colon = memchr(text.bytes, ':', text.size);
    enum run_kind kind;
    if (line.size == 0 || *line.bytes != '\t' || !colon)
        return bad(in, "a kind of memory and its size", line);
    struct text name = {text.bytes, (size_t)(colon - text.bytes)};
    struct text size = {colon + 1, text.size - name.size - 1};
    if (!run_kind_parse(name, &kind))
        return bad(in, "a kind of memory", name);
    if (in->row.bytes[kind] != RUN_NO_BYTES)
        return bad(in, "each kind of memory once", name);
    if (!take_size(in, kind, text_trim(size)))
        return false;
    if (kind != RUN_TOTAL)
        return true;
    in->place = PLACE_OUTSIDE;
    return finish_row(in);
}

/* "Iteration 2 training_step Peak FSDP memory stats:". A line of another form is left alone. */
static bool take_heading(struct reader *in, struct text line, bool *is_heading)
{
    struct text text = line;
    *is_heading = false;
    if (!skip(&text, "Iteration "))
        return true;
    static const char peak[] = " Peak FSDP memory stats:",
                      modules[] = " Modulewise FSDP memory stats:";
    bool of_modules = text_ends(text, modules);
    if (!of_modules && !text_ends(text, peak))
        return true;
    text.size -= strlen(of_modules ? modules : peak);
    const char *space = memchr(text.bytes, ' ', text.size);
    size_t digits = space ? (size_t)(space - text.bytes) : 0;
    int64_t iteration;
    string_id function;
    if (!space || !text_number((struct text){text.bytes, digits}, &iteration) ||
        iteration >= UINT32_MAX)
        return bad(in, "the number of an iteration and a function", line);
    *is_heading = in->has_heading = true;
    in->module = STRING_EMPTY;
    in->in_module = false;
    return symbols_string(in->symbols, space + 1, text.size - digits - 1, &function, in->err) &&
           in->sink->heading(in->sink->self, function, (uint32_t)iteration, in->err);
}

static bool begin_module(struct reader *in, struct text name)
{
    in->in_module = true;
    in->state = RUN_STATE_NONE;
    in->call = 0;
    name = text_trim(name);
    if (name.size == 0)
        return bad(in, "the name of a module", name);
    return symbols_string(in->symbols, name.bytes, name.size, &in->module, in->err);
}

static bool begin_list(struct reader *in, struct text device)
{
    if (in->in_module && in->call == 0)
        return bad(in, "a state and the number of a call", device);
    in->place = PLACE_LIST;
    in->begin = in->line;
    in->unit = 0;
    begin_row(in);
    return take_device(in, text_trim(device));
}

static bool is_call(struct reader *in, struct text line)
{
    if (line.size < 2 || line.bytes[line.size - 1] != ':' || in->state == RUN_STATE_NONE)
        return false;
    return parse_call((struct text){line.bytes, line.size - 1}, &in->call);
}

/* A line outside of tables and lists. */
static bool take_outer_line(struct reader *in, struct text raw)
{
    struct text line = text_trim(raw), rest = line;
    enum run_state state;
    bool is_heading;
    if (line.size == 0 || text_equals(line, "No memory tracked."))
        return true;
    if (is_only(line, '-', RULE_LEAST)) {
        in->at_rule = true;
        return true;
    }
    in->at_rule = false;
    if (is_border(line))
        return begin_table(in, line);
    if (!take_heading(in, line, &is_heading))
        return false;
    if (is_heading)
        return true;
    if (skip(&rest, "Module:"))
        return begin_module(in, rest);
    if (skip(&rest, "Device:"))
        return begin_list(in, rest);
    if (is_call(in, line))
        return true;
    if (in->in_module && run_state_parse(line, &state)) {
        in->state = state;
        in->call = 0;
        return true;
    }
    return !in->has_heading || bad(in, "a table of FSDP memory", line);
}

static bool take_line(void *self, const struct log_line *line, struct error *err)
{
    struct reader *in = self;
    (void)err; /* of the reader too */
    in->line = line->number;
    if (line->is_continued)
        return error_set(in->err, STATUS_LIMIT, "line %llu: longer than %zu KiB",
                         (unsigned long long)in->line, LOG_LINE_MOST / 1024);
    if (in->place == PLACE_OUTSIDE)
        return take_outer_line(in, line->text);
    if (in->place == PLACE_LIST)
        return take_list_line(in, line->text);
    return take_table_line(in, line->text);
}

static bool finish(const struct reader *in)
{
    if (in->place != PLACE_OUTSIDE)
        return error_set(in->err, STATUS_BAD_INPUT,
                         "line %llu: the table that begins here is cut off",
                         (unsigned long long)in->begin);
    return !in->has_heading || in->at_rule ||
           error_set(in->err, STATUS_BAD_INPUT,
                     "line %llu: the log is cut off: expected a line of dashes at its end",
                     (unsigned long long)in->line);
}

bool decode_run_tables(struct source *source, struct symbols *symbols,
                       const struct run_tables_sink *sink, struct error *err)
{
    struct reader in = {.symbols = symbols, .sink = sink, .err = err};
    return log_lines_each(source, take_line, &in, err) && finish(&in);
}
