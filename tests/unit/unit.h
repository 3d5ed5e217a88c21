/* What the unit tests of all rooms share. A room's runner is tests/unit/unit.c
 * linked with the files that hold its test cases, one of which defines unit_suite(). */
#ifndef MEMSNAP_TESTS_UNIT_UNIT_H
#define MEMSNAP_TESTS_UNIT_UNIT_H

#include <check.h>

Suite *unit_suite(void);

#endif
