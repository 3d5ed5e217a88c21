#include "solve/backend/library.h"

#include <dlfcn.h>
#include <string.h>

bool library_load(const char *file, const char *package, const char *const *names, size_t count,
                  void *functions, struct error *err)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        if (!why || strstr(why, "No such file"))
            return error_set(err, STATUS_IO, "%s not found (no %s)", file, package);
        return error_set(err, STATUS_IO, "%.200s", why);
    }
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, names[i]);
        if (!function) {
            dlclose(library);
            return error_set(err, STATUS_IO, "%s lacks %s: too old", file, names[i]);
        }
        memcpy((char *)functions + i * sizeof(function), &function, sizeof(function));
    }
    return true;
}
