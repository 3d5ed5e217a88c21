unit_runners += tests/unit/json/run
tests_unit_json_run_CPPFLAGS = $(unit_cppflags)
tests_unit_json_run_LDADD = $(unit_libs)
tests_unit_json_run_SOURCES = $(unit_common) \
	tests/unit/json/check.c \
	tests/unit/json/json.h \
	tests/unit/json/refusals_test.c \
	tests/unit/json/rows_test.c \
	tests/unit/json/stream_test.c \
	tests/unit/json/suite.c \
	tests/unit/json/text_test.c \
	tests/unit/rows.c \
	tests/unit/rows.h
