/* The dynamic symbols of a shared object (64-bit ELF, little endian): what it needs and defines. */
#ifndef MEMSNAP_DRYRUN_CORE_ELF_H
#define MEMSNAP_DRYRUN_CORE_ELF_H

#include <stddef.h>

#include "base/error.h"

struct elf_version {
    const char *file; /* the library that must define it; NULL: defined by this object */
    const char *name; /* NULL: no such version */
};

/* Part of the file: `count` entries of `entry` bytes. */
struct elf_table {
    const unsigned char *bytes;
    size_t count, entry;
};

/* Points into the bytes of the file, which must outlive it. */
struct elf {
    const unsigned char *bytes;
    size_t size;
    uint16_t machine; /* EM_X86_64, EM_AARCH64, ... */
    struct elf_table symbols, dynamic, symbol_versions;
    const char *names, *dynamic_names; /* string tables; both end with a NUL */
    size_t names_size, dynamic_names_size;
    struct elf_version *versions; /* by index; malloc'ed */
    size_t version_count;
};

struct elf_symbol {
    const char *name;
    bool is_defined;
    bool is_weak;
    struct elf_version version;
};

/* Finds the tables and checks that they lie within the bytes. The file is not trusted: no offset in
 * it leads outside. On failure, STATUS_BAD_INPUT. */
bool elf_open(struct elf *elf, const unsigned char *bytes, size_t size, struct error *err);
void elf_close(struct elf *elf);

/* Global symbol number `index` of elf->symbols.count; false for others and for unnamed ones. */
bool elf_symbol(const struct elf *elf, size_t index, struct elf_symbol *symbol);
/* The names of the libraries it needs, one a call: `*at` begins at 0. NULL: no more. */
const char *elf_next_needed(const struct elf *elf, size_t *at);

#endif
