/* Shared by the unit tests of all rooms. A room's runner is tests/unit/unit.c linked with the files
 * that hold its test cases, one of which defines unit_suite(). */
#ifndef MEMSNAP_TESTS_UNIT_UNIT_H
#define MEMSNAP_TESTS_UNIT_UNIT_H

#include <check.h>
#include <stdlib.h>

Suite *unit_suite(void);

/* Number of random cases to run: `count`, or with MEMSNAP_SHARE=N in the environment one Nth of it.
 */
static inline unsigned unit_share(unsigned count)
{
    const char *share = getenv("MEMSNAP_SHARE");
    unsigned long parts = share ? strtoul(share, NULL, 10) : 1;
    return parts > 1 ? count / (unsigned)parts + 1 : count;
}

/* ck_assert() for conditions checked thousands of times: for each of its own that holds, Check
 * writes to a file, which then takes most of the time. */
#define unit_assert(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("Assertion '%s' failed", #condition);                                     \
    } while (0)

#endif
