/* The options of `memsnap export`, and the job they describe. */
#ifndef MEMSNAP_COMMANDS_EXPORT_OPTIONS_H
#define MEMSNAP_COMMANDS_EXPORT_OPTIONS_H

#include "commands/cli/arguments.h"
#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/command.h"
#include "render/export/export.h"

/* The fourth of the formats: all tables in one file, which is no sequence of rows. */
#define EXPORT_SQLITE RECORDS_SINK

struct export_options {
    struct capture_options capture;
    struct file_choice files;
    enum export_table table;
    enum record_format format; /* or EXPORT_SQLITE */
    struct when at;            /* of sites, segments and blocks */
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

/* The sources of the rows of one device. */
struct export_parts {
    struct phases phases;
    struct steps steps;
    struct categories categories;
};

bool export_parts_make(struct export_parts *parts, const struct timeline *timeline,
                       struct site_table *sites, struct error *err);
void export_parts_release(struct export_parts *parts);
/* Says on standard error why the segments of a device are unreliable. */
void export_tell_doubt(const char *path, uint32_t device, const char *doubt);

/* All tables as a database, in options->output. Opens the inputs, enters the sandbox, and reports
 * failures. */
enum status export_to_database(const struct export_options *options, struct inputs *inputs);

/* Events, stacks and annotations, written while the file is read: only names and stacks are held in
 * memory. Reads and closes `fd`. */
bool export_stream(const struct export_job *job, int fd, struct error *err);

#endif
