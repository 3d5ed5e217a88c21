/* Shared libraries that are used where they are there: loaded while the program runs, by the name
 * that their ABI has. */
#ifndef MEMSNAP_SOLVE_BACKEND_LIBRARY_H
#define MEMSNAP_SOLVE_BACKEND_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

/* Loads `file`, and sets the `count` pointers to functions at `functions` to those that `names` has
 * in the same order. It stays loaded. STATUS_IO: not there, or too old; `package` is what has it.
 */
bool library_load(const char *file, const char *package, const char *const *names, size_t count,
                  void *functions, struct error *err);

#endif
