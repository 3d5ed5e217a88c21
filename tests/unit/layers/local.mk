unit_runners += tests/unit/layers/run
tests_unit_layers_run_CPPFLAGS = $(unit_cppflags)
tests_unit_layers_run_LDADD = $(unit_libs)
tests_unit_layers_run_SOURCES = $(unit_common) \
	tests/unit/layers/check.c \
	tests/unit/layers/curves_test.c \
	tests/unit/layers/json_test.c \
	tests/unit/layers/layers.h \
	tests/unit/layers/panels_test.c \
	tests/unit/layers/report_test.c \
	tests/unit/layers/suite.c \
	tests/unit/layers/tree_test.c
