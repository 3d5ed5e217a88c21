unit_runners += tests/unit/analysis/run
tests_unit_analysis_run_CPPFLAGS = $(unit_cppflags)
tests_unit_analysis_run_LDADD = $(unit_libs)
tests_unit_analysis_run_SOURCES = $(unit_common) \
	tests/unit/analysis/analysis.h \
	tests/unit/analysis/bands_test.c \
	tests/unit/analysis/capture.c \
	tests/unit/analysis/capture.h \
	tests/unit/analysis/category_preexisting_test.c \
	tests/unit/analysis/category_guess_test.c \
	tests/unit/analysis/category_test.c \
	tests/unit/analysis/check/check_test.c \
	tests/unit/analysis/check/rule_set_test.c \
	tests/unit/analysis/check/rules_test.c \
	tests/unit/analysis/growth_fit_test.c \
	tests/unit/analysis/growth_test.c \
	tests/unit/analysis/pending_test.c \
	tests/unit/analysis/diff_test.c \
	tests/unit/analysis/findings_test.c \
	tests/unit/analysis/flame_test.c \
	tests/unit/analysis/forward_chain_test.c \
	tests/unit/analysis/fragmentation_test.c \
	tests/unit/analysis/oom_test.c \
	tests/unit/analysis/reason_test.c \
	tests/unit/analysis/regex_test.c \
	tests/unit/analysis/segment_map_test.c \
	tests/unit/analysis/report_labels_test.c \
	tests/unit/analysis/report_notices_test.c \
	tests/unit/analysis/report_test.c \
	tests/unit/analysis/site_names_test.c \
	tests/unit/analysis/site_pattern_test.c \
	tests/unit/analysis/site_test.c \
	tests/unit/analysis/steps_test.c \
	tests/unit/analysis/suite.c
