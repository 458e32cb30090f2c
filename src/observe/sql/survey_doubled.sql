-- Values of the unique columns that more than one valid order has, the worst first. Rows with an empty
-- value or none are left out: they can't be told apart.
SELECT ARRAY[{names}] AS names,
       count(*) AS orders,
       (array_agg({id}::text ORDER BY {id}))[1:12] AS ids,
       count(*) OVER () AS total
FROM {table}
WHERE ({valid}) AND ({given}) AND $1::text[] IS NOT NULL
GROUP BY {columns}
HAVING count(*) > 1
ORDER BY 2 DESC, 1
LIMIT {most}
