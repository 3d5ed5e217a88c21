libmemsnap_a_SOURCES += \
	src/solve/backend.c \
	src/solve/backend.h \
	src/solve/chain.c \
	src/solve/chain.h \
	src/solve/cost_reference.c \
	src/solve/cost_table.c \
	src/solve/cost_table.h \
	src/solve/cpu.c \
	src/solve/device.c \
	src/solve/device.h \
	src/solve/device_batch.c \
	src/solve/device_shape.h \
	src/solve/front.c \
	src/solve/front.h \
	src/solve/front_knees.c \
	src/solve/library.c \
	src/solve/library.h \
	src/solve/opencl.c \
	src/solve/opencl.h \
	src/solve/opencl_api.h \
	src/solve/opencl_device.c \
	src/solve/opencl_find.c \
	src/solve/peak.c \
	src/solve/peak.h \
	src/solve/placement.c \
	src/solve/placement.h \
	src/solve/rotor.c \
	src/solve/rotor.h \
	src/solve/rotor_problem.c \
	src/solve/rotor_problem.h \
	src/solve/rotor_walk.c \
	src/solve/rotor_walk.h \
	src/solve/schedule.c \
	src/solve/schedule.h \
	src/solve/schedule_replay.c \
	src/solve/segment_cost.h \
	src/solve/sum.c \
	src/solve/sum.h \
	src/solve/sum_parts.c \
	src/solve/sum_parts.h

# The kernels that devices run, in the program: OpenCL's as source, for its drivers compile it.
kernel_headers = src/solve/device_shape.h src/solve/cost_kernel.h
EXTRA_DIST += scripts/embed src/solve/cost_kernel.h src/solve/opencl_kernel.cl

nodist_libmemsnap_a_SOURCES = src/solve/opencl_source.c
CLEANFILES += src/solve/opencl_source.c
opencl_kernel = $(top_srcdir)/src/solve/opencl_kernel.cl
src/solve/opencl_source.c: $(opencl_kernel) $(kernel_headers) $(top_srcdir)/scripts/embed
	$(AM_V_GEN)$(MKDIR_P) src/solve && cd $(srcdir) && \
	header=solve/opencl.h $(SHELL) scripts/embed opencl_source \
	src/solve/opencl_kernel.cl $(kernel_headers) >$(abs_builddir)/$@-new && \
	mv $(abs_builddir)/$@-new $(abs_builddir)/$@
