/* The state of the decoder of memory timelines. Internal to decode/timeline. */
#ifndef MEMSNAP_DECODE_TIMELINE_INTERNAL_H
#define MEMSNAP_DECODE_TIMELINE_INTERNAL_H

#include "base/idtable.h"
#include "decode/core/rows.h"
#include "decode/json/reader.h"

#define TIMELINE_CATEGORIES 8
#define NO_PIECE            UINT32_MAX

/* A live allocation. */
struct piece {
    uint64_t addr;
    int64_t bytes;
    uint32_t before; /* the live allocation of its list that was made before it, or NO_PIECE */
};

/* Live allocations of one category: of one size, or of any if only sums are known. */
struct piece_list {
    int64_t bytes; /* 0: any */
    uint8_t category;
    uint32_t latest; /* NO_PIECE if empty */
    stack_id stack;
};

/* A row of a .raw.json file. */
struct timeline_change {
    int64_t time_ns; /* negative: before the profile */
    int64_t bytes;
    uint8_t action, category;
};

enum { CHANGE_PREEXISTING = 1, CHANGE_CREATE, CHANGE_INCREMENT_VERSION, CHANGE_DESTROY };

struct timeline_decoder {
    struct json_reader reader;
    struct symbols *symbols;
    const struct row_sink *sink;
    struct budget *budget;
    struct profile_facts facts;
    string_id categories[TIMELINE_CATEGORIES];
    struct piece *pieces; /* live ones, and those of the list of spare ones */
    size_t piece_count, piece_capacity;
    uint32_t spare; /* first of a list by `before`, or NO_PIECE */
    struct piece_list *lists;
    size_t list_count, list_capacity;
    struct idtable list_index;
    uint64_t next_addr;
    int64_t first_time_us;         /* TIME_NONE until it is known */
    struct timeline_change *older; /* rows from before the profile, until the first time is known */
    size_t older_count, older_capacity;
    bool has_held; /* the last row is the first of the two for a tensor's new version */
    struct timeline_change held; /* that row, until the second one tells whether anything changes */
    int64_t *times_us;           /* the times of a file of sums */
    size_t time_count, time_capacity;
    int64_t sums[TIMELINE_CATEGORIES];
    struct error *err;
};

/* pieces.c: the list of a category and size; size 0 is the list of the category's sum. */
bool timeline_list(struct timeline_decoder *decoder, uint8_t category, int64_t bytes,
                   uint32_t *list);
/* Allocates in a list, and hands out the row. */
bool timeline_grow(struct timeline_decoder *decoder, uint32_t list, int64_t time_us, int64_t bytes);
/* Frees the latest of a list that is not empty. */
bool timeline_shrink(struct timeline_decoder *decoder, uint32_t list, int64_t time_us);
/* Frees memory that the file does not show as allocated: it counts as older than the file. */
bool timeline_shrink_unknown(struct timeline_decoder *decoder, uint32_t list, int64_t time_us,
                             int64_t bytes);

/* raw.c */
bool timeline_raw_row(struct timeline_decoder *decoder, const int64_t numbers[4], uint64_t offset);
bool timeline_raw_end(struct timeline_decoder *decoder);

/* sums.c: reads the second array of the file; times_us is complete. */
bool timeline_read_sums(struct timeline_decoder *decoder);

/* number.c: reads one item of a list of numbers. */
bool timeline_number(struct timeline_decoder *decoder, const char *what, int64_t *number);

#endif
