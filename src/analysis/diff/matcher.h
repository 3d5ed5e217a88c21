/* State while call sites are matched: the sites of both sides, in an order that depends only on
 * names and sizes. */
#ifndef MEMSNAP_ANALYSIS_DIFF_MATCHER_H
#define MEMSNAP_ANALYSIS_DIFF_MATCHER_H

#include "analysis/diff/rows.h"

struct diff_item {
    const struct diff_site *site; /* not owned */
    uint32_t side;                /* index in diff_matcher.sides */
    uint32_t index;               /* in diff_side.sites */
    uint32_t row;                 /* DIFF_NONE: not matched yet */
    string_id file;               /* the part of the path that counts in the current pass */
    string_id function;           /* its name, or that of the same function on the first side */
    bool moved; /* its function has moved lines, so its line number is not comparable */
};

struct diff_matcher {
    const struct diff_side *sides[2]; /* A and B, or B and A */
    bool swapped;                     /* B comes first */
    struct symbols *symbols;
    struct budget *budget;
    uint32_t *ranks; /* by string id: its rank in the order of all strings, so that comparing two
                        names takes constant time */
    size_t rank_capacity;
    string_id *tails; /* scratch: by file, one more than its shortened path; 0: not computed yet */
    size_t tail_capacity;
    struct diff_item *items; /* those of the first side, then those of the second, each sorted */
    size_t item_count, item_capacity;
    uint32_t row_count;
    struct diff_entry *entries; /* scratch: of items without a row */
    size_t entry_count, entry_capacity;
    struct diff_cell *cells; /* scratch of alignment */
    size_t cell_capacity;
};

/* The best alignment of the first i sites of one side with the first j of the other. */
struct diff_cell {
    unsigned __int128 cost; /* twice the bytes that change */
    uint32_t merit;         /* of its pairs */
    uint8_t move;           /* enum move of match.c: the last one */
};

/* An item with its key in the current pass. */
struct diff_entry {
    uint64_t key[3];
    uint32_t item;
};

bool diff_matcher_init(struct diff_matcher *matcher, const struct diff_side sides[2],
                       struct symbols *symbols, struct budget *budget, struct error *err);
void diff_matcher_release(struct diff_matcher *matcher);

/* Sorts matcher->entries by key, then by item. */
void diff_entries_sort(struct diff_matcher *matcher);

/* Gives every item a row, by the rules in rows.h. */
bool diff_match(struct diff_matcher *matcher, struct error *err);

/* By names, lines and categories, then by sizes. */
int diff_site_compare(const struct diff_matcher *matcher, const struct diff_site *a,
                      const struct diff_site *b);
/* By files, lines and functions of the frames, innermost first. */
int diff_stack_compare(const struct diff_matcher *matcher, stack_id a, stack_id b);

#endif
