unit_runners += tests/unit/decode/log/run
tests_unit_decode_log_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_log_run_LDADD = $(unit_libs)
tests_unit_decode_log_run_SOURCES = $(unit_common) \
	tests/unit/decode/log/lines_test.c \
	tests/unit/decode/log/log.h \
	tests/unit/decode/log/processes_test.c \
	tests/unit/decode/log/suite.c \
	tests/unit/decode/log/texts_test.c
