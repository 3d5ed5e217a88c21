unit_runners += tests/unit/decode/yaml/run
tests_unit_decode_yaml_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_yaml_run_LDADD = $(unit_libs)
tests_unit_decode_yaml_run_SOURCES = $(unit_common) \
	tests/unit/decode/yaml/yaml_test.c
