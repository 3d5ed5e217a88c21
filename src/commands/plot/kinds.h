/* Selects a kind of picture by its name or by the kind of file. */
#ifndef MEMSNAP_COMMANDS_PLOT_KINDS_H
#define MEMSNAP_COMMANDS_PLOT_KINDS_H

#include "decode/core/sniff.h"
#include "render/plot/kind.h"

/* The first kind that draws such a file. */
const struct plot_kind *plot_kind_for(enum file_kind file);
/* The first that draws several files. */
const struct plot_kind *plot_kind_for_several(void);
/* STATUS_USAGE if the kind does not draw such a file; the error names the kinds that do. */
bool plot_kind_check(const struct plot_kind *kind, enum file_kind file, struct error *err);
const char *const *plot_kind_templates(const struct plot_kind *kind, enum plot_format format);

/* The kind of that name. */
bool plot_kind_find(const char *name, const struct plot_kind **kind, struct error *err);
/* Prints all names, separated by spaces, for shell completion. */
void plot_kinds_words(void);
/* Prints one line per kind, for --help. */
void plot_kinds_help(void);

#endif
