unit_runners += tests/unit/solve/run
tests_unit_solve_run_CPPFLAGS = $(unit_cppflags)
tests_unit_solve_run_LDADD = $(unit_libs)
tests_unit_solve_run_SOURCES = $(unit_common) \
	tests/unit/devices/cost_reference.c \
	tests/unit/solve/backend_test.c \
	tests/unit/solve/brute.c \
	tests/unit/solve/brute.h \
	tests/unit/solve/chains.c \
	tests/unit/solve/chains.h \
	tests/unit/solve/chance.h \
	tests/unit/solve/cost_table_test.c \
	tests/unit/solve/cuts_test.c \
	tests/unit/solve/flops_test.c \
	tests/unit/solve/outer_test.c \
	tests/unit/solve/peak_test.c \
	tests/unit/solve/recorded_placement_test.c \
	tests/unit/solve/recorded_test.c \
	tests/unit/solve/rivals_test.c \
	tests/unit/solve/problems.c \
	tests/unit/solve/problems.h \
	tests/unit/solve/rotor_test.c \
	tests/unit/solve/schedule_test.c \
	tests/unit/solve/shared_test.c \
	tests/unit/solve/solve.h \
	tests/unit/solve/suite.c \
	tests/unit/solve/sum_test.c \
	tests/unit/solve/weighed_test.c
