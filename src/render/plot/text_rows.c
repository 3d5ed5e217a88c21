#include "render/plot/text_rows.h"

#define TITLE_LINES 5
#define GAP         2 /* cells between a bar and its figures */

size_t plot_text_rows_room(const struct plot_look *look)
{
    size_t lines = look->height / PLOT_CELL_HEIGHT;
    return lines > TITLE_LINES + 1 ? lines - TITLE_LINES : 1;
}

/* A third of the picture. */
size_t plot_text_rows_letters(const struct plot_look *look)
{
    size_t cells = look->width / PLOT_CELL_WIDTH;
    return cells > 36 ? cells / 3 : 12;
}

void plot_text_rows_begin(struct plot_text_rows *rows, FILE *script, FILE *out,
                          const struct plot_look *look, double most, size_t figures)
{
    size_t cells = look->width / PLOT_CELL_WIDTH;
    size_t taken = plot_text_rows_letters(look) + 1 + GAP + figures;
    size_t columns = cells > taken + 8 ? cells - taken : 8;
    if (columns > PLOT_TEXT_BAR)
        columns = PLOT_TEXT_BAR;
    *rows = (struct plot_text_rows){.out = out,
                                    .name_cells = (unsigned)plot_text_rows_letters(look) + 1,
                                    .column_bytes = (most > 0 ? most : 1) / (double)columns};
    fprintf(script, "columns = %zu\nlines = %zu\n", cells, plot_text_rows_room(look));
    fputs("# row\twhere its name begins\tname\twhere its bar begins\tbar and figures\n", out);
}

void plot_text_rows_add(struct plot_text_rows *rows, unsigned indent, const char *name,
                        const double *bytes, const char *letters, size_t count, const char *figures)
{
    char bar[PLOT_TEXT_BAR + 1];
    size_t used = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += bytes[i];
        double end = sum / rows->column_bytes + 0.5;
        while (used < PLOT_TEXT_BAR && (double)used + 1 <= end)
            bar[used++] = letters[i];
    }
    bar[used] = '\0';
    fprintf(rows->out, "%zu\t%u\t%s\t%u\t%s%s%s\n", ++rows->rows, indent, name, rows->name_cells,
            bar, used > 0 ? " " : "", *figures ? figures : " ");
}
