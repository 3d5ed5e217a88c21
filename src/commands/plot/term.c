#include "commands/plot/term.h"

#include <unistd.h>

#include "commands/cli/complain.h"
#include "commands/plot/process.h"
#include "commands/plot/terminal.h"

#define LINES_LEFT    2 /* for the command and the next prompt */
#define COMMON_WIDTH  800
#define COMMON_HEIGHT 450
#define MOST_WIDTH    1600
#define MOST_HEIGHT   900

static bool is_sixel(const struct plot_options *options, const char *gnuplot)
{
    if (options->term == TERM_DUMB || (options->term == TERM_AUTO && !terminal_has_sixel()))
        return false;
    if (gnuplot && plot_gnuplot_has(gnuplot, "sixelgd"))
        return true;
    if (gnuplot)
        complain("gnuplot has no sixel support (terminal sixelgd); drawing with characters");
    return false;
}

/* The size of the terminal, within the limits of a picture. */
static unsigned within(unsigned pixels, unsigned common, unsigned most)
{
    if (pixels == 0)
        return common;
    return pixels < common ? common : pixels > most ? most : pixels;
}

void plot_term_settle(struct plot_options *options, const char *gnuplot)
{
    struct terminal_size size = terminal_size(STDOUT_FILENO);
    struct plot_look *look = &options->request.look;
    unsigned rows = size.rows - LINES_LEFT;
    if (is_sixel(options, gnuplot)) {
        look->format = PLOT_SIXEL;
        if (look->width == 0) {
            look->width = within(size.width, COMMON_WIDTH, MOST_WIDTH);
            look->height = within((unsigned)((uint64_t)size.height * rows / size.rows),
                                  COMMON_HEIGHT, MOST_HEIGHT);
        }
    } else {
        look->format = PLOT_DUMB;
        look->width = size.columns * PLOT_CELL_WIDTH;
        look->height = rows * PLOT_CELL_HEIGHT;
    }
}
