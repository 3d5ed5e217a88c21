/* The test cases of the dryrun room, one a file, and an ELF file made up for them. */
#ifndef MEMSNAP_TESTS_UNIT_DRYRUN_DRYRUN_H
#define MEMSNAP_TESTS_UNIT_DRYRUN_DRYRUN_H

#include "unit/unit.h"

TCase *answers_tests(void);
TCase *cards_tests(void);
TCase *elf_tests(void);
TCase *needs_tests(void);
TCase *space_tests(void);
TCase *stub_library_tests(void);

#define MADE_MOST 2048

/* A shared object that needs libcudart.so.12 and libm.so.6. It wants cudaMalloc of version
 * libcudart.so.12, ncclSend and printf without a version, weakly cudaMaybe, and defines cudaOwn and
 * f of version LIBF_1. Returns its size. */
size_t elf_make(unsigned char bytes[MADE_MOST]);

#endif
