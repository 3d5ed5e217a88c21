unit_runners += tests/unit/crew/run
tests_unit_crew_run_CPPFLAGS = $(unit_cppflags)
tests_unit_crew_run_LDADD = $(unit_libs)
tests_unit_crew_run_SOURCES = $(unit_common) tests/unit/crew/crew_test.c
