/* The output of `memsnap replay`. */
#ifndef MEMSNAP_RENDER_REPLAY_REPLAY_H
#define MEMSNAP_RENDER_REPLAY_REPLAY_H

#include "analysis/replay/replay.h"
#include "render/core/input_line.h"

struct replay_report {
    struct input_line input;
    const struct device_replay *devices; /* not owned */
    size_t device_count;
};

/* Both return false if memory ran out. */
bool replay_text(const struct page *page, const struct replay_report *report);
bool replay_json(FILE *out, const struct replay_report *report);
/* A row for each setting of each device that can be replayed. */
bool replay_csv(FILE *out, const struct replay_report *report, struct error *err);

#endif
