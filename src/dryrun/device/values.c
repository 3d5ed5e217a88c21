#include "dryrun/device/values.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define VALUES_MOST 64

struct value {
    uint64_t address;
    size_t size; /* 0: none */
    unsigned char bytes[VALUE_BYTES_MOST];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct value values[VALUES_MOST];
static unsigned next;  /* index of the value to replace next */
static int has_values; /* tested without the lock, since every kernel asks */

static uint64_t number_of(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

static void drop(uint64_t address, size_t size)
{
    for (int i = 0; i < VALUES_MOST; i++)
        if (values[i].size > 0 && values[i].address < address + size &&
            address < values[i].address + values[i].size)
            values[i].size = 0;
}

/* Drops what overlaps the range, and returns a value to fill; NULL if the range is too large. */
static struct value *replace(uint64_t address, size_t size)
{
    drop(address, size);
    if (size == 0 || size > VALUE_BYTES_MOST)
        return NULL;
    struct value *value = &values[next++ % VALUES_MOST];
    value->address = address;
    value->size = size;
    __atomic_store_n(&has_values, 1, __ATOMIC_RELAXED);
    return value;
}

static const unsigned char *find(uint64_t address, size_t size)
{
    for (int i = 0; i < VALUES_MOST; i++) {
        uint64_t at = address - values[i].address;
        if (address >= values[i].address && at <= values[i].size && size <= values[i].size - at &&
            values[i].size > 0)
            return values[i].bytes + at;
    }
    return NULL;
}

void values_put(const void *address, const void *bytes, size_t size)
{
    pthread_mutex_lock(&lock);
    struct value *value = replace(number_of(address), size);
    if (value)
        memcpy(value->bytes, bytes, size);
    pthread_mutex_unlock(&lock);
}

void values_fill(const void *address, int byte, size_t size)
{
    pthread_mutex_lock(&lock);
    struct value *value = replace(number_of(address), size);
    if (value)
        memset(value->bytes, byte, size);
    pthread_mutex_unlock(&lock);
}

bool values_get(void *to, const void *address, size_t size)
{
    pthread_mutex_lock(&lock);
    const unsigned char *found = find(number_of(address), size);
    if (found)
        memcpy(to, found, size);
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

void values_drop(const void *address, size_t size)
{
    if (!__atomic_load_n(&has_values, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&lock);
    drop(number_of(address), size);
    pthread_mutex_unlock(&lock);
}

void values_move(const void *to, const void *from, size_t size)
{
    unsigned char bytes[VALUE_BYTES_MOST];
    if (to == from)
        return;
    if (size <= sizeof(bytes) && values_get(bytes, from, size)) {
        values_put(to, bytes, size);
        return;
    }
    values_drop(to, size);
}

void values_forget(void)
{
    if (!__atomic_load_n(&has_values, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < VALUES_MOST; i++)
        values[i].size = 0;
    has_values = 0;
    pthread_mutex_unlock(&lock);
}
