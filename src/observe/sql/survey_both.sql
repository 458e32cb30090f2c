-- Orders that are paid and closed.
SELECT {id}::text AS id,
       {status}::text AS status,
       {paid} AS paid_us,
       {closed} AS closed_us,
       count(*) OVER () AS total
FROM {table}
WHERE {paid} IS NOT NULL AND {closed} IS NOT NULL
ORDER BY {id}
LIMIT {most}
