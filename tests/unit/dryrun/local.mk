unit_runners += tests/unit/dryrun/run
tests_unit_dryrun_run_CPPFLAGS = $(unit_cppflags)
tests_unit_dryrun_run_LDADD = $(unit_libs)
tests_unit_dryrun_run_SOURCES = $(unit_common) \
	tests/unit/dryrun/answers_test.c \
	tests/unit/dryrun/cards_test.c \
	tests/unit/dryrun/dryrun.h \
	tests/unit/dryrun/elf_make.c \
	tests/unit/dryrun/elf_test.c \
	tests/unit/dryrun/needs_test.c \
	tests/unit/dryrun/space_test.c \
	tests/unit/dryrun/stub_library_test.c \
	tests/unit/dryrun/suite.c
