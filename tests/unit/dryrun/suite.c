#include "unit/dryrun/dryrun.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("dryrun");
    suite_add_tcase(suite, answers_tests());
    suite_add_tcase(suite, cards_tests());
    suite_add_tcase(suite, elf_tests());
    suite_add_tcase(suite, needs_tests());
    suite_add_tcase(suite, space_tests());
    suite_add_tcase(suite, stub_library_tests());
    return suite;
}
