
# text-bars.gp: one line per bar: its name, a run of characters in proportion to its size, its figures.
set datafile separator tab
set datafile commentschars '#'
set lmargin at screen left
set rmargin at screen right
set tmargin 3
set bmargin 0
set label 1 plot_title at screen 0, graph 1 left offset 0, 2
set label 2 plot_subtitle at screen 0, graph 1 left offset 0, 1
unset border
unset tics
unset key
set xrange [0:x_top]
set yrange [lines + 0.5:0.5]
signs = '################################################################################'
signs = signs . signs . signs . signs
bar(size) = size > 0 ? substr(signs, 1, 1 + int(size / x_top * columns)) : ''
plot \
    bars_file using (0):1:(strcol(4) . ' ') with labels right notitle, \
    bars_file using (0):1:(bar($2) . ' ' . strcol(5)) with labels left notitle
