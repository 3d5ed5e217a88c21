/* The origin of a live allocation: call site, operator and label. */
#ifndef MEMSNAP_ANALYSIS_LIVE_SOURCE_H
#define MEMSNAP_ANALYSIS_LIVE_SOURCE_H

#include "analysis/category/category.h"
#include "analysis/code/labels.h"

enum site_source {
    SOURCE_OWN,     /* the allocation's own stack */
    SOURCE_FORWARD, /* forward_frames: the forward call to which a backward allocation belongs */
    SOURCE_BEFORE,  /* no stack: older than the recording */
};

/* The origin of one live allocation. */
struct live_source {
    enum site_source source;
    stack_id own, shown; /* shown: the stack that names the user's code */
    struct site site;    /* of `shown`, with operator and node of `own` if it has them */
};

/* The live allocations at a moment, and the tables that tell the facts about each. Nothing is
 * owned. */
struct live_set {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct live *items;
    size_t count;
    int64_t unexplained_bytes;
};

/* Takes the items of a list, which stays the caller's. */
void live_set_take(struct live_set *set, const struct live_list *list);

enum category live_category(const struct live_set *set, const struct live *live);
/* A reason byte (reason.h). */
uint8_t live_reason(const struct live_set *set, const struct live *live);
/* True if it is older than the recording. */
bool live_is_older(const struct live_set *set, const struct live *live);
bool live_source_of(const struct live_set *set, const struct live *live, struct live_source *source,
                    struct error *err);
/* Adds the label of a source; `files` may be NULL. `brief` as in site_label_long(). */
void live_source_label(const struct live_set *set, const struct live_source *source,
                       const struct label_files *files, bool brief, struct buffer *label);
/* Makes both forms of the label. `text` is scratch. */
bool live_source_make_label(const struct live_set *set, const struct live_source *source,
                            const struct label_files *files, struct buffer *text,
                            struct label *label, struct error *err);
/* Adds the file of the source's call site, if it has one, to the files of a report. */
bool live_source_note_file(const struct live_set *set, const struct live_source *source,
                           struct label_files *files, struct error *err);

#endif
