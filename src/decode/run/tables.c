#include "decode/run/tables.h"

#include "decode/log/lines.h"
#include "decode/run/grid.h"
#include "decode/run/words.h"

#define RULE_LEAST 20 /* dashes */

static bool is_only(struct text text, char c, size_t least)
{
    size_t count = 0;
    while (count < text.size && text.bytes[count] == c)
        count++;
    return count == text.size && count >= least;
}

/* "\tActivation: 64.5 MiB"; the total is the last of a device. */
static bool take_list_line(struct tables_reader *in, struct text line)
{
    struct text text = text_trim(line);
    const char *colon = memchr(text.bytes, ':', text.size);
    enum run_kind kind;
    if (line.size == 0 || *line.bytes != '\t' || !colon)
        return tables_bad(in, "a kind of memory and its size", line);
    struct text name = {text.bytes, (size_t)(colon - text.bytes)};
    struct text size = {colon + 1, text.size - name.size - 1};
    if (!run_kind_parse(name, &kind))
        return tables_bad(in, "a kind of memory", name);
    if (in->row.bytes[kind] != RUN_NO_BYTES)
        return tables_bad(in, "each kind of memory once", name);
    if (!tables_take_size(in, kind, text_trim(size)))
        return false;
    if (kind != RUN_TOTAL)
        return true;
    in->place = PLACE_OUTSIDE;
    return tables_finish_row(in);
}

/* "Iteration 2 training_step Peak FSDP memory stats:". A line of another form is left alone. */
static bool take_heading(struct tables_reader *in, struct text line, bool *is_heading)
{
    struct text text = line;
    *is_heading = false;
    if (!tables_skip(&text, "Iteration "))
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
        return tables_bad(in, "the number of an iteration and a function", line);
    *is_heading = in->has_heading = true;
    in->module = STRING_EMPTY;
    in->in_module = false;
    return symbols_string(in->symbols, space + 1, text.size - digits - 1, &function, in->err) &&
           in->sink->heading(in->sink->self, function, (uint32_t)iteration, in->err);
}

static bool begin_module(struct tables_reader *in, struct text name)
{
    in->in_module = true;
    in->state = RUN_STATE_NONE;
    in->call = 0;
    name = text_trim(name);
    if (name.size == 0)
        return tables_bad(in, "the name of a module", name);
    return symbols_string(in->symbols, name.bytes, name.size, &in->module, in->err);
}

static bool begin_list(struct tables_reader *in, struct text device)
{
    if (in->in_module && in->call == 0)
        return tables_bad(in, "a state and the number of a call", device);
    in->place = PLACE_LIST;
    in->begin = in->line;
    in->unit = 0;
    tables_begin_row(in);
    return tables_take_device(in, text_trim(device));
}

static bool is_call(struct tables_reader *in, struct text line)
{
    if (line.size < 2 || line.bytes[line.size - 1] != ':' || in->state == RUN_STATE_NONE)
        return false;
    return tables_parse_call((struct text){line.bytes, line.size - 1}, &in->call);
}

/* A line outside of tables and lists. */
static bool take_outer_line(struct tables_reader *in, struct text raw)
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
    if (tables_is_border(line))
        return tables_begin(in, line);
    if (!take_heading(in, line, &is_heading))
        return false;
    if (is_heading)
        return true;
    if (tables_skip(&rest, "Module:"))
        return begin_module(in, rest);
    if (tables_skip(&rest, "Device:"))
        return begin_list(in, rest);
    if (is_call(in, line))
        return true;
    if (in->in_module && run_state_parse(line, &state)) {
        in->state = state;
        in->call = 0;
        return true;
    }
    return !in->has_heading || tables_bad(in, "a table of FSDP memory", line);
}

static bool take_line(void *self, const struct log_line *line, struct error *err)
{
    struct tables_reader *in = self;
    (void)err; /* the reader has it too */
    in->line = line->number;
    if (line->is_continued)
        return error_set(in->err, STATUS_LIMIT, "line %llu: longer than %zu KiB",
                         (unsigned long long)in->line, LOG_LINE_MOST / 1024);
    if (in->place == PLACE_OUTSIDE)
        return take_outer_line(in, line->text);
    if (in->place == PLACE_LIST)
        return take_list_line(in, line->text);
    return tables_take_line(in, line->text);
}

static bool finish(const struct tables_reader *in)
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
    struct tables_reader in = {.symbols = symbols, .sink = sink, .err = err};
    return log_lines_each(source, take_line, &in, err) && finish(&in);
}
