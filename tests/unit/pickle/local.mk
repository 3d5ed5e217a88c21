unit_runners += tests/unit/pickle/run
tests_unit_pickle_run_CPPFLAGS = $(unit_cppflags)
tests_unit_pickle_run_LDADD = $(unit_libs)
tests_unit_pickle_run_SOURCES = $(unit_common) \
	tests/unit/pickle/check.c \
	tests/unit/pickle/opcodes_test.c \
	tests/unit/pickle/patterns_test.c \
	tests/unit/pickle/pickle.h \
	tests/unit/pickle/refusals_test.c \
	tests/unit/pickle/shapes_test.c \
	tests/unit/pickle/suite.c \
	tests/unit/pickle/value_test.c \
	tests/unit/rows.c \
	tests/unit/rows.h
