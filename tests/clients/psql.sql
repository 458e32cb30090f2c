-- What psql shows of results, notices, errors and notifications: everything that the server can say.
\set VERBOSITY verbose
\pset null '(null)'
SELECT 1 AS one, 'x' AS text, NULL AS none, ARRAY[1,2] AS list, '{"a": 1}'::jsonb AS json;
SELECT 1 \; SELECT 2 \; SELECT 3 / 0 \; SELECT 4;
CREATE TABLE told (id int PRIMARY KEY, name text NOT NULL CHECK (name <> ''));
CREATE TABLE IF NOT EXISTS told (id int);
INSERT INTO told VALUES (1, 'a'), (2, 'b') RETURNING *;
INSERT INTO told VALUES (1, 'again');
INSERT INTO told VALUES (3, '');
INSERT INTO told VALUES (3, NULL);
SELECT nonsense FROM told;
SELEC;
DO $$ BEGIN
  RAISE NOTICE 'noticed %', 1;
  RAISE WARNING 'warned' USING DETAIL = 'a detail', HINT = 'a hint', ERRCODE = 'U0001';
  FOR round IN 1..500 LOOP RAISE NOTICE 'many %', round; END LOOP;
  RAISE EXCEPTION 'raised' USING ERRCODE = 'U0002', TABLE = 'told', COLUMN = 'name';
END $$;
SET client_min_messages = debug1;
SELECT 'with debug';
RESET client_min_messages;
LISTEN news;
NOTIFY news;
SELECT pg_notify('news', 'number ' || number) FROM generate_series(1, 100) number;
UNLISTEN news;
BEGIN;
SAVEPOINT before;
SELECT 1 / 0;
SELECT 'refused';
ROLLBACK TO before;
SELECT 'goes on';
COMMIT;
PREPARE asked (int) AS SELECT name FROM told WHERE id = $1;
EXECUTE asked (1);
EXECUTE asked ('x');
DEALLOCATE asked;
SELECT id, name FROM told \gdesc
SELECT name FROM told WHERE id = 2 \gset found_
\echo :found_name
\set FETCH_COUNT 10
SELECT number, repeat('y', number) FROM generate_series(1, 35) number;
\unset FETCH_COUNT
\d told
\copy told from program 'printf "7\\tseven\\n8\\t\\\\N\\n"'
\copy told from program 'printf "7\\tseven\\n8\\teight\\n"'
\copy told to stdout
\lo_import psql.sql
SELECT count(*), sum(length(data)) > 0 FROM pg_largeobject;
SET statement_timeout = 50;
SELECT pg_sleep(10);
RESET statement_timeout;
SELECT FROM told;
SHOW server_encoding;
SET application_name = 'another';
SET client_encoding = 'latin1';
SELECT convert_from('\xc3bc', 'utf8');
