/* Classifies source files by the owner of the code, from the file's name.
 *
 * Captures come from any platform: both '/' and '\' separate folders, C++ frames have "??", "" or a
 * bare "Foo.cpp", and generated Python has pseudo names such as <string>. */
#ifndef MEMSNAP_ANALYSIS_CODE_PATHS_H
#define MEMSNAP_ANALYSIS_CODE_PATHS_H

#include <stdbool.h>

#include "base/symbols.h"

enum file_class {
    FILE_UNSEEN,  /* not classified yet; never returned */
    FILE_NATIVE,  /* not Python */
    FILE_USER,    /* Python code under study, installed libraries included */
    FILE_TORCH,   /* Python of the torch package */
    FILE_LIBRARY, /* Python that only forwards calls: the interpreter's own, wrappers, generated
                     code */
};

struct file_facts {
    enum file_class class;
    uint16_t module; /* torch and installed packages: offset of the path inside site-packages or
                        torch */
};

struct file_facts path_classify(struct text file);

/* The part after the last folder separator. */
struct text path_base(struct text file);
/* True if the name of a frame's function, or of its file, contains one of the words. */
bool path_frame_is_named(const struct symbols *symbols, frame_id id, const char *const *words,
                         size_t count);

#endif
