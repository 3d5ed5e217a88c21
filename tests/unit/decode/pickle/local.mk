unit_runners += tests/unit/decode/pickle/run
tests_unit_decode_pickle_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_pickle_run_LDADD = $(unit_libs)
tests_unit_decode_pickle_run_SOURCES = $(unit_common) \
	tests/unit/decode/pickle/check.c \
	tests/unit/decode/pickle/opcodes_test.c \
	tests/unit/decode/pickle/patterns_test.c \
	tests/unit/decode/pickle/pickle.h \
	tests/unit/decode/pickle/refusals_test.c \
	tests/unit/decode/pickle/shapes_test.c \
	tests/unit/decode/pickle/suite.c \
	tests/unit/decode/pickle/value_test.c \
	tests/unit/decode/pickle/writer.c \
	tests/unit/decode/pickle/writer.h \
	tests/unit/rows.c \
	tests/unit/rows.h
