libmemsnap_a_SOURCES += \
	src/model/addrmap.c \
	src/model/addrmap.h \
	src/model/cutter.c \
	src/model/cutter.h \
	src/model/extras.c \
	src/model/extras.h \
	src/model/layer_trace.c \
	src/model/layer_trace.h \
	src/model/loader.c \
	src/model/loader.h \
	src/model/loader_events.c \
	src/model/loader_rows.c \
	src/model/loader_state.h \
	src/model/replay.c \
	src/model/replay.h \
	src/model/replay_dump.c \
	src/model/snapshot.c \
	src/model/snapshot.h \
	src/model/sums.h \
	src/model/timeline.c \
	src/model/timeline.h \
	src/model/timeline_query.c \
	src/model/window.c \
	src/model/window.h
