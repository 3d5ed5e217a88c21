/* Small values on GPUs that only copies have touched. Programs read back what they wrote, for
 * example when ranks compare their parameters. Since kernels compute nothing, one that starts makes
 * every value unknown. */
#ifndef MEMSNAP_DRYRUN_DEVICE_VALUES_H
#define MEMSNAP_DRYRUN_DEVICE_VALUES_H

#include <stdbool.h>
#include <stddef.h>

/* Larger ones are not kept. The state of a generator of random numbers, which ranks exchange, has
 * 5056 bytes. */
#define VALUE_BYTES_MOST 8192

/* The bytes were copied to this address of a GPU. */
void values_put(const void *address, const void *bytes, size_t size);
/* Every byte there has this value. */
void values_fill(const void *address, int byte, size_t size);
/* Copies what is known of the bytes at the address to the host; false if it is not known. */
bool values_get(void *to, const void *address, size_t size);
/* The bytes were copied from one address of a GPU to another. */
void values_move(const void *to, const void *from, size_t size);
/* The bytes at this address are not known any more. */
void values_drop(const void *address, size_t size);
/* Something was started that may change them. */
void values_forget(void);

#endif
