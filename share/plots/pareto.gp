
# pareto.gp: one step per point of the front, and the named points.
set xrange [-0.02 * x_last:x_last]
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
    'front.tsv' using 1:2 with steps linewidth 1.8 linecolor rgb '#0072B2', \
    'front.tsv' using 1:2 with points pointtype 7 pointsize 0.5 linecolor rgb '#0072B2', \
    'labels.tsv' using 1:2:(0):($3 - $2):5 with vectors nohead linewidth 0.7 linecolor rgb variable, \
    'labels.tsv' using 1:2:5 with points pointtype 7 pointsize 1.1 linecolor rgb variable, \
    'labels.tsv' using 1:3:4:5 with labels left offset character 0.8, 0.2 textcolor rgb variable
