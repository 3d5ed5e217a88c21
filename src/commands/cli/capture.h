/* A capture as most commands want it: loaded, with a timeline for each device asked for. */
#ifndef MEMSNAP_COMMANDS_CLI_CAPTURE_H
#define MEMSNAP_COMMANDS_CLI_CAPTURE_H

#include "analysis/code/site.h"
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
    int64_t device;                /* or ALL_DEVICES */
    const struct own_rules *rules; /* for categories; NULL: none */
};

/* Reads `fd`, and closes it. `progress` may be NULL. */
bool capture_open(struct capture *capture, int fd, const struct capture_options *options,
                  const struct load_progress *progress, struct error *err);
/* The same of an input of which nothing is read yet, which it takes over. */
bool capture_open_input(struct capture *capture, struct input *input,
                        const struct capture_options *options, const struct load_progress *progress,
                        struct error *err);
/* From now on the input may take at most `limit` bytes. */
bool input_restrict(struct input *input, size_t limit, struct error *err);
/* The timeline with the highest peak; NULL where there is no device. */
const struct timeline *capture_highest(const struct capture *capture);
void capture_close(struct capture *capture);

#endif
