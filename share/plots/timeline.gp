
# timeline.gp: areas for memory without a band, the highest first and each down to 0; in front of them,
# one band per allocation.
plot \
    for [i = 1:rests] 'rest.tsv' using 1:(column(i + 1)) \
        with filledcurves y1=0 linecolor rgb rest_colour[i] notitle, \
    'bands.tsv' using 1:2:3 with filledcurves closed linecolor rgb variable notitle, \
    'curves.tsv' using 1:2 with lines linewidth 0.7 linecolor rgb '#333333' title 'active', \
    'curves.tsv' using 1:3 with lines linewidth 1.6 linecolor rgb '#000000' title reserved_title, \
    'labels.tsv' using 1:2:3:4 with labels left font ',9' textcolor rgb variable notitle, \
    'phases.tsv' using 1:(strip_low):1:2:(strip_low):(strip_high):3 \
        with boxxyerror linecolor rgb variable fillstyle solid noborder notitle, \
    'phases.tsv' using (strcol(4) eq ' ' ? NaN : ($1 + $2) / 2):((strip_low + strip_high) / 2):4 \
        with labels center font ',10' notitle, \
    for [i = 1:keys] keyentry with boxes fillstyle solid linecolor rgb key_colour[i] title key_text[i]
