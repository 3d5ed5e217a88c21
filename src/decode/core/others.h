/* Files that memsnap does not read: what they are. */
#ifndef MEMSNAP_DECODE_CORE_OTHERS_H
#define MEMSNAP_DECODE_CORE_OTHERS_H

#include <stdint.h>

#define TEXT_BYTES      ((size_t)1024) /* in which a text's own words begin; a log's may be later */
#define SUMMARY_HEADING "memory summary, device ID "

/* Describes the beginning of a file that is neither a pickle nor JSON: "a zip archive
 * (torch.save?)", "a text file". */
const char *describe_bytes(const uint8_t *p, const uint8_t *end);

#endif
