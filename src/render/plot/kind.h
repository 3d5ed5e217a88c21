/* A kind of picture: its input, and how it is drawn.
 *
 * Each kind is a file of its own, KIND.c, which computes what the picture shows and writes
 * its settings and data, and a template, share/plots/KIND.gp, which draws them. PLOT_KINDS
 * lists them. */
#ifndef MEMSNAP_RENDER_PLOT_KIND_H
#define MEMSNAP_RENDER_PLOT_KIND_H

#include "analysis/curves/sampling.h"
#include "analysis/report/report.h"
#include "render/plot/plot.h"

#define PLOT_FILES_MOST     15
#define PLOT_TEMPLATES_MOST 7

struct budget;
struct fit;
struct layer_panels;
struct plot_comparison;
struct plot_snapshot;
struct problem;
struct replay_options;
struct run_report;
struct ranks_report;
struct shard_file;
struct summary_device;
struct trend;

#define PLOT_RUNS_BEFORE_MOST 1000 /* of a trend */

enum plot_colour { COLOUR_CATEGORY, COLOUR_SITE, COLOUR_SIZE };

extern const char *const plot_colours[]; /* "category", ..., NULL */

/* The options of memsnap plot that a picture depends on. */
struct plot_request {
    struct plot_look look;
    struct report_options report; /* the moment */
    bool at_peak;                 /* the moment was named, and is the peak */
    enum sampling_axis axis;
    bool share;              /* the axis is the share of each trace instead */
    enum plot_colour colour; /* of bands */
    size_t bands;            /* 0: as many as are needed */
    const struct replay_options *replay;
    size_t runs_before; /* of a trend: those whose median a run is compared with; 0: the default */
};

struct plot_job {
    const struct plot_request *request;
    FILE *files[PLOT_FILES_MOST + 1]; /* as listed; the script's holds the settings */
    FILE *notes;                      /* for titles (svg_titles.h), or NULL */
};

struct plot_kind {
    const char *name;
    const char *summary;                            /* half a line, for the text of --help */
    const char *files[PLOT_FILES_MOST + 1];         /* the script "plot.gp" first; ends with NULL */
    const char *templates[PLOT_TEMPLATES_MOST + 1]; /* ends with NULL */
    const char *in_text[PLOT_TEMPLATES_MOST + 1];   /* for PLOT_DUMB; empty: not available */
    bool places_templates; /* its settings name the templates; otherwise they follow the settings */
    bool needs_tables;     /* of a MemProfiler run: its tables of FSDP memory, not its statistics */
    bool needs_segments;   /* does not support profiler traces, which have none */
    unsigned height;       /* default in pixels; 0: the usual height */

    /* Writes the settings and all data. Exactly one of these is set, depending on the input of the
     * kind. */
    bool (*of_snapshot)(const struct plot_job *job, struct plot_snapshot *snapshot,
                        struct error *err);
    bool (*of_layers)(const struct plot_job *job, const struct layer_panels *panels,
                      struct error *err);
    /* From layers with their costs. `budget` is that of the input. */
    bool (*of_model)(const struct plot_job *job, const struct problem *problem,
                     struct budget *budget, struct error *err);
    bool (*of_fit)(const struct plot_job *job, const struct fit *fit, struct error *err);
    /* From the files of a MemProfiler run, or from one of them. */
    bool (*of_run)(const struct plot_job *job, const struct run_report *report, struct error *err);
    bool (*of_several)(const struct plot_job *job, const struct plot_comparison *comparison,
                       struct error *err);
    bool (*of_ranks)(const struct plot_job *job, const struct ranks_report *report,
                     struct error *err);
    bool (*of_shard)(const struct plot_job *job, const struct shard_file *file, struct error *err);
    /* From a device of a summary. */
    bool (*of_steps)(const struct plot_job *job, const struct summary_device *device,
                     struct error *err);
    bool (*of_trend)(const struct plot_job *job, const struct trend *trend, struct error *err);
};

/* All kinds of pictures, in the order of --help. The first kind that can be drawn from a kind of
 * file is the default for it. */
#define PLOT_KINDS(KIND)                                                                           \
    KIND(timeline)                                                                                 \
    KIND(categories)                                                                               \
    KIND(segments)                                                                                 \
    KIND(sites)                                                                                    \
    KIND(flame)                                                                                    \
    KIND(phases)                                                                                   \
    KIND(report)                                                                                   \
    KIND(layers)                                                                                   \
    KIND(pareto)                                                                                   \
    KIND(fit)                                                                                      \
    KIND(fsdp)                                                                                     \
    KIND(iterations)                                                                               \
    KIND(ranks)                                                                                    \
    KIND(steps)                                                                                    \
    KIND(replay)                                                                                   \
    KIND(shard)                                                                                    \
    KIND(trend)                                                                                    \
    KIND(compare)

#define PLOT_DECLARE_KIND(name) extern const struct plot_kind plot_kind_##name;
PLOT_KINDS(PLOT_DECLARE_KIND)
#undef PLOT_DECLARE_KIND

#endif
