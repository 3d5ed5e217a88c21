# What is common to the program and to the stand-in for CUDA.
dryrun_core = \
	src/dryrun/core/answers.c \
	src/dryrun/core/answers.h \
	src/dryrun/core/cards.c \
	src/dryrun/core/cards.h \
	src/dryrun/core/elf.h \
	src/dryrun/core/elf_read.c \
	src/dryrun/core/needs.c \
	src/dryrun/core/needs.h \
	src/dryrun/core/outcome.h \
	src/dryrun/core/space.c \
	src/dryrun/core/space.h \
	src/dryrun/core/stub_code.c \
	src/dryrun/core/stub_code.h \
	src/dryrun/core/stub_library.c \
	src/dryrun/core/stub_library.h
libmemsnap_a_SOURCES += $(dryrun_core)
dryrun_modules = conditions extensions ranks recorder values world
EXTRA_DIST += src/dryrun/device/exports.map \
	src/dryrun/conditions.py \
	src/dryrun/extensions.py \
	src/dryrun/ranks.py \
	src/dryrun/recorder.py \
	src/dryrun/values.py \
	src/dryrun/world.py

# The stand-in for CUDA is loaded into Python. It is neither instrumented nor linked with anything but the C
# library. Entry points have no prototypes and ignore most of their parameters.
if DRYRUN
pkgliblibdir = $(pkglibdir)
pkgliblib_PROGRAMS = libmemsnap-dryrun.so
endif
libmemsnap_dryrun_so_SOURCES = $(dryrun_core) \
	src/base/buffer.c \
	src/base/buffer.h \
	src/base/error.c \
	src/base/error.h \
	src/dryrun/device/blas.c \
	src/dryrun/device/collectives.c \
	src/dryrun/device/communicator.h \
	src/dryrun/device/control.c \
	src/dryrun/device/copy.c \
	src/dryrun/device/dnn.c \
	src/dryrun/device/dnn.h \
	src/dryrun/device/dnn_graph.c \
	src/dryrun/device/dnn_recurrent.c \
	src/dryrun/device/driver.c \
	src/dryrun/device/graph.c \
	src/dryrun/device/memory.c \
	src/dryrun/device/nccl.c \
	src/dryrun/device/properties.c \
	src/dryrun/device/runtime.c \
	src/dryrun/device/solver.c \
	src/dryrun/device/sparse.c \
	src/dryrun/device/state.c \
	src/dryrun/device/state.h \
	src/dryrun/device/stream.c \
	src/dryrun/device/tools.c \
	src/dryrun/device/unknown.c \
	src/dryrun/device/values.c \
	src/dryrun/device/values.h \
	src/dryrun/device/virtual.c
libmemsnap_dryrun_so_CFLAGS = -std=gnu11 $(WARNING_CFLAGS) $(DRYRUN_CFLAGS)
libmemsnap_dryrun_so_LDFLAGS = -shared -Wl,-soname,libmemsnap-dryrun.so -Wl,-z,defs \
	-Wl,--version-script=$(srcdir)/src/dryrun/device/exports.map
libmemsnap_dryrun_so_LDADD = -lpthread
EXTRA_libmemsnap_dryrun_so_DEPENDENCIES = $(srcdir)/src/dryrun/device/exports.map
