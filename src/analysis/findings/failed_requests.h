/* Requests that failed, of a kind of tensors that a flag marks by lifetime. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_FAILED_REQUESTS_H
#define MEMSNAP_ANALYSIS_FINDINGS_FAILED_REQUESTS_H

#include "analysis/oom/oom.h"

/* True if the same line and operator as those of the request at an item have made a tensor with the
 * flag `is_part` before. */
bool failed_request_is_known(const struct timeline *timeline, const uint8_t *is_part,
                             uint32_t item);

/* True if the request of a row is among the `oom` events in `items`, and not small. */
bool failed_request_counts(const struct oom_row *row, const uint32_t *items, size_t count);

#endif
