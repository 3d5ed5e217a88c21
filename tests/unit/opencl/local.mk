unit_runners += tests/unit/opencl/run
tests_unit_opencl_run_CPPFLAGS = $(unit_cppflags)
tests_unit_opencl_run_LDADD = $(unit_libs)
tests_unit_opencl_run_SOURCES = $(device_common) tests/unit/opencl/main.c
