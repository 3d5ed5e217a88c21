
# text-rows.gp: one line per row: its name, a bar of letters, its figures.
set datafile separator tab
set datafile commentschars '#'
set lmargin at screen 0
set rmargin at screen 1
set tmargin 4
set bmargin 0
set label 1 plot_title at screen 0, graph 1 left offset 0, 3
set label 2 plot_subtitle at screen 0, graph 1 left offset 0, 2
set label 3 plot_note at screen 0, graph 1 left offset 0, 1
unset border
unset tics
unset key
set xrange [0:columns]
set yrange [lines + 0.5:0.5]
plot \
    'text.tsv' using 2:1:3 with labels left notitle, \
    'text.tsv' using 4:1:5 with labels left notitle
