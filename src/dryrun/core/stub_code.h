/* The instructions of a stub, for each machine. */
#ifndef MEMSNAP_DRYRUN_CORE_STUB_CODE_H
#define MEMSNAP_DRYRUN_CORE_STUB_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define STUB_CODE_SIZE ((size_t)32) /* bytes of a stub, and its alignment */

/* True for EM_X86_64 and EM_AARCH64. */
bool stub_code_is_known(uint16_t machine);

/* Appends a stub. It loads the address of its name into the second argument, and jumps to the
 * function whose address is in the slot. The offsets are those in the file: of the stub, of the
 * name and of the slot, which must be a multiple of 8. */
void stub_code_put(uint16_t machine, size_t at, size_t name, size_t slot, struct buffer *out);

#endif
