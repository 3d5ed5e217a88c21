/* Summaries of captures in memory, as gather() collects them. */
#ifndef MEMSNAP_COMMANDS_SUMMARY_GATHERED_H
#define MEMSNAP_COMMANDS_SUMMARY_GATHERED_H

#include "model/summary_reduce.h"

/* One capture. */
struct gathered {
    struct summary *summary;
    char *bin; /* its form in a file of summaries, malloc'ed; NULL unless asked for */
    size_t bin_size;
};

struct gathered_list {
    struct gathered *items;
    size_t count, capacity;
};

/* Which parts of a summary to keep. */
struct gathered_parts {
    bool curves;
    size_t columns;              /* the most columns of curves; 0: as many as they have */
    struct summary_texts *texts; /* not NULL: reduced, with these texts (model/summary_reduce.h) */
    bool bins; /* keep the form in a file and, of the summary itself, only its rank and path */
};

/* Adds a summary, which it takes over, also on failure. `bin` has no bytes if the summary did not
 * come from a file. */
bool gathered_take(struct gathered_list *list, struct summary *summary, struct text bin,
                   struct gathered_parts parts, struct error *err);
/* Takes over the item, also on failure. */
bool gathered_add(struct gathered_list *list, struct gathered item, struct error *err);
/* Makes the bin of an item that has none. */
bool gathered_pack(struct gathered *item, struct error *err);
void gathered_release(struct gathered_list *list);

#endif
