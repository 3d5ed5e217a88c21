/* Results that a loop gathers by concatenation, such as the logits of an evaluation:
 * all = torch.cat((all, more)). Each concatenation needs the old and the new tensor at once.
 *
 * One stack makes a larger tensor while the one that it made before is live, and the old one is
 * freed before the next is made, at least CONCATENATED_LEAST times in a row. An increment is at
 * most as large as the old tensor. Caches of keys and values, which grow in the same way, do not
 * count, nor what a module makes or a backward pass frees. Needs Python frames. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_CONCATENATED_H
#define MEMSNAP_ANALYSIS_FINDINGS_CONCATENATED_H

#include "analysis/live/source.h"
#include "analysis/phase/phases.h"

#define CONCATENATED_LEAST 3 /* tensors, each of which replaces the one before */

struct concatenated {
    uint8_t *is_concatenated; /* a flag for each lifetime; NULL if there are none */
    size_t capacity;
    /* How much lower the active peak would be without all of them, and without the tensors that
     * wait to be concatenated. */
    int64_t save_bytes;
    struct budget *budget; /* not owned */
};

/* `set` names the timeline, the sites and the categories. */
bool concatenated_find(struct concatenated *concatenated, const struct live_set *set,
                       const struct phases *phases, struct error *err);
void concatenated_release(struct concatenated *concatenated);

#endif
