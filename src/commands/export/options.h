/* The options of `memsnap export`, and the job they describe. */
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
extern const struct option_words export_option_words[];

/* The option_taker for struct export_options. */
bool export_option(int option, void *to, struct error *err);
/* Sets defaults after the last option, and rejects conflicting options. */
bool export_options_complete(struct export_options *options, struct error *err);

struct export_job {
    const struct export_options *options;
    const char *path;
    FILE *out; /* open */
    const struct load_progress *progress;
};

/* Events, stacks and annotations, written while the file is read: only names and stacks are held in
 * memory. Reads and closes `fd`. */
bool export_stream(const struct export_job *job, int fd, struct error *err);

#endif
