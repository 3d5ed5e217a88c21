
# text-replay.gp: one line of characters per curve, over columns of active memory.
set datafile separator tab
set datafile commentschars '#'
set lmargin 8
set rmargin 2
set xrange [x_first:x_last]
set yrange [0:y_top]
set border 3
set tics nomirror out
set format x '%.10g'
set title plot_title
set xlabel x_label . ', ' . y_label
set key below samplen 1 maxcols 1
plot \
    'active.tsv' using 1:2 with impulses linetype 0 title '  active', \
    for [i = 1:groups] 'curves.tsv' index i - 1 using 1:2 with lines linetype i title '  ' . name[i], \
    for [i = 1:(limit > 0)] limit with lines linetype 0 title '  ' . limit_text
