#include "decode/run/operators.h"

#include <stdio.h>

#include "base/utf8.h"
#include "decode/log/lines.h"
#include "decode/run/operator_words.h"

#define COLUMNS_MOST 32
#define GAP          2  /* spaces between columns */
#define RULE_LEAST   20 /* dashes */
#define QUOTED       60 /* bytes of the input in an error */
#define OVERLOAD_KEY 512

enum place {
    PLACE_OUTSIDE,
    PLACE_RULE, /* the line below the titles is next */
    PLACE_BODY,
    PLACE_TOTALS, /* below the table */
};

struct reader {
    struct symbols *symbols;
    const struct operators_sink *sink;
    enum place place;
    uint64_t line;
    bool at_rule; /* the last line was one */
    size_t
        widths[COLUMNS_MOST]; /* width of each column in characters, from the last line of dashes */
    size_t width_count;
    struct operator_column columns[COLUMNS_MOST];
    size_t column_count;
    bool has_size,
        has_old_sizes; /* the present table has sizes, or sizes as old versions write them */
    struct operator_table_facts facts;
    struct operator_row row;
    struct error *err;
};

static bool bad(const struct reader *in, const char *expected, struct text found)
{
    if (found.size == 0)
        return error_set(in->err, STATUS_BAD_INPUT, "line %llu: expected %s, found nothing",
                         (unsigned long long)in->line, expected);
    found = text_first(found, QUOTED);
    return error_set(in->err, STATUS_BAD_INPUT, "line %llu: expected %s, found '%.*s'",
                     (unsigned long long)in->line, expected, (int)found.size, found.bytes);
}

/* Cuts `count` characters off the text, or all of it. An invalid byte counts as one. */
static struct text take_characters(struct text *text, size_t count)
{
    struct text taken = {text->bytes, 0};
    uint32_t code;
    for (; count > 0 && taken.size < text->size; count--) {
        size_t size = utf8_decode(text->bytes + taken.size, text->size - taken.size,
                                  UTF8_ALLOW_SURROGATES, &code);
        taken.size += size > 0 ? size : 1;
    }
    *text = (struct text){text->bytes + taken.size, text->size - taken.size};
    return taken;
}

static struct text take_word(struct text *text)
{
    size_t begin = 0, end;
    while (begin < text->size && text->bytes[begin] == ' ')
        begin++;
    for (end = begin; end < text->size && text->bytes[end] != ' ';)
        end++;
    struct text word = {text->bytes + begin, end - begin};
    *text = (struct text){text->bytes + end, text->size - end};
    return word;
}

/* Sets the widths from a rule such as "-------  ------------  ". */
static bool take_rule(struct reader *in, struct text line)
{
    size_t count = 0, dashes = 0;
    if (line.size == 0 || *line.bytes != '-')
        return false;
    for (size_t i = 0; i < line.size; i++)
        if (line.bytes[i] != '-' && line.bytes[i] != ' ')
            return false;
    for (struct text word; (word = take_word(&line)).size > 0; count++) {
        dashes += word.size;
        if (count < COLUMNS_MOST)
            in->widths[count] = word.size;
    }
    in->width_count = count;
    return count > 1 && dashes >= RULE_LEAST;
}

/* Two or more spaces end a title. */
static struct text take_title(struct text *text)
{
    while (text->size > 0 && *text->bytes == ' ')
        *text = (struct text){text->bytes + 1, text->size - 1};
    const char *gap = text_find(*text, "  ");
    struct text title = {text->bytes, gap ? (size_t)(gap - text->bytes) : text->size};
    *text = (struct text){text->bytes + title.size, text->size - title.size};
    return text_trim(title);
}

/* Keeps the first device: no version of torch prints two. */
static bool take_column(struct reader *in, struct operator_column *column)
{
    struct operator_table_facts *facts = &in->facts;
    if (column->device.size > 0) {
        string_id device;
        if (!symbols_string(in->symbols, column->device.bytes, column->device.size, &device,
                            in->err))
            return false;
        if (facts->device == STRING_EMPTY)
            facts->device = device;
        if (facts->device != device)
            column->figure = -1;
    }
    if (column->figure >= 0)
        facts->present |= 1u << column->figure;
    in->columns[in->column_count++] = *column;
    return true;
}

static bool begin_table(struct reader *in, struct text line)
{
    in->facts = (struct operator_table_facts){
        .line = in->line - 1, .device = STRING_EMPTY, .totals = {-1, -1}};
    in->column_count = 0;
    in->has_size = false;
    for (struct text title; (title = take_title(&line)).size > 0;) {
        struct operator_column column;
        if (!operator_title_parse(title, &column) || in->column_count == COLUMNS_MOST)
            return bad(in, "the title of a column of torch.profiler", title);
        if (!take_column(in, &column))
            return false;
    }
    if (in->column_count != in->width_count || in->columns[0].cell != CELL_NAME)
        return error_set(in->err, STATUS_BAD_INPUT,
                         "line %llu: expected %zu titles, as the line above has columns, found %zu",
                         (unsigned long long)in->line, in->width_count, in->column_count);
    in->place = PLACE_RULE;
    return true;
}

static bool take_size(struct reader *in, struct text *line, int64_t *bytes, int64_t *slack)
{
    struct text number = take_word(line), unit = take_word(line);
    struct text both = {number.bytes, (size_t)(unit.bytes + unit.size - number.bytes)};
    bool is_old;
    if (!operator_size_parse(number, unit, bytes, slack, &is_old))
        return bad(in, "a size such as '12.50 MB'", both);
    if (in->has_size && in->has_old_sizes != is_old)
        return bad(in,
                   in->has_old_sizes ? "a unit such as 'Mb', as above"
                                     : "a unit such as 'MB', as above",
                   both);
    in->has_size = true;
    in->has_old_sizes = is_old;
    return true;
}

static bool take_calls(const struct reader *in, struct text word, int64_t *calls)
{
    return text_number(word, calls) || bad(in, "a number of calls", word);
}

/* Appends the overload to the name: "aten::add.Tensor". */
static bool take_overload(struct reader *in, struct text overload)
{
    struct text name = symbols_text(in->symbols, in->row.name);
    char joined[OVERLOAD_KEY];
    if (overload.size == 0)
        return true;
    int size = snprintf(joined, sizeof(joined), "%.*s.%.*s", (int)text_first(name, 240).size,
                        name.bytes, (int)text_first(overload, 240).size, overload.bytes);
    return symbols_string(in->symbols, joined, (size_t)size, &in->row.name, in->err);
}

static bool take_cell(struct reader *in, size_t at, struct text *line)
{
    const struct operator_column *column = &in->columns[at];
    int64_t value = 0, slack = 0;
    struct text word;
    switch (column->cell) {
    case CELL_OVERLOAD:
        return take_overload(in, text_trim(take_characters(line, GAP + in->widths[at])));
    case CELL_PERCENT:
        word = take_word(line);
        return operator_share_parse(word) || bad(in, "a percentage", word);
    case CELL_TIME:
        word = take_word(line);
        if (!operator_time_parse(word, &value, &slack))
            return bad(in, "a time such as '1.250ms'", word);
        break;
    case CELL_BYTES:
        if (!take_size(in, line, &value, &slack))
            return false;
        break;
    case CELL_CALLS:
        return take_calls(in, take_word(line), &in->row.calls);
    case CELL_NODE:
        take_word(line);
        return true;
    case CELL_SHAPES:
        word = text_trim(take_characters(line, GAP + in->widths[at]));
        return symbols_string(in->symbols, word.bytes, word.size, &in->row.shapes, in->err);
    case CELL_NAME:
    case CELL_REST:
        return true;
    }
    if (column->figure >= 0) {
        in->row.values[column->figure] = value;
        in->row.slack[column->figure] = slack;
    }
    return true;
}

/* A line without a name continues the source of the row above. */
static bool take_row(struct reader *in, struct text line)
{
    struct text name = text_trim(take_characters(&line, in->widths[0]));
    if (name.size == 0)
        return true;
    in->row = (struct operator_row){.shapes = STRING_EMPTY};
    if (!symbols_string(in->symbols, name.bytes, name.size, &in->row.name, in->err))
        return false;
    for (size_t i = 1; i < in->column_count && in->columns[i].cell != CELL_REST; i++)
        if (!take_cell(in, i, &line))
            return false;
    return in->sink->row(in->sink->self, &in->row, in->err);
}

static bool end_table(struct reader *in)
{
    in->place = PLACE_OUTSIDE;
    in->at_rule = false;
    return in->sink->table(in->sink->self, &in->facts, in->err);
}

/* Reads a line such as "Self CUDA time total: 1.250ms". */
static bool take_total(struct reader *in, struct text line, bool *is_total)
{
    static const char before[] = "Self ", after[] = " time total: ";
    const char *at = text_starts(line, before) ? text_find(line, after) : NULL;
    *is_total = at != NULL;
    if (!at)
        return true;
    const char *first = line.bytes + strlen(before), *value = at + strlen(after);
    struct text device = {first, (size_t)(at - first)};
    struct text word = text_trim((struct text){value, (size_t)(line.bytes + line.size - value)});
    int which = !text_equals(device, "CPU");
    return operator_time_parse(word, &in->facts.totals[which], &in->facts.slack[which]) ||
           bad(in, "a time such as '1.250ms'", word);
}

static bool take_outer_line(struct reader *in, struct text line)
{
    struct text titles = line;
    if (in->at_rule && text_equals(take_title(&titles), "Name") && text_find(line, "Self CPU"))
        return begin_table(in, line);
    in->at_rule = take_rule(in, line);
    return true;
}

static bool take_line(void *self, const struct log_line *line, struct error *err)
{
    struct reader *in = self;
    (void)err; /* the reader has it too */
    bool is_total;
    in->line = line->number;
    if (line->is_continued && in->place != PLACE_OUTSIDE)
        return error_set(in->err, STATUS_LIMIT, "line %llu: longer than %zu KiB",
                         (unsigned long long)in->line, LOG_LINE_MOST / 1024);
    switch (in->place) {
    case PLACE_RULE:
        in->place = PLACE_BODY;
        return take_rule(in, line->text) ||
               bad(in, "a line of dashes below the titles", line->text);
    case PLACE_BODY:
        if (take_rule(in, line->text))
            in->place = PLACE_TOTALS;
        return in->place == PLACE_TOTALS || take_row(in, line->text);
    case PLACE_TOTALS:
        if (!take_total(in, line->text, &is_total))
            return false;
        return is_total || (end_table(in) && take_outer_line(in, line->text));
    case PLACE_OUTSIDE:
        break;
    }
    return take_outer_line(in, line->text);
}

static bool finish(struct reader *in)
{
    if (in->place == PLACE_TOTALS)
        return end_table(in);
    return in->place == PLACE_OUTSIDE ||
           error_set(in->err, STATUS_BAD_INPUT, "line %llu: the table that begins here is cut off",
                     (unsigned long long)in->facts.line);
}

bool decode_operators(struct source *source, struct symbols *symbols,
                      const struct operators_sink *sink, struct error *err)
{
    struct reader in = {.symbols = symbols, .sink = sink, .err = err};
    return log_lines_each(source, take_line, &in, err) && finish(&in);
}
