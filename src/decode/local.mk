libmemsnap_a_SOURCES += \
	src/decode/core/bytes.h \
	src/decode/core/fields.c \
	src/decode/core/fields.h \
	src/decode/core/formats.c \
	src/decode/core/formats.h \
	src/decode/core/gzip.c \
	src/decode/core/gzip.h \
	src/decode/core/input.c \
	src/decode/core/input.h \
	src/decode/core/others.c \
	src/decode/core/others.h \
	src/decode/core/plain.c \
	src/decode/core/plain.h \
	src/decode/core/pytext.c \
	src/decode/core/pytext.h \
	src/decode/core/readahead.c \
	src/decode/core/readahead.h \
	src/decode/core/rows.c \
	src/decode/core/rows.h \
	src/decode/core/run_text.c \
	src/decode/core/run_text.h \
	src/decode/core/snapshot_fields.c \
	src/decode/core/snapshot_fields.h \
	src/decode/core/sniff.c \
	src/decode/core/sniff.h \
	src/decode/core/source.c \
	src/decode/core/source.h \
	src/decode/core/source_stream.c \
	src/decode/core/source_stream.h \
	src/decode/core/value.c \
	src/decode/core/value.h \
	src/decode/json/decoder.h \
	src/decode/json/frames.c \
	src/decode/json/frames.h \
	src/decode/json/members.c \
	src/decode/json/members.h \
	src/decode/json/python_text.c \
	src/decode/json/reader.c \
	src/decode/json/reader.h \
	src/decode/json/rows.c \
	src/decode/json/scalars.c \
	src/decode/json/scan.c \
	src/decode/json/scan.h \
	src/decode/json/settings.c \
	src/decode/json/snapshot.c \
	src/decode/json/snapshot.h \
	src/decode/json/values.c \
	src/decode/layers/fields.c \
	src/decode/layers/fields.h \
	src/decode/layers/json.c \
	src/decode/layers/layers.h \
	src/decode/layers/rows.h \
	src/decode/layers/tree.c \
	src/decode/layers/value.c \
	src/decode/layers/value.h \
	src/decode/log/lines.c \
	src/decode/log/lines.h \
	src/decode/log/message.c \
	src/decode/log/message.h \
	src/decode/log/oom_log.c \
	src/decode/log/oom_log.h \
	src/decode/log/prefix.c \
	src/decode/log/prefix.h \
	src/decode/log/rows.h \
	src/decode/log/sizes.c \
	src/decode/log/sizes.h \
	src/decode/log/traceback.c \
	src/decode/log/traceback.h \
	src/decode/msgpack/value.c \
	src/decode/msgpack/value.h \
	src/decode/pickle/binary.c \
	src/decode/pickle/build.c \
	src/decode/pickle/decode.c \
	src/decode/pickle/decode.h \
	src/decode/pickle/hot.c \
	src/decode/pickle/hot.h \
	src/decode/pickle/hot_frames.c \
	src/decode/pickle/memo.c \
	src/decode/pickle/memo.h \
	src/decode/pickle/object.c \
	src/decode/pickle/patterns.c \
	src/decode/pickle/patterns.h \
	src/decode/pickle/roles.c \
	src/decode/pickle/run.c \
	src/decode/pickle/spans.c \
	src/decode/pickle/spans.h \
	src/decode/pickle/text.c \
	src/decode/pickle/vm.c \
	src/decode/pickle/vm.h \
	src/decode/pprof/pprof.c \
	src/decode/pprof/pprof.h \
	src/decode/profiler/allocations.c \
	src/decode/profiler/allocations.h \
	src/decode/profiler/arguments.c \
	src/decode/profiler/chrome.c \
	src/decode/profiler/chrome.h \
	src/decode/profiler/event.c \
	src/decode/profiler/frames.c \
	src/decode/profiler/frames.h \
	src/decode/profiler/header.c \
	src/decode/profiler/keep.c \
	src/decode/profiler/kernels.c \
	src/decode/profiler/layers.c \
	src/decode/profiler/match.c \
	src/decode/profiler/modules.c \
	src/decode/profiler/modules.h \
	src/decode/profiler/order.c \
	src/decode/profiler/profile.c \
	src/decode/profiler/profile.h \
	src/decode/profiler/profiler.h \
	src/decode/profiler/rows.h \
	src/decode/profiler/scalars.c \
	src/decode/profiler/snapshot.c \
	src/decode/profiler/stacks.c \
	src/decode/profiler/start.c \
	src/decode/profiler/start.h \
	src/decode/rows/dicts.c \
	src/decode/rows/reader.h \
	src/decode/rows/settings.c \
	src/decode/rows/values.c \
	src/decode/rows/words.c \
	src/decode/run/key.c \
	src/decode/run/names.c \
	src/decode/run/names.h \
	src/decode/run/rows.h \
	src/decode/run/stats.c \
	src/decode/run/stats.h \
	src/decode/run/tables.c \
	src/decode/run/tables.h \
	src/decode/run/words.c \
	src/decode/run/words.h \
	src/decode/snapshot.c \
	src/decode/snapshot.h \
	src/decode/stats/json.c \
	src/decode/stats/log.c \
	src/decode/stats/pickle.c \
	src/decode/stats/rows.c \
	src/decode/stats/rows.h \
	src/decode/stats/stats.h \
	src/decode/timeline/internal.h \
	src/decode/timeline/number.c \
	src/decode/timeline/pieces.c \
	src/decode/timeline/raw.c \
	src/decode/timeline/sums.c \
	src/decode/timeline/timeline.c \
	src/decode/timeline/timeline.h \
	src/decode/yaml/scalar.c \
	src/decode/yaml/scalar.h \
	src/decode/yaml/tags.c \
	src/decode/yaml/tags.h \
	src/decode/yaml/value.c \
	src/decode/yaml/value.h

# protobuf-c's compiler makes the code that knows the format.
EXTRA_DIST += src/decode/pprof/profile.proto
if HAVE_PROTOBUF_C
libmemsnap_a_SOURCES += \
	src/decode/pprof/internal.h \
	src/decode/pprof/samples.c \
	src/decode/pprof/stacks.c \
	src/decode/pprof/strings.c
nodist_libmemsnap_a_SOURCES += src/decode/pprof/profile.pb-c.c
pprof_header = src/decode/pprof/profile.pb-c.h
CLEANFILES += src/decode/pprof/profile.pb-c.c $(pprof_header)

src/decode/pprof/profile.pb-c.c: src/decode/pprof/profile.proto
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(PROTOC_C) --proto_path=$(top_srcdir)/src --c_out=src \
		$(top_srcdir)/src/decode/pprof/profile.proto

$(pprof_header): src/decode/pprof/profile.pb-c.c
src/decode/pprof/pprof.$(OBJEXT) src/decode/pprof/samples.$(OBJEXT) \
	src/decode/pprof/stacks.$(OBJEXT) src/decode/pprof/strings.$(OBJEXT): $(pprof_header)
endif
