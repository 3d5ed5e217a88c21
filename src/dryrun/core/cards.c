#include "dryrun/core/cards.h"

#include <stddef.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define KIB 1024

/* From NVIDIA's data sheets and the CUDA programming guide (compute capabilities). The totals are
 * those in OutOfMemoryError messages of PyTorch users. */
const struct card cards[] = {
    {"h100", "NVIDIA H100 80GB HBM3", 85520809984, 9, 0, 132, 2048, 228 * KIB, 227 * KIB,
     50 * KIB *KIB, 5120, 1980000, 2619000},
    {"h200", "NVIDIA H200", 143166 * MIB, 9, 0, 132, 2048, 228 * KIB, 227 * KIB, 50 * KIB *KIB,
     6016, 1980000, 3201000},
    {"a100", "NVIDIA A100-SXM4-80GB", 85095874560, 8, 0, 108, 2048, 164 * KIB, 163 * KIB,
     40 * KIB *KIB, 5120, 1410000, 1593000},
    {"a100-40", "NVIDIA A100-SXM4-40GB", 42406903808, 8, 0, 108, 2048, 164 * KIB, 163 * KIB,
     40 * KIB *KIB, 5120, 1410000, 1215000},
    {"l40s", "NVIDIA L40S", 45466 * MIB, 8, 9, 142, 1536, 100 * KIB, 99 * KIB, 96 * KIB *KIB, 384,
     2520000, 9001000},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 25393692672, 8, 9, 128, 1536, 100 * KIB, 99 * KIB,
     72 * KIB *KIB, 384, 2520000, 10501000},
    {"t4", "Tesla T4", 15642329088, 7, 5, 40, 1024, 64 * KIB, 64 * KIB, 4 * KIB *KIB, 256, 1590000,
     5001000},
    {NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

const struct card *card_find(const char *name)
{
    for (const struct card *card = cards; card->name; card++)
        if (strcmp(card->name, name) == 0)
            return card;
    return NULL;
}
