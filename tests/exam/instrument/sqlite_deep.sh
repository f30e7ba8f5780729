#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# As deep as SQLite lets a statement go: a sum of a thousand terms, views of views, JSON, patterns with many
# stars, triggers that fire triggers. Run in its tree.
set -u

awk 'function repeated(s, n, r) { while (n--) r = r s; return r }
BEGIN {
	print "SELECT 1" repeated("+1", 990) ";"
	print "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2), (3, 4);"
	print "SELECT a" repeated("+b", 990) " FROM t WHERE a" repeated(" IN (1) OR a", 300) " = 3;"
	print "CREATE VIEW v0 AS SELECT a, count(*) AS n FROM t GROUP BY a;"
	for (i = 1; i <= 60; i++)
		printf "CREATE VIEW v%d AS SELECT a, count(*) + %d AS n FROM v%d GROUP BY a;\n", i, i, i - 1
	print "SELECT * FROM v60;"
	json = repeated("[", 1900) repeated("]", 1900)
	printf "SELECT json_valid(\047%s\047), length(json(\047%s\047));\n", json, json
	stars = repeated("*a", 900)
	printf "SELECT \047%s\047 GLOB \047%s\047;\n", repeated("a", 900), stars
	gsub(/\*/, "%", stars)
	printf "SELECT \047%s\047 LIKE \047%s\047;\n", repeated("a", 900), stars
	print "CREATE TABLE c(n); PRAGMA recursive_triggers = 1;"
	print "CREATE TRIGGER down AFTER INSERT ON c WHEN new.n > 0 BEGIN INSERT INTO c VALUES(new.n - 1); END;"
	print "INSERT INTO c VALUES(900); SELECT count(*) FROM c;"
}' </dev/null >deep.sql || exit
exec ./sqlite3 -batch :memory: <deep.sql
