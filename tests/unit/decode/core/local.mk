unit_runners += tests/unit/decode/core/run
tests_unit_decode_core_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_core_run_LDADD = $(unit_libs)
tests_unit_decode_core_run_SOURCES = $(unit_common) \
	tests/unit/decode/core/core.h \
	tests/unit/decode/core/gzip_test.c \
	tests/unit/decode/core/readahead_test.c \
	tests/unit/decode/core/source_test.c \
	tests/unit/decode/core/suite.c
