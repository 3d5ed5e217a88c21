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
    size_t count;    /* of problems */
    size_t limit;    /* bytes that solving may take */
};

struct remote_problem {
    int32_t layers, slots;
};

/* A struct backend_place answers REMOTE_AVAILABLE; a remote_answer REMOTE_SOLVE, and where it is ok
 * the cells of each table in COST_ROWS follow. */
struct remote_answer {
    bool ok;
    struct error err; /* if not */
};

/* Transfer all `size` bytes. False: the other end is gone. */
bool remote_read(int from, void *data, size_t size);
bool remote_write(int to, const void *data, size_t size);

#endif
