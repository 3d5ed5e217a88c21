/* Reads captures and files of summaries, in parallel, into summaries. */
#ifndef MEMSNAP_COMMANDS_SUMMARY_GATHER_H
#define MEMSNAP_COMMANDS_SUMMARY_GATHER_H

#include <stdio.h>

#include "commands/cli/capture.h"
#include "commands/cli/inputs.h"
#include "commands/summary/gathered.h"

struct gather_options {
    struct capture_options capture;
    const char *rank_pattern;    /* NULL: as rank_of_path() has it */
    size_t jobs;                 /* files read in parallel; 0: one per core */
    bool strict;                 /* stop at the first file that cannot be read */
    bool curves;                 /* keep the curves of summaries */
    size_t columns;              /* as in struct gathered_parts */
    struct input *first;         /* input 0, if it is open already */
    bool reduced;                /* without stacks, findings and steps (model/summary_reduce.h) */
    struct summary_texts *texts; /* gather() sets it: those of reduced summaries */
    bool bins;                   /* as in struct gathered_parts */
};

struct gather_failure {
    const char *path; /* in inputs */
    struct error err;
};

struct gathering {
    struct gathered_list all;
    struct gather_failure *failures; /* in the order of the inputs */
    size_t failure_count;
    struct summary_texts *texts; /* of reduced summaries, or NULL */
    bool stopped; /* a file failed, and options->strict: the summaries are not complete */
};

/* Which parts of each summary to keep. */
struct gathered_parts gather_parts(const struct gather_options *options);

/* True for the kinds of files that can be gathered. */
bool gather_wants(enum file_kind kind);

/* Reads the inputs, which are open, in the sandbox. Failures of single files are reported on
 * standard error, and kept in gathering->failures. `out` is the output stream, whose lines the
 * progress line must not disturb. */
bool gather(struct gathering *gathering, struct inputs *inputs,
            const struct gather_options *options, FILE *out, struct error *err);
void gathering_release(struct gathering *gathering);

/* The status of the first file that failed; STATUS_OK if none did. */
enum status gathering_status(const struct gathering *gathering);

#endif
