/* The options of `memsnap export`. */
#ifndef MEMSNAP_COMMANDS_EXPORT_OPTIONS_H
#define MEMSNAP_COMMANDS_EXPORT_OPTIONS_H

#include "commands/cli/arguments.h"
#include "commands/cli/capture.h"
#include "commands/cli/command.h"
#include "render/export/export.h"

struct export_options {
    struct capture_options capture;
    enum export_table table;
    enum record_format format;
    struct when at; /* of sites, segments and blocks */
    const char *rules, *output;
    bool as_snapshot;
    bool table_given, format_given, at_given, range_given, device_given;
};

extern const struct option_spec export_option_specs[];

/* The option_taker for struct export_options. */
bool export_option(int option, void *to, struct error *err);
/* Sets defaults after the last option, and rejects conflicting options. */
bool export_options_complete(struct export_options *options, struct error *err);

#endif
