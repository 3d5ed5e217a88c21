# MEMSNAP_DRYRUN(IF-SO, IF-NOT)
# Checks if the stand-in for CUDA can be built: a shared object of which only chosen names are seen. Sets
# DRYRUN_CFLAGS.
AC_DEFUN([MEMSNAP_DRYRUN], [
  AC_SUBST([DRYRUN_CFLAGS],
    ["-fPIC -fvisibility=hidden -pthread -Wno-unused-parameter -Wno-missing-prototypes"])
  AC_CACHE_CHECK([whether $CC makes the stand-in for CUDA], [memsnap_cv_dryrun],
    [memsnap_saved_CFLAGS=$CFLAGS
     AS_ECHO(['{ global: cuda*; local: *; };']) >conftest.map
     CFLAGS="$CFLAGS $DRYRUN_CFLAGS -shared -Wl,-z,defs -Wl,--version-script=conftest.map"
     AC_LINK_IFELSE([AC_LANG_SOURCE([[
#if !defined(__linux__) || !defined(__ELF__) || !(defined(__x86_64__) || defined(__aarch64__)) || !defined(__LP64__)
#error "another system"
#endif
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
__attribute__((visibility("default"))) void *cudaNothing(void) { return dlsym(RTLD_NEXT, "nothing"); }
]])],
       [memsnap_cv_dryrun=yes], [memsnap_cv_dryrun=no])
     CFLAGS=$memsnap_saved_CFLAGS
     rm -f conftest.map])
  AS_VAR_IF([memsnap_cv_dryrun], [yes], [$1], [$2])
])
