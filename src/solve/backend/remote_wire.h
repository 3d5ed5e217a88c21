/* The messages of remote.h, between two processes of the same program. */
#ifndef MEMSNAP_SOLVE_BACKEND_REMOTE_WIRE_H
#define MEMSNAP_SOLVE_BACKEND_REMOTE_WIRE_H

#include "solve/backend/backend.h"

#define REMOTE_MOST_PROBLEMS 65536

enum remote_question { REMOTE_AVAILABLE, REMOTE_SOLVE };

/* REMOTE_SOLVE is followed, for each problem, by a remote_problem, and that by the problem's arrays
 * in the order of struct cost_problem. */
struct remote_request {
    enum remote_question question;
    char device[16]; /* backend.name */
    size_t count;    /* number of problems */
    size_t limit;    /* bytes that solving may take */
};

struct remote_problem {
    int32_t layers, slots;
};

/* The answer to REMOTE_AVAILABLE is a struct backend_place. The answer to REMOTE_SOLVE is a
 * remote_answer; if it is ok, the cells of each table in COST_ROWS follow. */
struct remote_answer {
    bool ok;
    struct error err; /* set if not ok */
};

/* Transfer exactly `size` bytes. False: the other end has closed the connection. */
bool remote_read(int from, void *data, size_t size);
bool remote_write(int to, const void *data, size_t size);

#endif
