-- Valid orders that lack a value of the unique columns: nobody can tell whether one is another's double.
SELECT count(*) AS orders
FROM {table}
WHERE ({valid}) AND ({given}) IS NOT TRUE AND $1::text[] IS NOT NULL
