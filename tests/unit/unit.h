/* What the unit tests of all rooms share. A room's runner is tests/unit/unit.c
 * linked with the files that hold its test cases, one of which defines unit_suite(). */
#ifndef MEMSNAP_TESTS_UNIT_UNIT_H
#define MEMSNAP_TESTS_UNIT_UNIT_H

#include <check.h>
#include <stdlib.h>

Suite *unit_suite(void);

/* Of so many made-up cases, as many as to try: with MEMSNAP_SHARE=N in the environment an Nth. */
static inline unsigned unit_share(unsigned count)
{
    const char *share = getenv("MEMSNAP_SHARE");
    unsigned long parts = share ? strtoul(share, NULL, 10) : 1;
    return parts > 1 ? count / (unsigned)parts + 1 : count;
}

#endif
