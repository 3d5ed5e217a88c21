# MEMSNAP_FLAGS_WORK(FLAGS, IF-SO, IF-NOT)
# Checks if a program can be compiled and linked with FLAGS.
AC_DEFUN([MEMSNAP_FLAGS_WORK], [
  memsnap_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [memsnap_works=yes], [memsnap_works=no])
  CFLAGS=$memsnap_saved_CFLAGS
  AS_VAR_IF([memsnap_works], [yes], [$2], [$3])
])

# MEMSNAP_WARNINGS(FLAGS)
# Sets WARNING_CFLAGS to the FLAGS that the compiler knows.
AC_DEFUN([MEMSNAP_WARNINGS], [
  AC_MSG_CHECKING([which warnings the compiler knows])
  WARNING_CFLAGS=
  for memsnap_flag in $1; do
    MEMSNAP_FLAGS_WORK([$memsnap_flag],
      [AS_VAR_APPEND([WARNING_CFLAGS], ["${WARNING_CFLAGS:+ }$memsnap_flag"])], [:])
  done
  AC_MSG_RESULT([$WARNING_CFLAGS])
  AC_SUBST([WARNING_CFLAGS])
])

# MEMSNAP_INSTRUMENT(FEATURE, FLAGS)
# Adds FLAGS, for everything compiled and linked, or fails: the feature was asked for.
AC_DEFUN([MEMSNAP_INSTRUMENT], [
  AC_MSG_CHECKING([whether $CC takes $2])
  MEMSNAP_FLAGS_WORK([$2], [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([--enable-$1: $CC does not take $2])])
  AS_VAR_APPEND([INSTRUMENT_CFLAGS], [" $2"])
])

# MEMSNAP_COMPLETION_DIR(SHELL, FOLDER)
# --with-SHELL-completion-dir=DIR, or `no', into SHELLcompletiondir; by default FOLDER in datadir.
AC_DEFUN([MEMSNAP_COMPLETION_DIR], [
  AC_ARG_WITH([$1-completion-dir],
    [AS_HELP_STRING([--with-$1-completion-dir=DIR],
      [where the completion for $1 goes, or `no' @<:@DATADIR/$2@:>@])],
    [], [AS_VAR_SET([with_$1_completion_dir], [yes])])
  AS_CASE([$with_$1_completion_dir],
    [yes], [AS_VAR_SET([$1completiondir], ['${datadir}/$2'])],
    [AS_VAR_COPY([$1completiondir], [with_$1_completion_dir])])
  AC_SUBST([$1completiondir])
  AM_CONDITIONAL(m4_toupper([$1])[_COMPLETION], [test "x$with_$1_completion_dir" != xno])
])
