/* The folder in which a picture's script and data are written, and gnuplot runs. */
#ifndef MEMSNAP_COMMANDS_PLOT_FOLDER_H
#define MEMSNAP_COMMANDS_PLOT_FOLDER_H

#include <limits.h>

#include "render/plot.h"

/* Private to the user, of a new name; below `keep` where that is not NULL. */
struct plot_folder {
    const char *keep; /* where the files go in the end; NULL: nowhere */
    bool made_keep;
    char path[PATH_MAX];
    FILE *files[PLOT_FILES];
};

/* `keep` is made where it is not there. */
bool plot_folder_make(struct plot_folder *folder, const char *keep, struct error *err);
/* Flushes and closes the files. */
bool plot_folder_close(struct plot_folder *folder, struct error *err);
/* Moves the files to where they are kept, over older ones. */
bool plot_folder_keep(struct plot_folder *folder, struct error *err);
/* Leaves nothing behind but what was kept. */
void plot_folder_remove(struct plot_folder *folder);

/* The templates that follow the settings in a script, one after the other; malloc'ed. Each is
 * looked for in $MEMSNAP_PLOTS, the user's configuration, where memsnap is installed, and beside a
 * program that is not. */
char *plot_template(enum plot_kind kind, struct error *err);

#endif
