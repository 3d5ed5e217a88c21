/* Compares the captures that were gathered. */
#ifndef MEMSNAP_COMMANDS_SUMMARY_REPORT_H
#define MEMSNAP_COMMANDS_SUMMARY_REPORT_H

#include "commands/summary/gather.h"
#include "render/ranks/ranks.h"

typedef bool ranks_report_use(void *self, const struct ranks_report *report, struct error *err);

/* Passes a comparison of all captures to `use`. Fails if they have no memory of any device. */
bool ranks_report_with(const struct gathering *gathering, ranks_report_use *use, void *self,
                       struct error *err);

#endif
