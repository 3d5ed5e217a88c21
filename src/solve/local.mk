libmemsnap_a_SOURCES += \
	src/solve/advice.h \
	src/solve/advice_budget.c \
	src/solve/advice_compare.c \
	src/solve/advice_fairscale.c \
	src/solve/advice_front.c \
	src/solve/backend.c \
	src/solve/backend.h \
	src/solve/chain.c \
	src/solve/chain.h \
	src/solve/cost_reference.c \
	src/solve/cost_table.c \
	src/solve/cost_table.h \
	src/solve/cpu.c \
	src/solve/cpu_bounds.h \
	src/solve/cpu_finish.h \
	src/solve/cpu_loops.h \
	src/solve/cpu_product.h \
	src/solve/cpu_tile.h \
	src/solve/cpu_variant.c \
	src/solve/cpu_variant.h \
	src/solve/cpu_wave.c \
	src/solve/cpu_wave.h \
	src/solve/cpu_wave_memory.c \
	src/solve/cuda.c \
	src/solve/cuda.h \
	src/solve/cuda_api.h \
	src/solve/cuda_device.c \
	src/solve/cuda_find.c \
	src/solve/cuts.c \
	src/solve/cuts.h \
	src/solve/device.c \
	src/solve/device.h \
	src/solve/device_batch.c \
	src/solve/device_shape.h \
	src/solve/front.c \
	src/solve/front.h \
	src/solve/front_knees.c \
	src/solve/front_search.c \
	src/solve/front_states.h \
	src/solve/layer_times.c \
	src/solve/layer_times.h \
	src/solve/library.c \
	src/solve/library.h \
	src/solve/opencl.c \
	src/solve/opencl.h \
	src/solve/opencl_api.h \
	src/solve/opencl_device.c \
	src/solve/opencl_find.c \
	src/solve/remote.c \
	src/solve/remote.h \
	src/solve/remote_serve.c \
	src/solve/remote_wire.c \
	src/solve/remote_wire.h \
	src/solve/peak.c \
	src/solve/peak.h \
	src/solve/placement.c \
	src/solve/placement.h \
	src/solve/problem.c \
	src/solve/problem.h \
	src/solve/problem_forward.c \
	src/solve/problem_forward.h \
	src/solve/problem_sizes.c \
	src/solve/problem_sizes.h \
	src/solve/rotor.c \
	src/solve/rotor_batch.c \
	src/solve/rotor_batch.h \
	src/solve/rotor_front.c \
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

# The kernels that devices run, in the program: OpenCL's as source, for its drivers compile it;
# CUDA's as nvcc made it, or nothing.
kernel_headers = src/solve/device_shape.h src/solve/cost_kernel.h
EXTRA_DIST += scripts/embed src/solve/cost_kernel.h src/solve/cuda_kernel.cu src/solve/opencl_kernel.cl

nodist_libmemsnap_a_SOURCES = src/solve/opencl_source.c src/solve/cuda_image.c
CLEANFILES += src/solve/opencl_source.c src/solve/cuda_image.c src/solve/cuda_kernel.fatbin
embed = $(SHELL) $(abs_top_srcdir)/scripts/embed

opencl_kernel = $(top_srcdir)/src/solve/opencl_kernel.cl
src/solve/opencl_source.c: $(opencl_kernel) $(kernel_headers) $(top_srcdir)/scripts/embed
	$(AM_V_GEN)$(MKDIR_P) src/solve && (cd $(srcdir) && header=solve/opencl.h \
	$(embed) opencl_source src/solve/opencl_kernel.cl $(kernel_headers)) >$@-new && mv $@-new $@

if HAVE_NVCC
cuda_kernel = src/solve/cuda_kernel.fatbin
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
src/solve/cuda_kernel.fatbin: $(top_srcdir)/src/solve/cuda_kernel.cu $(kernel_headers) config.status
	$(AM_V_NVCC)$(MKDIR_P) src/solve && $(NVCC) -I$(top_srcdir)/src $(NVCC_ARCHITECTURES) \
	$(NVCCFLAGS) --fatbin -o $@-new $(top_srcdir)/src/solve/cuda_kernel.cu && mv $@-new $@
else
cuda_kernel =
endif
src/solve/cuda_image.c: $(cuda_kernel) $(top_srcdir)/scripts/embed config.status
	$(AM_V_GEN)$(MKDIR_P) src/solve && header=solve/cuda.h $(embed) cuda_image $(cuda_kernel) \
	>$@-new && mv $@-new $@
