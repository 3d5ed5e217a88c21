unit_runners += tests/unit/decode/stats/run
tests_unit_decode_stats_run_CPPFLAGS = $(unit_cppflags)
tests_unit_decode_stats_run_LDADD = $(unit_libs)
tests_unit_decode_stats_run_SOURCES = $(unit_common) \
	tests/unit/decode/stats/suite.c
