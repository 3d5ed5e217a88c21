/* Which format the decoded bytes are in, judged by content alone. */
#ifndef MEMSNAP_DECODE_SNIFF_H
#define MEMSNAP_DECODE_SNIFF_H

#include "decode/source.h"

enum encoding { ENCODING_UNKNOWN, ENCODING_PICKLE, ENCODING_JSON };

/* Looks at what the source has ahead without consuming it. Fails with STATUS_BAD_INPUT and one line that
 * says what the bytes look like instead (empty file, text, zip archive, HTML, ...) when it is neither. */
bool sniff_encoding(struct source *source, enum encoding *encoding, struct error *err);

/* What the unread bytes in the source's buffer look like, other than a pickle or JSON: "a zip archive
 * (torch.save?)", "a text file", "unknown binary data". */
const char *sniff_description(const struct source *source);

/* A quick guess for choosing among the files of a folder: does the beginning look like
 * an allocator snapshot (its top-level keys, or a segment's)? Never fails: false if unsure. */
bool sniff_is_snapshot(struct source *source);

#endif
