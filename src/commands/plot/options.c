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
    OPTION_BANDS,
    OPTION_COLOR,
    OPTION_SIZE,
    OPTION_TITLE,
    OPTION_GRANULARITY,
    OPTION_ALLOC_CONF,
    OPTION_GPU_MEMORY,
    OPTION_OTHER_USE,
    OPTION_TORCH,
    OPTION_METRIC,
    OPTION_LAST,
    OPTION_RUN,
};

const struct option_spec plot_option_specs[] = {
    {OPTION_OUTPUT, "out", "FILE",
     "write FILE.svg, FILE.png or FILE.pdf; or FILE.html,\n"
     "an interactive page"},
    {OPTION_TERM, "term", "TERM",
     "show the picture on the terminal: dumb (characters),\n"
     "sixel, or auto, the better of the two"},
    {OPTION_SCRIPT, "script", "DIR",
     "write the gnuplot script, plot.gp, and its data into\n"
     "this folder"},
    {OPTION_KIND, "kind", "KIND", "draw this kind, see below (default: by the file)"},
    {OPTION_X, "x", "AXIS",
     "horizontal axis: event (the default), time, or share\n"
     "(compare only: stretch each trace to full width)"},
    ROW_AT("the moment that segments, sites and flame show, and\n"
           "others mark:\n"),
    {OPTION_BANDS, "bands", "N", "draw at most N bands; the rest is summed"},
    {OPTION_COLOR, "color", "WHAT", "colour bands by category, site or size"},
    {OPTION_GRANULARITY, "granularity", "WHERE", "pareto: where to cut the chain, as in suggest"},
    ROW_RANK,
    ROW_RANK_PATTERN,
    {OPTION_ALLOC_CONF, "alloc-conf", "CONF",
     "replay: this PYTORCH_CUDA_ALLOC_CONF instead of the\n"
     "usual settings; can be given several times"},
    {OPTION_GPU_MEMORY, "gpu-memory", "SIZE", "replay: draw the memory of a device as a line"},
    {OPTION_OTHER_USE, "other-use", "SIZE", "replay: the part of it that PyTorch cannot use"},
    {OPTION_TORCH, "torch", "VERSION",
     "replay: order free blocks as this version of torch\n"
     "does"},
    {OPTION_METRIC, "metric", "NAME", "trend: draw this metric of a history, as in trend"},
    {OPTION_LAST, "last", "N",
     "trend: compare each run with the median of the N runs\n"
     "before it (default: 10)"},
    {OPTION_RUN, "run", "PATTERN", "trend: draw only runs that match, such as 'main-*'"},
    {OPTION_SIZE, "size", "WxH", "size in pixels (default: 1600x900)"},
    {OPTION_TITLE, "title", "TEXT", "title (default: the name of the file)"},
    ROW_RANGE,
    {OPTION_DEVICE, "device", "N",
     "draw this device (default: the one with the highest\n"
     "peak)"},
    ROW_RULES,
    ROW_MAX_MEMORY,
    ROWS_END,
};

const struct option_words plot_option_words[] = {
    {"kind", NULL, plot_kinds_words},       {"term", "auto dumb sixel", NULL},
    {"x", "event time share", NULL},        {"at", WORDS_MOMENT, NULL},
    {"color", "category site size", NULL},  {"granularity", "leaf", NULL},
    {"alloc-conf", WORDS_ALLOC_CONF, NULL}, {NULL, NULL, NULL},
};

/* Options that apply to snapshots only. --x may, too. */
static const int for_snapshots[] = {
    OPTION_AT, OPTION_BANDS, OPTION_COLOR, OPTION_DEVICE, OPTION_RANGE, OPTION_RULES, 0};

static const int for_replay[] = {OPTION_ALLOC_CONF, OPTION_GPU_MEMORY, OPTION_OTHER_USE,
                                 OPTION_TORCH, 0};

static const int for_trend[] = {OPTION_METRIC, OPTION_LAST, OPTION_RUN, 0};

/* The index of `text` in a list that ends with NULL, or the length of the list if it is missing. */
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
        return error_set(err, STATUS_USAGE, "invalid --size '%.60s' (expected %dx%d to %dx%d)",
                         text, LEAST_WIDTH, LEAST_HEIGHT, MOST_SIDE, MOST_SIDE);
    look->width = (unsigned)width;
    look->height = (unsigned)height;
    return true;
}

static bool take_look(int option, struct plot_options *options, struct error *err)
{
    size_t choice;
    unsigned axis;
    switch (option) {
    case OPTION_KIND:
        return plot_kind_find(optarg, &options->kind, err);
    case OPTION_TERM:
        choice = index_of(optarg, terms);
        options->term = (enum plot_term)choice;
        return (terms[choice] && choice > 0) ||
               error_set(err, STATUS_USAGE, "invalid --term '%.60s' (expected auto, dumb or sixel)",
                         optarg);
    case OPTION_COLOR:
        choice = index_of(optarg, plot_colours);
        options->request.colour = (enum plot_colour)choice;
        return plot_colours[choice] ||
               error_set(err, STATUS_USAGE,
                         "invalid --color '%.60s' (expected category, site or size)", optarg);
    case OPTION_X:
        if (!option_word(plot_option_words, "x", "--x", &axis, err))
            return false;
        options->request.axis = axis == 1 ? AXIS_TIME : AXIS_EVENT;
        options->request.share = axis == 2;
        if (!options->request.share)
            options->snapshot_option = "x";
        return true;
    case OPTION_SIZE:
        return parse_size(optarg, &options->request.look, err);
    default:
        options->request.look.title = optarg;
        return true;
    }
}

static bool take_replay(int option, struct plot_options *options, struct error *err)
{
    struct replay_options *replay = &options->replay;
    switch (option) {
    case OPTION_ALLOC_CONF:
        return replay_argument_conf(replay, options->settings, err);
    case OPTION_GPU_MEMORY:
        return replay_argument_size("gpu-memory", &replay->gpu_bytes, err);
    case OPTION_OTHER_USE:
        return replay_argument_size("other-use", &replay->other_bytes, err);
    default:
        return replay_argument_torch(&replay->tie_break, err);
    }
}

static bool take_trend(int option, struct plot_options *options, struct error *err)
{
    uint64_t number;
    switch (option) {
    case OPTION_METRIC:
        options->query.metric = optarg;
        return store_metric_check(optarg, err);
    case OPTION_RUN:
        options->query.pattern = optarg;
        return true;
    default:
        if (!argument_number("last", optarg, PLOT_RUNS_BEFORE_MOST, &number, err) || number == 0)
            return error_set(err, STATUS_USAGE, "invalid --last '%.60s' (expected 1 to %d)", optarg,
                             PLOT_RUNS_BEFORE_MOST);
        options->request.runs_before = (size_t)number;
        return true;
    }
}

bool plot_option(int option, void *to, struct error *err)
{
    struct plot_options *options = to;
    uint64_t number = 0;
    option_note(option, plot_option_specs, for_snapshots, &options->snapshot_option);
    option_note(option, plot_option_specs, for_replay, &options->replay_option);
    option_note(option, plot_option_specs, for_trend, &options->trend_option);
    switch (option) {
    case OPTION_SCRIPT:
        options->script = optarg;
        return true;
    case OPTION_AT:
        options->request.at_peak = strcmp(optarg, "peak") == 0;
        return argument_when(optarg, &options->request.report.at, err);
    case OPTION_GRANULARITY:
        return argument_granularity(optarg, &options->cuts, err);
    case OPTION_BANDS:
        if (!argument_number("bands", optarg, BANDS_MOST, &number, err) || number == 0)
            return error_set(err, STATUS_USAGE, "invalid --bands '%.60s' (expected 1 to %d)",
                             optarg, BANDS_MOST);
        options->request.bands = (size_t)number;
        return true;
    case OPTION_KIND:
    case OPTION_TERM:
    case OPTION_COLOR:
    case OPTION_X:
    case OPTION_SIZE:
    case OPTION_TITLE:
        return take_look(option, options, err);
    case OPTION_ALLOC_CONF:
    case OPTION_GPU_MEMORY:
    case OPTION_OTHER_USE:
    case OPTION_TORCH:
        return take_replay(option, options, err);
    case OPTION_METRIC:
    case OPTION_LAST:
    case OPTION_RUN:
        return take_trend(option, options, err);
    default:
        return shared_option(option,
                             &(const struct shared_options){
                                 SHARED_CAPTURE(options->capture), .rules = &options->rules,
                                 .output = &options->out, .files = &options->files},
                             err);
    }
}

static const char *choose_title(const struct plot_kind *kind, const char *input, size_t inputs)
{
    const char *slash = strrchr(input, '/');
    if (inputs > 1)
        return kind && kind->of_run ? "MemProfiler: memory of a run" : "Memory of several captures";
    return slash && slash[1] ? slash + 1 : path_name(input);
}

/* An HTML page draws the timeline of one snapshot. */
static bool complete_page(struct plot_options *options, size_t inputs, struct error *err)
{
    if (options->script)
        return error_set(err, STATUS_USAGE, "--script cannot be combined with an HTML page");
    if (inputs > 1 || options->request.share)
        return error_set(err, STATUS_USAGE,
                         "an HTML page needs exactly one file, and no --x share");
    if (options->kind && options->kind != plot_kind_for(KIND_SNAPSHOT))
        return error_set(err, STATUS_USAGE, "an HTML page supports only --kind %s",
                         plot_kind_for(KIND_SNAPSHOT)->name);
    options->kind = plot_kind_for(KIND_SNAPSHOT);
    return true;
}

bool plot_options_complete(struct plot_options *options, const char *input, size_t inputs,
                           struct error *err)
{
    bool is_replay = options->kind == &plot_kind_replay;
    if (options->replay_option && !is_replay)
        return error_set(err, STATUS_USAGE, "--%s applies only to --kind %s",
                         options->replay_option, plot_kind_replay.name);
    if (options->trend_option && options->kind != &plot_kind_trend)
        return error_set(err, STATUS_USAGE, "--%s applies only to --kind %s", options->trend_option,
                         plot_kind_trend.name);
    const struct window *window = &options->capture.window;
    if (is_replay && (window->from.kind != POINT_OPEN || window->to.kind != POINT_OPEN))
        return error_set(err, STATUS_USAGE, "--range does not apply to --kind %s",
                         plot_kind_replay.name);
    options->request.replay = &options->replay;
    if (!options->request.look.title)
        options->request.look.title = choose_title(options->kind, input, inputs);
    if (!options->out && !options->script && !options->term) {
        if (isatty(STDOUT_FILENO) != 1)
            return error_set(
                err, STATUS_USAGE,
                "missing output: use --out FILE (for example report.svg), --term dumb or "
                "--script DIR");
        options->term = TERM_AUTO;
    }
    if (options->out && options->term)
        return error_set(err, STATUS_USAGE, "--out and --term cannot be combined");
    if (options->term == TERM_DUMB && options->request.look.width > 0)
        return error_set(err, STATUS_USAGE,
                         "--size does not apply to --term dumb; set COLUMNS and LINES instead");
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
        return error_set(
            err, STATUS_USAGE,
            "invalid --out '%.100s' (expected a name ending in .svg, .png, .pdf or .html)",
            options->out);
    return format != PLOT_HTML || complete_page(options, inputs, err);
}
