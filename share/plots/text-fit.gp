
# text-fit.gp: a line of characters for each GPU's peak of reserved memory, and one for its memory.
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
set key below Left reverse samplen 1
plot \
    for [i = 1:gpus] 'limits.tsv' every ::(i - 1)::(i - 1) using 1:3:($2 - $1):(0) with vectors nohead linetype 0 \
        notitle, \
    for [i = 1:curves] 'curves.tsv' index i - 1 using 1:3 with lines linetype i title ' ' . name[i] . ', reserved', \
    for [i = 1:fitting + 1] 'largest.tsv' every ::(i - 1)::(i - 1) using 1:2 with points pointtype i \
        title largest_text[i]
