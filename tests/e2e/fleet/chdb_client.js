// SPDX-License-Identifier: GPL-3.0-or-later
// chdb_client.js - clickhouse-client for a test: one query, or a file of them, by an engine inside this process.
// The environment says where: CHDB_MODULE, the npm package chdb; CHDB_DIR, the directory of the tables.
const { Session } = require(process.env.CHDB_MODULE);
const fs = require("fs");

const at = process.argv.indexOf("--query");
const query = at < 0 ? null : process.argv[at + 1];
const session = new Session(process.env.CHDB_DIR);

if (query === null) {
	for (const statement of fs.readFileSync(0, "utf8").replace(/--.*$/gm, "").split(";"))
		if (statement.trim())
			session.query(statement);
} else if (/^\s*INSERT/.test(query)) {
	session.query(query + "\n" + fs.readFileSync(0, "utf8"));
} else {
	process.stdout.write(session.query(query, "TabSeparated"));
}
