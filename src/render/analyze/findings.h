/* The findings at the end of a device's report: what to do first. */
#ifndef MEMSNAP_RENDER_ANALYZE_FINDINGS_H
#define MEMSNAP_RENDER_ANALYZE_FINDINGS_H

#include "render/analyze/internal.h"
#include "render/core/json.h"

/* Prints nothing if there are no findings. */
bool device_findings(const struct page *page, const struct device_report *report);
/* "findings": a member of the device's object. */
void findings_json(struct json_writer *json, const struct device_report *report);

#endif
