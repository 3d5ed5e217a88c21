/* --at WHEN: the moment that a command describes. */
#ifndef MEMSNAP_COMMANDS_CLI_AT_H
#define MEMSNAP_COMMANDS_CLI_AT_H

#include "analysis/report/report.h"

/* peak, end, an event's number, or a time as in --range. */
bool at_parse(const char *text, struct report_options *report, struct error *err);

#endif
