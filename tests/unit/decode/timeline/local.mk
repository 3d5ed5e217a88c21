unit_runners += tests/unit/decode/timeline/run
tests_unit_decode_timeline_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_timeline_run_LDADD = $(unit_libs)
tests_unit_decode_timeline_run_SOURCES = $(unit_common) \
	tests/unit/decode/timeline/suite.c \
	tests/unit/rows.c \
	tests/unit/rows.h
