/* Opens and reads the input of a picture, and passes it to the kind that draws it. */
#ifndef MEMSNAP_COMMANDS_PLOT_LOAD_H
#define MEMSNAP_COMMANDS_PLOT_LOAD_H

#include "commands/cli/inputs.h"
#include "commands/plot/options.h"
#include "decode/core/input.h"
#include "decode/core/sniff.h"

struct store;

struct plot_load {
    const struct plot_options *options;
    const struct load_progress *progress;
    struct inputs *inputs;
    size_t input;        /* index of the one being read: errors name it */
    struct input opened; /* input 0, if plot_load_look() has opened it */
    enum file_kind opened_kind;
    bool is_open;
    enum status failed; /* status of the first file that was left out because it could not be read;
                           STATUS_OK: none */
    struct store *history; /* input 0, if it is one; then `opened` is not used */
    bool told;             /* there is nothing to draw, and the user has been told why */
};

/* Opens the first input as a history of runs, if that is what it is and the kind is NULL or draws
 * trends. SQLite opens files, so this comes before the sandbox is entered. */
bool plot_load_history(struct plot_load *load, const struct plot_kind *kind, struct error *err);

/* Opens the first input, and sets `*file`. */
bool plot_load_look(struct plot_load *load, enum file_kind *file, struct error *err);

/* Opens input load->input, unless it is open. STATUS_USAGE if the kind or a given option does
 * not apply to the file. */
bool plot_load_open(struct plot_load *load, const struct plot_kind *kind, struct input *input,
                    enum file_kind *file, struct error *err);

/* Reads the input, and lets the kind write the settings and data of the picture. */
bool plot_load_draw(struct plot_load *load, const struct plot_kind *kind,
                    const struct plot_job *job, struct error *err);

/* The same for a kind that draws several files. */
bool plot_load_several(struct plot_load *load, const struct plot_kind *kind,
                       const struct plot_job *job, struct error *err);

/* The same for a kind that draws the ranks of a run. Reports files that cannot be read,
 * and sets load->failed and load->told. */
bool plot_load_ranks(struct plot_load *load, const struct plot_kind *kind,
                     const struct plot_job *job, struct error *err);

/* The same for a kind that draws the steps of a capture. */
bool plot_load_steps(struct plot_load *load, const struct plot_kind *kind,
                     const struct plot_job *job, struct error *err);

/* The same for a kind that draws the runs of a history. */
bool plot_load_trend(struct plot_load *load, const struct plot_kind *kind,
                     const struct plot_job *job, struct error *err);

#endif
