/* The words of the picture of ranks, and its form made of characters. */
#include <string.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/core/fit.h"
#include "render/plot/ranks_internal.h"
#include "render/ranks/rows.h"

#define NAME_MOST  14 /* characters */
#define BAR_LEAST  8
#define STRIP_PART 0.6 /* part of the width that names and figures leave */
#define HEAD       4   /* lines for the titles */

static const char shades[] = " .:-=+*#%@";

static void add_count(struct buffer *out, size_t count, const char *what)
{
    char number[UNITS_TEXT_SIZE];
    buffer_printf(out, "%s %s%s", units_count(number, count), what, count == 1 ? "" : "s");
}

void plot_ranks_words(struct buffer *subtitle, struct buffer *note,
                      const struct ranks_report *report, const struct rank_lines *lines)
{
    const struct ranks *ranks = report->ranks;
    char size[UNITS_TEXT_SIZE];
    add_count(subtitle, ranks->row_count, "rank");
    buffer_printf(subtitle, "; peak of active memory %s",
                  units_bytes(size, ranks->peak.min_bytes, UNIT_AUTO));
    if (ranks->peak.min_bytes != ranks->peak.max_bytes) {
        buffer_printf(subtitle, " to %s", units_bytes(size, ranks->peak.max_bytes, UNIT_AUTO));
        buffer_printf(subtitle, ", median %s",
                      units_bytes(size, ranks->peak.median_bytes, UNIT_AUTO));
    }
    buffer_puts(subtitle, "; ");
    add_count(subtitle, ranks->group_count, "group");
    buffer_puts(subtitle, ", ");
    add_count(subtitle, ranks->outlier_count, "outlier");
    add_missing(note, ranks);
    buffer_puts(note, note->size > 0 ? "; " : "");
    if (report->failure_count > 0) {
        buffer_puts(note, "not read: ");
        add_count(note, report->failure_count, "file");
        buffer_puts(note, "; ");
    }
    if (lines->most > 1)
        buffer_printf(note, "a row is up to %zu ranks, and shows the highest of them; ",
                      lines->most);
    buffer_puts(note, "left: active memory over time; right: peaks, coloured by group; "
                      "memsnap ranks explains them");
}

/* "rank 3       ..:-=+*##@@.     ########     7.21 GiB  A" */
static void add_line(struct buffer *out, const struct rank_lines *lines, size_t line,
                     size_t name_width, size_t bar_width, struct buffer *name)
{
    char figures[RANK_FIGURES];
    const int8_t *levels = lines->levels + line * lines->columns;
    double share = (double)rank_line_bytes(lines, line) / (double)lines->top_bytes;
    size_t bar = (size_t)(share * (double)bar_width + 0.5);
    struct buffer escaped = BUFFER_INIT;
    buffer_clear(name);
    rank_line_name(name, lines, line);
    escape_plot(&escaped, name->bytes, name->size, SUMMARY_TEXT_MOST);
    size_t used = 0;
    if (!escaped.failed && escaped.size > 0)
        used = text_fit(out, escaped.bytes, escaped.size, name_width, CUT_START);
    buffer_printf(out, "%*s", (int)(name_width - used + 1), "");
    for (size_t c = 0; c < lines->columns; c++)
        buffer_putc(out, levels[c] < 0
                             ? ' '
                             : shades[(size_t)levels[c] * (sizeof(shades) - 1) / RANKS_LEVELS]);
    buffer_puts(out, "  ");
    for (size_t i = 0; i < bar_width; i++)
        buffer_putc(out, i < bar ? '#' : ' ');
    rank_line_figures(figures, lines, line);
    buffer_printf(out, " %s ", figures);
    add_group_name(out, rank_line_group(lines, line));
    out->failed |= escaped.failed || name->failed;
    buffer_release(&escaped);
}

bool plot_ranks_in_text(const struct plot_job *job, const struct ranks_report *report,
                        struct error *err)
{
    const struct plot_look *look = &job->request->look;
    size_t columns = look->width / PLOT_CELL_WIDTH, room = look->height / PLOT_CELL_HEIGHT;
    size_t figures = report->ranks->outlier_count > 0 ? 32 : 14;
    size_t left = columns > NAME_MOST + figures + 6 ? columns - NAME_MOST - figures - 6 : 0;
    size_t strip = (size_t)((double)left * STRIP_PART), bar = left - strip;
    struct rank_lines lines;
    struct buffer text = BUFFER_INIT, name = BUFFER_INIT, note = BUFFER_INIT;
    if (!rank_lines_make(&lines, report->ranks, room > HEAD + 1 ? room - HEAD : 1,
                         strip ? strip : 1, err))
        return false;
    plot_ranks_words(&text, &note, report, &lines);
    buffer_putc(&text, '\0');
    plot_put_text(job->files[0], "plot_subtitle", text.failed ? "" : text.bytes, columns);
    fprintf(job->files[0], "rows = %zu\n", lines.count);
    fputs("# row\ttext\n", job->files[1]);
    bool ok = true;
    for (size_t i = 0; ok && i < lines.count; i++) {
        buffer_clear(&text);
        add_line(&text, &lines, i, NAME_MOST, bar < BAR_LEAST ? BAR_LEAST : bar, &name);
        ok = !text.failed || error_out_of_memory(err);
        if (ok)
            fprintf(job->files[1], "%zu\t%.*s\n", i + 1, (int)text.size, text.bytes);
    }
    rank_lines_release(&lines);
    buffer_release(&text);
    buffer_release(&name);
    buffer_release(&note);
    return ok;
}
