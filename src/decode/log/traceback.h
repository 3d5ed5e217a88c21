/* The traceback above an error, as Python, Rich and IPython print it. */
#ifndef MEMSNAP_DECODE_LOG_TRACEBACK_H
#define MEMSNAP_DECODE_LOG_TRACEBACK_H

#include "base/symbols.h"

#define TRACEBACK_FRAMES 64 /* the innermost ones are kept */
#define TRACEBACK_FILE   256
#define TRACEBACK_NAME   96
#define TRACEBACK_LEAD   160

struct traceback_frame {
    char file[TRACEBACK_FILE]; /* the end of a longer path */
    char name[TRACEBACK_NAME];
    uint32_t line; /* 0: not known yet */
};

struct traceback {
    struct traceback_frame frames[TRACEBACK_FRAMES]; /* a ring, outermost first */
    size_t count;              /* of all frames, including those that the ring has lost */
    unsigned foreign;          /* lines since the last frame that may be another process's */
    char lead[TRACEBACK_LEAD]; /* what a logger wrote before the last frame: see strip_lead() */
    size_t lead_size;
};

/* True if a line without its prefix may change a traceback that has no frames. Fast. */
bool traceback_may_begin(struct text line);
/* Takes in a line, before which a logger may have written anything. A line that ends the traceback,
 * such as another exception, clears it. */
void traceback_take(struct traceback *traceback, struct text line);
void traceback_clear(struct traceback *traceback);
/* The stack, innermost frame first; STACK_NONE if there are no frames. */
bool traceback_stack(const struct traceback *traceback, struct symbols *symbols, stack_id *stack,
                     struct error *err);

#endif
