-- SPDX-License-Identifier: GPL-3.0-or-later
-- As deep in C as Lua lets one be: calls, metamethods, replacements, the parser. A result for each.
local function replaced(n) return n == 0 and "x" or (string.gsub("a", "a", function() return replaced(n - 1) .. "y" end)) end
local function sorted(n) if n > 0 then table.sort({ 1, 2 }, function(a, b) sorted(n - 1); return a < b end) end return n end
local indexed = setmetatable({}, { __index = function(self, n) return n == 0 and 0 or 1 + self[n - 1] end })
local function deepest(f) local n = 0; while n < 400 and pcall(f, n) do n = n + 1 end return n end
local function parsed(n) assert(load("return " .. string.rep("(", n) .. "1" .. string.rep(")", n))) end
local function tail(n) if n == 0 then return "done" end return tail(n - 1) end
print(deepest(replaced), deepest(sorted), deepest(function(n) return indexed[n] end), deepest(parsed))
print(#replaced(150), indexed[150], tail(1000000))
