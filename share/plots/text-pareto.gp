
# text-pareto.gp: a star for each point of the front, and a letter for each named point.
set datafile separator tab
set datafile commentschars '#'
set lmargin 8
set rmargin 2
set xrange [-0.02 * x_last:x_last]
set yrange [0:y_top]
set border 3
set tics nomirror out
set format x '%.10g'
set title plot_title
set xlabel x_label . '; ' . y_label
set key below Left reverse samplen 1
plot 'front.tsv' using 1:2:('*') with labels notitle, \
    for [i = 1:labels] 'labels.tsv' using 1:2 every ::(i - 1)::(i - 1) with points pointtype i \
        title ' ' . label_text[i]
