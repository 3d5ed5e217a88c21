/* The kinds of pictures: a row a kind, which drives dispatch, help and completion.
 *
 * A kind owns its data files, by their names in `files` and in that order: commands/plot_draw_KIND.c
 * computes what it shows, render/plot_KIND.h writes it, share/plots/KIND.gp draws it. */
#ifndef MEMSNAP_COMMANDS_PLOT_KINDS_H
#define MEMSNAP_COMMANDS_PLOT_KINDS_H

#include <stdio.h>

#include "commands/inputs.h"
#include "commands/plot_options.h"

#define PLOT_FILES_MOST     15
#define PLOT_TEMPLATES_MOST 7

enum plot_input {
    PLOT_OF_SNAPSHOT, /* one allocator snapshot */
    PLOT_OF_LAYERS,   /* one layer trace */
    PLOT_OF_SEVERAL,  /* one or several files */
};

/* What a kind draws from, and where to. */
struct plot_job {
    const struct plot_options *options;
    struct inputs *inputs;
    size_t input;           /* index of the one that is worked on: an error is told of it */
    char *const *templates; /* the texts, as the kind lists them */
    const struct load_progress *progress;
    FILE *const *files; /* as the kind lists them */
};

struct plot_kind {
    const char *name;
    const char *summary; /* half a line, for --help */
    enum plot_input input;
    const char *files[PLOT_FILES_MOST + 1]; /* the script, "plot.gp", is the first; ends with NULL */
    const char *templates[PLOT_TEMPLATES_MOST + 1]; /* ends with NULL */
    /* In the sandbox: takes the inputs, and writes all files. */
    bool (*draw)(struct plot_job *job, struct error *err);
};

extern const struct plot_kind plot_kinds[]; /* ends with a NULL name; the first is the default */

/* The kind of that name. */
bool plot_kind_find(const char *name, const struct plot_kind **kind, struct error *err);
/* For --help: a line a kind. */
void plot_kinds_help(void);

/* Adds the templates to the script, one after the other. */
void plot_job_templates(const struct plot_job *job);

bool plot_draw_timeline(struct plot_job *job, struct error *err);
bool plot_draw_categories(struct plot_job *job, struct error *err);

#endif
