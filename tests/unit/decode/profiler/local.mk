unit_runners += tests/unit/decode/profiler/run
tests_unit_decode_profiler_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_profiler_run_LDADD = $(unit_libs)
tests_unit_decode_profiler_run_SOURCES = $(unit_common) \
	tests/unit/decode/profiler/profiler.h \
	tests/unit/decode/profiler/ranges_test.c \
	tests/unit/decode/profiler/suite.c \
	tests/unit/rows.c \
	tests/unit/rows.h
