/* Every opcode of the general machine: small settings dicts show the resulting values. */
#include <string.h>

#include "unit/decode/pickle/pickle.h"

/* {'segments': [], 'allocator_settings': {'k': VALUE}} around the opcodes of one value. */
#define WRAP(value)                                                                                \
    BYTES("\x80\x04}(\x8c\x08segments]\x8c\x12"                                                    \
          "allocator_settings}\x8c\x01k" value "su.")

START_TEST(constants)
{
    pickle_check(WRAP("N"), "setting k=None\n");
    pickle_check(WRAP("\x88"), "setting k=True\n");
    pickle_check(WRAP("\x89"), "setting k=False\n");
}
END_TEST

START_TEST(integers)
{
    pickle_check(WRAP("K\xff"), "setting k=255\n");
    pickle_check(WRAP("M\x01\x02"), "setting k=513\n");
    pickle_check(WRAP("J\xff\xff\xff\xff"), "setting k=-1\n");
    pickle_check(WRAP("I01\n"), "setting k=True\n");
    pickle_check(WRAP("I00\n"), "setting k=False\n");
    pickle_check(WRAP("I-42\n"), "setting k=-42\n");
    pickle_check(WRAP("L18446744073709551615L\n"), "setting k=18446744073709551615\n");
    pickle_check(WRAP("L-9223372036854775808L\n"), "setting k=-9223372036854775808\n");
    pickle_check(WRAP("\x8a\x02\x00\x80"), "setting k=-32768\n");
    pickle_check(WRAP("\x8b\x01\x00\x00\x00\x07"), "setting k=7\n");
    pickle_check(WRAP("L99999999999999999999L\n"), "setting k=99999999999999999999\n");
}
END_TEST

START_TEST(floats)
{
    pickle_check(WRAP("G?\xf0\0\0\0\0\0\0"), "setting k=1.0\n");
    pickle_check(WRAP("F0.1\n"), "setting k=0.1\n");
    pickle_check(WRAP("Finf\n"), "setting k=inf\n");
}
END_TEST

START_TEST(strings)
{
    pickle_check(WRAP("\x8c\x02hi"), "setting k=hi\n");
    pickle_check(WRAP("X\x02\0\0\0hi"), "setting k=hi\n");
    pickle_check(WRAP("\x8d\x02\0\0\0\0\0\0\0hi"), "setting k=hi\n");
    pickle_check(WRAP("U\x02hi"), "setting k=hi\n");
    pickle_check(WRAP("T\x02\0\0\0hi"), "setting k=hi\n");
    pickle_check(WRAP("S'a\\x41\\n\\101\\\\'\n"), "setting k=aA\nA\\\n");
    pickle_check(WRAP("Va\\u00e9\\U0001f600\\x\n"), "setting k=a\xc3\xa9\xf0\x9f\x98\x80\\x\n");
    pickle_check(WRAP("V\xe9\n"), "setting k=\xc3\xa9\n"); /* Latin-1 */
}
END_TEST

START_TEST(bytes)
{
    pickle_check(WRAP("C\x02hi"), "setting k=b'hi'\n");
    pickle_check(WRAP("B\x02\0\0\0hi"), "setting k=b'hi'\n");
    pickle_check(WRAP("\x8e\x02\0\0\0\0\0\0\0hi"), "setting k=b'hi'\n");
    pickle_check(WRAP("\x96\x02\0\0\0\0\0\0\0hi"), "setting k=bytearray(b'hi')\n");
    pickle_check(WRAP("\x97\x98"), "setting k=<an out-of-band buffer>\n");
}
END_TEST

START_TEST(containers)
{
    pickle_check(WRAP("]K\x01"
                      "a"),
                 "setting k=[1]\n");
    pickle_check(WRAP("](K\x01K\x02"
                      "e"),
                 "setting k=[1, 2]\n");
    pickle_check(WRAP("(K\x01K\x02l"), "setting k=[1, 2]\n");
    pickle_check(WRAP("(K\x01K\x02t"), "setting k=[1, 2]\n");
    pickle_check(WRAP(")"), "setting k=[]\n");
    pickle_check(WRAP("K\x01\x85"), "setting k=[1]\n");
    pickle_check(WRAP("K\x01K\x02\x86"), "setting k=[1, 2]\n");
    pickle_check(WRAP("K\x01K\x02K\x03\x87"), "setting k=[1, 2, 3]\n");
    pickle_check(WRAP("\x8f(K\x01\x90"), "setting k={1}\n");
    pickle_check(WRAP("(K\x01\x91"), "setting k=frozenset({1})\n");
    pickle_check(WRAP("}(\x8c\x01"
                      "aK\x01\x8c\x01"
                      "bK\x02u"),
                 "setting k.a=1\nsetting k.b=2\n");
    pickle_check(WRAP("(\x8c\x01"
                      "aK\x01"
                      "d"),
                 "setting k.a=1\n");
    pickle_check(WRAP("](}\x8c\x01"
                      "aK\x01se"),
                 "setting k=[{'a': 1}]\n");
    pickle_check(WRAP("](K\x01](K\x02"
                      "ee"),
                 "setting k=[1, [2]]\n");
}
END_TEST

/* A class is only a name: os.system is not looked up, let alone called. */
START_TEST(instances_stay_inert)
{
    pickle_check(WRAP("cos\nsystem\n(\x8c\x04true"
                      "tR"),
                 "setting k=<an instance of a class>\n");
    pickle_check(WRAP("\x8c\x02os\x8c\x06system\x93"), "setting k=<a class or function>\n");
    pickle_check(WRAP("cos\nsystem\n)\x81"), "setting k=<an instance of a class>\n");
    pickle_check(WRAP("cos\nsystem\n)}\x92"), "setting k=<an instance of a class>\n");
    pickle_check(WRAP("(cos\nsystem\n\x8c\x04trueo"), "setting k=<an instance of a class>\n");
    pickle_check(WRAP("(\x8c\x04trueios\nsystem\n"), "setting k=<an instance of a class>\n");
    pickle_check(WRAP("cos\nsystem\n)R}b"), "setting k=<an instance of a class>\n");
    pickle_check(WRAP("\x82\x01"), "setting k=<an extension code>\n");
    pickle_check(WRAP("\x83\x01\x01"), "setting k=<an extension code>\n");
    pickle_check(WRAP("\x84\x01\x01\0\0"), "setting k=<an extension code>\n");
    pickle_check(WRAP("Psome id\n"), "setting k=<a persistent id>\n");
    pickle_check(WRAP("K\x01Q"), "setting k=<a persistent id>\n");
}
END_TEST

/* collections.OrderedDict and similar classes: an instance with items set. */
START_TEST(instances_can_hold_items)
{
    pickle_check(WRAP("ccollections\nOrderedDict\n)R\x8c\x01"
                      "aK\x01s"),
                 "setting k.a=1\n");
    pickle_check(WRAP("ccollections\ndeque\n)R(K\x01K\x02"
                      "e"),
                 "setting k=[1, 2]\n");
}
END_TEST

START_TEST(stack_and_memo)
{
    pickle_check(WRAP("K\x01K\x02"
                      "0"),
                 "setting k=1\n"); /* POP */
    pickle_check(WRAP("K\x01(K\x02K\x03"
                      "1"),
                 "setting k=1\n");                  /* POP_MARK */
    pickle_check(WRAP("K\x01(0"), "setting k=1\n"); /* POP of a MARK */
    pickle_check(WRAP("K\x01"
                      "2\x86"),
                 "setting k=[1, 1]\n"); /* DUP */
    pickle_check(WRAP("K\x01\x94"
                      "0h\0"),
                 "setting k=1\n"); /* MEMOIZE, BINGET */
    pickle_check(WRAP("K\x01q\x07"
                      "0h\x07"),
                 "setting k=1\n");
    pickle_check(WRAP("K\x01r\x07\0\0\0"
                      "0j\x07\0\0\0"),
                 "setting k=1\n");
    pickle_check(WRAP("K\x01p7\n0g7\n"), "setting k=1\n");
    pickle_check(WRAP("K\x01q\0"
                      "0K\x02q\0"
                      "0h\0"),
                 "setting k=2\n");                                      /* overwritten */
    pickle_check(WRAP("\x95\x02\0\0\0\0\0\0\0K\x01"), "setting k=1\n"); /* FRAME */
}
END_TEST

TCase *opcodes_tests(void)
{
    TCase *tests = tcase_create("opcodes");
    tcase_add_test(tests, constants);
    tcase_add_test(tests, integers);
    tcase_add_test(tests, floats);
    tcase_add_test(tests, strings);
    tcase_add_test(tests, bytes);
    tcase_add_test(tests, containers);
    tcase_add_test(tests, instances_stay_inert);
    tcase_add_test(tests, instances_can_hold_items);
    tcase_add_test(tests, stack_and_memo);
    return tests;
}
