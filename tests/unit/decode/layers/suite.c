#include "unit/decode/layers/layers.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("layers");
    suite_add_tcase(suite, layers_json_tests());
    suite_add_tcase(suite, layers_tree_tests());
    return suite;
}
