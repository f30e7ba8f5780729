// SPDX-License-Identifier: GPL-3.0-or-later
/* cxx.cc - the C++20 library: what is inline in its headers and what is inside libstdc++. */
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <unistd.h>
#include "tests/waits/waits.h"

using namespace std::chrono_literals;

static std::mutex mutex;
static std::timed_mutex timed;
static std::recursive_mutex recursive;
static std::shared_mutex reads;
static std::shared_timed_mutex timed_reads;
static std::condition_variable cond;
static std::condition_variable_any any;
static bool ready;

static void lock() { mutex.lock(); }
static void unlock() { mutex.unlock(); }
static void lock_timed() { timed.lock(); }
static void unlock_timed() { timed.unlock(); }
static void lock_for() { MUST(timed.try_lock_for(5s)); }
static void lock_until() { MUST(timed.try_lock_until(std::chrono::system_clock::now() + 5s)); }
static void lock_recursive() { recursive.lock(); }
static void unlock_recursive() { recursive.unlock(); }
static void lock_exclusive() { reads.lock(); }
static void unlock_exclusive() { reads.unlock(); }
static void lock_shared() { reads.lock_shared(); }
static void unlock_shared() { reads.unlock_shared(); }
static void lock_reads() { timed_reads.lock(); }
static void unlock_reads() { timed_reads.unlock(); }
static void lock_shared_for() { MUST(timed_reads.try_lock_shared_for(5s)); }
static void unlock_timed_shared() { timed_reads.unlock_shared(); }

static void wait_cond()
{
	std::unique_lock guard(mutex);
	cond.wait(guard, [] { return ready; });
	ready = false;
}

static void wait_cond_for()
{
	std::unique_lock guard(mutex);
	MUST(cond.wait_for(guard, 5s, [] { return ready; }));
	ready = false;
}

static void wait_any()
{
	std::unique_lock guard(mutex);
	any.wait(guard, [] { return ready; });
	ready = false;
}

static void notify_one()
{
	std::lock_guard guard(mutex);
	ready = true;
	cond.notify_one();
}

static void notify_all()
{
	{
		std::lock_guard guard(mutex);
		ready = true;
	}
	cond.notify_all();
}

static void notify_any()
{
	std::lock_guard guard(mutex);
	ready = true;
	any.notify_one();
}

static void end_later()
{
	shared->waker_tid = own_tid();
	hold();
}

static std::thread thread;
static std::jthread jthread;
static std::future<void> future;
static std::promise<int> promise;
static std::future<int> promised;

static void start_thread() { thread = std::thread(end_later); }
static void join_thread() { thread.join(); }
static void start_jthread() { jthread = std::jthread(end_later); }
static void end_jthread() { jthread = std::jthread(); }
static void start_async() { future = std::async(std::launch::async, end_later); }
static void get_future() { future.get(); }

static void make_promise()
{
	promise = std::promise<int>();
	promised = promise.get_future();
}

static void get_promised() { MUST(promised.get() == 3); }
static void wait_promised_for() { MUST(promised.wait_for(5s) == std::future_status::ready); }
static void keep_promise() { promise.set_value(3); }

static std::unique_ptr<std::latch> latch;
static std::counting_semaphore<8> semaphore(0);
static std::barrier<> barrier(2);
static std::atomic<int> number;
static std::atomic<long long> wide;

static void make_latch() { latch = std::make_unique<std::latch>(1); }
static void wait_latch() { latch->wait(); }
static void count_down() { latch->count_down(); }
static void acquire() { semaphore.acquire(); }
static void acquire_for() { MUST(semaphore.try_acquire_for(5s)); }
static void release() { semaphore.release(); }
static void arrive() { barrier.arrive_and_wait(); }

static void wait_number()
{
	number.wait(0);
	number = 0;
}

static void change_number()
{
	number = 1;
	number.notify_one();
}

static void wait_wide()
{
	wide.wait(0);
	wide = 0;
}

static void change_wide()
{
	wide = 1;
	wide.notify_all();
}

static std::unique_ptr<std::once_flag> once;
static std::atomic<bool> inside;

static void start_once()
{
	once = std::make_unique<std::once_flag>();
	inside = false;
	std::thread([] {
		std::call_once(*once, [] {
			shared->waker_tid = own_tid();
			inside = true;
			hold();
		});
	}).detach();
	while (!inside)
		usleep(30);
}

static void call_once() { std::call_once(*once, [] { MUST(0); }); }

static void sleep_for() { std::this_thread::sleep_for(std::chrono::microseconds(HOLD_USEC)); }

extern const struct wait_case cxx_cases[] = {
	{ "std::mutex", "lock", 0, lock, 0, lock, unlock, unlock, 0 },
	{ "std::timed_mutex", "lock", 0, lock_timed, 0, lock_timed, unlock_timed, unlock_timed, 0 },
	{ "std::timed_mutex-for", "lock", 0, lock_timed, 0, lock_for, unlock_timed, unlock_timed, 0 },
	{ "std::timed_mutex-until", "lock", 0, lock_timed, 0, lock_until, unlock_timed, unlock_timed, 0 },
	{ "std::recursive_mutex", "lock", 0, lock_recursive, 0, lock_recursive, unlock_recursive,
	  unlock_recursive, 0 },
	{ "std::shared_mutex", "lock", 0, lock_shared, 0, lock_exclusive, unlock_shared,
	  unlock_exclusive, 0 },
	{ "std::shared_mutex-shared", "lock", 0, lock_exclusive, 0, lock_shared, unlock_exclusive,
	  unlock_shared, 0 },
	{ "std::shared_timed_mutex", "lock", 0, lock_reads, 0, lock_shared_for, unlock_reads,
	  unlock_timed_shared, 0 },
	{ "std::condition_variable", "cond", 0, 0, 0, wait_cond, notify_one, 0, 0 },
	{ "std::condition_variable-all", "cond", 0, 0, 0, wait_cond, notify_all, 0, 0 },
	{ "std::condition_variable-for", "cond", 0, 0, 0, wait_cond_for, notify_one, 0, 0 },
	{ "std::condition_variable_any", "cond", 0, 0, 0, wait_any, notify_any, 0, 0 },
	{ "std::thread", "join", 0, 0, start_thread, join_thread, 0, 0, 0 },
	{ "std::jthread", "join", 0, 0, start_jthread, end_jthread, 0, 0, 0 },
	{ "std::async", "join", 0, 0, start_async, get_future, 0, 0, 0 },
	{ "std::future", "cond", 0, make_promise, 0, get_promised, keep_promise, 0, 0 },
	{ "std::future-for", "cond", 0, make_promise, 0, wait_promised_for, keep_promise, 0, 0 },
	{ "std::latch", "cond", 0, make_latch, 0, wait_latch, count_down, 0, 0 },
	{ "std::counting_semaphore", "cond", 0, 0, 0, acquire, release, 0, 0 },
	{ "std::counting_semaphore-for", "cond", 0, 0, 0, acquire_for, release, 0, 0 },
	{ "std::barrier", "cond", 0, 0, 0, arrive, arrive, 0, 0 },
	{ "std::atomic", "cond", 0, 0, 0, wait_number, change_number, 0, 0 },
	{ "std::atomic-wide", "cond", 0, 0, 0, wait_wide, change_wide, 0, 0 },
	{ "std::call_once", "lock", 0, 0, start_once, call_once, 0, 0, 0 },
	{ "std::this_thread::sleep_for", "sleep", 0, 0, 0, sleep_for, 0, 0, CASE_ALONE },
	{ nullptr, nullptr, 0, 0, 0, 0, 0, 0, 0 }
};
