unit_runners += tests/unit/sandbox/run
tests_unit_sandbox_run_CPPFLAGS = $(unit_cppflags)
tests_unit_sandbox_run_LDADD = $(unit_libs)
tests_unit_sandbox_run_SOURCES = $(unit_common) \
	tests/unit/sandbox/sandbox_test.c
