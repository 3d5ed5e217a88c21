/* Memory for what grows large: on huge pages where the system has them.
 *
 * A column of a large snapshot is filled once, front to back. In pages of 4 KiB the
 * page faults of that cost more than the filling. So blocks from PAGES_HUGE bytes on
 * are mappings of their own, placed so that huge pages fit, and grow by moving whole
 * page tables. Smaller blocks are malloc's. */
#ifndef MEMSNAP_BASE_PAGES_H
#define MEMSNAP_BASE_PAGES_H

#include <stddef.h>

#define PAGES_HUGE ((size_t)2 << 20)

/* Makes a block (NULL: a new one) one of `size` bytes: its beginning is kept, what is new is
 * undefined. NULL, the old block untouched, when there is not enough memory. */
void *pages_resize(void *block, size_t size);
void pages_free(void *block); /* NULL is fine */

/* Memory of a fixed size that begins at a cache line, on huge pages as far as they fit; for
 * free(), not for the functions above. NULL when there is not enough. */
void *pages_aligned(size_t size);

#endif
