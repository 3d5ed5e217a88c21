/* Names the kinds of files that memsnap does not read, for error messages. */
#ifndef MEMSNAP_DECODE_CORE_OTHERS_H
#define MEMSNAP_DECODE_CORE_OTHERS_H

#include <stdint.h>

/* The words by which a text is recognised must begin within its first TEXT_BYTES bytes. Those of a
 * log may come later. */
#define TEXT_BYTES      ((size_t)1024)
#define SUMMARY_HEADING "memory summary, device ID "

/* Describes the beginning of a file that is neither a pickle nor JSON: "a zip archive
 * (torch.save?)", "a text file". */
const char *describe_bytes(const uint8_t *p, const uint8_t *end);

#endif
