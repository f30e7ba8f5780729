-- SPDX-License-Identifier: GPL-3.0-or-later
-- What an interpreter does that a probe could disturb: "ok NAME" or "not ok NAME" for each, then "the end".
local function check(name, f, want)
	local good, got = pcall(f)
	print((good and got == want and "ok " or "not ok ") .. name)
	if not (good and got == want) then print("# " .. tostring(got)) end
end

local function loop(n, acc) if n == 0 then return acc end return loop(n - 1, acc + n) end
check("a million tail calls", function() return loop(1000000, 0) end, 500000500000)

local even, odd
function even(n) if n == 0 then return "even" end return odd(n - 1) end
function odd(n) if n == 0 then return "odd" end return even(n - 1) end
check("a million tail calls of two functions", function() return even(1000001) end, "odd")

local function depth(n) if n == 0 then return 0 end return 1 + depth(n - 1) end
check("recursion", function() return depth(150000) end, 150000)
check("endless recursion is an error", function()
	local function f() return 1 + f() end
	local good, why = pcall(f)
	return tostring(good) .. tostring(string.find(why, "stack overflow") ~= nil)
end, "falsetrue")
check("endless recursion of pcall is an error", function()
	local function f() local good, why = pcall(f); if not good then error(why, 0) end return good end
	return pcall(f)
end, false)
check("recursion through metamethods", function()
	local t = setmetatable({}, { __index = function(self, n) return n == 0 and 0 or 1 + self[n - 1] end })
	return t[150]
end, 150)
check("recursion through gsub", function()
	local function f(n) return n == 0 and "x" or (string.gsub("a", "a", function() return f(n - 1) .. "y" end)) end
	return #f(150)
end, 151)
check("errors through C and Lua", function()
	local n = 0
	for i = 1, 100000 do
		local good, why = pcall(table.sort, { 3, 2, 1 }, function() error(i, 0) end)
		if not good and why == i then n = n + 1 end
	end
	return n
end, 100000)
check("an error's value is any", function() local t = {}; local _, v = pcall(error, t); return v == t end, true)
check("xpcall with a traceback", function()
	local _, v = xpcall(function() local x = nil; return x.y end, debug.traceback)
	return string.find(v, "attempt to index a nil value") ~= nil
end, true)
check("a handler that fails", function() return (xpcall(error, function() error("again") end)) end, false)
check("close after an error", function()
	local log = {}
	pcall(function()
		local a <close> = setmetatable({}, { __close = function() log[#log + 1] = "a" end })
		local b <close> = setmetatable({}, { __close = function() log[#log + 1] = "b" end })
		error("out")
	end)
	return table.concat(log)
end, "ba")

local function numbers(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
check("coroutines", function() local sum = 0; for i in numbers(200000) do sum = sum + i end return sum end, 20000100000)
check("coroutines in each other", function()
	local function chain(n)
		if n == 0 then return numbers(50) end
		local inner = chain(n - 1)
		return coroutine.wrap(function() for i in inner do coroutine.yield(i + 1) end end)
	end
	local sum = 0
	for i in chain(50) do sum = sum + i end
	return sum
end, 50 * 51 / 2 + 50 * 50)
check("an error in a coroutine", function()
	local co = coroutine.create(function() coroutine.yield(1); error("two", 0) end)
	coroutine.resume(co)
	local good, why = coroutine.resume(co)
	return tostring(good) .. why .. coroutine.status(co)
end, "falsetwodead")
check("yield across pcall", function()
	local co = coroutine.wrap(function() return select(2, pcall(function() return coroutine.yield(7) + 1 end)) end)
	return co() + co(8)
end, 16)
check("many coroutines", function()
	local all = {}
	for i = 1, 20000 do all[i] = coroutine.create(function() return coroutine.yield(i) end) end
	local sum = 0
	for i = 1, #all do sum = sum + select(2, coroutine.resume(all[i])) end
	return sum
end, 200010000)

check("string.rep", function() return #string.rep("abc", 3000000, ",") end, 11999999)
check("a string that is too long", function() return (pcall(string.rep, "x", 1 << 62)) end, false)
check("patterns", function()
	return (string.gsub(string.rep("key=value;", 20000), "(%w+)=(%w+)", "%2=%1")) == string.rep("value=key;", 20000)
end, true)
check("a pattern too complex", function() return (pcall(string.find, string.rep("a", 300000), string.rep("(a", 40))) end, false)
check("format", function() return string.format("%6.2f|%-6s|%q|%x", 3.14159, "ab", "c\nd", 255) end, '  3.14|ab    |"c\\\nd"|ff')
check("pack", function() return string.unpack("<i4", string.pack("<i4", -77)) end, -77)
check("sort", function()
	local t, seed = {}, 42
	for i = 1, 100000 do seed = (seed * 1103515245 + 12345) % 2147483648; t[i] = seed end
	table.sort(t)
	for i = 2, #t do if t[i - 1] > t[i] then return false end end
	return true
end, true)
check("collection", function()
	local weak = setmetatable({}, { __mode = "k" })
	for _ = 1, 100000 do weak[{}] = true end
	collectgarbage(); collectgarbage()
	return next(weak) == nil
end, true)
check("finalizers", function()
	local n = 0
	for _ = 1, 1000 do setmetatable({}, { __gc = function() n = n + 1 end }) end
	collectgarbage(); collectgarbage()
	return n
end, 1000)
check("generational collection", function()
	collectgarbage("generational")
	local t = {}
	for i = 1, 200000 do t[i % 100 + 1] = { i } end
	collectgarbage("incremental")
	return #t
end, 100)
check("load", function() return load("local a <const> = 5; return function(...) return a + select('#', ...) end")()(1, 2) end, 7)
check("a text nested too deep", function() return load("return " .. string.rep("(", 300) .. "1" .. string.rep(")", 300)) end, nil)
check("many results", function() return select("#", table.unpack({}, 1, 200000)) end, 200000)
check("dump", function() return load(string.dump(function(x) return x * 2 end))(21) end, 42)
check("hooks", function()
	local n = 0
	debug.sethook(function() n = n + 1 end, "", 1000)
	for _ = 1, 100000 do end
	debug.sethook()
	return n > 50
end, true)
check("goto", function() local i = 0; ::again:: i = i + 1; if i < 100000 then goto again end return i end, 100000)
check("integers and floats", function() return math.maxinteger + 1 == math.mininteger and 7 // 2 == 3 and 2^53 == 9007199254740992.0 end, true)
check("utf8", function() local n = 0; for _ in utf8.codes("aä€😀") do n = n + 1 end return n end, 4)
print("the end")
