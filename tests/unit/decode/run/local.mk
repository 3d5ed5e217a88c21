unit_runners += tests/unit/decode/run/run
tests_unit_decode_run_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_run_run_LDADD = $(unit_libs)
tests_unit_decode_run_run_SOURCES = $(unit_common) \
	tests/unit/decode/run/names_test.c \
	tests/unit/decode/run/operators_test.c \
	tests/unit/decode/run/run.h \
	tests/unit/decode/run/stats_test.c \
	tests/unit/decode/run/suite.c \
	tests/unit/decode/run/tables_test.c \
	tests/unit/decode/run/told.c
