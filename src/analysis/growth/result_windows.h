/* Windows of results: the program keeps the last N of them, as in collections.deque(maxlen=N).
 *
 * The results of a piece of code are in a window if each is freed while others that the same code
 * made later stay, the oldest first, three or more steps after it was made (steps.h), and if as
 * many are left each time, twice as many as are freed or more. Only results that outlive their step
 * and that no backward pass frees count. What is freed together with all the others, as when the
 * program clears the window, neither shows a window nor speaks against one. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_RESULT_WINDOWS_H
#define MEMSNAP_ANALYSIS_GROWTH_RESULT_WINDOWS_H

#include "analysis/category/category.h"
#include "analysis/phase/steps.h"

struct result_windows {
    uint8_t *is_window; /* by stack: its results are in a window; NULL: none are */
    size_t capacity;
    struct budget *budget; /* not owned */
};

bool result_windows_find(struct result_windows *windows, const struct timeline *timeline,
                         const struct categories *categories, const struct phases *phases,
                         const struct steps *steps, struct error *err);
void result_windows_release(struct result_windows *windows);

/* True if a lifetime is made by such code. */
bool result_windows_have(const struct result_windows *windows, const struct timeline *timeline,
                         size_t lifetime);

#endif
