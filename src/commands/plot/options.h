/* The options of `memsnap plot`. */
#ifndef MEMSNAP_COMMANDS_PLOT_OPTIONS_H
#define MEMSNAP_COMMANDS_PLOT_OPTIONS_H

#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/command.h"
#include "commands/replay/arguments.h"
#include "render/plot/kind.h"
#include "solve/problem/cuts.h"
#include "store/store.h"

enum plot_term { TERM_NONE, TERM_AUTO, TERM_DUMB, TERM_SIXEL };

struct plot_options {
    struct capture_options capture;
    const struct plot_kind *kind; /* NULL: by the kind of the input */
    struct plot_request request;
    enum plot_term term; /* 0: write the picture to a file */
    const char *out;     /* the picture, or NULL */
    const char *script;  /* folder for script and data, or NULL; one of the three is given */
    const char *rules;
    struct file_choice files;
    struct cuts cuts;             /* of pareto */
    struct replay_options replay; /* `settings` points to the next member, or is NULL */
    struct allocator_settings settings[SETTINGS_MOST];
    struct store_query query;    /* of trend */
    const char *trend_option;    /* a given option that applies only to trend, or NULL */
    const char *replay_option;   /* a given option that applies only to replay, or NULL */
    const char *snapshot_option; /* a given option that applies only to snapshots, or NULL */
};

extern const struct option_spec plot_option_specs[];
extern const struct option_words plot_option_words[];

bool plot_option(int option, void *to, struct error *err);
/* Checks and completes the options after the last; `input` is the first of `inputs` files. */
bool plot_options_complete(struct plot_options *options, const char *input, size_t inputs,
                           struct error *err);

#endif
