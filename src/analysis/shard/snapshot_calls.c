/* How many parameters the calls of modules have. Convolutions and linear layers have a bias or not.
 */
#include "analysis/shard/snapshot_reader.h"

size_t front_tensors(enum front_kind kind, unsigned biases)
{
    switch (kind) {
    case FRONT_CONVOLUTION:
        return biases & 1 ? 2 : 1;
    case FRONT_LINEAR:
        return biases & 2 ? 2 : 1;
    case FRONT_ONE:
        return 1;
    case FRONT_TWO:
        return 2;
    case FRONT_FOUR:
        return 4;
    default:
        return 0;
    }
}

size_t front_sum(const struct front_calls *front, size_t count, unsigned *biases)
{
    size_t best = 0, best_off = SIZE_MAX;
    for (unsigned way = 0; way < 4; way++) {
        size_t sum = 0;
        for (size_t i = 0; i < front->count; i++)
            sum += front_tensors(front->calls[i].kind, way);
        size_t off = sum > count ? sum - count : count - sum;
        if (off >= best_off)
            continue;
        best = sum;
        best_off = off;
        *biases = way;
    }
    return best;
}
