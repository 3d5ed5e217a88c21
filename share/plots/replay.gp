
# replay.gp: one line per curve of reserved memory over the area of active memory. The recorded
# setting is a thick black line below the others.
set xrange [x_first:x_last]
set yrange [0:y_top]
set border 3 linecolor rgb '#666666'
set tics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
set grid ytics linecolor rgb '#DDDDDD' dashtype 3
set xlabel x_label offset 0, label_lift textcolor rgb '#444444'
set ylabel y_label textcolor rgb '#444444'
set key at screen right + 0.012, screen top left top Left reverse samplen 2 spacing key_spacing
if (limit > 0) {
    set arrow 1 from x_first, limit to x_last, limit nohead linewidth 1.4 dashtype 2 \
        linecolor rgb '#CC0000' front
    set label 3 limit_text at x_first, limit left offset character 1, 0.6 textcolor rgb '#CC0000' front
}
plot \
    'active.tsv' using 1:2 with filledcurves y1=0 linecolor rgb '#D0D0D0' notitle, \
    'curves.tsv' index recorded - 1 using 1:2 with lines linewidth 3 linecolor rgb '#000000' notitle, \
    for [i = 1:groups] 'curves.tsv' index i - 1 using 1:(i == recorded ? NaN : $2) \
        with lines linewidth 1.6 linecolor rgb colour[i] notitle, \
    'peaks.tsv' using 1:2:3 with points pointtype 7 pointsize 0.7 linecolor rgb variable notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
