
# categories.gp: stacked areas, one per category. The highest sum is drawn first, and each area reaches
# down to 0, because some terminals (sixelgd) draw areas between two curves incorrectly. A line marks
# where a phase begins, except narrow phases: many dashes are slow in browsers and hide the areas.
line_least = (x_last - x_first) / 50
plot \
    for [i = areas:1:-1] 'categories.tsv' using 1:(column(i + 2)) \
        with filledcurves y1=0 linecolor rgb area_colour[i] notitle, \
    'curves.tsv' using 1:2 with lines linewidth 0.7 linecolor rgb '#333333' title 'active', \
    'curves.tsv' using 1:3 with lines linewidth 1.6 linecolor rgb '#000000' title reserved_title, \
    'phases.tsv' using ($2 - $1 < line_least ? NaN : $1):(0):(0):(y_top) \
        with vectors nohead linewidth 0.6 dashtype (4, 6) linecolor rgb '#888888' notitle, \
    'phases.tsv' using 1:(strip_low):1:2:(strip_low):(strip_high):3 \
        with boxxyerror linecolor rgb variable fillstyle solid noborder notitle, \
    'phases.tsv' using (strcol(4) eq ' ' ? NaN : ($1 + $2) / 2):((strip_low + strip_high) / 2):4 \
        with labels center font ',10' notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
