/* Reads the facts in the text of an out-of-memory error, after its opening words. */
#ifndef MEMSNAP_DECODE_LOG_FACTS_H
#define MEMSNAP_DECODE_LOG_FACTS_H

#include "decode/log/sizes.h"

/* Fills the device, the sizes, the processes and the flags of a message whose source and back end
 * are known. False if the text lacks a size that all texts of its kind have. */
bool oom_facts_take(struct cursor cursor, struct oom_message *message);

#endif
