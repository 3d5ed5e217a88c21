/* The names of devices. DEVICE_HOST, pinned host memory, is one of them. */
#ifndef MEMSNAP_MODEL_DEVICE_H
#define MEMSNAP_MODEL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "decode/core/rows.h"

#define DEVICE_TEXT_SIZE 24

/* The number of a device as torch writes it, which other programs expect: -1 for the host. */
static inline int64_t device_number(uint32_t device)
{
    return device == DEVICE_HOST ? -1 : (int64_t)device;
}

/* "0", or "host", as in --device. Returns `text`. */
const char *device_name(char text[DEVICE_TEXT_SIZE], uint32_t device);
/* "device 0", or "host memory", in a sentence. Returns `text`. */
const char *device_words(char text[DEVICE_TEXT_SIZE], uint32_t device);
/* "Device 0", or "Host memory": the same at the beginning of a sentence. */
const char *device_title(char text[DEVICE_TEXT_SIZE], uint32_t device);

/* The same, in memory that is valid to the end of the block. */
#define DEVICE_NAME(device)  device_name((char[DEVICE_TEXT_SIZE]){0}, device)
#define DEVICE_WORDS(device) device_words((char[DEVICE_TEXT_SIZE]){0}, device)
#define DEVICE_TITLE(device) device_title((char[DEVICE_TEXT_SIZE]){0}, device)

#endif
