/* A sink that takes every row and keeps none. */
#ifndef MEMSNAP_TESTS_FUZZ_IGNORE_ROWS_H
#define MEMSNAP_TESTS_FUZZ_IGNORE_ROWS_H

#include "decode/core/rows.h"

extern const struct row_sink ignore_rows;

#endif
