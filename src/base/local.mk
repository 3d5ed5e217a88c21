libmemsnap_a_SOURCES += \
	src/base/arena.c \
	src/base/arena.h \
	src/base/background.c \
	src/base/background.h \
	src/base/bisect.h \
	src/base/budget.c \
	src/base/budget.h \
	src/base/buffer.c \
	src/base/buffer.h \
	src/base/error.c \
	src/base/error.h \
	src/base/hash.c \
	src/base/hash.h \
	src/base/idtable.c \
	src/base/idtable.h \
	src/base/pages.c \
	src/base/pages.h \
	src/base/progress.c \
	src/base/progress.h \
	src/base/symbols.c \
	src/base/symbols.h \
	src/base/text.c \
	src/base/ascii.h src/base/text.h \
	src/base/thread.c \
	src/base/thread.h \
	src/base/traceback.c \
	src/base/traceback.h \
	src/base/units.c \
	src/base/units.h \
	src/base/utf8.c \
	src/base/utf8.h
