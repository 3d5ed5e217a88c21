#include "model/device.h"

#include <inttypes.h>
#include <stdio.h>

const char *device_name(char text[DEVICE_TEXT_SIZE], uint32_t device)
{
    if (device == DEVICE_HOST)
        snprintf(text, DEVICE_TEXT_SIZE, "host");
    else
        snprintf(text, DEVICE_TEXT_SIZE, "%" PRIu32, device);
    return text;
}

const char *device_words(char text[DEVICE_TEXT_SIZE], uint32_t device)
{
    if (device == DEVICE_HOST)
        snprintf(text, DEVICE_TEXT_SIZE, "host memory");
    else
        snprintf(text, DEVICE_TEXT_SIZE, "device %" PRIu32, device);
    return text;
}

const char *device_title(char text[DEVICE_TEXT_SIZE], uint32_t device)
{
    device_words(text, device);
    *text = device == DEVICE_HOST ? 'H' : 'D';
    return text;
}
