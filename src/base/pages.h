/* Memory for large growing arrays, on huge pages where the system has them.
 *
 * A column of a large snapshot is filled once, front to back. With pages of 4 KiB the page faults
 * cost more than the filling. So blocks of at least PAGES_HUGE bytes are mappings of their own,
 * aligned for huge pages, and grow by moving page tables instead of copying. Smaller blocks come
 * from malloc. */
#ifndef MEMSNAP_BASE_PAGES_H
#define MEMSNAP_BASE_PAGES_H

#include <stddef.h>

#define PAGES_HUGE ((size_t)2 << 20)

/* Like realloc(): the contents are kept up to the smaller size, and bytes beyond are undefined.
 * Returns NULL and leaves the old block untouched if memory runs out. */
void *pages_resize(void *block, size_t size);
void pages_free(void *block); /* NULL is allowed */

/* Memory of a fixed size, aligned to a cache line and on huge pages as far as they fit. Release it
 * with free(), not with the functions above. NULL if memory runs out. */
void *pages_aligned(size_t size);

#endif
