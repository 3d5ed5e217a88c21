/* The kinds of pictures: a row a kind, which drives dispatch, help and completion.
 *
 * A kind owns its data files, by their names in `files` and in that order:
 * commands/plot_draw_KIND.c computes what it shows, render/plot_KIND.h writes it,
 * share/plots/KIND.gp draws it. */
#ifndef MEMSNAP_COMMANDS_PLOT_KINDS_H
#define MEMSNAP_COMMANDS_PLOT_KINDS_H

#include <stdio.h>

#include "commands/cli/inputs.h"
#include "commands/plot/options.h"
#include "decode/core/input.h"
#include "decode/core/sniff.h"

#define PLOT_FILES_MOST     15
#define PLOT_TEMPLATES_MOST 7

enum plot_input {
    PLOT_OF_SNAPSHOT, /* one allocator snapshot */
    PLOT_OF_LAYERS,   /* one layer trace, or MemoryTracker's curves */
    PLOT_OF_MODEL,    /* one allocator snapshot or layer trace */
    PLOT_OF_SEVERAL,  /* one or several files of whatever kind */
};

/* What a kind draws from, and where to. */
struct plot_job {
    const struct plot_options *options;
    struct inputs *inputs;
    size_t input;        /* index of the one that is worked on: an error is told of it */
    struct input opened; /* input 0, where it is open already */
    enum file_kind opened_kind;
    bool is_open;
    char *const *templates; /* the texts, as the kind lists them */
    const struct load_progress *progress;
    FILE *files[PLOT_FILES_MOST + 1]; /* as the kind lists them, settings in place of the script */
    FILE *notes; /* of an SVG's shapes, to be written by svg_titles_note(); else NULL */
};

struct plot_kind {
    const char *name;
    const char *summary; /* half a line, for --help */
    enum plot_input input;
    const char
        *files[PLOT_FILES_MOST + 1]; /* the script, "plot.gp", is the first; ends with NULL */
    const char *templates[PLOT_TEMPLATES_MOST + 1]; /* ends with NULL */
    unsigned height; /* pixels, where nobody asks for a size; 0: as usual */
    const char *in_text[PLOT_TEMPLATES_MOST + 1]; /* for PLOT_DUMB; none: not to be drawn so */
    /* In the sandbox: takes the inputs, and writes all files. */
    bool (*draw)(struct plot_job *job, struct error *err);
};

extern const struct plot_kind plot_kinds[]; /* ends with a NULL name; the first is the default */

/* The first that draws such a file: what to draw where nobody says. */
const struct plot_kind *plot_kind_for(enum file_kind file);
/* The first that draws several. */
const struct plot_kind *plot_kind_for_several(void);
/* STATUS_USAGE where it does not draw such a file, naming those which do. */
bool plot_kind_check(const struct plot_kind *kind, enum file_kind file, struct error *err);
const char *const *plot_kind_templates(const struct plot_kind *kind, enum plot_format format);

/* The kind of that name. */
bool plot_kind_find(const char *name, const struct plot_kind **kind, struct error *err);
/* All names, separated by spaces, to standard output: for shells to complete. */
void plot_kinds_words(void);
/* For --help: a line a kind. */
void plot_kinds_help(void);

/* Opens input job->input, and looks which kind of file it is. STATUS_USAGE for one that the kind of
 * picture does not draw, naming those which do. */
bool plot_job_open(struct plot_job *job, struct input *input, enum file_kind *file,
                   struct error *err);
/* Opens the first input, and sets `*file`; the next plot_job_open() is of it, and can fail only for
 * the kind of picture. */
bool plot_job_look(struct plot_job *job, enum file_kind *file, struct error *err);

/* Adds all templates to the settings, one after the other. */
void plot_job_templates(const struct plot_job *job);

bool plot_draw_timeline(struct plot_job *job, struct error *err);
bool plot_draw_categories(struct plot_job *job, struct error *err);
bool plot_draw_phases(struct plot_job *job, struct error *err);
bool plot_draw_report(struct plot_job *job, struct error *err);
bool plot_draw_segments(struct plot_job *job, struct error *err);
bool plot_draw_sites(struct plot_job *job, struct error *err);
bool plot_draw_compare(struct plot_job *job, struct error *err);
bool plot_draw_pareto(struct plot_job *job, struct error *err);
bool plot_draw_layers(struct plot_job *job, struct error *err);
bool plot_draw_flame(struct plot_job *job, struct error *err);

#endif
