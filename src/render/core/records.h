/* Tables for other programs: rows of named cells as CSV, JSON lines or msgpack, written
 * incrementally through one buffer.
 *
 * CSV follows RFC 4180, with a header row and CRLF. JSON lines have one object for each row,
 * with all keys in every object. msgpack has a map {"schema", "table", "columns"}, then one
 * array for each row. A cell is a whole number, a flag, text or nothing (an empty cell, null,
 * nil). Text is the same in all three formats: one line of valid UTF-8 as escape_text() makes
 * it, cut after RECORD_TEXT_MOST bytes. In CSV, a text that a spreadsheet might take for a
 * formula has an apostrophe in front. So has a text that begins with an apostrophe, so that a
 * reader can undo it. */
#ifndef MEMSNAP_RENDER_CORE_RECORDS_H
#define MEMSNAP_RENDER_CORE_RECORDS_H

#include <msgpack.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/symbols.h"
#include "render/core/fields.h"

struct record_cells;

/* The same text may occur in many rows, so without a limit a small file could produce an unbounded
 * output. */
#define RECORD_TEXT_MOST 4096

enum record_format {
    RECORDS_CSV,
    RECORDS_JSONL,
    RECORDS_MSGPACK,
    RECORDS_SINK, /* no bytes: a record_sink takes the cells */
};

/* Takes the cells of rows, each with the index of its column. Failures are kept until `row`, which
 * ends the row. */
struct record_sink {
    void (*integer)(struct record_sink *sink, size_t column, int64_t value);
    /* NULL: no value. `lasts`: the bytes stay valid until the sink is released. */
    void (*text)(struct record_sink *sink, size_t column, struct text text, bool lasts);
    bool (*row)(struct record_sink *sink, struct error *err);
};

struct record_writer {
    FILE *out;
    struct record_sink *sink; /* RECORDS_SINK */
    enum record_format format;
    const char *name;                        /* of the row type */
    const struct field *fields[FIELDS_MOST]; /* a column each */
    bool is_member[FIELDS_MOST]; /* the cell is a member of the row, and always present */
    size_t columns, column;      /* number of columns; index of the next cell */
    char *bytes;                 /* bytes not yet written to `out` */
    size_t used;
    bool no_memory;
    int write_errno; /* not 0: `out` failed */
    msgpack_packer packer;
    struct buffer cell, text;     /* scratch */
    struct record_cells *strings; /* not owned; cells of strings made so far, or NULL */
};

/* Writes the header. The columns are the keys of the row type's fields. */
bool records_begin(struct record_writer *records, FILE *out, enum record_format format,
                   const struct row_type *type, struct error *err);
/* The same for a sink, which is not owned. The columns are those of a database. */
void records_begin_sink(struct record_writer *records, struct record_sink *sink,
                        const struct row_type *type);
/* Writes the buffered bytes and releases the writer, also after a failure. */
bool records_end(struct record_writer *records, struct error *err);
void records_release(struct record_writer *records);

/* Write the cells of a row in the order of the columns, then call record_end(). False if nothing
 * more can be written. */
void record_count(struct record_writer *records, uint64_t value);
void record_integer(struct record_writer *records, int64_t value);
void record_flag(struct record_writer *records, bool value);
void record_none(struct record_writer *records);
void record_word(struct record_writer *records, const char *word); /* constant plain ASCII */
void record_text(struct record_writer *records, const char *bytes, size_t size); /* empty: none */
bool record_end(struct record_writer *records, struct error *err);

/* Converts a text to the form of its cell, which may be put into any number of rows. The result is
 * valid until the next text. An empty text is an absent value. */
struct text record_cell_of(struct record_writer *records, const char *bytes, size_t size);
/* Writes such a cell. Its bytes must stay valid until the writer is released. */
void record_cell(struct record_writer *records, struct text cell);

/* The cells of texts that have dense ids. */
struct record_cells {
    struct text *items; /* bytes NULL: not made yet */
    size_t capacity;
    struct arena arena;
};

void record_cells_init(struct record_cells *cells, struct budget *budget);
void record_cells_release(struct record_cells *cells);
/* NULL if the cell has not been made yet. */
const struct text *record_cells_find(const struct record_cells *cells, uint32_t id);
/* Makes the cell and returns a copy that stays valid; NULL on STATUS_LIMIT. */
const struct text *record_cells_make(struct record_cells *cells, struct record_writer *records,
                                     uint32_t id, const char *bytes, size_t size,
                                     struct error *err);

#endif
