/* Kinds of characters in ASCII, whatever the locale is. */
#ifndef MEMSNAP_BASE_ASCII_H
#define MEMSNAP_BASE_ASCII_H

#include <stdbool.h>

static inline bool ascii_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

#endif
