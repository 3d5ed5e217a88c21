/* The call sites of two captures, matched.
 *
 * Matching takes these steps in order, each for the call sites that the earlier ones left over:
 *   1. By line: the same file, function and line, with any callers. If each capture has lines of a
 *      function that the other lacks, the code has moved. Then the call sites of the function are
 *      aligned in the order of their lines, so that the fewest bytes change.
 *   2. The same with only the last three, two and one components of the file's path, as for another
 *      checkout.
 *   3. By function: the remaining call sites of a function on both sides become one row.
 *   4. Steps 1 and 3 again, taking for one file the only file of each capture that has no call site
 *      in common with the other; then the same for functions of a file that allocate alike.
 * Each step first requires the same operator and category, then the same operator, then the same
 * category, then neither, if the bytes are similar. Allocations without a stack are matched by
 * category alone.
 *
 * The result does not depend on which capture is A: the sides are sorted by content before they are
 * matched. */
#ifndef MEMSNAP_ANALYSIS_DIFF_ROWS_H
#define MEMSNAP_ANALYSIS_DIFF_ROWS_H

#include "analysis/diff/side.h"

#define DIFF_NONE UINT32_MAX

enum diff_matched {
    DIFF_BY_NOTHING,  /* only one side has it */
    DIFF_BY_STACK,    /* both sides share one of its stacks, ignoring line numbers */
    DIFF_BY_FUNCTION, /* the same call site, or only the same function */
};

struct diff_row {
    int64_t bytes[2]; /* of side A and side B, as in the following arrays */
    uint64_t count[2];
    uint32_t sites[2]; /* number of call sites */
    uint32_t top[2];   /* the largest of them, in diff_side.sites; DIFF_NONE: none */
    enum diff_matched matched;
    stack_id stack; /* the one that changed most, as recorded in B, or in A if B lacks it */
};

struct diff_rows {
    struct diff_row *items; /* the largest change first; rows without a change last */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* `symbols` are those of both sides; shortened paths are added to them. */
bool diff_rows_make(struct diff_rows *rows, const struct diff_side sides[2],
                    struct symbols *symbols, struct budget *budget, struct error *err);
void diff_rows_release(struct diff_rows *rows);

#endif
