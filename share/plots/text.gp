
# text.gp: axes and titles of a graph made of characters.
set datafile separator tab
set datafile commentschars '#'
set lmargin 8
set rmargin 2
set xrange [x_first:x_last]
set yrange [0:y_top]
set border 3
set tics nomirror out
set format x '%.10g'
set title plot_title . "\n" . peak_text
set xlabel x_label . ', ' . y_label
set key below samplen 1
