/* What matching call sites works on: all sites of both sides, in an order that names and sizes
 * alone decide. */
#ifndef MEMSNAP_ANALYSIS_DIFF_MATCHER_H
#define MEMSNAP_ANALYSIS_DIFF_MATCHER_H

#include "analysis/diff/rows.h"

struct diff_item {
    const struct diff_site *site; /* not owned */
    uint32_t side;                /* 0: the side that comes first, be it A or B */
    uint32_t index;               /* in diff_side.sites */
    uint32_t row;                 /* DIFF_NONE: not matched yet */
    string_id file;               /* of the path, as much as counts now */
    bool moved; /* in a function whose lines were moved: its line says nothing any more */
};

struct diff_matcher {
    const struct diff_side *sides[2]; /* the first, the second */
    bool swapped;                     /* the first is B */
    struct symbols *symbols;
    struct budget *budget;
    uint32_t *ranks; /* by string id: its place among all strings in order, so that comparing two
                        takes no longer for long names */
    size_t rank_capacity;
    string_id *tails; /* scratch: by file, one more than its shortened path; 0: not made yet */
    size_t tail_capacity;
    struct diff_item *items; /* those of the first side, then those of the second, each sorted */
    size_t item_count, item_capacity;
    uint32_t row_count;
    struct diff_entry *entries; /* scratch: of items without a row */
    size_t entry_count, entry_capacity;
    struct diff_cell *cells; /* scratch of alignment */
    size_t cell_capacity;
};

/* The best alignment of the first i sites with the first j of the other side. */
struct diff_cell {
    unsigned __int128 cost; /* twice the bytes that change */
    uint32_t pairs;
    uint8_t move; /* enum move of match.c: the last one */
};

/* An item with what it is told apart by in one pass. */
struct diff_entry {
    uint64_t key[3];
    uint32_t item;
};

bool diff_matcher_init(struct diff_matcher *matcher, const struct diff_side sides[2],
                       struct symbols *symbols, struct budget *budget, struct error *err);
void diff_matcher_release(struct diff_matcher *matcher);

/* Sorts matcher->entries by key, then by item. */
void diff_entries_sort(struct diff_matcher *matcher);

/* Gives every item a row: diff_match.h says how. */
bool diff_match(struct diff_matcher *matcher, struct error *err);

/* By names, lines and categories, then by sizes. */
int diff_site_compare(const struct diff_matcher *matcher, const struct diff_site *a,
                      const struct diff_site *b);
/* By files, lines and functions of the frames, innermost first. */
int diff_stack_compare(const struct diff_matcher *matcher, stack_id a, stack_id b);

#endif
