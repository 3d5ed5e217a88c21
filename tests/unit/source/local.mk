unit_runners += tests/unit/source/run
tests_unit_source_run_CPPFLAGS = $(unit_cppflags)
tests_unit_source_run_LDADD = $(unit_libs)
tests_unit_source_run_SOURCES = $(unit_common) \
	tests/unit/source/source_test.c
