# text-trend.gp: a letter for each run, and dots for the median of the runs before.
set datafile separator tab
set datafile commentschars '#'
set lmargin 8
set rmargin 2
set xrange [0.5:x_last + 0.5]
set yrange [y_from:y_top]
set border 3
set tics nomirror out
set format y '%.10g'
set xtics 1, int(x_last / 10) + 1
set title plot_title
set xlabel y_label . ', by run'
set key below samplen 1 maxcols 1
plot \
    'medians.tsv' using 1:2 with points pointtype 0 title '  median of the runs before', \
    'points.tsv' using 1:2 with points pointtype 15 title '  ' . plot_subtitle
