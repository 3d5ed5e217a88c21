
# iterations.gp: one bar per call and rank: what was allocated at its end, at its peak, and reserved;
# iterations in a strip, and functions in one above it.
set xrange [0.5:bars + 0.5]
set yrange [0:y_top * 1.09]
set border 3 linecolor rgb '#666666'
set ytics nomirror out textcolor rgb '#444444'
set format y '%.10g'
set grid ytics linecolor rgb '#DDDDDD' dashtype 3
set ylabel y_label textcolor rgb '#444444'
unset xtics
set key at screen right + 0.012, screen top left top Left reverse samplen 2 spacing key_spacing
low(strip) = y_top * (1.012 + 0.04 * strip)
high(strip) = y_top * (1.05 + 0.04 * strip)
half = bar_width / 2.0
plot \
    for [i = 3:1:-1] 'bars.tsv' using 1:(0):($1 - half):($1 + half):(0):(column(i + 1)) \
        with boxxyerror linecolor rgb layer_colour[i] notitle, \
    'bars.tsv' using (strcol(6) eq ' ' ? NaN : $1):2:6 \
        with labels center offset 0, -0.6 font ',10' textcolor rgb '#FFFFFF' notitle, \
    'bars.tsv' using (strcol(7) eq ' ' ? NaN : $1):3:7 \
        with labels center offset 0, -0.6 font ',10' notitle, \
    'bars.tsv' using (strcol(8) eq ' ' ? NaN : $1):($3 > $4 ? $3 : $4):8 \
        with labels center offset 0, 0.7 font ',10' notitle, \
    'bars.tsv' using (strcol(5) eq ' ' ? NaN : $1):(0):5 with labels center offset 0, -0.8 font ',10' notitle, \
    'calls.tsv' using 1:(low($3)):1:2:(low($3)):(high($3)):4 \
        with boxxyerror linecolor rgb variable notitle, \
    'calls.tsv' using (strcol(5) eq ' ' ? NaN : ($1 + $2) / 2):((low($3) + high($3)) / 2):5 \
        with labels center font ',10' notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
