#include "unit/unit.h"

#include <stdlib.h>

/* The time limit only stops tests that hang: machines may be busy, and sanitizers slow. */
#define SECONDS "300"

int main(void)
{
    setenv("CK_DEFAULT_TIMEOUT", SECONDS, 0);
    SRunner *runner = srunner_create(unit_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
