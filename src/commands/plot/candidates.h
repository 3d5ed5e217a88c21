/* The kinds that might be drawn: the one given with --kind, or else one for each kind of file.
 * Their templates are read and their files opened before the sandboxed process reads the input. */
#ifndef MEMSNAP_COMMANDS_PLOT_CANDIDATES_H
#define MEMSNAP_COMMANDS_PLOT_CANDIDATES_H

#include "commands/plot/folder.h"
#include "commands/plot/load.h"

#define PLOT_CANDIDATES_MOST 16

struct plot_candidate {
    const struct plot_kind *kind;
    char *templates[PLOT_TEMPLATES_MOST];
    struct plot_folder folder;
};

/* What the process that reads the input reports to the other one. */
struct plot_choice {
    size_t kind;   /* index of a candidate */
    size_t failed; /* enum status: of files that were left out */
};

struct plot_candidates {
    struct plot_candidate items[PLOT_CANDIDATES_MOST];
    size_t count;
    struct plot_choice *chosen; /* shared with the process that reads the input */
};

/* Finds the candidates for this number of inputs. */
bool plot_candidates_make(struct plot_candidates *candidates, const struct plot_options *options,
                          size_t inputs, struct error *err);
void plot_candidates_release(struct plot_candidates *candidates);

/* Called in the process that reads the input: sets chosen->kind by the kind of the input. */
bool plot_candidates_choose(struct plot_candidates *candidates, struct plot_load *load,
                            struct error *err);

/* The chosen candidate; NULL if the untrusted process set an invalid index. */
struct plot_candidate *plot_chosen(struct plot_candidates *candidates);

#endif
