
# page.gp: the title and two lines below it. The settings from memsnap precede it.
set datafile separator tab
set datafile commentschars '#'
set lmargin at screen left
set rmargin at screen right
set tmargin at screen top
set bmargin at screen bottom
set label 1 plot_title at screen title_x, screen title_y left font title_font
set label 2 plot_subtitle at screen title_x, screen subtitle_y left textcolor rgb '#333333'
set label 4 plot_note at screen title_x, screen note_y left textcolor rgb note_colour
set style fill solid noborder
