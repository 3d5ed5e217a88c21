#include "commands/plot/options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "analysis/curves/bands.h"
#include "commands/cli/arguments.h"
#include "commands/cli/complain.h"
#include "commands/cli/options.h"
#include "commands/plot/kinds.h"

#define LEAST_WIDTH    800
#define LEAST_HEIGHT   450
#define MOST_SIDE      8000
#define DEFAULT_WIDTH  1600
#define DEFAULT_HEIGHT 900

enum {
    OPTION_KIND = OPTION_LONG_ONLY,
    OPTION_SCRIPT,
    OPTION_TERM,
    OPTION_X,
    OPTION_AT,
    OPTION_BANDS,
    OPTION_COLOR,
    OPTION_SIZE,
    OPTION_TITLE,
    OPTION_GRANULARITY,
};

const struct option_spec plot_option_specs[] = {
    {'o', "out", "FILE",
     "the picture: FILE.svg, FILE.png or FILE.pdf; or\n"
     "FILE.html, a page to zoom and search in"},
    {OPTION_TERM, "term", "TERM",
     "show it on the terminal: dumb (characters), sixel,\n"
     "or auto, the better of them (without --out)"},
    {OPTION_SCRIPT, "script", "DIR",
     "put gnuplot's script and its data there: change it,\n"
     "and draw it anew with gnuplot plot.gp"},
    {OPTION_KIND, "kind", "KIND", "what to draw, see below (default: as FILE has it)"},
    {OPTION_X, "x", "AXIS",
     "event (each takes the same room), time, or share\n"
     "(compare only: from the beginning to the end of each)"},
    {OPTION_AT, "at", "WHEN",
     "the moment that segments and sites show, and others\n"
     "mark: peak, end, an event's number, or a time, as in\n"
     "analyze"},
    {OPTION_BANDS, "bands", "N", "at most so many bands; the rest is summed"},
    {OPTION_COLOR, "color", "WHAT", "of bands: category, site or size"},
    {OPTION_GRANULARITY, "granularity", "WHERE", "pareto: where to cut, as in suggest"},
    {OPTION_SIZE, "size", "WxH", "in pixels (1600x900)"},
    {OPTION_TITLE, "title", "TEXT", "instead of the name of FILE"},
    ROW_RANGE,
    {OPTION_DEVICE, "device", "N", "this device, not the one with the highest peak"},
    ROW_RULES,
    ROW_MAX_MEMORY,
    ROW_HELP,
    {0, NULL, NULL, NULL},
};

/* The index of `text` in a list that ends with NULL; the length of the list if it is not there. */
static size_t index_of(const char *text, const char *const list[])
{
    size_t i = 0;
    while (list[i] && strcasecmp(list[i], text) != 0)
        i++;
    return i;
}

static const char *const terms[] = {"", "auto", "dumb", "sixel", NULL}; /* enum plot_term */

static bool parse_size(const char *text, struct plot_look *look, struct error *err)
{
    char *end, *last = NULL;
    unsigned long width = strtoul(text, &end, 10), height = 0;
    if (*end == 'x')
        height = strtoul(end + 1, &last, 10);
    if (*text < '0' || *text > '9' || !last || last == end + 1 || *last || width < LEAST_WIDTH ||
        height < LEAST_HEIGHT || width > MOST_SIDE || height > MOST_SIDE)
        return error_set(err, STATUS_USAGE, "--size takes %dx%d to %dx%d, not '%.60s'", LEAST_WIDTH,
                         LEAST_HEIGHT, MOST_SIDE, MOST_SIDE, text);
    look->width = (unsigned)width;
    look->height = (unsigned)height;
    return true;
}

static bool take_look(int option, struct plot_options *options, struct error *err)
{
    size_t choice;
    switch (option) {
    case OPTION_KIND:
        return plot_kind_find(optarg, &options->kind, err);
    case OPTION_TERM:
        choice = index_of(optarg, terms);
        options->term = (enum plot_term)choice;
        return (terms[choice] && choice > 0) ||
               error_set(err, STATUS_USAGE, "--term takes auto, dumb or sixel, not '%.60s'",
                         optarg);
    case OPTION_COLOR:
        choice = index_of(optarg, plot_colours);
        options->request.colour = (enum plot_colour)choice;
        options->snapshot_option = "color";
        return plot_colours[choice] ||
               error_set(err, STATUS_USAGE, "--color takes category, site or size, not '%.60s'",
                         optarg);
    case OPTION_X:
        options->request.axis = strcmp(optarg, "time") == 0 ? AXIS_TIME : AXIS_EVENT;
        options->request.share = strcmp(optarg, "share") == 0;
        if (!options->request.share)
            options->snapshot_option = "x";
        return options->request.share || options->request.axis == AXIS_TIME ||
               strcmp(optarg, "event") == 0 ||
               error_set(err, STATUS_USAGE, "--x takes event, time or share, not '%.60s'", optarg);
    case OPTION_SIZE:
        return parse_size(optarg, &options->request.look, err);
    default:
        options->request.look.title = optarg;
        return true;
    }
}

bool plot_option(int option, void *to, struct error *err)
{
    struct plot_options *options = to;
    uint64_t number = 0;
    switch (option) {
    case 'o':
        options->out = optarg;
        return true;
    case OPTION_SCRIPT:
        options->script = optarg;
        return true;
    case OPTION_RULES:
        options->snapshot_option = "rules";
        options->rules = optarg;
        return true;
    case OPTION_AT:
        options->snapshot_option = "at";
        options->request.at_peak = strcmp(optarg, "peak") == 0;
        return argument_at(optarg, &options->request.report, err);
    case OPTION_GRANULARITY:
        return argument_granularity(optarg, &options->cuts, err);
    case OPTION_RANGE:
        options->snapshot_option = "range";
        return window_parse(optarg, &options->capture.window, err);
    case OPTION_BANDS:
        if (!argument_number("bands", optarg, BANDS_MOST, &number, err) || number == 0)
            return error_set(err, STATUS_USAGE, "--bands takes 1 to %d, not '%.60s'", BANDS_MOST,
                             optarg);
        options->request.bands = (size_t)number;
        options->snapshot_option = "bands";
        return true;
    case OPTION_DEVICE:
        options->snapshot_option = "device";
        return argument_device(optarg, &options->capture.device, err);
    case OPTION_MAX_MEMORY:
        return argument_memory(optarg, &options->capture.max_memory, err);
    default:
        return take_look(option, options, err);
    }
}

bool plot_options_complete(struct plot_options *options, const char *input, size_t inputs,
                           struct error *err)
{
    const char *slash = strrchr(input, '/');
    if (!options->request.look.title && inputs > 1)
        options->request.look.title = "Memory of several captures";
    if (!options->request.look.title)
        options->request.look.title = slash && slash[1] ? slash + 1 : path_name(input);
    if (!options->out && !options->script && !options->term) {
        if (isatty(STDOUT_FILENO) != 1)
            return error_set(err, STATUS_USAGE,
                             "where to? name a picture, as in --out report.svg, --term dumb for "
                             "characters, or --script DIR");
        options->term = TERM_AUTO;
    }
    if (options->out && options->term)
        return error_set(err, STATUS_USAGE,
                         "--out puts the picture into a file, --term shows it: one of the two");
    if (options->term == TERM_DUMB && options->request.look.width > 0)
        return error_set(err, STATUS_USAGE,
                         "--size is in pixels; characters take COLUMNS and LINES, or the "
                         "terminal's size");
    if (options->request.look.width == 0 && !options->term) {
        options->request.look.width = DEFAULT_WIDTH;
        options->request.look.height =
            options->kind && options->kind->height ? options->kind->height : DEFAULT_HEIGHT;
    }
    if (!options->out)
        return true;
    const char *dot = strrchr(options->out, '.');
    size_t format = index_of(dot ? dot + 1 : "", plot_formats);
    options->request.look.format = (enum plot_format)format;
    if (!plot_formats[format])
        return error_set(err, STATUS_USAGE,
                         "--out takes a name that ends in .svg, .png, .pdf or .html, not '%.100s'",
                         options->out);
    if (format != PLOT_HTML)
        return true;
    if (options->script)
        return error_set(err, STATUS_USAGE,
                         "--script is for pictures that gnuplot draws, not for a page");
    if (inputs > 1 || options->request.share)
        return error_set(err, STATUS_USAGE, "a page is of one FILE, without --x share");
    if (options->kind && options->kind != plot_kind_for(KIND_SNAPSHOT))
        return error_set(err, STATUS_USAGE, "a page is of kind %s, which shows categories too",
                         plot_kind_for(KIND_SNAPSHOT)->name);
    options->kind = plot_kind_for(KIND_SNAPSHOT);
    return true;
}
