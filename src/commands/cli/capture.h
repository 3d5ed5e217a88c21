/* A loaded capture, with a timeline for each requested device. */
#ifndef MEMSNAP_COMMANDS_CLI_CAPTURE_H
#define MEMSNAP_COMMANDS_CLI_CAPTURE_H

#include <stdio.h>

#include "analysis/code/site.h"
#include "commands/cli/inputs.h"
#include "model/timeline.h"

#define ALL_DEVICES INT64_C(-1)

struct capture {
    struct snapshot *snapshot;
    struct site_table *sites;
    struct timeline **timelines; /* ascending by device */
    size_t device_count;
};

struct capture_options {
    size_t max_memory; /* bytes; 0: the default */
    struct window window;
    bool file_order;               /* as in struct load_options */
    bool launches;                 /* likewise */
    int64_t device;                /* or ALL_DEVICES */
    bool with_host;                /* ALL_DEVICES includes the host in any case */
    bool gpus_only;                /* ALL_DEVICES never means the host: limits are about GPUs */
    const struct own_rules *rules; /* for categories; NULL: none */
};

/* Reads and closes `fd`. `progress` may be NULL. */
bool capture_open(struct capture *capture, int fd, const struct capture_options *options,
                  const struct load_progress *progress, struct error *err);
/* The same for an unread input; takes ownership of it. */
bool capture_open_input(struct capture *capture, struct input *input,
                        const struct capture_options *options, const struct load_progress *progress,
                        struct error *err);
/* Opens the first input, which must be a snapshot, with a progress line that does not disturb
 * `out`. `lacks` ends the error about another kind of file: ", which has no call stacks", or "". */
bool capture_open_first(struct capture *capture, struct inputs *inputs,
                        const struct capture_options *options, FILE *out, const char *lacks,
                        struct error *err);
/* Sets the memory limit of the input, in bytes, from now on. */
bool input_restrict(struct input *input, size_t limit, struct error *err);
/* The timeline with the highest peak; NULL if there is no device. */
const struct timeline *capture_highest(const struct capture *capture);
void capture_close(struct capture *capture);

#endif
