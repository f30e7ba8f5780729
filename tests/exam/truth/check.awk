# SPDX-License-Identifier: GPL-3.0-or-later
# check.awk - vprof's report of a planted program (truth.h) against what happened:
#
#	awk -f check.awk SOURCE BOOK INTERVALS FACTORS BECAUSE SELECTED
#
# SOURCE's head has the plan (truth.sh explains the words), BOOK what each interval did, INTERVALS (start_ns, root_only) those
# that count, FACTORS show factors --all, BECAUSE the functions blamed for waits, SELECTED the first factors of iterate.
# Prints a line a factor; the last one is "sum PLANNED FOUND LISTED TRUE ERROR-POINTS OFF MISSES".  OFF: by how many points
# the machine itself made this run different from the plan.
#
# Example: BOOK says T = 10, 20, 30 and scan took 5, 10, 15 of it: Cov(X,T)/Var(T) = .5; reported .49: 1 point.
function csv(line, f,    n, quoted, i, c, field)
{
	n = 0
	field = ""
	quoted = 0
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (c == "\"")
			quoted = !quoted
		else if (c == "," && !quoted) {
			f[++n] = field
			field = ""
		} else
			field = field c
	}
	f[++n] = field
	return n
}

# "f" -> function f; "f (body)"; "f › lock wait" -> wait lock f; "(queue wait)" -> wait queue -
function label_of(text,    p)
{
	if (text == "waiting for a CPU")
		return run_queue
	if (text ~ /^\([a-z]+ (wait|delay)\)$/) {
		split(substr(text, 2), p, " ")
		return "wait " p[1] " -"
	}
	if (split(text, p, " › ") == 2)
		return "wait " substr(p[2], 1, index(p[2], " ") - 1) " " p[1]
	if (sub(/ \(body\)$/, "", text))
		return "body " text
	return "function " text
}

function function_of(label,    p)
{
	return p[split(label, p, " ")]
}

# The function itself, its body and its waits are one answer; but if the planted answer is a wait, only that wait is right.
function answers(listed, wanted)
{
	return listed == wanted || (wanted !~ /^wait/ && function_of(listed) == function_of(wanted))
}

function abs(x) { return x < 0 ? -x : x }

BEGIN { run_queue = "wait runnable -" }
FNR == 1 { file++ }
file == 1 && match($0, /^ \* (truth|forbidden|left|also): /) {
	n = split(substr($0, 4), w, " ")
	label = w[2] " " w[3]
	i = 4
	if (w[2] == "wait")
		label = label " " w[i++]
	kind = w[1]
	plan[++plans] = kind label
	kind_of[plans] = kind
	name_of[plans] = label
	if (i <= n && w[i] ~ /^[0-9.]+$/)
		share_of[plans] = w[i++]
	if (w[i] == "because")
		because_of[plans] = w[i + 1]
	if (kind == "forbidden:")
		forbidden[label] = 1
	else
		meant[label] = 1
	next
}
file == 2 && FNR == 1 {
	columns = split($0, name, ";")
	for (i = 3; i <= columns; i++)
		column[name[i]] = i
	next
}
file == 2 {
	n_book++
	split($0, v, ";")
	for (i = 1; i <= columns; i++)
		book[n_book, i] = v[i]
	next
}
file == 3 && FNR > 1 {
	split($0, v, ",")
	root_only[++n_told] = v[2]
	next
}
file == 4 && FNR == 1 {
	n = csv($0, f)
	for (i = 1; i <= n; i++)
		at[f[i]] = i
	next
}
file == 4 {
	csv($0, f)
	label = f[at["kind"]] " " f[at["function"]]
	if (f[at["kind"]] == "pair")
		next
	if (f[at["kind"]] == "wait")
		label = "wait " f[at["wait"]] " " (f[at["function"]] == "" ? "-" : f[at["function"]])
	told[label] = f[at["share"]] + 0
	low[label] = f[at["ci95_low"]]
	high[label] = f[at["ci95_high"]]
	gain[label] = f[at["gain"]] + 0
	work[label] = f[at["work_share"]] + 0
	work_low[label] = f[at["work_ci95_low"]]
	work_high[label] = f[at["work_ci95_high"]]
	next
}
file == 5 && FNR > 1 {
	csv($0, f)
	label = "wait " f[1] " " (f[2] == "" ? "-" : f[2])
	who = f[3] == "" ? "unknown" : f[3]
	blame[label, who] += f[4] + 0
	if (blame[label, who] > most[label]) {
		most[label] = blame[label, who]
		blamed[label] = who
	}
	next
}
file == 6 {
	n = split($0, w, ", ")
	for (i = 1; i <= n && i <= 3; i++)
		listed[++n_listed] = label_of(w[i])
}

# The book's rows of the intervals that vprof recorded in full: both are in order of their start.
function choose_rows(    i, k, order, t)
{
	n = 0
	for (i = 1; i <= n_book; i++)
		order[i] = i
	for (i = 2; i <= n_book; i++) {		# nearly in order already
		t = order[i]
		for (k = i - 1; k >= 1 && book[order[k], 1] > book[t, 1]; k--)
			order[k + 1] = order[k]
		order[k + 1] = t
	}
	for (i = 1; i <= n_book; i++)
		if (n_told != n_book || !root_only[i])
			rows[++n] = order[i]
	mean_t = 0
	for (i = 1; i <= n; i++)
		mean_t += (book[rows[i], 2] - book[rows[i], 1]) / n
}

# Cov(X,T)/Var(T) of a column; with left what a straight line of the column `work` leaves of both.
function true_share(c, left,    i, mean_x, xt, tt, t, x, w, ww, wx, wt, mean_w)
{
	for (i = 1; i <= n; i++) {
		mean_x += book[rows[i], c] / n
		mean_w += left ? book[rows[i], left] / n : 0
	}
	for (i = 1; i <= n && left; i++) {
		w = book[rows[i], left] - mean_w
		ww += w * w
		wx += w * (book[rows[i], c] - mean_x)
		wt += w * (book[rows[i], 2] - book[rows[i], 1] - mean_t)
	}
	for (i = 1; i <= n; i++) {
		t = book[rows[i], 2] - book[rows[i], 1] - mean_t
		x = book[rows[i], c] - mean_x
		if (left) {
			w = book[rows[i], left] - mean_w
			t -= wt / ww * w
			x -= wx / ww * w
		}
		xt += x * t
		xx += x * x
		tt += t * t
	}
	own_share = tt > 0 ? xx / tt : 0
	xx = 0
	return tt > 0 ? xt / tt : 0
}

function line(what, label, planned, now, said, doubt, verdict)
{
	printf "%-14s %-26s %7s %8.1f %8.1f %6s  %s\n", what, label, planned == "" ? "" : sprintf("%.1f", 100 * planned),
		100 * now, 100 * said, doubt == "" ? "" : sprintf("%.1f", 100 * doubt), verdict
}

# Three places, each taken by what really had more than `now` in this run, as the book has it: what the machine did, mostly.
function outranked(now,    k, label)
{
	for (k = 1; k <= n_listed; k++) {
		label = listed[k]
		sub(/^body /, "function ", label)
		if (!(label in column) || true_share(column[label]) <= now)
			return 0
	}
	return n_listed >= 3
}

# The book has the time around the call that waits: what it took to run again after the wake-up, or to get the CPU back, is in
# it.  vprof reports these apart from the wait; any part of its run-queue time without a function may belong to this wait.
function delay_of(label,    p)
{
	if (label !~ /^wait [a-z]+ [^-]/)
		return 0
	split(label, p, " ")
	return told["wait wakeup " p[3]] + told["wait runnable " p[3]]
}

function judge_factor(i,    label, now, said, place, k, verdict, ok, doubt, delay, queued)
{
	label = name_of[i]
	delay = delay_of(label)
	queued = told[run_queue] > 0 ? told[run_queue] : 0
	now = true_share(column[label])
	if (share_of[i] != "" && abs(now - share_of[i]) > off)
		off = abs(now - share_of[i])
	for (k = n_listed; k >= 1; k--)
		if (answers(listed[k], label))
			place = k
	said = told[label] + delay
	doubt = place ? (high[label] - low[label]) / 2 : ""
	if (now < 0.05) {
		line("", label, share_of[i], now, said, doubt, "below 5 % this time")
		return
	}
	planned_cnt++
	ok = (said - 0.03 <= now && now <= said + queued + 0.03) ||
		(low[label] != "" && low[label] + delay <= now && now <= high[label] + delay + queued)
	if (place) {
		found_cnt++
		error += abs(said - now)
		verdict = "place " place
	} else if (outranked(now)) {
		outranked_cnt++
		verdict = "three had more this time"
	} else
		verdict = "not among the first three"
	if (!ok && place) {
		verdict = verdict ", WRONG SHARE"
		misses++
	}
	if (because_of[i] != "" && (blamed[label] != because_of[i] || blame[label, because_of[i]] < told[label] / 2)) {
		verdict = verdict ", BLAMED ON " blamed[label]
		misses++
	} else if (because_of[i] != "")
		verdict = verdict sprintf(", because of %s (%.0f)", because_of[i], 100 * blame[label, because_of[i]])
	line("", label, share_of[i], now, said, doubt, verdict)
}

# No forbidden factor is above 2 %, apart from the machine's addition in this run.
function judge_forbidden(label,    now, k, said, who)
{
	now = 0
	if (label in column)
		now = true_share(column[label])
	for (k in told)
		if (function_of(k) == function_of(label) && told[k] > said)
			said = told[k]
	if (now < 0)
		now = 0
	if (said > 0.02 && said > now + 0.02) {
		line("forbidden", label, 0, now, said, "", "BLAMED")
		misses++
	} else
		line("forbidden", label, 0, now, said, "", "")
}

function judge_left(i,    now, said, label, ok, doubt)
{
	label = name_of[i]
	now = true_share(column[label], column["work rows"])
	said = work[label]
	ok = abs(said - now) <= 0.03 || (work_low[label] != "" && work_low[label] <= now && now <= work_high[label])
	if (work_high[label] != "")
		doubt = (work_high[label] - work_low[label]) / 2
	line("left by work", label, share_of[i], now, said, doubt, ok ? "" : "WRONG SHARE")
	misses += !ok
}

END {
	choose_rows()
	if (n_told != n_book) {
		printf "%d intervals of %d were told\n", n_told, n_book
		misses++
	}
	for (i = 1; i <= plans; i++)
		if (kind_of[i] == "truth:")
			judge_factor(i)
	wanted = planned_cnt < 3 ? planned_cnt : 3
	if (wanted > planned_cnt - outranked_cnt)
		wanted = planned_cnt - outranked_cnt
	# The book does not name the machine's own load: it may have taken a place.
	if (100 * off > 10)
		wanted = found_cnt < wanted ? found_cnt : wanted
	misses += found_cnt < wanted ? wanted - found_cnt : 0
	for (k = 1; k <= n_listed; k++) {
		right = 0
		for (i = 1; i <= plans; i++)
			right = right || (kind_of[i] != "forbidden:" && answers(listed[k], name_of[i]))
		# A function that the machine held up is true in this run.
		label = listed[k]
		sub(/^body /, "function ", label)
		if (!right && (label in column) && true_share(column[label]) >= 0.03)
			right = 1
		if (label == run_queue && told[label] >= 0.03)
			right = 1
		true_cnt += right
		if (right)
			continue
		now = 0
		if (label in column)
			now = true_share(column[label])
		line("also named", listed[k], "", now, told[listed[k]], (high[listed[k]] - low[listed[k]]) / 2, "place " k)
	}
	for (i = 1; i <= plans; i++)
		if (kind_of[i] == "forbidden:")
			judge_forbidden(name_of[i])
		else if (kind_of[i] == "left:")
			judge_left(i)
	for (label in gain) {
		if (!(label in column) || !(label in meant))
			continue
		e = true_share(column[label])
		if (abs(gain[label] - (2 * e - own_share)) > 0.05 + 0.05 * abs(gain[label])) {
			line("gain", label, "", 2 * e - own_share, gain[label], "", "WRONG GAIN")
			misses++
		}
	}
	printf "sum %d %d %d %d %.3f %.1f %d\n", wanted, found_cnt < wanted ? found_cnt : wanted, n_listed, true_cnt,
		100 * error, 100 * off, misses
}
