/* What the file says of a live allocation, beyond its address, size and stack. */
#ifndef MEMSNAP_MODEL_LIVE_H
#define MEMSNAP_MODEL_LIVE_H

#include "model/timeline.h"

/* The extra of the event that allocated it; NULL: the file does not have that event. */
const struct event_extra *live_extra(const struct timeline *timeline, const struct live *live);
/* forward_frames of the event that allocated it, or of its block at the dump; or STACK_NONE. */
stack_id live_forward_stack(const struct timeline *timeline, const struct live *live);

#endif
