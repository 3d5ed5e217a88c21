
# text-compare.gp: one line of characters per file.
set datafile separator tab
set datafile commentschars '#'
set lmargin 8
set rmargin 2
set xrange [0:x_last]
set yrange [0:y_top]
set border 3
set tics nomirror out
set format x '%.10g'
set title plot_title
set xlabel x_label . '; ' . y_label
set key below samplen 1
plot for [i = 1:files] 'curves.tsv' index i - 1 using 1:2 with lines linetype i \
    title '  ' . name[i] . ' ' . peak[i]
