/* Which format the decoded bytes are in, judged by content alone. */
#ifndef MEMSNAP_DECODE_CORE_SNIFF_H
#define MEMSNAP_DECODE_CORE_SNIFF_H

#include "decode/core/source.h"

enum encoding { ENCODING_UNKNOWN, ENCODING_PICKLE, ENCODING_JSON, ENCODING_MSGPACK };

/* What a file holds, in whatever encoding. */
enum file_kind {
    KIND_UNKNOWN,
    KIND_SNAPSHOT,        /* of the allocator */
    KIND_LAYER_TRACE,     /* FairScale's LayerwiseMemoryTracker */
    KIND_OPERATOR_CURVES, /* torch.distributed._tools.MemoryTracker */
};

/* Looks at what the source has ahead without consuming it. Fails with STATUS_BAD_INPUT and one line
 * that says what the bytes look like instead (empty file, text, zip archive, HTML, ...) when it is
 * none. ENCODING_MSGPACK is recognised by the keys of a layer trace: anything may be msgpack. */
bool sniff_encoding(struct source *source, enum encoding *encoding, struct error *err);

/* What the unread bytes in the source's buffer look like, other than a pickle or JSON: "a zip
 * archive (torch.save?)", "a text file", "unknown binary data". */
const char *sniff_description(const struct source *source);

/* The kind of the file by the keys and classes that it begins with, without consuming anything.
 * Never fails: KIND_UNKNOWN if unsure, or where sniff_encoding() fails. */
enum file_kind sniff_kind(struct source *source);

/* "pickle", "json", "msgpack": as reports in JSON say it. */
const char *encoding_name(enum encoding encoding);
/* "an allocator snapshot", for error texts. */
const char *kind_name(enum file_kind kind);

#endif
