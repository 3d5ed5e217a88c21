#include "commands/cli/at.h"

#include "commands/cli/arguments.h"

bool at_parse(const char *text, struct report_options *report, struct error *err)
{
    struct when when;
    if (!argument_when(text, &when, err))
        return false;
    report->at = when.point;
    report->at_end = when.kind == WHEN_END;
    report->at_given = when.kind != WHEN_PEAK;
    return true;
}
