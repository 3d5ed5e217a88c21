/* Labels of call sites. Files of the same base name are told apart by as many parent folders as
 * needed: "a/model.py:39 forward" and "b/model.py:39 forward". At most LABEL_NAME_MOST bytes of a
 * name are shown, since any number of labels may repeat a long one. */
#ifndef MEMSNAP_ANALYSIS_CODE_LABELS_H
#define MEMSNAP_ANALYSIS_CODE_LABELS_H

#include "base/buffer.h"
#include "base/symbols.h"

#define LABEL_NAME_MOST ((size_t)400)

/* Two forms of a label: raw bytes, NUL-terminated, in which a NUL byte of a name is "\x00". They
 * are constants or stored in the report's symbols, which own them. */
struct label {
    const char *full;
    const char *brief; /* for tables: the remark in parentheses is shorter */
};

/* Adds bytes of a name. A NUL byte becomes "\x00", as on a terminal, because it would end the label
 * for the code that prints or compares it. */
void label_add_bytes(struct buffer *text, struct text shown);
/* Adds a name; a long one is cut and ends in "...". */
void label_add_name(struct buffer *text, struct text name);
/* Adds the last `size` bytes of a file's name; if they exceed LABEL_NAME_MOST, "..." and
 * their end. */
void label_add_file(struct buffer *text, struct text file, size_t size);
/* Stores the text in `symbols`, sets `*kept` to it, and clears `text`, also on failure.
 * STATUS_LIMIT if memory runs out, or ran out while `text` was composed. */
bool label_keep(struct symbols *symbols, struct buffer *text, const char **kept, struct error *err);

/* The files of one report's labels. */
struct label_files {
    const struct symbols *symbols; /* not owned */
    struct label_file *files;
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

void label_files_init(struct label_files *files, const struct symbols *symbols,
                      struct budget *budget);
void label_files_release(struct label_files *files);
bool label_files_add(struct label_files *files, string_id file, struct error *err);
/* Finds how much of each name to show. To be called once, after all files were added. */
void label_files_settle(struct label_files *files);
/* Number of bytes at the end of an added file's name to show. */
size_t label_files_size(const struct label_files *files, string_id file);

#endif
