-- The views of an exported database. memsnap-export(1) documents them.

-- The active curve counts an allocation after the event at a position if
-- counts_in is not 'allocated', it is born at or before the position, and it dies after it.
CREATE VIEW live_at_peak AS
SELECT allocations.*
FROM devices JOIN allocations USING(device)
WHERE counts_in <> 'allocated'
    AND coalesce(birth_position <= active_peak_position, 1)
    AND coalesce(death_position > active_peak_position, 1);

CREATE VIEW live_at_peak_by_site AS
SELECT device, sum(size) AS bytes, count(*) AS count, category, label, operator
FROM live_at_peak LEFT JOIN sites USING(site)
GROUP BY device, site, category
ORDER BY bytes DESC;

CREATE VIEW live_at_peak_by_category AS
SELECT device, category, sum(size) AS bytes, count(*) AS count
FROM live_at_peak
GROUP BY device, category
ORDER BY bytes DESC;

-- By call site, what is live after the first and after the last complete step.
CREATE VIEW growth_between_steps AS
WITH ends AS (
    SELECT device, min(last_position) AS first, max(last_position) AS last, count(*) - 1 AS steps
    FROM steps
    WHERE is_complete
    GROUP BY device
    HAVING count(*) > 1
), held AS (
    SELECT device, site, category, steps,
        sum(CASE WHEN coalesce(birth_position <= first, 1) AND coalesce(death_position > first, 1)
            THEN size ELSE 0 END) AS first_bytes,
        sum(CASE WHEN coalesce(birth_position <= last, 1) AND coalesce(death_position > last, 1)
            THEN size ELSE 0 END) AS last_bytes
    FROM ends JOIN allocations USING(device)
    WHERE counts_in <> 'allocated'
    GROUP BY device, site, category
)
SELECT device, last_bytes - first_bytes AS bytes, (last_bytes - first_bytes) / steps AS bytes_a_step,
    first_bytes, last_bytes, category, label, operator
FROM held LEFT JOIN sites USING(site)
WHERE last_bytes > first_bytes
ORDER BY bytes DESC;

CREATE VIEW never_freed AS
SELECT device, sum(size) AS bytes, count(*) AS count, min(birth_step) AS first_step,
    max(birth_step) AS last_step, category, label, operator
FROM allocations LEFT JOIN sites USING(site)
WHERE origin = 'trace' AND death_event IS NULL AND free_requested_event IS NULL
GROUP BY device, site, category
ORDER BY bytes DESC;

CREATE VIEW fragmentation AS
SELECT moment, device, segment_type, count(*) AS segments, sum(size) AS reserved_bytes,
    sum(active_size) AS active_bytes, sum(inactive_size) AS inactive_bytes,
    sum(CASE WHEN active_size > 0 THEN inactive_size ELSE 0 END) AS stuck_bytes,
    max(largest_inactive_block) AS largest_inactive_block
FROM segments
GROUP BY moment, device, segment_type;

CREATE VIEW largest_allocations AS
SELECT allocations.device, size, category, label, operator, file, line, function, birth_event,
    death_event, birth_step, allocations.id
FROM allocations
    LEFT JOIN sites USING(site)
    LEFT JOIN stacks AS own ON own.stack = allocations.stack
    LEFT JOIN stacks AS forward ON forward.stack = allocations.forward_stack
    LEFT JOIN frames ON frames.frame = coalesce(own.frame, forward.frame)
ORDER BY size DESC;

CREATE VIEW stack_lines AS
SELECT stack, depth, function, file, line, kind
FROM stack_frames JOIN frames USING(frame)
ORDER BY stack, depth;
