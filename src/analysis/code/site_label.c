#include "analysis/code/labels.h"
#include "analysis/code/paths.h"
#include "analysis/code/site.h"

#define NAME_COMPARED ((size_t)4096) /* bytes: many lines may share one long name */

bool site_frame(const struct site_table *table, stack_id stack, const struct site *site,
                frame_id *frame)
{
    uint32_t index = site_line(site);
    if (index == NO_FRAME)
        return false;
    *frame = site_original_frame(table,
                                 symbols_stack_at(site_table_symbols(table), stack).frames[index]);
    return true;
}

static int compare_names(const struct symbols *symbols, string_id a, string_id b)
{
    return text_compare(text_first(symbols_text(symbols, a), NAME_COMPARED),
                        text_first(symbols_text(symbols, b), NAME_COMPARED));
}

int site_frame_order(const struct site_table *table, frame_id a, frame_id b)
{
    const struct symbols *symbols = site_table_symbols(table);
    struct frame x = symbols_frame_at(symbols, a), y = symbols_frame_at(symbols, b);
    int order = compare_names(symbols, x.file, y.file);
    if (!order)
        order = (x.line > y.line) - (x.line < y.line);
    if (!order)
        order = compare_names(symbols, x.name, y.name);
    return order ? order : (a > b) - (a < b);
}

static void add_string(const struct site_table *table, string_id id, struct buffer *label)
{
    label_add_name(label, symbols_text(site_table_symbols(table), id));
}

static void label_frame(const struct site_table *table, frame_id id, size_t file_size,
                        struct buffer *label)
{
    struct frame frame = symbols_frame_at(site_table_symbols(table), id);
    struct text file = symbols_text(site_table_symbols(table), frame.file);
    if (file_size == 0 || file_size > file.size)
        file_size = path_base(file).size;
    label_add_file(label, file, file_size);
    if (frame.line > 0)
        buffer_printf(label, ":%u", (unsigned)frame.line);
    buffer_putc(label, ' ');
    add_string(table, frame.name, label);
}

void site_label_long(const struct site_table *table, stack_id stack, const struct site *site,
                     size_t file_size, bool brief, struct buffer *label)
{
    frame_id frame;
    if (site_frame(table, stack, site, &frame)) {
        label_frame(table, frame, file_size, label);
    } else if (site->has_backward) {
        string_id what = site->node != STRING_EMPTY ? site->node : site->op;
        if (what != STRING_EMPTY)
            add_string(table, what, label);
        else
            buffer_puts(label, "autograd engine");
        buffer_puts(label, brief           ? " (backward)"
                           : site->by_node ? " (backward pass)"
                                           : " (backward pass, no Python stack)");
    } else if (site->op != STRING_EMPTY) {
        add_string(table, site->op, label);
        buffer_puts(label, brief ? " (no Python)" : " (no Python stack)");
    } else {
        bool is_empty = symbols_stack_at(site_table_symbols(table), stack).count == 0;
        buffer_puts(label, is_empty ? "(no stack recorded)" : "(C++ frames only)");
    }
}

void site_label(const struct site_table *table, stack_id stack, const struct site *site,
                struct buffer *label)
{
    site_label_long(table, stack, site, 0, false, label);
}
