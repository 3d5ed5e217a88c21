# Every test is a program or a script that exits with 0 (passed), with 77 (skipped,
# after printing the reason) or with another status (failed). It runs in the build
# folder, with these variables in the environment:
#   MEMSNAP         the program
#   MEMSNAP_PLOTS   the templates of pictures in the source tree
#   INSTALLED_PLOTS the folder to which `make install` copies them
#   srcdir          the source tree's top
#   PYTHON3         Python, or empty if not found
#   WITH_MPI        yes if memsnap is built with MPI
#   MEMSNAP_CORPUS  a folder of real captures, if available
#   MEMSNAP_TORCH   a Python with PyTorch's CUDA build, for tests/cli/dryrun.sh, if available
#   MEMSNAP_SHARE   if set to N, the tests of tests/accept, tests/files and tests/unit run one Nth of their
#                   random or combined cases, and no large capture; hostile.py has MEMSNAP_HOSTILE
#                   instead
# Tests start in the order of these lists, the longest first, so that none runs alone at the end.

# Less memory than the default that is freed and not yet used again, and fewer frames: both take time.
asan_options = detect_stack_use_after_return=1:quarantine_size_mb=32:malloc_context_size=8

AM_TESTS_ENVIRONMENT = \
	MEMSNAP='$(abs_top_builddir)/memsnap$(EXEEXT)'; export MEMSNAP; \
	MEMSNAP_PLOTS='$(abs_top_srcdir)/share/plots'; export MEMSNAP_PLOTS; \
	INSTALLED_PLOTS='$(plotsdir)'; export INSTALLED_PLOTS; \
	PYTHON3='$(PYTHON3)'; export PYTHON3; \
	WITH_MPI='$(WITH_MPI)'; export WITH_MPI; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	MEMSNAP_CORPUS=$${MEMSNAP_CORPUS-'$(abs_top_srcdir)/../shared/corpus'}; export MEMSNAP_CORPUS; \
	ASAN_OPTIONS=$${ASAN_OPTIONS-$(asan_options)}; export ASAN_OPTIONS; \
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
check_DATA =
TESTS = $(dist_check_SCRIPTS)
dist_check_SCRIPTS = tests/completion.sh tests/doc-paths.sh tests/format.sh tests/gallery.sh tests/layering.sh tests/link-circles.sh tests/man-examples.sh tests/readme-examples.sh
EXTRA_DIST += tests/completion.zsh tests/layering.awk tests/man-examples.awk

# The tests in which errors in memory may show, in the build that distcheck makes: not those of the sources, shells and
# samples of pictures, and of the comparisons with other programs only those that read damaged captures or the most
# kinds of files.
.PHONY: distcheck-memory
distcheck-memory:
	@chosen=; for test in $(TESTS); do \
	    case $$test in \
	    tests/accept/check.py | tests/accept/export.py | tests/accept/hostile.py | tests/accept/profiles.py) ;; \
	    tests/accept/* | tests/completion.sh | tests/doc-paths.sh | tests/format.sh | tests/gallery.sh) continue ;; \
	    tests/layering.sh | tests/link-circles.sh) continue ;; \
	    esac; \
	    chosen="$$chosen $$test"; \
	done; \
	$(MAKE) $(AM_MAKEFLAGS) distcheck TESTS="$$chosen"

# The tests that distcheck-memory leaves out, or runs a share of (MEMSNAP_SHARE). Of the unit tests, those of rooms where
# that share leaves out most.
.PHONY: check-whole
check-whole:
	@chosen=; programs=; for test in $(TESTS); do \
	    case $$test in \
	    tests/accept/hostile.py | tests/cli/* | tests/fuzz/*) continue ;; \
	    tests/man-examples.sh | tests/readme-examples.sh) continue ;; \
	    tests/unit/model/* | tests/unit/solve/* | tests/unit/cuda/* | tests/unit/opencl/*) \
	        programs="$$programs $$test" ;; \
	    tests/unit/*) continue ;; \
	    esac; \
	    chosen="$$chosen $$test"; \
	done; \
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="$$chosen" check_PROGRAMS="$$programs"

# Kernels compiled for tests by PoCL, an OpenCL for CPUs; and pictures of pages.
clean-local:
	rm -rf pocl-cache page-pictures

# Suppresses leaks of device drivers, which keep memory until the program ends.
EXTRA_DIST += tests/drivers.supp

include tests/files/local.mk
include tests/accept/local.mk
include tests/cli/local.mk
include tests/unit/local.mk
include tests/fuzz/local.mk

# Prints the counts of the unit tests, which would otherwise be only in their logs.
check-local: check-TESTS
	@cat $(unit_runners:=.log) 2>/dev/null || :
