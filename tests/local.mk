# Every test is a program or a script that exits 0 (passed), 77 (skipped, having
# said why) or otherwise (failed). It is run in the build folder, and finds what
# it needs through the environment:
#   MEMSNAP         the program
#   MEMSNAP_PLOTS   the templates of pictures, as they are in the source tree
#   INSTALLED_PLOTS where `make install` puts them
#   srcdir          the source tree's top
#   PYTHON3         Python, or empty where there is none
#   MEMSNAP_CORPUS  real captures, where they are at hand
#   MEMSNAP_SHARE   where set to N, the tests of tests/accept, tests/files and tests/unit try an Nth of
#                   what they make up or combine, and no large capture; but hostile.py, which has
#                   MEMSNAP_HOSTILE
# They start in the order of the lists here: the longest first, so that none is left to run alone.

AM_TESTS_ENVIRONMENT = \
	MEMSNAP='$(abs_top_builddir)/memsnap$(EXEEXT)'; export MEMSNAP; \
	MEMSNAP_PLOTS='$(abs_top_srcdir)/share/plots'; export MEMSNAP_PLOTS; \
	INSTALLED_PLOTS='$(plotsdir)'; export INSTALLED_PLOTS; \
	PYTHON3='$(PYTHON3)'; export PYTHON3; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	MEMSNAP_CORPUS=$${MEMSNAP_CORPUS-'$(abs_top_srcdir)/../shared/corpus'}; export MEMSNAP_CORPUS; \
	ASAN_OPTIONS=$${ASAN_OPTIONS-detect_stack_use_after_return=1}; export ASAN_OPTIONS; \
	UBSAN_OPTIONS=$${UBSAN_OPTIONS-print_stacktrace=1}; export UBSAN_OPTIONS; \
	LSAN_OPTIONS=$${LSAN_OPTIONS-suppressions=$(abs_top_srcdir)/tests/drivers.supp:print_suppressions=0}; \
	export LSAN_OPTIONS; \
	POCL_CACHE_DIR=$${POCL_CACHE_DIR-'$(abs_top_builddir)/pocl-cache'}; export POCL_CACHE_DIR;

TEST_EXTENSIONS = .sh .py
if HAVE_PYTHON3
PY_LOG_COMPILER = $(PYTHON3)
else
PY_LOG_COMPILER = $(SHELL) -c 'echo "skipped: there is no Python"; exit 77'
endif

check_PROGRAMS =
TESTS = $(dist_check_SCRIPTS)
dist_check_SCRIPTS = tests/completion.sh tests/doc-paths.sh tests/format.sh tests/gallery.sh tests/layering.sh tests/link-circles.sh tests/man-examples.sh
EXTRA_DIST += tests/completion.zsh tests/layering.awk tests/man-examples.awk

# Kernels that PoCL, an OpenCL for CPUs, has compiled for tests; pictures of pages.
clean-local:
	rm -rf pocl-cache page-pictures

# What drivers of devices keep until the program ends.
EXTRA_DIST += tests/drivers.supp

include tests/files/local.mk
include tests/accept/local.mk
include tests/cli/local.mk
include tests/unit/local.mk
include tests/fuzz/local.mk

# The counts of the unit tests would otherwise be seen in their logs only.
check-local: check-TESTS
	@cat $(unit_runners:=.log) 2>/dev/null || :
