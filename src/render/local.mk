libmemsnap_a_SOURCES += \
	src/render/analyze.h \
	src/render/analyze_json.c \
	src/render/analyze_live.c \
	src/render/analyze_parts.h \
	src/render/analyze_summary.c \
	src/render/analyze_text.c \
	src/render/escape.c \
	src/render/escape.h \
	src/render/json.c \
	src/render/json.h \
	src/render/moments.c \
	src/render/moments.h \
	src/render/page.c \
	src/render/page.h \
	src/render/settings.c \
	src/render/settings.h \
	src/render/table.c \
	src/render/table.h
