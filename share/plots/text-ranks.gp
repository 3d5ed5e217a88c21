
# text-ranks.gp: a line of text for each rank, or for several neighbours.
set datafile separator tab
set datafile commentschars '#'
set lmargin 0
set rmargin 0
set tmargin 3
set bmargin 0
set label 1 plot_title at screen 0, graph 1 left offset 0, 2
set label 2 plot_subtitle at screen 0, graph 1 left offset 0, 1
unset border
unset tics
unset key
set xrange [0:1]
set yrange [rows + 0.5:0.5]
plot 'heat.tsv' using (0):1:2 with labels left
