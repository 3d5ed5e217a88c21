#include "analysis/run/report.h"

const char *const run_figure_names[RUN_FIGURES] = {
    [RUN_ALLOCATED] = "allocated_bytes.all.current",
    [RUN_ALLOCATED_PEAK] = "allocated_bytes.all.peak",
    [RUN_ACTIVE] = "active_bytes.all.current",
    [RUN_ACTIVE_PEAK] = "active_bytes.all.peak",
    [RUN_REQUESTED] = "requested_bytes.all.current",
    [RUN_REQUESTED_PEAK] = "requested_bytes.all.peak",
    [RUN_RESERVED] = "reserved_bytes.all.current",
    [RUN_RESERVED_PEAK] = "reserved_bytes.all.peak",
    [RUN_RETRIES] = "num_alloc_retries",
    [RUN_OOMS] = "num_ooms",
    [RUN_RSS] = "rss",
    [RUN_VMS] = "vms",
    [RUN_RSS_DIFF] = "rss_diff",
    [RUN_NPP_DIFF] = "npp_diff",
};
