#include "commands/summary/report.h"

#include <stdlib.h>

bool ranks_report_with(const struct gathering *gathering, ranks_report_use *use, void *self,
                       struct error *err)
{
    size_t count = gathering->all.count, failed = gathering->failure_count;
    struct summary **summaries = calloc(count + 1, sizeof(*summaries));
    struct ranks_failure *failures = calloc(failed + 1, sizeof(*failures));
    struct ranks ranks;
    bool ok = (summaries && failures) || error_out_of_memory(err);
    for (size_t i = 0; ok && i < count; i++)
        summaries[i] = gathering->all.items[i].summary;
    for (size_t i = 0; ok && i < failed; i++)
        failures[i] =
            (struct ranks_failure){gathering->failures[i].path, gathering->failures[i].err.text};
    if (ok && (ok = ranks_make(&ranks, summaries, count, err))) {
        const struct ranks_report report = {
            .ranks = &ranks, .failures = failures, .failure_count = failed, .captures = count};
        ok = ranks.row_count > 0
                 ? use(self, &report, err)
                 : error_set(err, STATUS_BAD_INPUT, "the captures have no memory of any device");
        ranks_release(&ranks);
    }
    free(summaries);
    free(failures);
    return ok;
}
