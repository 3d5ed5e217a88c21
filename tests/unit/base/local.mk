unit_runners += tests/unit/base/run
tests_unit_base_run_CPPFLAGS = $(unit_cppflags)
tests_unit_base_run_LDADD = $(unit_libs)
tests_unit_base_run_SOURCES = $(unit_common) \
	tests/unit/base/arena_test.c \
	tests/unit/base/background_test.c \
	tests/unit/base/base.h \
	tests/unit/base/budget_test.c \
	tests/unit/base/buffer_test.c \
	tests/unit/base/error_test.c \
	tests/unit/base/hash_test.c \
	tests/unit/base/idtable_test.c \
	tests/unit/base/machine_test.c \
	tests/unit/base/pages_test.c \
	tests/unit/base/progress_test.c \
	tests/unit/base/suite.c \
	tests/unit/base/symbols_test.c \
	tests/unit/base/text_test.c \
	tests/unit/base/traceback_test.c \
	tests/unit/base/units_test.c \
	tests/unit/base/utf8_test.c
