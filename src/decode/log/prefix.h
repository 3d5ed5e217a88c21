/* The prefix that a launcher puts before each line of a process's output. */
#ifndef MEMSNAP_DECODE_LOG_PREFIX_H
#define MEMSNAP_DECODE_LOG_PREFIX_H

#include <stdint.h>

#include "base/text.h"

struct log_prefix {
    size_t size;  /* bytes to skip */
    size_t end;   /* the end of the text after it: of the line, or see record.h */
    int64_t rank; /* "[rank3]:", "[default3]:", srun's "3: ", mpirun's "[1,3]<stderr>:"; or -1 */
    int64_t pid;  /* Ray's "(Worker pid=123)", or -1 */
    struct text container; /* the name in "trainer-1  | " or "[pod/trainer-0/main] ", within the
                              line; or empty */
};

struct log_prefix log_prefix_of(struct text line);

/* The rank of the last "[rank3]:" in a text, or -1: another process may have written into the line
 * of the first. */
int64_t log_prefix_last_rank(struct text text);

#endif
