#include "unit/decode/json/json.h"

Suite *unit_suite(void)
{
    Suite *suite = suite_create("json");
    suite_add_tcase(suite, json_rows_tests());
    suite_add_tcase(suite, json_refusal_tests());
    suite_add_tcase(suite, json_span_tests());
    suite_add_tcase(suite, json_stream_tests());
    suite_add_tcase(suite, sniff_tests());
    suite_add_tcase(suite, pytext_tests());
    return suite;
}
