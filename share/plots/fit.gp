
# fit.gp: two lines for each GPU, and a line for its memory.
set xrange [0:x_last]
set yrange [0:y_top]
set border 3 linecolor rgb '#666666'
set tics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
set grid linecolor rgb '#E6E6E6' dashtype 3
set xlabel x_label offset 0, label_lift textcolor rgb '#444444'
set ylabel y_label textcolor rgb '#444444'
unset key
plot \
    'limits.tsv' using 1:3:($2 - $1):(0):5 with vectors nohead linewidth 1.2 linecolor rgb variable, \
    for [i = 1:gpus] 'limits.tsv' every ::(i - 1)::(i - 1) using 2:4:(limit_text[i]):5 \
        with labels left offset character 1, -1.2 textcolor rgb variable, \
    for [i = 1:curves] 'curves.tsv' index i - 1 using 1:3 with linespoints pointtype 7 pointsize 0.4 \
        linewidth 1.4 dashtype 2 linecolor rgb colour[i], \
    for [i = 1:curves] 'curves.tsv' index i - 1 using 1:2 with linespoints pointtype 7 pointsize 0.5 \
        linewidth 1.8 linecolor rgb colour[i], \
    'failures.tsv' using 1:2:3 with points pointtype 2 pointsize 0.9 linewidth 1.5 \
        linecolor rgb variable, \
    'largest.tsv' using 1:2:4 with points pointtype 7 pointsize 1.2 \
        linecolor rgb variable, \
    for [i in labels_below] 'largest.tsv' every ::(int(i) - 1)::(int(i) - 1) \
        using 1:3:(largest_text[int(i)]):4 with labels left offset character 0.8, -2.1 textcolor rgb variable, \
    for [i in labels_above] 'largest.tsv' every ::(int(i) - 1)::(int(i) - 1) \
        using 1:3:(largest_text[int(i)]):4 with labels left offset character 0.8, 0 textcolor rgb variable, \
    for [i in labels_left] 'largest.tsv' every ::(int(i) - 1)::(int(i) - 1) \
        using 1:3:(largest_text[int(i)]):4 with labels right offset character -0.8, 0 textcolor rgb variable
