/* Cached facts about files, frames and stacks. Only the files of call sites include this. */
#ifndef MEMSNAP_ANALYSIS_CODE_SITE_TABLE_H
#define MEMSNAP_ANALYSIS_CODE_SITE_TABLE_H

#include "analysis/code/paths.h"
#include "analysis/code/site.h"

/* Cached facts about a frame, independent of the stack it is in. */
struct frame_facts {
    bool is_known;
    bool is_top_level; /* of a script: "<module>" */
    bool is_wrapper;   /* frame_wraps_allocation() */
    bool is_torch;     /* Python of torch */
    bool is_of_module; /* FRAME_USER: computes for a module that is called, in some stack */
    bool is_package;   /* FRAME_USER: Python of another installed package */
    uint8_t own;       /* category by the user's own rules, or OWN_RULES_NONE */
    uint8_t kind;      /* enum frame_kind */
    uint8_t role;      /* enum frame_role of a Python frame, enum native_role of another */
    uint8_t function;  /* enum torch_function */
    string_id name;    /* of an operator or node; filled on demand */
};

#define MOST_LEFT 4

/* The caches grow with the symbols by a fixed number of bytes per id, so the symbols' own budget
 * bounds them. */
struct site_table {
    struct symbols *symbols;
    const struct own_rules *rules; /* not owned; NULL: none */
    struct file_facts *files;      /* by string */
    struct frame_facts *frames;
    struct stack_facts *stacks;
    size_t file_count, frame_count, stack_count;
    struct stacks_include include; /* of stacks below `included` */
    stack_id included;
    struct {
        string_id file, name;
    } left[MOST_LEFT]; /* functions whose callers are the call sites: site_table_leave() */
    size_t left_count;
};

/* Grows a cache to `need` items; new ones are zero. False when out of memory. */
bool site_cache_cover(void *cache, size_t *count, size_t need, size_t item);

/* The cached facts, or `*spare` with computed ones if the cache cannot grow. */
struct frame_facts *site_frame_facts(struct site_table *table, frame_id id,
                                     struct frame_facts *spare);

/* stack_reader.c: reads the frames of a stack. */
bool stack_facts_compute(struct site_table *table, stack_id id, struct stack_facts *facts,
                         struct error *err);

#endif
