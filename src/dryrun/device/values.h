/* Small values on GPUs that only copies have touched. Programs read back what they wrote, for
 * example when ranks compare their parameters. Since kernels compute nothing, one that starts makes
 * every value unknown. */
#ifndef MEMSNAP_DRYRUN_DEVICE_VALUES_H
#define MEMSNAP_DRYRUN_DEVICE_VALUES_H

#include <stdbool.h>
#include <stddef.h>

/* Larger values are not kept, and of these only the latest 64. The state of a random number
 * generator, which ranks exchange, has 5056 bytes. */
#define VALUE_BYTES_MOST 8192

/* To be called when bytes were copied to this address of a GPU. */
void values_put(const void *address, const void *bytes, size_t size);
/* To be called when every byte at this address was set to one value. */
void values_fill(const void *address, int byte, size_t size);
/* Copies the bytes at this address of a GPU to the host. False if not all of them are known. */
bool values_get(void *to, const void *address, size_t size);
/* To be called when bytes were copied from one address of a GPU to another. */
void values_move(const void *to, const void *from, size_t size);
/* Forgets the bytes at this address. */
void values_drop(const void *address, size_t size);
/* Forgets all values: a kernel was started that may change any of them. */
void values_forget(void);

#endif
