#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The C++ standard library: condition variables and joins are waits inside libstdc++, guards release their mutex at
# the end of a scope.  Both are recorded as waits, with the thread that released them.
. "${srcdir:-.}/tests/e2e/lib.sh"

# The answer to every request is made by another thread, which sleeps 10 ms for every 5th.
cat >answer.cc <<'END'
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>
static std::mutex m;
static std::condition_variable asked, answered;
static std::deque<int> questions;
static int done;
void answer(int i)
{
	usleep(i % 5 ? 100 : 10000);
	std::lock_guard<std::mutex> guard(m);
	done = i;
	answered.notify_one();
}
void work()
{
	for (;;) {
		std::unique_lock<std::mutex> guard(m);
		asked.wait(guard, [] { return !questions.empty(); });
		int i = questions.front();
		questions.pop_front();
		guard.unlock();
		if (i < 0)
			return;
		answer(i);
	}
}
void request(int i)
{
	std::unique_lock<std::mutex> guard(m);
	questions.push_back(i);
	asked.notify_all();
	while (done != i)
		answered.wait(guard);
}
int main()
{
	std::thread worker(work);
	for (int i = 1; i <= 100; i++)
		request(i);
	{
		std::lock_guard<std::mutex> guard(m);
		questions.push_back(-1);
	}
	asked.notify_all();
	worker.join();
	try {
		worker.join();
	} catch (std::system_error &e) {
		printf("%d %d\n", done, e.code().value());
	}
}
END
printf '[interval "request"]\nstart = request\nend = request\n' >vprof.conf
echo "100 22" >expected

for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	rm -rf vprof.data
	expect 0 "$VPROF" build -- $compiler -O2 -pthread answer.cc -o answer
	expect 0 ./answer
	cmp -s "$work/.out" expected && pass || fail "$compiler: a program that is not recorded answers otherwise"
	expect 0 "$VPROF" record -- ./answer
	says "request" "100 intervals"
	expect 0 "$VPROF" show variance-tree
	says "cond wait" "by answer (sleep)"
done

# A function that waits is one of those that carry a probe, however its symbol is spelt: with an ABI tag, template arguments, the
# function around it.  So vprof must not say that it did not see the wait.
cat >spelt.cc <<'END'
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>

static std::mutex mutex;
static std::atomic<int> asked, held, done;

static void hold()
{
	for (int i = 0; !done; i++) {
		while (!asked && !done)
			usleep(100);
		mutex.lock();
		asked = 0;
		held = 1;
		usleep(i % 2 ? 20000 : 2000);
		held = 0;
		mutex.unlock();
	}
}

/* Comes while the mutex is held. */
#define WAIT() do { while (!held) { asked = 1; usleep(100); } mutex.lock(); mutex.unlock(); } while (0)

struct store {
	std::string get(int) { WAIT(); return ""; }
	operator std::string() { WAIT(); return ""; }
};
template <int N> void fixed() { WAIT(); }
template <class T> T any(T t) { WAIT(); return t; }

static void request(int way)
{
	struct local { void wait() { WAIT(); } } in;
	store s;

	switch (way) {
	case 0: s.get(1); break;
	case 1: { std::string text = s; break; }
	case 2: fixed<3>(); break;
	case 3: any(std::string()); break;
	case 4: in.wait(); break;
	default: [](auto) { WAIT(); }(1);
	}
}

int main(int, char **argv)
{
	std::thread holder(hold);

	for (int i = 0; i < 14; i++)
		request(atoi(argv[1]));
	done = 1;
	holder.join();
}
END
rm -rf vprof.data
expect 0 "$VPROF" build --functions all -- g++ -std=c++17 -O1 -fno-inline -pthread spelt.cc -o spelt
way=0
for function in store::get "store::operator basic_string" fixed any request::local::wait "request::{lambda}"; do
	expect 0 "$VPROF" record -- ./spelt $way
	expect 0 "$VPROF" show factors --all --format csv
	grep -qF ",$function," "$work/.out" && pass || fail "no factor $function: $(cat "$work/.out")"
	expect 0 "$VPROF" show factors --all
	grep -q "did not see" "$work/.out" && fail "$function: $(cat "$work/.out")" || pass
	way=$((way + 1))
done

# libstdc++.a brings its own: the waits are not seen, but the program links and runs.
if g++ -static -pthread answer.cc -o static 2>"$work/.err"; then
	expect 0 "$VPROF" build -- g++ -static -O2 -pthread answer.cc -o static
	expect 0 ./static
	cmp -s "$work/.out" expected && pass || fail "a static program answers otherwise"
fi

# A call of a std::function may reach functions of its type whose address is taken, and lambdas with the same parameters.
mkdir wrapped && cd wrapped || exit 99
cat >wrapped.cc <<'END'
#include <functional>
#include <vector>
typedef std::function<void(const int &, long &)> Handler;
static std::vector<Handler> handlers;
static void answer(const int &question, long &sum) { sum += question; }
static void other(int, long &sum) { sum++; }
void dispatch(int question, long &sum) { for (const Handler &h : handlers) h(question, sum); }
int main()
{
	long sum = 0;
	void (*volatile taken)(int, long &) = other;
	handlers.push_back(answer);
	handlers.push_back([&sum](const int &question, long &other_sum) { other_sum += question - 1; sum += 0; });
	std::function<void(char)> unused = [](char) { };
	dispatch(1, sum);
	taken(1, sum);
	return sum == 2 ? 0 : 1;
}
END
printf '[interval "request"]\nstart = dispatch\nend = dispatch\n' >vprof.conf
expect 0 "$VPROF" build -- g++ -O1 -g wrapped.cc -o wrapped
expect 0 ./wrapped
expect 0 "$VPROF" show call-graph --below dispatch
says " answer" " main::{lambda} " "wrapped.cc:13"
if grep -q " other\|wrapped.cc:14" "$work/.out"; then fail "a function of another type: $(cat "$work/.out")"; else pass; fi
cd ..

finish
