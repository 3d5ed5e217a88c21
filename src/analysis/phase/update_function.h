/* Finds updates of weights in a function of the program, such as a handwritten optimizer. */
#ifndef MEMSNAP_ANALYSIS_PHASE_UPDATE_FUNCTION_H
#define MEMSNAP_ANALYSIS_PHASE_UPDATE_FUNCTION_H

#include "analysis/code/site.h"
#include "model/timeline.h"

/* Plain code after a backward pass. */
struct update_search {
    const struct timeline *timeline;
    struct site_table *sites;
    uint32_t first, end;    /* its items */
    uint32_t pass;          /* the first item of the backward pass */
    uint32_t gradients_end; /* the item that frees the last gradient */
    const uint64_t *sizes;  /* of the gradients, distinct and ascending */
    size_t size_count;
    uint64_t gradient_bytes; /* of all of them */
};

/* Finds the part [*begin, *stop) in which a function of the user makes and frees blocks of the
 * gradients' sizes, for most of these sizes, while gradients are allocated. Whatever else the
 * function makes belongs to the update. The part is empty if there is none. */
bool update_in_function(const struct update_search *search, uint32_t *begin, uint32_t *stop,
                        struct error *err);

#endif
