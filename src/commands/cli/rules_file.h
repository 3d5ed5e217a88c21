/* Where a user's own rules for categories are read from. */
#ifndef MEMSNAP_COMMANDS_CLI_RULES_FILE_H
#define MEMSNAP_COMMANDS_CLI_RULES_FILE_H

#include "analysis/code/own_rules.h"

/* The rules in the file `path`; "none": none. With NULL those in $XDG_CONFIG_HOME/memsnap/rules, or
 * ~/.config/memsnap/rules, where there is such a file. `*rules` is NULL where there are none. To be
 * called before the sandbox is entered. */
bool rules_file_read(const char *path, struct own_rules **rules, struct error *err);

#endif
