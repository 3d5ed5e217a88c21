#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "dryrun/device/state.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Where addresses of devices begin: far from heap, stacks and libraries, so that every run gets the
 * same ones. */
#define HINT_FIRST 0x600000000000u
/* Where the handles of streams begin: snapshots name streams by them. */
#define HINT_STREAMS 0x5f0000000000u

struct machine machine = {.other = 512 * MIB,
                          .device_count = 1,
                          .runtime_version = 12080,
                          .lock = PTHREAD_MUTEX_INITIALIZER};

static __thread int current;

/* Maps pages at the hint, or elsewhere where that is taken. */
static struct space map(uint64_t hint, uint64_t size, int protection)
{
    void *start = mmap((void *)(uintptr_t)hint, size, protection,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return (struct space){0};
    return (struct space){.base = (uint64_t)(uintptr_t)start, .size = size};
}

/* Reserves addresses that nothing backs: less than `size` where the machine has fewer, but not less
 * than `least`. */
static struct space reserve(uint64_t size, uint64_t least)
{
    static uint64_t hint = HINT_FIRST;
    for (; size >= least; size /= 2) {
        struct space space = map(hint, size, PROT_NONE);
        if (space.size == 0)
            continue;
        hint += size;
        return space;
    }
    dryrun_stop("cannot reserve %llu MiB of addresses for the GPU's memory: %s (ulimit -v limits "
                "them; a smaller --gpu needs fewer)",
                (unsigned long long)(least / MIB), strerror(errno));
}

static uint64_t whole_gib(uint64_t bytes)
{
    return (bytes + GIB - 1) / GIB * GIB;
}

static void start_once(void)
{
    if (!machine.card.name)
        machine.card = cards[0];
    uint64_t total = whole_gib(machine.card.bytes);
    for (int i = 0; i < machine.device_count; i++) {
        machine.devices[i].memory = reserve(4 * total, total);
        /* an expandable segment reserves more addresses than the GPU has memory, for each stream */
        machine.devices[i].reserved = reserve(32 * total, 2 * total);
    }
    machine.pinned = reserve(256 * GIB, 4 * GIB);
    machine.streams = map(HINT_STREAMS, 64 * MIB, PROT_READ | PROT_WRITE);
}

void machine_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_once);
}

int device_current(void)
{
    return current;
}

void device_select(int device)
{
    current = device;
}

bool device_charge(int device, uint64_t bytes)
{
    struct device *charged = &machine.devices[device];
    uint64_t total = machine.card.bytes;
    if (machine.other > total || bytes > total - machine.other ||
        charged->used > total - machine.other - bytes)
        return false;
    charged->used += bytes;
    if (charged->used > charged->most)
        charged->most = charged->used;
    return true;
}

void device_discharge(int device, uint64_t bytes)
{
    machine.devices[device].used -= bytes;
}

int address_device(const void *address)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    machine_start();
    for (int i = 0; i < machine.device_count; i++)
        if (space_holds(&machine.devices[i].memory, at) ||
            space_holds(&machine.devices[i].reserved, at))
            return i;
    return -1;
}

bool address_is_pinned(const void *address)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    machine_start();
    if (space_holds(&machine.pinned, at))
        return true;
    pthread_mutex_lock(&machine.lock);
    bool found = space_find(&machine.registered, at) != NULL;
    pthread_mutex_unlock(&machine.lock);
    return found;
}
