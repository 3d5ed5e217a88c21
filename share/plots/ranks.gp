
# ranks.gp: a row for each rank, or for several neighbours: memory over time on the left, peaks on
# the right.
set multiplot
set yrange [rows + 0.5:0.5]
set tics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
unset ytics
set border 1 linecolor rgb '#666666'

# the shades of the heat map
do for [i = 1:levels] {
    set object i rectangle from screen left + 0.0045 * (i - 1) + 0.02, screen bottom - key_below - 0.016 \
        to screen left + 0.0045 * i + 0.0202, screen bottom - key_below fillcolor rgb ramp[i] \
        fillstyle solid noborder
}
set label 6 '0' at screen left + 0.017, screen bottom - key_below - 0.008 right textcolor rgb '#444444'
set label 7 scale_text at screen left + 0.0045 * levels + 0.024, screen bottom - key_below - 0.008 left \
    textcolor rgb '#444444'
set rmargin at screen heat_right
set xrange [0:heat_last]
set xlabel heat_label offset 0, label_lift textcolor rgb '#444444'
unset key
part = heat_last / columns
plot \
    'heat.tsv' using ($1 * part):3:($1 * part):($2 * part):($3 - $4):($3 + $4):5 \
        with boxxyerror linecolor rgb variable, \
    'names.tsv' using (0):1:2 with labels right offset -0.8, 0

unset label
unset object
set lmargin at screen bars_left
set rmargin at screen right
set xrange [0:x_top]
set xlabel x_label
set border 3 linecolor rgb '#666666'
set grid xtics linecolor rgb '#E6E6E6' dashtype 3
set key at screen bars_left, screen bottom - key_below + 0.01 left top horizontal maxrows 2 \
    Left reverse samplen 1.5 width 1 font ',10'
plot \
    'bars.tsv' using (0):1:(0):4:($1 - bar_half):($1 + bar_half) with boxxyerror linecolor rgb '#C8C8C8' notitle, \
    'bars.tsv' using (0):1:(0):2:($1 - bar_half):($1 + bar_half):3 with boxxyerror linecolor rgb variable notitle, \
    'marks.tsv' using 2:1 with points pointtype 7 pointsize 0.7 linecolor rgb '#CC0000' notitle, \
    'labels.tsv' using 2:1:3:4 with labels left offset 0.8, 0 textcolor rgb variable notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i], \
    keyentry with points pointtype 7 pointsize 0.7 linecolor rgb '#CC0000' title 'outlier'
unset multiplot
