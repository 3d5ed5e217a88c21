libmemsnap_a_SOURCES += \
	src/solve/advice/advice.h \
	src/solve/advice/budget.c \
	src/solve/advice/fairscale.c \
	src/solve/advice/front.c \
	src/solve/backend/backend.h \
	src/solve/backend/device.c \
	src/solve/backend/device.h \
	src/solve/backend/device_shape.h \
	src/solve/backend/remote.c \
	src/solve/backend/remote.h \
	src/solve/backend/remote_wire.h \
	src/solve/chain/chain.c \
	src/solve/chain/chain.h \
	src/solve/chain/schedule.c \
	src/solve/chain/schedule.h \
	src/solve/chain/segment_cost.h \
	src/solve/chain/shared.c \
	src/solve/chain/shared.h \
	src/solve/choice/choice.c \
	src/solve/choice/choice.h \
	src/solve/cost/cost_table.c \
	src/solve/cost/cost_table.h \
	src/solve/cpu/bounds.h \
	src/solve/cpu/cpu.c \
	src/solve/cpu/cpu.h \
	src/solve/cpu/finish.h \
	src/solve/cpu/loops.h \
	src/solve/cpu/tile.h \
	src/solve/cpu/variant.c \
	src/solve/cpu/variant.h \
	src/solve/cpu/wave.c \
	src/solve/cpu/wave.h \
	src/solve/cpu/wave_memory.c \
	src/solve/cuda/api.h \
	src/solve/cuda/cuda.c \
	src/solve/cuda/cuda.h \
	src/solve/dp/front.c \
	src/solve/dp/front.h \
	src/solve/dp/front_knees.c \
	src/solve/dp/front_totals.c \
	src/solve/dp/peak.c \
	src/solve/dp/peak.h \
	src/solve/dp/rotor.c \
	src/solve/dp/rotor.h \
	src/solve/dp/rotor_batch.c \
	src/solve/dp/rotor_batch.h \
	src/solve/dp/rotor_walk.c \
	src/solve/dp/sum.c \
	src/solve/dp/sum.h \
	src/solve/opencl/api.h \
	src/solve/opencl/device.c \
	src/solve/opencl/opencl.c \
	src/solve/opencl/opencl.h \
	src/solve/problem/backward.c \
	src/solve/problem/cuts.c \
	src/solve/problem/cuts.h \
	src/solve/problem/flops.c \
	src/solve/problem/flops.h \
	src/solve/problem/forward.c \
	src/solve/problem/forward.h \
	src/solve/problem/forward_operators.c \
	src/solve/problem/layer_times.c \
	src/solve/problem/layer_times.h \
	src/solve/problem/operators.c \
	src/solve/problem/outer.c \
	src/solve/problem/problem.c \
	src/solve/problem/problem.h \
	src/solve/problem/reach.c \
	src/solve/problem/recorded.c \
	src/solve/problem/recorded.h \
	src/solve/problem/recorded_times.c \
	src/solve/problem/restrict.c \
	src/solve/problem/restrict.h \
	src/solve/problem/shared.c \
	src/solve/problem/sizes.c \
	src/solve/problem/turns.c \
	src/solve/problem/weighed.c \
	src/solve/problem/weighed.h

# The kernels that devices run, in the program: OpenCL's as source, for its drivers compile it;
# CUDA's as nvcc made it, or nothing.
kernel_headers = src/solve/backend/device_shape.h src/solve/backend/cost_kernel.h
EXTRA_DIST += scripts/embed src/solve/backend/cost_kernel.h src/solve/cuda/kernel.cu src/solve/opencl/kernel.cl

nodist_libmemsnap_a_SOURCES += src/solve/opencl/source.c src/solve/cuda/image.c
CLEANFILES += src/solve/opencl/source.c src/solve/cuda/image.c src/solve/cuda/kernel.fatbin
embed = $(SHELL) $(abs_top_srcdir)/scripts/embed

opencl_kernel = $(top_srcdir)/src/solve/opencl/kernel.cl
src/solve/opencl/source.c: $(opencl_kernel) $(kernel_headers) $(top_srcdir)/scripts/embed
	$(AM_V_GEN)$(MKDIR_P) src/solve/opencl && (cd $(srcdir) && header=solve/opencl/opencl.h \
	$(embed) opencl_source src/solve/opencl/kernel.cl $(kernel_headers)) >$@-new && mv $@-new $@

if HAVE_NVCC
cuda_kernel = src/solve/cuda/kernel.fatbin
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
src/solve/cuda/kernel.fatbin: $(top_srcdir)/src/solve/cuda/kernel.cu $(kernel_headers) config.status
	$(AM_V_NVCC)$(MKDIR_P) src/solve/cuda && $(NVCC) -I$(top_srcdir)/src $(NVCC_ARCHITECTURES) \
	$(NVCCFLAGS) --fatbin -o $@-new $(top_srcdir)/src/solve/cuda/kernel.cu && mv $@-new $@
else
cuda_kernel =
endif
src/solve/cuda/image.c: $(cuda_kernel) $(top_srcdir)/scripts/embed config.status
	$(AM_V_GEN)$(MKDIR_P) src/solve/cuda && header=solve/cuda/cuda.h $(embed) cuda_image $(cuda_kernel) \
	>$@-new && mv $@-new $@
