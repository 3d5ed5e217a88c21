#include <inttypes.h>

#include "render/core/escape.h"
#include "render/core/input_line.h"
#include "render/core/table.h"
#include "render/run/operators.h"

#define INDENT     2
#define TITLE_SIZE 64

/* The columns, and in which order they are removed from a narrow page. */
static const struct {
    enum operator_figure figure;
    unsigned optional;
} shown[] = {
    {OPERATOR_SELF_DEVICE_BYTES, 0}, {OPERATOR_DEVICE_BYTES, 3},     {OPERATOR_SELF_CPU_BYTES, 4},
    {OPERATOR_CPU_BYTES, 5},         {OPERATOR_SELF_DEVICE_TIME, 1}, {OPERATOR_SELF_CPU_TIME, 2},
};
#define SHOWN (sizeof(shown) / sizeof(shown[0]))

struct titles {
    char text[SHOWN][TITLE_SIZE];
    struct table_column columns[SHOWN + 3];
    size_t count;
};

static bool is_of_device(enum operator_figure figure)
{
    return figure == OPERATOR_SELF_DEVICE_TIME || figure == OPERATOR_DEVICE_TIME ||
           figure == OPERATOR_SELF_DEVICE_BYTES || figure == OPERATOR_DEVICE_BYTES;
}

static bool is_self(enum operator_figure figure)
{
    return figure % 2 == 0;
}

/* "self CUDA memory" */
static void make_title(char out[TITLE_SIZE], enum operator_figure figure, struct text device)
{
    snprintf(out, TITLE_SIZE, "%s%.*s %s", is_self(figure) ? "self " : "",
             is_of_device(figure) ? (int)device.size : 3,
             is_of_device(figure) ? device.bytes : "CPU",
             figure >= OPERATOR_BYTES ? "memory" : "time");
}

static void make_columns(struct titles *titles, const struct operator_tables *tables,
                         const struct operator_table *table)
{
    struct text device = symbols_text(tables->symbols, table->facts.device);
    titles->count = 0;
    titles->columns[titles->count++] = (struct table_column){
        .title = "operator", .kind = COLUMN_TEXT, .cut = CUT_MIDDLE, .least = 20};
    for (size_t i = 0; i < SHOWN; i++) {
        if (!operator_table_has(table, shown[i].figure))
            continue;
        make_title(titles->text[i], shown[i].figure, device);
        titles->columns[titles->count++] = (struct table_column){
            .title = titles->text[i], .kind = COLUMN_NUMBER, .optional = shown[i].optional};
    }
    titles->columns[titles->count++] =
        (struct table_column){.title = "calls", .kind = COLUMN_NUMBER};
    titles->columns[titles->count++] = (struct table_column){
        .title = "shapes", .kind = COLUMN_TEXT, .cut = CUT_MIDDLE, .least = 16};
}

static const char *time_text(char out[UNITS_TEXT_SIZE], int64_t nanoseconds)
{
    snprintf(out, UNITS_TEXT_SIZE, "%.3f ms", (double)nanoseconds / 1e6);
    return out;
}

static void add_row(struct table *text, const struct page *page,
                    const struct operator_tables *tables, const struct operator_table *table,
                    const struct operator_row *row)
{
    char number[UNITS_TEXT_SIZE];
    struct text name = symbols_text(tables->symbols, row->name);
    struct text shapes = symbols_text(tables->symbols, row->shapes);
    table_add_input(text, name.bytes, name.size);
    for (size_t i = 0; i < SHOWN; i++) {
        if (!operator_table_has(table, shown[i].figure))
            continue;
        int64_t value = row->values[shown[i].figure];
        table_add(text, shown[i].figure >= OPERATOR_BYTES ? page_bytes(page, number, value)
                                                          : time_text(number, value));
    }
    table_add(text, units_count(number, (uint64_t)row->calls));
    table_add_input(text, shapes.bytes, shapes.size);
}

static bool heading(const struct page *page, const struct operator_table *table, struct text path)
{
    struct buffer place = BUFFER_INIT;
    if (path.size > 0) {
        buffer_printf(&place, "%*sin ", INDENT, "");
        escape_text(&place, path.bytes, path.size);
        buffer_putc(&place, '\n');
    }
    bool ok = !place.failed;
    if (ok) {
        fprintf(page->out, "\n%sOperators, as torch.profiler summed them up",
                page_style(page, STYLE_TITLE));
        if (table->facts.line > 1)
            fprintf(page->out, ", table at line %" PRIu64, table->facts.line);
        fprintf(page->out, "%s\n%.*s", page_plain(page), (int)place.size,
                place.size > 0 ? place.bytes : "");
    }
    buffer_release(&place);
    return ok;
}

static void say(const struct page *page, const char *words)
{
    fprintf(page->out, "%*s", INDENT, "");
    page_paragraph(page, INDENT, INDENT, words);
}

static void print_notes(const struct page *page, const struct operator_ranking *ranking)
{
    char words[256], number[UNITS_TEXT_SIZE];
    bool has_memory = ranking->by >= OPERATOR_BYTES;
    if (ranking->left_out_ns > 0) {
        snprintf(words, sizeof(words),
                 "The table lists only some of the operators. Those that it leaves out took %s of "
                 "CPU time; table(row_limit=-1) lists all.",
                 time_text(number, ranking->left_out_ns));
        say(page, words);
    }
    say(page, has_memory
                  ? "Memory is what an operator allocated less what it freed, summed over its "
                    "calls. \"self\" leaves out the operators that it calls."
                  : "The table has no memory: profile(profile_memory=True) records it.");
    if (has_memory && ranking->by == OPERATOR_SELF_CPU_BYTES)
        say(page, "The memory is the CPU's: that of a GPU is in the table only if the profiler had "
                  "ProfilerActivity.CUDA among its activities.");
}

static bool print_ranking(const struct page *page, const struct operator_tables *tables,
                          const struct operator_ranking *ranking, size_t top)
{
    size_t count = ranking->table->count, rows = top > 0 && top < count ? top : count;
    struct titles titles;
    struct table text;
    char number[UNITS_TEXT_SIZE];
    make_columns(&titles, tables, ranking->table);
    table_init(&text, titles.columns, titles.count);
    for (size_t i = 0; i < rows; i++)
        add_row(&text, page, tables, ranking->table, ranking->rows[i]);
    table_print(&text, page, INDENT);
    bool ok = !table_failed(&text);
    table_release(&text);
    if (rows < count)
        fprintf(page->out, "%*s... and %s more; --top 0 lists all\n", INDENT, "",
                units_count(number, count - rows));
    print_notes(page, ranking);
    return ok;
}

bool operators_print(const struct page *page, const struct operator_tables *tables,
                     const struct operator_table *table, struct text path, size_t top)
{
    struct operator_ranking ranking;
    struct error ignored;
    if (!heading(page, table, path) || !operators_rank(&ranking, tables, table, &ignored))
        return false;
    bool ok = print_ranking(page, tables, &ranking, top);
    operator_ranking_release(&ranking);
    return ok;
}

bool operators_text(const struct page *page, const struct operators_analysis *analysis)
{
    const struct operator_file *file = analysis->file;
    const struct input_line input = {.path = analysis->path,
                                     .bytes = file->input_bytes,
                                     .encoding = ENCODING_TEXT,
                                     .compression = file->compression};
    bool ok = input_line(page, &input);
    for (size_t i = 0; ok && i < file->tables.count; i++)
        ok = operators_print(page, &file->tables, &file->tables.tables[i], (struct text){"", 0},
                             analysis->top);
    if (!ok)
        return false;
    fputc('\n', page->out);
    page_paragraph(page, 0, 0,
                   "The table says neither when memory was in use nor how high its peak was. "
                   "export_chrome_trace() of the same profiler writes a trace that shows both.");
    return true;
}
