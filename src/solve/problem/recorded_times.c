#include "solve/problem/recorded.h"

/* The times of a row less those of operators in it. */
static struct row_time time_of(const struct problem *problem, const struct layer_row *row,
                               const struct row_time *less)
{
    struct row_time time = {(double)row->saved_activations, 0};
    if (problem->timed)
        time = (struct row_time){row->forward_us * NANOSECONDS, row->tail_us * NANOSECONDS};
    time.tail = time.tail < time.all ? time.tail : time.all;
    if (less) {
        time.all = time.all > less->all ? time.all - less->all : 0;
        time.tail = time.tail > less->tail ? time.tail - less->tail : 0;
        time.tail = time.tail < time.all ? time.tail : time.all;
    }
    return time;
}

double recorded_times(const struct problem *problem, const struct layer_trace *trace,
                      const struct row_time *operators, int64_t *forward, int64_t *tail)
{
    double done = 0, rest = 0;
    for (size_t i = 0; i < problem->chain.layers; i++) {
        const struct piece *piece = &problem->pieces[i];
        double sum = 0;
        for (size_t k = piece->first_row; k < piece->end_row; k++) {
            const struct layer_row *row = problem->rows[k];
            struct row_time time =
                time_of(problem, row, operators ? &operators[row - trace->rows] : NULL);
            sum += time.all;
            rest = layer_has(row, LAYER_TAIL_US) ? time.tail : rest + time.all;
        }
        if (done + sum >= (double)CHAIN_MOST)
            return done + sum;
        forward[i] = (int64_t)(done + sum + 0.5) - (int64_t)(done + 0.5);
        tail[i] = (int64_t)(rest + 0.5);
        done += sum;
    }
    return done;
}
