#include "unit/decode/pickle/pickle.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("pickle");
    suite_add_tcase(suite, value_tests());
    suite_add_tcase(suite, opcodes_tests());
    suite_add_tcase(suite, shapes_tests());
    suite_add_tcase(suite, patterns_tests());
    suite_add_tcase(suite, refusals_tests());
    return suite;
}
