/* Programs that PyTorch's own allocator ran, with the address and the reserved memory after every
 * call. A file has any number of them:
 *
 *     program TIE CAPACITY TOTAL ALLOWED CONF   bytes, 0: no limit; CONF as in
 * PYTORCH_CUDA_ALLOC_CONF a SLOT SIZE STREAM POOL ADDR RESERVED     malloc; ADDR is hexadecimal, or
 * - without memory q SLOT RESERVED                           a free that waits for another stream
 *     f SLOT RESERVED                           a free
 *     w                                         the other streams are done
 *     e RESERVED                                emptyCache
 *     r POOL RESERVED                           the pool's graph is gone
 *     end PEAK OOMS RETRIES */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_REPLAY_TORCH_PROGRAMS_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_REPLAY_TORCH_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

struct torch_programs {
    size_t programs, calls, differing; /* programs that the model does not reproduce */
    char first[256];                   /* the first difference */
};

/* False if the file cannot be read. */
bool torch_programs_run(const char *path, struct torch_programs *result);

#endif
