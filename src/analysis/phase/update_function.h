/* Updates of weights that are a function of the program's own, such as an optimizer by hand. */
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

/* Finds the part [*begin, *stop) in which a function of the user computes with blocks of the
 * gradients' sizes and drops them, for most of the sizes and while gradients are there; whatever
 * else it makes belongs to the update. Empty if there is none. */
bool update_in_function(const struct update_search *search, uint32_t *begin, uint32_t *stop,
                        struct error *err);

#endif
