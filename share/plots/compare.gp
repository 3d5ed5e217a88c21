
# compare.gp: two lines per file. Labels right of x_turn are placed left of their peak.
set xrange [0:x_last]
set yrange [0:y_top]
set border 3 linecolor rgb '#666666'
set tics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
set grid ytics linecolor rgb '#DDDDDD' dashtype 3
set xlabel x_label offset 0, label_lift textcolor rgb '#444444'
set ylabel y_label textcolor rgb '#444444'
set key at screen right + 0.012, screen top left top Left reverse samplen 2 spacing key_spacing
plot \
    for [i = 1:files] 'curves.tsv' index i - 1 using 1:($3 < 0 ? NaN : $3) \
        with lines linewidth 1.2 dashtype 2 linecolor rgb colour[i] notitle, \
    for [i = 1:files] 'curves.tsv' index i - 1 using 1:2 \
        with lines linewidth 1.8 linecolor rgb colour[i] title name[i] . '  ' . size[i], \
    'peaks.tsv' using 1:2:(0):($3 - $2):5 with vectors nohead linewidth 0.7 linecolor rgb variable notitle, \
    'peaks.tsv' using 1:2:5 with points pointtype 7 pointsize 0.6 linecolor rgb variable notitle, \
    'peaks.tsv' using ($1 > x_turn ? NaN : $1):3:4:5 \
        with labels left offset character 0.6, 0.2 textcolor rgb variable notitle, \
    'peaks.tsv' using ($1 > x_turn ? $1 : NaN):3:4:5 \
        with labels right offset character -0.6, 0.2 textcolor rgb variable notitle
