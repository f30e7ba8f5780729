/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cxx.cc - C++: a template in two versions, and what is thrown on the way.
 *
 * pack<short>() takes 100 to 200 us, pack<long>() 100 to 700: variances 833 and 30,000 us^2.  For one request in five
 * decode() throws at the bottom of three calls and recover() takes 600 us: 360,000 * .16 = 57,600.  The exception goes
 * through unpack() and its destructors, so probes left by unwinding count.
 *
 * truth: function recover 0.65
 * truth: function pack 0.34
 * forbidden: function greet
 * may-warn: mixture
 * forbidden: function ~guard
 * fix: recover function recover
 */
#include <stdexcept>
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 600 };

static volatile unsigned guards;

struct guard {
	~guard() { guards = guards + 1; }
};

template <typename T> static void pack(size_t id, int64_t high)
{
	TRUTH(id, 1, truth_work(truth_uniform("pack", sizeof(T), id, 100, high)));
}

/* 0: there is nothing to recover from.  Fixed, there is a little in each request. */
static int64_t damage_us(size_t id)
{
	return truth_rare("recover", 1, id, 0.2, 600);
}

static void decode(size_t id)
{
	if (damage_us(id) > 0)
		throw std::runtime_error("damaged");
	guards = guards + 1;
}

static void unpack(size_t id)
{
	guard g;

	decode(id);
	guards = guards + 1;
}

static void recover(size_t id)
{
	TRUTH(id, 0, truth_work(damage_us(id)));
}

static void greet(size_t id)
{
	TRUTH(id, 2, truth_work(150));
}

namespace {

class server {
public:
	void handle(size_t id)
	{
		greet(id);
		try {
			unpack(id);
		} catch (const std::exception &) {
			recover(id);
		}
		pack<short>(id, 200);
		pack<long>(id, 700);
	}
};

}

int main()
{
	server s;

	truth_open(REQUESTS, "function recover;function pack;function greet");
	TRUTH_SERVE(id, REQUESTS, 800, s.handle(id));
	truth_close();
	return 0;
}
