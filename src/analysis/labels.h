/* Labels that tell files of the same base name apart: "a/model.py:39 forward" and
 * "b/model.py:39 forward", with as many parent folders as it takes. */
#ifndef MEMSNAP_ANALYSIS_LABELS_H
#define MEMSNAP_ANALYSIS_LABELS_H

#include "base/symbols.h"

/* Raw bytes, NUL-terminated, malloc'ed. */
struct label {
    char *full;
    char *brief; /* for a table: its remark in parentheses is shorter */
};

void label_release(struct label *label);

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
/* Once all are added. */
void label_files_settle(struct label_files *files);
/* How many of the last bytes of an added file's name to show. */
size_t label_files_size(const struct label_files *files, string_id file);

#endif
