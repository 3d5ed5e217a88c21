
# segments.gp: boxes in lines, measured in bytes from the left and in pixels from the top.
set xrange [0:row_size]
set yrange [graph_height:0]
set border 1 linecolor rgb '#666666'
set xtics nomirror out textcolor rgb '#444444'
set xtics offset 0, tic_lift
set format x '%.10g'
unset ytics
set xlabel x_label offset 0, label_lift textcolor rgb '#444444'
set key at screen left, screen bottom - key_below left top horizontal maxrows 1 Left reverse samplen 1.5 width 1 font ',10'
plot \
    'segments.tsv' using 1:3:1:2:3:4:5 with boxxyerror linecolor rgb variable notitle, \
    'segment-ends.tsv' using 1:2:(0):3 with vectors nohead linewidth 0.8 linecolor rgb '#000000' notitle, \
    'segment-hole.tsv' using 1:3:1:2:3:4 \
        with boxxyerror fillstyle empty border linewidth 2 linecolor rgb '#CC0000' notitle, \
    'segment-labels.tsv' using 1:2:3:4 with labels left font ',9' textcolor rgb variable notitle, \
    'segment-pools.tsv' using (0):1:2 with labels left textcolor rgb '#333333' notitle, \
    keyentry with boxes linecolor rgb '#0072B2' title 'in use', \
    keyentry with boxes linecolor rgb '#D55E00' title 'pending free', \
    keyentry with boxes linecolor rgb '#BDBDBD' title 'hole', \
    keyentry with boxes linecolor rgb '#EBEBEB' title 'empty', \
    keyentry with boxes fillstyle empty border linewidth 2 linecolor rgb '#CC0000' title 'largest hole', \
    keyentry with boxes linecolor rgb (untold ? '#F6E7C1' : '#FFFFFF') title (untold ? 'no block tells' : '')
