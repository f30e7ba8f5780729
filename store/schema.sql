-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- vprof.data/vprof.db: the project, its runs and what was found in them.  These tables are
-- an interface: `vprof sql` and any SQLite client may query them.  They grow with a new
-- user_version; no column is renamed or removed without one.
--
-- Times are integer nanoseconds.  64-bit keys and SIDs are unsigned in the program and are
-- kept in SQLite's signed integers, bit for bit: printf('%x', key) shows both alike.
-- Shares are fractions of the variance of the interval's latency: 0.62, not 62.
--
--	which waits made the latest run vary, and because of whom?
--	SELECT f.function, f.wait, f.share, b.function FROM latest_factor f
--	  LEFT JOIN because_of b ON b.finding = f.finding AND b.factor = f.id AND b.position = 0
--	  WHERE f.kind = 'wait' ORDER BY f.share DESC;

PRAGMA application_id = 0x76707266;	-- "vprf"
PRAGMA user_version = 1;
-- Run over a database of an older version, this adds the tables that it lacks.  store/schema.h adds columns.

-- ---- the project, from the scan records of the last build ----

CREATE TABLE IF NOT EXISTS setting (			-- what vprof remembers, e.g. build.command
	name	TEXT PRIMARY KEY,
	value	TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS unit (			-- one translation unit, i.e. one object
	object		TEXT PRIMARY KEY,	-- absolute path
	source		TEXT NOT NULL,
	directory	TEXT,
	untouched	TEXT,			-- why it was compiled as it is; NULL: it was instrumented
	misread		TEXT			-- FILE:LINE: MESSAGE, the first thing in it that libclang did not
						-- understand; calls near it may be missing
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS function (			-- one body; compiled in several units it is still one row
	key		INTEGER PRIMARY KEY,	-- hash of (real path, line of the body, name)
	name		TEXT NOT NULL,
	file		TEXT,
	line		INTEGER NOT NULL,
	end_line	INTEGER NOT NULL,
	is_static	INTEGER NOT NULL,
	is_inline	INTEGER NOT NULL,
	address_taken	INTEGER NOT NULL,
	releases	INTEGER NOT NULL,	-- calls something that may wake another thread
	probed		INTEGER NOT NULL,	-- carries a probe in at least one unit
	skipped		TEXT,			-- why no unit could give it one
	type		TEXT,			-- canonical function type
	no_return	INTEGER NOT NULL	-- declared noreturn
);
CREATE INDEX IF NOT EXISTS function_by_name ON function(name);

CREATE TABLE IF NOT EXISTS call (			-- static call graph
	caller		INTEGER NOT NULL REFERENCES function(key),
	callee		INTEGER NOT NULL REFERENCES function(key),
	call_site	TEXT NOT NULL,		-- "server.c:28"
	may		INTEGER NOT NULL,	-- 1: through a pointer of the callee's type
	tail		INTEGER NOT NULL,	-- 1: the caller's span ends before it
	PRIMARY KEY (caller, callee, call_site)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS call_by_callee ON call(callee);

CREATE TABLE IF NOT EXISTS observed_call (	-- seen in a run, and no static call explains it
	caller		INTEGER NOT NULL,	-- function.key
	callee		INTEGER NOT NULL,	-- was recorded directly inside caller, perhaps through
						-- functions without probes
	run		INTEGER NOT NULL,	-- that showed it first
	PRIMARY KEY (caller, callee)
) WITHOUT ROWID;

-- ---- runs ----

CREATE TABLE IF NOT EXISTS run (
	number		INTEGER PRIMARY KEY,	-- from 1; the trace is in runs/NNN
	name		TEXT UNIQUE,		-- -o NAME
	command		TEXT,
	source		TEXT,			-- record, import
	started_ns	INTEGER NOT NULL,	-- CLOCK_REALTIME
	duration_ns	INTEGER NOT NULL,
	status		TEXT NOT NULL,		-- recording, recorded, analysed, failed, killed (its recorder was)
	exit_status	INTEGER NOT NULL,	-- of the user's command
	interval_cnt	INTEGER NOT NULL,
	function_cnt	INTEGER NOT NULL,
	lost_records	INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS iteration (	-- a run that vprof iterate made
	run		INTEGER PRIMARY KEY REFERENCES run(number),
	first_run	INTEGER NOT NULL,	-- of the same iteration
	policy		TEXT NOT NULL,		-- budget, paper
	recorded_cnt	INTEGER NOT NULL,	-- functions that the plan recorded
	dormant_cnt	INTEGER NOT NULL,	-- ... that carried a probe which was off
	added_cnt	INTEGER NOT NULL,	-- ... recorded now and not in the run before
	probe_cost	REAL NOT NULL,		-- reckoned, as a fraction of the mean latency outside the queue
	selected	TEXT NOT NULL,		-- the k first factors
	stop		TEXT			-- why it was the last run; NULL: it was not
);

CREATE TABLE IF NOT EXISTS iteration_start (	-- what one vprof iterate was asked for
	first_run	INTEGER PRIMARY KEY,	-- as in iteration
	command		TEXT NOT NULL,		-- of its runs
	policy		TEXT NOT NULL,
	k		INTEGER NOT NULL,
	max_runs	INTEGER NOT NULL,
	threshold	REAL NOT NULL,
	overhead	REAL NOT NULL,
	sources		INTEGER NOT NULL,	-- hash of the sources and of how they are compiled
	configuration	INTEGER NOT NULL	-- hash of vprof.conf
);

CREATE TABLE IF NOT EXISTS answer (		-- vprof iterate --ask
	first_run	INTEGER NOT NULL,	-- of the iteration
	function	INTEGER NOT NULL,	-- function.key
	deeper		INTEGER NOT NULL,	-- 1: record what it calls; 0: not in this iteration
	PRIMARY KEY (first_run, function)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS planned (		-- a function of the plan that a run had
	run		INTEGER NOT NULL REFERENCES run(number),
	function	INTEGER NOT NULL,	-- function.key
	level		TEXT NOT NULL,		-- interval, always, dormant
	calls		INTEGER,		-- that were recorded; NULL: no program of the run has
						-- its probe, or it is dormant
	PRIMARY KEY (run, function)
) WITHOUT ROWID;

-- ---- results: one finding per run and kind of interval ----

CREATE TABLE IF NOT EXISTS finding (
	id			INTEGER PRIMARY KEY,
	run			INTEGER NOT NULL REFERENCES run(number),
	interval		TEXT,		-- name; NULL: the run had no interval at all
	count			INTEGER NOT NULL,
	dropped_open		INTEGER NOT NULL,
	dropped_aborted		INTEGER NOT NULL,
	dropped_bad_path	INTEGER NOT NULL,
	dropped_lost		INTEGER NOT NULL,
	nested			INTEGER,	-- starts inside another of the same key; NULL: not known
	unmatched_ends		INTEGER,	-- ends without a start; NULL: not known
	from_stacks		INTEGER NOT NULL,	-- a look: functions are those of stacks, not of probes
	mean_ns			REAL NOT NULL,
	variance_ns2		REAL NOT NULL,	-- divisor n
	stddev_ns		REAL NOT NULL,
	p50_ns			INTEGER NOT NULL,
	p90_ns			INTEGER NOT NULL,
	p99_ns			INTEGER NOT NULL,
	min_ns			INTEGER NOT NULL,
	max_ns			INTEGER NOT NULL,
	root_height		INTEGER NOT NULL,
	clamped			INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS probing (		-- what recording functions cost; no row: all intervals were in full
	finding			INTEGER PRIMARY KEY REFERENCES finding(id),
	root_only_count		INTEGER NOT NULL,	-- completed, functions not recorded; not in finding.count
	root_only_mean_ns	REAL NOT NULL,
	root_only_variance_ns2	REAL NOT NULL,
	root_only_p50_ns	INTEGER NOT NULL,
	root_only_p99_ns	INTEGER NOT NULL,
	root_only_max_ns	INTEGER NOT NULL,
	mean			REAL,			-- in full / root-only - 1; NULL: too few of either
	mean_low		REAL,			-- 95 % confidence
	mean_high		REAL,
	variance		REAL,
	variance_low		REAL,
	variance_high		REAL
);

CREATE UNIQUE INDEX IF NOT EXISTS finding_by_run ON finding(run, ifnull(interval, ''));

CREATE TABLE IF NOT EXISTS node (			-- of the variance tree; id 0 is the interval
	finding		INTEGER NOT NULL REFERENCES finding(id),
	id		INTEGER NOT NULL,
	parent		INTEGER,		-- NULL for id 0, else less than id
	kind		TEXT NOT NULL,		-- interval, function, body, wait, blame
	function	TEXT,
	file		TEXT,
	line		INTEGER NOT NULL,
	call_site	TEXT,
	wait		TEXT,			-- lock, cond, ...; NULL: not a wait
	mean_ns		REAL NOT NULL,
	variance_ns2	REAL NOT NULL,
	share		REAL NOT NULL,		-- Cov(X,T)/Var(T)
	variance_share	REAL NOT NULL,		-- Var(X)/Var(T)
	calls_per_interval REAL NOT NULL,
	presence	REAL NOT NULL,
	open		INTEGER NOT NULL,	-- has callees that were not probed
	ci95_low	REAL,			-- 95 % confidence interval of share; NULL: too few
	ci95_high	REAL,			-- intervals, or nothing varies
	device		TEXT,			-- of a blame that waited for one: disk, nic, timer
	put_aside	TEXT,			-- of a queue wait: the functions between which it mostly lies
	taken_up	TEXT,
	samples		INTEGER NOT NULL,	-- on which its time rests: it has no variance then; 0: it is exact
	PRIMARY KEY (finding, id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS covariance (		-- of siblings a < b
	finding		INTEGER NOT NULL REFERENCES finding(id),
	parent		INTEGER NOT NULL,
	a		INTEGER NOT NULL,
	b		INTEGER NOT NULL,
	covariance_ns2	REAL NOT NULL,
	share		REAL NOT NULL		-- 2 Cov/Var(T)
);
CREATE INDEX IF NOT EXISTS covariance_by_finding ON covariance(finding);

CREATE TABLE IF NOT EXISTS factor (			-- summed over all places of the tree; not selected, not ranked
	finding		INTEGER NOT NULL REFERENCES finding(id),
	id		INTEGER NOT NULL,
	kind		TEXT NOT NULL,		-- function, body, wait, pair
	function	TEXT,
	file		TEXT,
	line		INTEGER NOT NULL,
	function_a	TEXT,			-- pairs only
	function_b	TEXT,
	wait		TEXT,
	share		REAL NOT NULL,
	variance_share	REAL NOT NULL,
	paper_contribution REAL NOT NULL,
	height		INTEGER NOT NULL,
	specificity	REAL NOT NULL,
	score		REAL NOT NULL,
	paper_score	REAL NOT NULL,
	tail_share_p99	REAL,			-- NULL: too few intervals beyond p99
	mean_ns		REAL NOT NULL,
	open		INTEGER NOT NULL,
	ci95_low	REAL,			-- as in node
	ci95_high	REAL,
	resolved	INTEGER,		-- 1: its rank holds in 95 % of the draws; NULL: it has none
	presence	REAL,			-- fraction of the intervals in which it took time; NULL: a pair
	rank_low	INTEGER NOT NULL,	-- its ranks in 95 % of the draws; 0: none
	rank_high	INTEGER NOT NULL,
	rank_needed	INTEGER NOT NULL,	-- about so many more intervals would resolve it
	paper_ci95_low	REAL,			-- 95 % confidence interval of paper_contribution
	paper_ci95_high	REAL,
	paper_resolved	INTEGER,		-- as resolved, of the rank by paper_score
	work_share	REAL,			-- of the variance that inherent work leaves; NULL: no work noted
	work_ci95_low	REAL,			-- 95 % confidence interval of work_share
	work_ci95_high	REAL,
	trimmed_share	REAL,			-- without the few intervals that carry the variance; NULL: none does
	samples		INTEGER NOT NULL,	-- as in node
	PRIMARY KEY (finding, id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS factor_call_site (
	finding		INTEGER NOT NULL REFERENCES finding(id),
	factor		INTEGER NOT NULL,
	position	INTEGER NOT NULL,
	call_site	TEXT NOT NULL,
	PRIMARY KEY (finding, factor, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS because_of (		-- of waits: what the waker was doing, best first
	finding		INTEGER NOT NULL REFERENCES finding(id),
	factor		INTEGER NOT NULL,
	position	INTEGER NOT NULL,
	function	TEXT,			-- NULL: unknown; (disk), (nic), (timer), (kernel)
	file		TEXT,
	wait		TEXT,			-- it was blocked itself
	share		REAL NOT NULL,
	device		TEXT,			-- as in node
	PRIMARY KEY (finding, factor, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS cpu (			-- whether there was a CPU for the run's threads; the same for all kinds of
	finding		INTEGER PRIMARY KEY REFERENCES finding(id),	-- intervals of a run
	runqueue_share	REAL,			-- of the time in which they could run they waited for a CPU; NULL: not known
	is_exact	INTEGER NOT NULL,	-- when they waited is recorded
	is_known	INTEGER NOT NULL,	-- somebody looked; else nothing below means anything
	cpu_count	INTEGER NOT NULL,
	allowed_count	INTEGER NOT NULL,	-- CPUs on which they may run
	runnable	REAL NOT NULL,		-- mean number of threads that ran or would have, everybody's
	stalled		REAL,			-- of the time somebody waited for a CPU; NULL: the kernel does not tell
	throttled	REAL NOT NULL,		-- seconds, a second, of each CPU, that a control group was at its limit
	from_idle	REAL			-- of the waits for a CPU, as variance has them, it was idle; NULL: not recorded
);

CREATE TABLE IF NOT EXISTS cpu_other (		-- who else used the CPUs
	finding		INTEGER NOT NULL REFERENCES finding(id),
	position	INTEGER NOT NULL,	-- who used most comes first
	comm		TEXT NOT NULL,
	cpus		REAL NOT NULL,		-- mean number
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tail (			-- the slowest intervals, and fast ones to compare with
	finding		INTEGER PRIMARY KEY REFERENCES finding(id),
	quantile	REAL NOT NULL,
	from_ns		INTEGER NOT NULL,	-- slow: took as long or longer
	count		INTEGER NOT NULL,
	mean_ns		REAL NOT NULL,
	fast_to_ns	INTEGER NOT NULL,	-- fast: at most the median
	fast_count	INTEGER NOT NULL,
	fast_mean_ns	REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS inherent_work (		-- what VPROF_WORK noted; no row: nothing
	finding		INTEGER PRIMARY KEY REFERENCES finding(id),
	names		TEXT NOT NULL,		-- "bytes, rows"
	count		INTEGER NOT NULL,	-- intervals that noted any
	explained	REAL NOT NULL		-- part of the variance
);

CREATE TABLE IF NOT EXISTS part (			-- a function's own running time, or its waits of a class;
	finding		INTEGER NOT NULL REFERENCES finding(id),	-- they add up to the latency
	position	INTEGER NOT NULL,	-- what slow intervals have more of comes first
	function	TEXT,
	file		TEXT,
	wait		TEXT,			-- NULL: running
	mean_ns		REAL NOT NULL,
	share		REAL NOT NULL,		-- Cov(X,T)/Var(T)
	tail_share	REAL,			-- NULL: too few intervals in the tail
	tail_ci95_low	REAL,
	tail_ci95_high	REAL,
	slow_mean_ns	REAL NOT NULL,
	fast_mean_ns	REAL NOT NULL,
	slow_presence	REAL NOT NULL,		-- fraction of the slow intervals in which it took time
	fast_presence	REAL NOT NULL,
	variance_share	REAL NOT NULL,		-- Var(X)/Var(T)
	other_pairs	REAL NOT NULL,		-- 2 Cov/Var(T) with all parts that no part_pair names with it
	estimated	INTEGER NOT NULL,	-- rests on samples: its variance and pairs are not known
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS part_pair (		-- parts that go together, or offset each other, across the tree;
	finding		INTEGER NOT NULL REFERENCES finding(id),	-- a hundredth of the variance and more
	position	INTEGER NOT NULL,	-- largest first, without its sign
	a		INTEGER NOT NULL,	-- part.position
	b		INTEGER NOT NULL,
	first		TEXT NOT NULL,		-- what they are called: "f", "body of f", "wait:lock in f"
	second		TEXT NOT NULL,
	covariance_ns2	REAL NOT NULL,
	share		REAL NOT NULL,		-- 2 Cov/Var(T)
	ci95_low	REAL,
	ci95_high	REAL,
	across		INTEGER NOT NULL,	-- 0: they are siblings in the tree, and a factor of kind pair says the same
	within		INTEGER,		-- factor.id of the pair of siblings that holds all of it
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS common_cause (		-- parts that vary together, more than each for itself
	finding		INTEGER NOT NULL REFERENCES finding(id),
	id		INTEGER NOT NULL,
	explained	REAL NOT NULL,		-- of the variance, by the principal component
	own		REAL NOT NULL,		-- sum of its members' variances, of the variance
	ci95_low	REAL NOT NULL,		-- 95 % confidence interval of explained
	ci95_high	REAL NOT NULL,
	PRIMARY KEY (finding, id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS common_member (
	finding		INTEGER NOT NULL REFERENCES finding(id),
	cause		INTEGER NOT NULL,	-- common_cause.id
	position	INTEGER NOT NULL,
	part		INTEGER NOT NULL,	-- part.position
	contribution	REAL NOT NULL,		-- to what the cause moves the latency by
	PRIMARY KEY (finding, cause, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS cause (			-- all time of one last known doer; the shares of a finding sum to 1
	finding		INTEGER NOT NULL REFERENCES finding(id),
	position	INTEGER NOT NULL,	-- largest share first
	known		INTEGER NOT NULL,	-- 0: all of which nobody is known to have done it
	function	TEXT,
	file		TEXT,
	line		INTEGER NOT NULL,	-- 0: unknown
	wait		TEXT,			-- it waited itself, in that class; NULL: it ran, or it did both
	mixed		INTEGER NOT NULL,	-- now it ran, now it waited
	peer		TEXT,			-- whom it waited for: HOST:PORT, path of a socket, file
	device		TEXT,
	how		TEXT NOT NULL,		-- cpu, lock, queue, io, runqueue, other: how it acts on the intervals
	how_share	REAL NOT NULL,		-- of the variance, in that way
	share		REAL NOT NULL,
	ci95_low	REAL,
	ci95_high	REAL,
	mean_ns		REAL NOT NULL,
	waited		TEXT,			-- class of the wait through which it acts most; NULL: none
	waiter		TEXT,			-- the function that waits so; NULL: none
	waiter_file	TEXT,
	waiter_line	INTEGER NOT NULL,
	waiter_share	REAL NOT NULL,		-- of the variance, through that wait
	estimated	INTEGER NOT NULL,	-- some of its places rest on samples
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS before_start (		-- what went before the intervals; if not exact, at most
	finding		INTEGER PRIMARY KEY REFERENCES finding(id),
	count		INTEGER NOT NULL,	-- intervals of which it is known
	mean_ns		REAL NOT NULL,
	sd_ns		REAL NOT NULL,
	p99_ns		INTEGER NOT NULL,
	exact		INTEGER NOT NULL,	-- 1: from the arrival in the socket, and part of the interval
	unknown_count	INTEGER NOT NULL	-- ... intervals of which it is not known
);

CREATE TABLE IF NOT EXISTS before_by (			-- what the thread did then
	finding		INTEGER NOT NULL REFERENCES finding(id),
	position	INTEGER NOT NULL,	-- largest share first
	function	TEXT,			-- NULL: in none that was recorded and had ended
	share		REAL NOT NULL,		-- of the variance of that time
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS cause_place (		-- where a cause is in the tree
	finding		INTEGER NOT NULL REFERENCES finding(id),
	cause		INTEGER NOT NULL,	-- cause.position
	position	INTEGER NOT NULL,
	node		INTEGER NOT NULL,	-- node.id, a leaf
	PRIMARY KEY (finding, cause, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS interval (			-- every completed interval
	finding		INTEGER NOT NULL REFERENCES finding(id),
	position	INTEGER NOT NULL,	-- in order of start
	sid		INTEGER NOT NULL,
	start_ns	INTEGER NOT NULL,
	end_ns		INTEGER NOT NULL,
	start_thread	INTEGER NOT NULL,
	end_thread	INTEGER NOT NULL,
	root_only	INTEGER NOT NULL,	-- its functions were not recorded: in no result but probing
	origin		INTEGER NOT NULL,	-- origin.position
	connection	INTEGER NOT NULL,	-- of a request on a socket, from 1; 0: it is none
	port		INTEGER NOT NULL,	-- 0: a Unix socket
	bytes_in	INTEGER NOT NULL,
	bytes_out	INTEGER NOT NULL,
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS origin (			-- the recordings that a run's intervals come from: a merged run has several
	finding		INTEGER NOT NULL REFERENCES finding(id),
	position	INTEGER NOT NULL,	-- in order of run
	run		INTEGER NOT NULL,	-- the number of the run that recorded or imported it
	machine		TEXT,			-- machine-id; NULL: not known, as of an import
	host		TEXT,
	container	TEXT,
	build		TEXT,			-- build id of the program
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS waiter (			-- waits in functions without a probe, by who called what blocked
	finding		INTEGER NOT NULL REFERENCES finding(id),
	position	INTEGER NOT NULL,	-- largest share first
	inside		TEXT,			-- the innermost probed function: in the tree it is its wait; NULL: in none
	inside_file	TEXT,
	inside_line	INTEGER NOT NULL,
	wait		TEXT NOT NULL,
	function	TEXT,			-- who waited; NULL: its file has no name for it
	file		TEXT,
	line		INTEGER NOT NULL,
	key		INTEGER NOT NULL,	-- function.key; 0: the project has none
	module		TEXT NOT NULL,		-- the program or library that it is in
	is_built	INTEGER NOT NULL,	-- vprof built units of that one
	is_outer	INTEGER NOT NULL,	-- 1: it called who waited, which is another row
	share		REAL NOT NULL,
	mean_ns		REAL NOT NULL,
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS warning (
	finding		INTEGER NOT NULL REFERENCES finding(id),
	position	INTEGER NOT NULL,
	code		TEXT NOT NULL,
	text		TEXT NOT NULL,
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS interval_name (		-- all kinds of intervals in the trace
	finding		INTEGER NOT NULL REFERENCES finding(id),	-- the first of the run; they hold for all of them
	position	INTEGER NOT NULL,
	name		TEXT NOT NULL,
	PRIMARY KEY (finding, position)
) WITHOUT ROWID;

-- ---- causal experiments (vprof causal): what would be gained if this were faster ----

CREATE TABLE IF NOT EXISTS causal (			-- one row a run with experiments, or with predictions
	run		INTEGER PRIMARY KEY REFERENCES run(number),
	interval	TEXT,			-- its name
	intervals	INTEGER NOT NULL,	-- with nothing faster
	metric		TEXT NOT NULL,		-- by which the experiments are judged: mean, p50, ...
	floor		REAL NOT NULL,		-- what the method itself may be off, a part of a latency
	replayed	INTEGER NOT NULL,	-- 1: nothing was run, all is predicted from the run's trace
	ended		TEXT NOT NULL		-- narrow: every gain is known to 2 points; time
);

CREATE TABLE IF NOT EXISTS causal_baseline (		-- with nothing faster
	run		INTEGER NOT NULL REFERENCES run(number),
	metric		TEXT NOT NULL,
	value		REAL NOT NULL,		-- ns, of the variance ns^2, of the throughput intervals a second
	PRIMARY KEY (run, metric)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS experiment (			-- one target, so much faster
	run		INTEGER NOT NULL REFERENCES run(number),
	position	INTEGER NOT NULL,
	target		TEXT NOT NULL,		-- as in --target
	kind		TEXT NOT NULL,		-- function, body, pc, io, lock, device; predicted only: wait, queue, runqueue, cpus
	function	TEXT,
	file		TEXT,
	speedup		REAL NOT NULL,		-- 0.5: it takes half as long
	rounds		INTEGER NOT NULL,	-- that count; 0: predicted only
	set_aside	INTEGER NOT NULL,	-- rounds in which something else hit a block
	intervals	INTEGER NOT NULL,
	delay_ns	REAL NOT NULL,		-- paid by the other threads
	limited_by	TEXT,			-- what takes most of the rest then, as a target; NULL: not looked for
	PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS experiment_metric (
	run		INTEGER NOT NULL REFERENCES run(number),
	experiment	INTEGER NOT NULL,	-- experiment.position
	metric		TEXT NOT NULL,
	value		REAL,			-- as causal_baseline.value; NULL: not measured
	gain		REAL,			-- the fraction by which it falls, of the throughput: rises
	ci95_low	REAL,			-- 95 % confidence interval of gain; NULL: too few rounds or intervals
	ci95_high	REAL,
	p_value		REAL,			-- of "no effect", over all targets of that speedup
	predicted	REAL,			-- gain by a replay; NULL: none was made
	PRIMARY KEY (run, experiment, metric)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS causal_refusal (		-- what cannot be asked
	run		INTEGER NOT NULL REFERENCES run(number),
	position	INTEGER NOT NULL,
	target		TEXT NOT NULL,
	why		TEXT NOT NULL,
	instead		TEXT,
	PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS causal_warning (
	run		INTEGER NOT NULL REFERENCES run(number),
	position	INTEGER NOT NULL,
	code		TEXT NOT NULL,
	text		TEXT NOT NULL,
	PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE VIEW IF NOT EXISTS latest_factor AS
	SELECT * FROM factor WHERE finding =
		(SELECT min(id) FROM finding WHERE run = (SELECT max(run) FROM finding));
