-- SPDX-License-Identifier: GPL-3.0-or-later
-- fleet.sql - tables for the rows of vprof export --format digest-tsv, for ClickHouse (18.16 to 26.7 were tried).
--
--	clickhouse-client --multiquery <fleet.sql
--	vprof export --format digest-tsv --table vprof_node a.vpd | clickhouse-client --query 'INSERT INTO vprof_node FORMAT TabSeparated'
--
-- Columns stand in the order of the fields.  Times and their products are whole numbers of up to 38 digits, and stay exact when they are
-- added up.  A row that is inserted twice replaces itself, because ORDER BY is what identifies it: a digest that was sent twice counts
-- once.  That happens when ClickHouse merges parts; until then FINAL in a query sees to it.
--
-- Other databases have the same tables: text for String, numeric(38,0) for Decimal and UInt64, timestamp for DateTime.
--
-- The tables of sums begin with the window that a row belongs to: day and time (UTC) when it began, what the interval is called (kind),
-- the recorder (source: a number for machine, boot, container, build, run), and CLOCK_MONOTONIC of that machine, from_ns.

-- A window of one recording: intervals (n; n / unit counts each once), and what is missing.
CREATE TABLE vprof_window (
	day Date, service String, build String, kind String, host String, boot String, window_at DateTime('UTC'), source UInt64, from_ns Int64,
	until_ns Int64, machine String, container String, run String, started_ns Int64, clock_ns Int64, recording UInt64,
	n UInt64, recorded UInt64, unit UInt32, min_ns Int64, max_ns Int64, open UInt64, aborted UInt64, bad_path UInt64, lost UInt64,
	nested UInt64, unmatched_ends UInt64, lost_records UInt64, has_pairing UInt8, knows_runqueue UInt8,
	root_only_n UInt64, root_only_max_ns Int64, waited_ns Decimal(38,0), no_waker_ns Decimal(38,0), io_waited_ns Decimal(38,0),
	io_no_waker_ns Decimal(38,0), root_only_st Decimal(38,0), root_only_stt Decimal(38,0))
	ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (service, kind, build, from_ns, source);

-- Names.  Numbers of functions and nodes are hashes of them, the same on every host.
CREATE TABLE vprof_function (
	function UInt64, name String, file String, line UInt32, probe_key UInt64, height UInt32, open UInt8, registered UInt8, left_out UInt8)
	ENGINE = ReplacingMergeTree() ORDER BY (function, probe_key, height, open, registered, left_out);
CREATE TABLE vprof_call (
	caller UInt64, callee UInt64, call_site String, through_others UInt8)
	ENGINE = ReplacingMergeTree() ORDER BY (caller, callee, call_site, through_others);
CREATE TABLE vprof_name (
	node UInt64, parent UInt64, kind String, node_kind String, wait String, is_wait UInt8, device String, function UInt64, name String,
	call_site String)
	ENGINE = ReplacingMergeTree() ORDER BY (kind, node);

-- A node of the variance tree: sums of its time X, of X^2, and of X T, T the interval's latency.  presence: in how many intervals.
CREATE TABLE vprof_node (
	day Date, service String, build String, kind String, host String, boot String, window_at DateTime('UTC'), source UInt64, from_ns Int64,
	node UInt64, calls UInt64, presence UInt64, sx Decimal(38,0), sxx Decimal(38,0), sxt Decimal(38,0))
	ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (service, kind, build, node, from_ns, source);

-- Two siblings, or two bodies of one function: the sum of their products.
CREATE TABLE vprof_pair (
	day Date, service String, build String, kind String, host String, boot String, window_at DateTime('UTC'), source UInt64, from_ns Int64,
	a UInt64, b UInt64, sxy Decimal(38,0))
	ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (service, kind, build, a, b, from_ns, source);

-- All places of a function, of its bodies, or of its waits of one class: n intervals, the sum of their latencies, and of X^2.
CREATE TABLE vprof_own (
	day Date, service String, build String, kind String, host String, boot String, window_at DateTime('UTC'), source UInt64, from_ns Int64,
	own_kind String, wait String, function UInt64, n UInt64, st Decimal(38,0), sxx Decimal(38,0))
	ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (service, kind, build, own_kind, wait, function, from_ns, source);

-- Latencies: 128 buckets an octave.  Bucket b begins at b ns below 128, else at (128 + b % 128) * 2^(b div 128 - 1) ns.
CREATE TABLE vprof_bucket (
	day Date, service String, build String, kind String, host String, boot String, window_at DateTime('UTC'), source UInt64, from_ns Int64,
	bucket UInt32, n UInt64, recorded UInt64, st Decimal(38,0))
	ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (service, kind, build, bucket, from_ns, source);

-- Time of leaves by buckets of latency, 8 an octave; then in how many intervals of a bucket an own took time.
CREATE TABLE vprof_cell (
	day Date, service String, build String, kind String, host String, boot String, window_at DateTime('UTC'), source UInt64, from_ns Int64,
	node UInt64, bucket UInt32, sx Decimal(38,0))
	ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (service, kind, build, node, bucket, from_ns, source);
CREATE TABLE vprof_share (
	day Date, service String, build String, kind String, host String, boot String, window_at DateTime('UTC'), source UInt64, from_ns Int64,
	own_kind String, wait String, function UInt64, bucket UInt32, n UInt64)
	ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (service, kind, build, own_kind, wait, function, bucket, from_ns, source);
