-- How many orders there are, and how many of them count.
SELECT count(*) AS orders, count(*) FILTER (WHERE {valid}) AS valid
FROM {table}
WHERE $1::text[] IS NOT NULL
