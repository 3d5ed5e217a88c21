unit_runners += tests/unit/source/run
tests_unit_source_run_CPPFLAGS = $(unit_cppflags)
tests_unit_source_run_LDADD = $(unit_libs)
tests_unit_source_run_SOURCES = $(unit_common) \
	tests/unit/source/gzip_test.c \
	tests/unit/source/readahead_test.c \
	tests/unit/source/source_test.c \
	tests/unit/source/source_tests.h \
	tests/unit/source/suite.c
