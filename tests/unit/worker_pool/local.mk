unit_runners += tests/unit/worker_pool/run
tests_unit_worker_pool_run_CPPFLAGS = $(unit_cppflags)
tests_unit_worker_pool_run_LDADD = $(unit_libs)
tests_unit_worker_pool_run_SOURCES = $(unit_common) tests/unit/worker_pool/worker_pool_test.c
