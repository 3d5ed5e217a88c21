# A runner a room, or part of one: its test cases, the main program, and the library's objects.

unit_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/tests $(CHECK_CFLAGS)
unit_libs = $(LDADD) $(CHECK_LIBS)
unit_common = tests/unit/unit.c tests/unit/unit.h
unit_runners =

# A runner a kind of device, which skips where there is none.
device_common = tests/unit/devices/cases.c tests/unit/devices/cost_reference.c tests/unit/devices/devices.h \
	tests/unit/solve/chance.h tests/unit/solve/problems.c tests/unit/solve/problems.h

include tests/unit/analysis/local.mk
include tests/unit/base/local.mk
include tests/unit/worker_pool/local.mk
include tests/unit/cuda/local.mk
include tests/unit/decode/core/local.mk
include tests/unit/decode/json/local.mk
include tests/unit/decode/layers/local.mk
include tests/unit/decode/log/local.mk
include tests/unit/decode/pickle/local.mk
include tests/unit/decode/profiler/local.mk
include tests/unit/decode/run/local.mk
include tests/unit/decode/stats/local.mk
include tests/unit/decode/timeline/local.mk
include tests/unit/decode/yaml/local.mk
include tests/unit/dryrun/local.mk
include tests/unit/model/local.mk
include tests/unit/opencl/local.mk
include tests/unit/render/local.mk
include tests/unit/sandbox/local.mk
include tests/unit/solve/local.mk

EXTRA_PROGRAMS = $(unit_runners)
if ENABLE_UNIT_TESTS
check_PROGRAMS += $(unit_runners)
TESTS += $(unit_runners)
endif

# The unit tests of the decoders alone, which are given the bytes of strangers.
.PHONY: check-decoders
check-decoders:
	@chosen=; for runner in $(unit_runners); do \
	    case $$runner in tests/unit/decode/*) chosen="$$chosen $$runner" ;; esac; \
	done; \
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$chosen" check_PROGRAMS="$$chosen"
