/* Parses the text of an out-of-memory error, in the spellings of PyTorch 1.10 and later. */
#ifndef MEMSNAP_DECODE_LOG_MESSAGE_H
#define MEMSNAP_DECODE_LOG_MESSAGE_H

#include "base/text.h"
#include "decode/log/rows.h"

/* How torchrun tells that a process was killed. If memory was short, no other error says so. */
#define OOM_TEXT_SIGKILL "Signal 9 (SIGKILL) received by PID"

/* The first place in a line where the text of an error begins, or NULL. `*rest` is the part of the
 * line after the words by which the text was recognised. */
const char *oom_text_find(struct text line, struct text *rest);

/* Parses a text that begins there. Line breaks in it may be spaces, and spaces may be repeated.
 * Fills `source`, `backend`, `device`, the sizes, the processes and the flags, and leaves the other
 * members alone. False if it is not the text of an error. */
bool oom_text_parse(struct text text, struct oom_message *message);

#endif
