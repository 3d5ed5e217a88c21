/* Small shared objects that answer functions of NVIDIA's libraries. */
#ifndef MEMSNAP_DRYRUN_CORE_STUB_LIBRARY_H
#define MEMSNAP_DRYRUN_CORE_STUB_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct stub {
    const char *name;
    const char *version; /* NULL: none */
};

struct stub_library {
    uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
    const char *soname;
    const char *needed;  /* the library that defines `handler` */
    const char *handler; /* int handler(void *first, const char *name) */
    const struct stub *stubs;
    size_t stub_count;
    const char *const *versions; /* all that the library defines */
    size_t version_count;        /* less than 32,000 */
};

/* Appends the file to `out`. Each stub calls the handler with its own first argument and its name,
 * and returns what the handler returns. False if there is no code for the machine. If memory runs
 * out, out->failed is set. */
bool stub_library_write(const struct stub_library *library, struct buffer *out);

#endif
