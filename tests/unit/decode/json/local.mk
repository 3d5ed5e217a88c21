unit_runners += tests/unit/decode/json/run
tests_unit_decode_json_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_json_run_LDADD = $(unit_libs)
tests_unit_decode_json_run_SOURCES = $(unit_common) \
	tests/unit/decode/json/check.c \
	tests/unit/decode/json/json.h \
	tests/unit/decode/json/refusals_test.c \
	tests/unit/decode/json/rows_test.c \
	tests/unit/decode/json/span_test.c \
	tests/unit/decode/json/stream_test.c \
	tests/unit/decode/json/suite.c \
	tests/unit/decode/json/text_test.c \
	tests/unit/rows.c \
	tests/unit/rows.h
