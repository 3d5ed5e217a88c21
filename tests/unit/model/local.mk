unit_runners += tests/unit/model/run
tests_unit_model_run_CPPFLAGS = $(unit_cppflags)
tests_unit_model_run_LDADD = $(unit_libs)
tests_unit_model_run_SOURCES = $(unit_common) \
	tests/unit/model/addrmap_test.c \
	tests/unit/model/ahead_test.c \
	tests/unit/model/allocator_rules_test.c \
	tests/unit/model/fit_test.c \
	tests/unit/model/layout_test.c \
	tests/unit/model/loader_limit_test.c \
	tests/unit/model/loader_test.c \
	tests/unit/model/model.h \
	tests/unit/model/random_script.c \
	tests/unit/model/random_script.h \
	tests/unit/model/recording_test.c \
	tests/unit/model/reference.c \
	tests/unit/model/reference.h \
	tests/unit/model/script.c \
	tests/unit/model/script.h \
	tests/unit/model/snapshot_test.c \
	tests/unit/model/suite.c \
	tests/unit/model/summary_test.c \
	tests/unit/model/timeline_bounds_test.c \
	tests/unit/model/timeline_cut_test.c \
	tests/unit/model/timeline_point_test.c \
	tests/unit/model/timeline_random_test.c \
	tests/unit/model/timeline_test.c \
	tests/unit/model/toy_allocator.c \
	tests/unit/model/toy_allocator.h \
	tests/unit/model/window_test.c
