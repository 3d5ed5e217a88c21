unit_runners += tests/unit/cuda/run
tests_unit_cuda_run_CPPFLAGS = $(unit_cppflags) \
	-DFAKE_DRIVER='"$(abs_top_builddir)/tests/unit/cuda/libcuda.so.1"'
tests_unit_cuda_run_LDADD = $(unit_libs)
tests_unit_cuda_run_SOURCES = $(device_common) tests/unit/cuda/main.c

# A stand-in for NVIDIA's driver. Not instrumented, because it switches between its own stacks.
EXTRA_DIST += tests/unit/cuda/fake_driver.c
CLEANFILES += tests/unit/cuda/libcuda.so.1
fake_driver_source = $(top_srcdir)/tests/unit/cuda/fake_driver.c
tests/unit/cuda/libcuda.so.1: $(fake_driver_source) $(kernel_headers)
	$(AM_V_CC)$(MKDIR_P) tests/unit/cuda && $(CC) -std=gnu11 $(WARNING_CFLAGS) $(AM_CPPFLAGS) \
	$(CPPFLAGS) $(CFLAGS) -fPIC -shared -Wl,-soname,libcuda.so.1 -o $@ $(fake_driver_source)
check_DATA += tests/unit/cuda/libcuda.so.1
