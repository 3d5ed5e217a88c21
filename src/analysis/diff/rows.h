/* Which call sites of two sides are the same.
 *
 * In this order, each for what is left over by those before it:
 *   1. The same line: file, function and line, whichever callers led there. Where a function has,
 *      in each capture, lines that the other lacks, its code was moved: then its sites are aligned
 *      in the order of their lines such that the fewest bytes change.
 *   2. The same with only the last three, two and one parts of the file's path: another checkout.
 *   3. The same function: whatever is left of it on both sides becomes one row.
 * Within each step the same operator and category come first, then the same operator, then the same
 * category, then neither. What has no stack is matched by category alone.
 *
 * The result does not depend on which side is A: the sides are put in an order of their own by what
 * they hold, matched, and turned back. */
#ifndef MEMSNAP_ANALYSIS_DIFF_ROWS_H
#define MEMSNAP_ANALYSIS_DIFF_ROWS_H

#include "analysis/diff/side.h"

#define DIFF_NONE UINT32_MAX

enum diff_matched {
    DIFF_BY_NOTHING,  /* one side has it alone */
    DIFF_BY_STACK,    /* a stack of it is the same in both, line numbers aside */
    DIFF_BY_FUNCTION, /* the call site is the same, or only its function is */
};

struct diff_row {
    int64_t bytes[2]; /* of side A, of side B; so are the following */
    uint64_t count[2];
    uint32_t sites[2]; /* how many of its call sites are in it */
    uint32_t top[2];   /* the largest of them; DIFF_NONE without */
    enum diff_matched matched;
    stack_id stack; /* the one that changed most, as the side that has it recorded it */
};

struct diff_rows {
    struct diff_row *items; /* the largest change first; those without a change last */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* `sides` were made with `symbols`, to which shortened paths are added. */
bool diff_rows_make(struct diff_rows *rows, const struct diff_side sides[2],
                    struct symbols *symbols, struct budget *budget, struct error *err);
void diff_rows_release(struct diff_rows *rows);

#endif
