/* The end of a program's output, which is read to the end but not kept whole. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_TAIL_H
#define MEMSNAP_COMMANDS_DRYRUN_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#define TAIL_SIZE 4096

struct tail {
    char bytes[TAIL_SIZE];
    size_t size; /* bytes kept, the newest last */
};

void tail_add(struct tail *tail, const char *bytes, size_t size);
/* The last line that is not blank; "" if there is none. Control characters become spaces. */
void tail_last_line(const struct tail *tail, char *out, size_t size);
/* The start of the last `lines` lines, within what is kept. */
size_t tail_start(const struct tail *tail, size_t lines);

#endif
