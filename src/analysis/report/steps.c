#include "analysis/report/steps.h"

bool report_steps_make(struct device_report *report, struct site_table *sites, struct error *err)
{
    const struct timeline *timeline = report->timeline;
    return steps_find(&report->steps, timeline, &report->phases, err) &&
           growth_find(&report->growth, timeline, sites, &report->all, &report->phases,
                       &report->steps, err) &&
           pending_find(&report->pending, timeline, &report->peak, sites, &report->all, err);
}

void report_steps_release(struct device_report *report)
{
    steps_release(&report->steps);
    growth_release(&report->growth);
    pending_release(&report->pending);
}
