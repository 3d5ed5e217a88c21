/* The kinds that may have to be drawn: the one asked for, or else one for each kind of file. Their
 * templates are read and their files opened before the sandboxed process looks at the input. */
#ifndef MEMSNAP_COMMANDS_PLOT_CANDIDATES_H
#define MEMSNAP_COMMANDS_PLOT_CANDIDATES_H

#include "commands/plot/folder.h"
#include "commands/plot/load.h"

#define PLOT_CANDIDATES_MOST 4

struct plot_candidate {
    const struct plot_kind *kind;
    char *templates[PLOT_TEMPLATES_MOST];
    struct plot_folder folder;
};

struct plot_candidates {
    struct plot_candidate items[PLOT_CANDIDATES_MOST];
    size_t count;
    size_t *chosen; /* shared with the process that reads the input */
};

/* For so many inputs. */
bool plot_candidates_make(struct plot_candidates *candidates, const struct plot_options *options,
                          size_t inputs, struct error *err);
void plot_candidates_release(struct plot_candidates *candidates);

/* In the process that reads the input: sets `*chosen`, by the kind of the input where there is a
 * choice. */
bool plot_candidates_choose(struct plot_candidates *candidates, struct plot_load *load,
                            struct error *err);

/* The chosen one; NULL where that process, which is not trusted, set something else. */
struct plot_candidate *plot_chosen(struct plot_candidates *candidates);

#endif
