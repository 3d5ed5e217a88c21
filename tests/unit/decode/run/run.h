/* The tests of the readers of a MemProfiler directory. */
#ifndef MEMSNAP_TESTS_UNIT_DECODE_RUN_RUN_H
#define MEMSNAP_TESTS_UNIT_DECODE_RUN_RUN_H

#include "base/buffer.h"
#include "base/symbols.h"
#include "decode/core/sniff.h"
#include "decode/core/source.h"
#include "unit/unit.h"

/* What a reader told of a text, as text. */
struct told {
    struct symbols *symbols;
    struct buffer text;
    enum encoding encoding; /* of statistics */
    struct error err;
};

/* Runs the reader, whose sink gets `told`. */
typedef bool told_reader(struct source *source, struct told *told);

/* False if the text is refused. To release: told->text. Its symbols are not valid any more. */
bool told_decode(told_reader *read, struct told *told, const char *bytes, size_t size);
void told_check(told_reader *read, const char *text, const char *wanted);
/* It must be refused with that message, as bad input. */
void told_check_refused(told_reader *read, const char *text, const char *message);

TCase *run_names_tests(void);
TCase *run_operators_tests(void);
TCase *run_stats_tests(void);
TCase *run_tables_tests(void);

#endif
