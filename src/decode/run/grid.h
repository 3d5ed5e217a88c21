/* The rows of the tables of FSDP memory, and tables that are drawn with lines of "=". Files of this
 * folder only. */
#ifndef MEMSNAP_DECODE_RUN_GRID_H
#define MEMSNAP_DECODE_RUN_GRID_H

#include "decode/run/tables.h"
#include "decode/run/words.h"

#define COLUMNS_MOST  (RUN_KINDS + 2)
#define COLUMN_STATE  (RUN_KINDS)
#define COLUMN_DEVICE (RUN_KINDS + 1)

enum place {
    PLACE_OUTSIDE,
    PLACE_HEAD, /* the titles of a table are next */
    PLACE_RULE, /* the line below the titles is next */
    PLACE_BODY,
    PLACE_LIST, /* below "Device: cuda:0" */
};

struct tables_reader {
    struct symbols *symbols;
    const struct run_tables_sink *sink;
    enum place place;
    uint64_t line, begin; /* of the current line, and of the table or list */
    bool has_heading;     /* MemProfiler's own: then every line must be known */
    bool at_rule;         /* the last line was a rule of dashes */
    string_id module;
    bool in_module;
    enum run_state state;
    uint32_t call;
    size_t starts[COLUMNS_MOST], column_count; /* where the columns begin */
    unsigned columns[COLUMNS_MOST];            /* an enum run_kind, COLUMN_STATE or COLUMN_DEVICE */
    int64_t unit;                              /* of the table; 0: no size was read yet */
    struct run_table_row row;
    struct error *err;
};

/* STATUS_BAD_INPUT with the number of the line; returns false, as all functions below do then. */
bool tables_bad(const struct tables_reader *in, const char *expected, struct text found);
/* Removes the prefix from the text. False if the text does not begin with it. */
bool tables_skip(struct text *text, const char *prefix);
/* Parses the number of a call: "# 1" after a state, or alone. */
bool tables_parse_call(struct text text, uint32_t *call);

void tables_begin_row(struct tables_reader *in);
bool tables_take_size(struct tables_reader *in, enum run_kind kind, struct text text);
bool tables_take_device(struct tables_reader *in, struct text text);
/* Hands the row to the sink. STATUS_BAD_INPUT if it has no total. */
bool tables_finish_row(struct tables_reader *in);

/* True for a line such as "===== ===". */
bool tables_is_border(struct text text);
/* Begins a table at its first line, which shows where its columns are. */
bool tables_begin(struct tables_reader *in, struct text line);
/* A later line of it; the last one ends it. */
bool tables_take_line(struct tables_reader *in, struct text line);

#endif
