libmemsnap_a_SOURCES += \
	src/commands/analyze.c \
	src/commands/analyze_options.c \
	src/commands/analyze_options.h \
	src/commands/capture.c \
	src/commands/capture.h \
	src/commands/closest.c \
	src/commands/closest.h \
	src/commands/command.h \
	src/commands/commands.c \
	src/commands/complain.c \
	src/commands/complain.h \
	src/commands/help.c \
	src/commands/inputs.c \
	src/commands/inputs.h \
	src/commands/options.c \
	src/commands/options.h \
	src/commands/output.c \
	src/commands/output.h \
	src/commands/version.c
