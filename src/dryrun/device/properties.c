/* Properties of devices. */
#include <stdio.h>
#include <string.h>

#include "dryrun/device/state.h"

/* Offsets in struct cudaDeviceProp. They are those that offsetof() gives with cuda_runtime_api.h of
 * CUDA 11.8.89, of 12.1.105 and 12.8.90 (which agree), and of 13.5.37. An offset of 0 means that
 * the structure has no such field, or that it is the name. */
struct layout {
    unsigned short size, uuid, memory, shared, registers, warp, pitch, block, block_dim, grid_dim,
        constant, major, minor, texture_alignment, texture_pitch, multiprocessors, map_host,
        concurrent, bus_id, engines, unified, bus_width, l2, l2_persisting, threads, priorities,
        global_l1, local_l1, shared_all, registers_all, managed, managed_concurrent, cooperative,
        shared_optin, blocks, shared_reserved, pools, clock, memory_clock;
};

#define LAYOUT_COMMON                                                                              \
    .uuid = 256, .memory = 288, .shared = 296, .registers = 304, .warp = 308, .pitch = 312,        \
    .block = 320, .block_dim = 324, .grid_dim = 336, .constant = 352, .major = 360, .minor = 364,  \
    .texture_alignment = 368, .texture_pitch = 376
#define LAYOUT_UNTIL_12                                                                            \
    LAYOUT_COMMON, .multiprocessors = 388, .map_host = 400, .concurrent = 576, .bus_id = 584,      \
                   .engines = 600, .unified = 604, .bus_width = 612, .l2 = 616,                    \
                   .l2_persisting = 620, .threads = 624, .priorities = 628, .global_l1 = 632,      \
                   .local_l1 = 636, .shared_all = 640, .registers_all = 648, .managed = 652,       \
                   .managed_concurrent = 676, .cooperative = 688, .shared_optin = 696,             \
                   .blocks = 712, .shared_reserved = 720, .clock = 348, .memory_clock = 608

static const struct layout layout_11 = {.size = 728, LAYOUT_UNTIL_12};
static const struct layout layout_12 = {.size = 1032, LAYOUT_UNTIL_12, .pools = 744};
static const struct layout layout_13 = {
    .size = 1008,
    LAYOUT_COMMON,
    .multiprocessors = 384,
    .map_host = 392,
    .concurrent = 560,
    .bus_id = 568,
    .engines = 584,
    .unified = 588,
    .bus_width = 592,
    .l2 = 596,
    .l2_persisting = 600,
    .threads = 604,
    .priorities = 608,
    .global_l1 = 612,
    .local_l1 = 616,
    .shared_all = 624,
    .registers_all = 632,
    .managed = 636,
    .managed_concurrent = 656,
    .cooperative = 668,
    .shared_optin = 672,
    .blocks = 688,
    .shared_reserved = 696,
    .pools = 720,
};

static void put_int(unsigned char *out, unsigned short at, int value)
{
    if (at > 0)
        memcpy(out + at, &value, sizeof(value));
}

static void put_size(unsigned char *out, unsigned short at, uint64_t value)
{
    memcpy(out + at, &value, sizeof(value));
}

static void put_sizes(unsigned char *out, const struct layout *layout)
{
    const struct card *card = &machine.card;
    put_size(out, layout->memory, card->bytes);
    put_size(out, layout->shared, 48 * 1024);
    put_size(out, layout->pitch, INT32_MAX);
    put_size(out, layout->constant, 64 * 1024);
    put_size(out, layout->texture_alignment, 512);
    put_size(out, layout->texture_pitch, 32);
    put_size(out, layout->shared_all, (uint64_t)card->shared);
    put_size(out, layout->shared_optin, (uint64_t)card->shared_optin);
    put_size(out, layout->shared_reserved, card->major >= 8 ? 1024 : 0);
}

static void put_limits(unsigned char *out, const struct layout *layout)
{
    const struct card *card = &machine.card;
    const int block[3] = {1024, 1024, 64}, grid[3] = {INT32_MAX, 65535, 65535};
    memcpy(out + layout->block_dim, block, sizeof(block));
    memcpy(out + layout->grid_dim, grid, sizeof(grid));
    put_int(out, layout->registers, 65536);
    put_int(out, layout->warp, 32);
    put_int(out, layout->block, 1024);
    put_int(out, layout->major, card->major);
    put_int(out, layout->minor, card->minor);
    put_int(out, layout->multiprocessors, card->multiprocessors);
    put_int(out, layout->threads, card->threads);
    put_int(out, layout->registers_all, 65536);
    put_int(out, layout->blocks, card->threads / 64);
    put_int(out, layout->l2, card->l2);
    put_int(out, layout->l2_persisting, card->l2 / 2);
    put_int(out, layout->bus_width, card->bus_width);
    put_int(out, layout->clock, card->clock);
    put_int(out, layout->memory_clock, card->memory_clock);
}

static void put_abilities(unsigned char *out, const struct layout *layout)
{
    put_int(out, layout->map_host, 1);
    put_int(out, layout->concurrent, 1);
    put_int(out, layout->engines, 3);
    put_int(out, layout->unified, 1);
    put_int(out, layout->priorities, 1);
    put_int(out, layout->global_l1, 1);
    put_int(out, layout->local_l1, 1);
    put_int(out, layout->managed, 1);
    put_int(out, layout->managed_concurrent, 1);
    put_int(out, layout->cooperative, 1);
    put_int(out, layout->pools, 1);
}

static int put_properties(void *to, int device, const struct layout *layout)
{
    unsigned char *out = to;
    machine_start();
    if (device < 0 || device >= machine.device_count)
        return runtime_fail(CUDA_INVALID_DEVICE);
    memset(out, 0, layout->size);
    snprintf((char *)out, 256, "%s", machine.card.product);
    out[layout->uuid] = 0x5a;
    out[layout->uuid + 15] = (unsigned char)(device + 1);
    put_int(out, layout->bus_id, device + 1);
    put_sizes(out, layout);
    put_limits(out, layout);
    put_abilities(out, layout);
    return CUDA_OK;
}

API int cudaGetDeviceProperties(void *out, int device)
{
    return put_properties(out, device, machine.runtime_version >= 13000 ? &layout_13 : &layout_11);
}

API int cudaGetDeviceProperties_v2(void *out, int device)
{
    return put_properties(out, device, &layout_12);
}

/* The numbers are those of enum cudaDeviceAttr and, up to 100, of CUdevice_attribute. */
API int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    const struct card *card = &machine.card;
    machine_start();
    const int known[][2] = {
        {1, 1024},       /* threads per block */
        {2, 1024},       /* x of a block */
        {3, 1024},       /* y */
        {4, 64},         /* z */
        {5, INT32_MAX},  /* x of a grid */
        {6, 65535},      /* y */
        {7, 65535},      /* z */
        {8, 48 * 1024},  /* shared memory per block */
        {9, 64 * 1024},  /* constant memory */
        {10, 32},        /* threads of a warp */
        {11, INT32_MAX}, /* pitch */
        {12, 65536},     /* registers per block */
        {13, card->clock},
        {14, 512}, /* alignment of textures */
        {16, card->multiprocessors},
        {19, 1},          /* maps host memory */
        {31, 1},          /* concurrent kernels */
        {33, device + 1}, /* PCI bus */
        {36, card->memory_clock},
        {37, card->bus_width},
        {38, card->l2},
        {39, card->threads},
        {40, 3}, /* copy engines */
        {41, 1}, /* unified addresses */
        {75, card->major},
        {76, card->minor},
        {78, 1}, /* priorities of streams */
        {79, 1}, /* global L1 */
        {80, 1}, /* local L1 */
        {81, card->shared},
        {82, 65536}, /* registers per multiprocessor */
        {83, 1},     /* managed memory */
        {89, 1},     /* concurrent managed access */
        {95, 1},     /* cooperative launch */
        {97, card->shared_optin},
        {99, 1},                   /* registration of host memory */
        {106, card->threads / 64}, /* blocks per multiprocessor */
        {115, 1},                  /* memory pools */
        {120, card->major >= 9},   /* cluster launch */
    };
    *value = 0;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i][0] == attribute)
            *value = known[i][1];
    return CUDA_OK;
}

/* sizeof(struct cudaFuncAttributes): 56 bytes in CUDA 11.8 and 144 since 12.1, as its
 * cuda_runtime_api.h says. */
API int cudaFuncGetAttributes(void *to)
{
    unsigned char *out = to;
    int version = machine.card.major * 10 + machine.card.minor;
    machine_start();
    memset(out, 0, machine.runtime_version >= 12000 ? 144 : 56);
    put_int(out, 24, 1024); /* threads per block */
    put_int(out, 28, 32);   /* registers */
    put_int(out, 32, version);
    put_int(out, 36, version);
    put_int(out, 44, machine.card.shared_optin);
    return CUDA_OK;
}
