/* The folder in which a picture's script and data are written, and gnuplot runs. */
#ifndef MEMSNAP_COMMANDS_PLOT_FOLDER_H
#define MEMSNAP_COMMANDS_PLOT_FOLDER_H

#include <limits.h>
#include <stdbool.h>

#include "render/plot/kind.h"

/* A new folder, private to the user; inside `keep` if that is not NULL. */
struct plot_folder {
    const char *keep; /* final folder of the files; NULL: they are deleted */
    bool made_keep;
    char path[PATH_MAX];
    const char *const *names;         /* the script's, then those of the data files; NULL */
    FILE *files[PLOT_FILES_MOST + 1]; /* the data files, by the index of their names */
};

/* Creates the folder, and `keep` if it is missing, and opens the data files. */
bool plot_folder_make(struct plot_folder *folder, const char *const *names, const char *keep,
                      struct error *err);
/* Opens the script for the caller to close; NULL on error. Call it after the process that reads the
 * input has ended, which could otherwise write to the script. */
FILE *plot_folder_open_script(const struct plot_folder *folder, struct error *err);
/* Flushes and closes the files. */
bool plot_folder_close(struct plot_folder *folder, struct error *err);
/* Moves the files to `keep`, replacing older ones. */
bool plot_folder_keep(struct plot_folder *folder, struct error *err);
/* Deletes the folder with the files that were not moved. */
void plot_folder_remove(struct plot_folder *folder);

/* The templates of these names, which end with NULL: malloc'ed texts. Each is looked for in
 * $MEMSNAP_PLOTS, the user's configuration, the folder configured at build time and
 * ../share/memsnap/plots from the program's folder; else it is the one built into the program. */
bool plot_templates_read(char *texts[PLOT_TEMPLATES_MOST], const char *const *names,
                         struct error *err);
void plot_templates_release(char *texts[PLOT_TEMPLATES_MOST]);

#endif
