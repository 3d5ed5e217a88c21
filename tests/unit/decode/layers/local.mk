unit_runners += tests/unit/decode/layers/run
tests_unit_decode_layers_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_layers_run_LDADD = $(unit_libs)
tests_unit_decode_layers_run_SOURCES = $(unit_common) \
	tests/unit/decode/layers/check.c \
	tests/unit/decode/layers/json_test.c \
	tests/unit/decode/layers/layers.h \
	tests/unit/decode/layers/suite.c \
	tests/unit/decode/layers/tree_test.c
