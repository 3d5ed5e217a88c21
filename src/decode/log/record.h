/* Lines of a log that are JSON objects, as structured loggers and Docker write them. */
#ifndef MEMSNAP_DECODE_LOG_RECORD_H
#define MEMSNAP_DECODE_LOG_RECORD_H

#include "decode/log/prefix.h"

/* If the line goes on with an object after its prefix, takes the rank, the process and the
 * container from the object, unless the prefix has them. If one member of it is the message, and no
 * other holds a traceback or the text of an error, narrows the prefix to the message: from its
 * first byte to the quote that ends it. Any prefix in the message itself counts, too. */
void log_record_take(struct text line, struct log_prefix *prefix);

#endif
