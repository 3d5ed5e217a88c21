/* The symbols of NVIDIA's libraries that a set of shared objects needs. */
#ifndef MEMSNAP_DRYRUN_CORE_NEEDS_H
#define MEMSNAP_DRYRUN_CORE_NEEDS_H

#include "dryrun/core/elf.h"
#include "dryrun/core/stub_library.h"

/* A library to stand in for. */
struct needed_library {
    char *soname;
    struct stub *stubs; /* their texts are malloc'ed */
    size_t stub_count;
    char **versions;
    size_t version_count;
};

struct needs {
    uint16_t machine;
    struct needed_library *libraries;
    size_t count;
    char **defined; /* functions of NVIDIA's names that some object defines itself, sorted */
    size_t defined_count;
};

/* The library for functions whose library is not known, for lack of symbol versions. */
#define NEEDS_REST "libmemsnap-rest.so"

/* True for names like libcudart.so.13. */
bool needs_is_library(const char *soname);
/* True for names like cudaMalloc. */
bool needs_is_function(const char *name);

/* Adds a library with no functions, if it is not there. */
bool needs_add_library(struct needs *needs, const char *soname, struct error *err);
/* Adds the libraries, versions and functions that the object needs, each only once. */
bool needs_add(struct needs *needs, const struct elf *elf, struct error *err);
/* Adds the functions of the driver's whose names stand in the object as texts, if its library's
 * name does, too: PyTorch 2.7 loads the driver's library, looks up all functions that any of its
 * parts may call, and ends if one is missing. */
bool needs_add_named(struct needs *needs, const char *soname, const char *bytes, size_t size,
                     struct error *err);
/* Removes the functions that the objects define themselves, and those for which is_implemented() is
 * true. */
void needs_finish(struct needs *needs, bool (*is_implemented)(const char *function));
void needs_release(struct needs *needs);

#endif
