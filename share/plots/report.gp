
# report.gp: begins a page of several graphs, with text at its top. Each graph follows with its own
# settings.
set multiplot
do for [i = 1:words] {
    set label 100 + i word_text[i] at screen word_x[i], screen word_y[i] left \
        font word_font[i] textcolor rgb word_colour[i]
}
