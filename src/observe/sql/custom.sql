-- A check of the profile's own. It stands in parentheses, so that it is one statement that reads. Each
-- row comes as its columns' names and values, in their order, the values as text.
SELECT pairs.names, pairs.vals
FROM (
{query}
) AS checked
CROSS JOIN LATERAL (
    SELECT array_agg(key ORDER BY place) AS names, array_agg(value ORDER BY place) AS vals
    FROM json_each_text(row_to_json(checked)) WITH ORDINALITY AS each (key, value, place)
) AS pairs
LIMIT {most}
