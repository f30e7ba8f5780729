-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- tpcc.lua - a load for sysbench 1.0 in the manner of TPC-C: its tables, its five transactions and their mix, with
-- fewer items and customers, no think times and no keying times.  It is not TPC-C, and its figures are none of TPC-C's.
--
--	sysbench tpcc.lua ... prepare		makes the tables
--	sysbench tpcc.lua ... run		the mix
--	sysbench tpcc.lua ... --mix=payment --home=1 run	payments for warehouse 1

sysbench.cmdline.options = {
	warehouses = {"Warehouses", 2},
	items = {"Items, each in stock in all warehouses", 20000},
	customers = {"Customers of a district, each with one order at first", 600},
	home = {"The warehouse of all transactions; 0: any", 0},
	mix = {"all, or payment", "all"},
}

local DISTRICTS = 10
local con, opt		-- set by connect()

local function connect()
	opt = sysbench.opt
	con = sysbench.sql.driver():connect()
end

local tables = {
	[[warehouse (w_id INT PRIMARY KEY, w_name VARCHAR(10), w_tax DECIMAL(4,4), w_ytd DECIMAL(14,2))]],
	[[district (d_w_id INT, d_id INT, d_name VARCHAR(10), d_tax DECIMAL(4,4), d_ytd DECIMAL(14,2), d_next_o_id INT,
		PRIMARY KEY (d_w_id, d_id))]],
	[[customer (c_w_id INT, c_d_id INT, c_id INT, c_last VARCHAR(16), c_discount DECIMAL(4,4), c_balance DECIMAL(14,2),
		c_ytd_payment DECIMAL(14,2), c_payment_cnt INT, c_delivery_cnt INT, c_data VARCHAR(500),
		PRIMARY KEY (c_w_id, c_d_id, c_id), KEY by_name (c_w_id, c_d_id, c_last))]],
	[[item (i_id INT PRIMARY KEY, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50))]],
	[[stock (s_w_id INT, s_i_id INT, s_quantity INT, s_ytd INT, s_order_cnt INT, s_remote_cnt INT, s_dist CHAR(240),
		s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id))]],
	[[orders (o_w_id INT, o_d_id INT, o_id INT, o_c_id INT, o_entry_d DATETIME, o_carrier_id INT, o_ol_cnt INT,
		PRIMARY KEY (o_w_id, o_d_id, o_id), KEY by_customer (o_w_id, o_d_id, o_c_id, o_id))]],
	[[new_orders (no_w_id INT, no_d_id INT, no_o_id INT, PRIMARY KEY (no_w_id, no_d_id, no_o_id))]],
	[[order_line (ol_w_id INT, ol_d_id INT, ol_o_id INT, ol_number INT, ol_i_id INT, ol_quantity INT,
		ol_amount DECIMAL(8,2), ol_delivery_d DATETIME, ol_dist_info CHAR(24),
		PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))]],
	[[history (h_id BIGINT AUTO_INCREMENT PRIMARY KEY, h_w_id INT, h_d_id INT, h_c_id INT, h_date DATETIME,
		h_amount DECIMAL(8,2), KEY by_warehouse (h_w_id))]],
}

-- TPC-C's names: three of ten syllables
local syllables = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

local function name_of(n)
	return syllables[math.floor(n / 100) % 10 + 1] .. syllables[math.floor(n / 10) % 10 + 1] .. syllables[n % 10 + 1]
end

local function query(text, ...)
	return con:query(string.format(text, ...))
end

-- The first row's columns, as strings.
local function row(text, ...)
	return con:query_row(string.format(text, ...))
end

local function rows(text, ...)
	local result = query(text, ...)
	local all = {}
	for i = 1, result.nrows do
		all[i] = result:fetch_row()
	end
	result:free()
	return all
end

local function bulk(into, fill)
	con:bulk_insert_init("INSERT INTO " .. into .. " VALUES")
	fill(function(...) con:bulk_insert_next(string.format(...)) end)
	con:bulk_insert_done()
end

-- ---- The tables ----

local function fill_orders(w, d)
	bulk("orders", function(add)
		for c = 1, opt.customers do
			add("(%d, %d, %d, %d, now(), NULL, 10)", w, d, c, c)
		end
	end)
	bulk("new_orders", function(add)
		for c = opt.customers - math.floor(opt.customers / 3), opt.customers do
			add("(%d, %d, %d)", w, d, c)
		end
	end)
	bulk("order_line", function(add)
		for c = 1, opt.customers do
			for n = 1, 10 do
				add("(%d, %d, %d, %d, %d, 5, %d.25, NULL, '%s')", w, d, c, n, math.random(opt.items),
				    math.random(9999), string.rep("d", 24))
			end
		end
	end)
end

local function fill_warehouse(w)
	query("INSERT INTO warehouse VALUES (%d, 'W%d', 0.0%d, 0)", w, w, math.random(999))
	bulk("stock", function(add)
		for i = 1, opt.items do
			add("(%d, %d, %d, 0, 0, 0, '%s', '%s')", w, i, math.random(10, 100), string.rep("s", 240),
			    string.rep("x", math.random(26, 50)))
		end
	end)
	for d = 1, DISTRICTS do
		query("INSERT INTO district VALUES (%d, %d, 'D%d', 0.0%d, 0, %d)", w, d, d, math.random(999), opt.customers + 1)
		bulk("customer", function(add)
			for c = 1, opt.customers do
				add("(%d, %d, %d, '%s', 0.0%d, -10, 10, 1, 0, '%s')", w, d, c, name_of(c), math.random(999),
				    string.rep("c", math.random(300, 500)))
			end
		end)
		fill_orders(w, d)
	end
end

function prepare()
	connect()
	for _, definition in ipairs(tables) do
		query("CREATE TABLE %s ENGINE=InnoDB", definition)
	end
	bulk("item", function(add)
		for i = 1, opt.items do
			add("(%d, 'item %d', %d.50, '%s')", i, i, math.random(1, 99), string.rep("i", math.random(26, 50)))
		end
	end)
	for w = 1, opt.warehouses do
		fill_warehouse(w)
	end
end

function cleanup()
	connect()
	for _, definition in ipairs(tables) do
		query("DROP TABLE IF EXISTS %s", definition:match("^%S+"))
	end
end

-- ---- The transactions ----

local function any(n)
	return sysbench.rand.uniform(1, n)
end

-- TPC-C's NURand: some are wanted more often than others.
local function uneven(a, n)
	return bit.bor(sysbench.rand.uniform(0, a), any(n)) % n + 1
end

local function home()
	return opt.home > 0 and opt.home or any(opt.warehouses)
end

-- Items in the order of their numbers, so that two orders do not wait for each other.
local function basket()
	local items, seen = {}, {}
	for _ = 1, sysbench.rand.uniform(5, 15) do
		local i = uneven(8191, opt.items)
		if not seen[i] then
			seen[i] = true
			items[#items + 1] = i
		end
	end
	table.sort(items)
	return items
end

local function take_from_stock(w, d, o, number, i)
	local price = tonumber((row("SELECT i_price FROM item WHERE i_id = %d", i)))
	local left = tonumber((row("SELECT s_quantity FROM stock WHERE s_w_id = %d AND s_i_id = %d FOR UPDATE", w, i)))
	local n = any(10)
	query("UPDATE stock SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1 " ..
	      "WHERE s_w_id = %d AND s_i_id = %d", left - n < 10 and left - n + 91 or left - n, n, w, i)
	query("INSERT INTO order_line VALUES (%d, %d, %d, %d, %d, %d, %.2f, NULL, '%s')", w, d, o, number, i, n, n * price,
	      string.rep("d", 24))
end

local function new_order()
	local w, d, c = home(), any(DISTRICTS), uneven(1023, opt.customers)
	local items = basket()
	row("SELECT c_discount, c_last, w_tax FROM customer, warehouse WHERE w_id = %d AND c_w_id = w_id AND c_d_id = %d " ..
	    "AND c_id = %d", w, d, c)
	local o = tonumber((row("SELECT d_next_o_id FROM district WHERE d_w_id = %d AND d_id = %d FOR UPDATE", w, d)))
	query("UPDATE district SET d_next_o_id = %d WHERE d_w_id = %d AND d_id = %d", o + 1, w, d)
	query("INSERT INTO orders VALUES (%d, %d, %d, %d, now(), NULL, %d)", w, d, o, c, #items)
	query("INSERT INTO new_orders VALUES (%d, %d, %d)", w, d, o)
	for number, i in ipairs(items) do
		take_from_stock(w, d, o, number, i)
	end
end

-- The customer, by number or (60 of 100) as the middle one of those with a name.
local function customer(w, d)
	if any(100) > 60 then
		return uneven(1023, opt.customers)
	end
	local found = rows("SELECT c_id FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_id", w, d,
			   name_of(any(opt.customers)))
	return tonumber(found[math.floor(#found / 2) + 1][1])
end

local function payment()
	local w, d, amount = home(), any(DISTRICTS), any(5000)
	query("UPDATE warehouse SET w_ytd = w_ytd + %d WHERE w_id = %d", amount, w)
	row("SELECT w_name FROM warehouse WHERE w_id = %d", w)
	query("UPDATE district SET d_ytd = d_ytd + %d WHERE d_w_id = %d AND d_id = %d", amount, w, d)
	row("SELECT d_name FROM district WHERE d_w_id = %d AND d_id = %d", w, d)
	local c = customer(w, d)
	query("UPDATE customer SET c_balance = c_balance - %d, c_ytd_payment = c_ytd_payment + %d, c_payment_cnt = c_payment_cnt " ..
	      "+ 1 WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", amount, amount, w, d, c)
	query("INSERT INTO history (h_w_id, h_d_id, h_c_id, h_date, h_amount) VALUES (%d, %d, %d, now(), %d)", w, d, c, amount)
end

local function order_status()
	local w, d = home(), any(DISTRICTS)
	local c = customer(w, d)
	local o = row("SELECT o_id FROM orders WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d ORDER BY o_id DESC LIMIT 1",
		      w, d, c)
	if o then
		rows("SELECT ol_i_id, ol_quantity, ol_amount FROM order_line WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d",
		     w, d, tonumber(o))
	end
end

local function deliver(w, d)
	local o = row("SELECT no_o_id FROM new_orders WHERE no_w_id = %d AND no_d_id = %d ORDER BY no_o_id LIMIT 1 FOR UPDATE", w, d)
	if not o then
		return
	end
	o = tonumber(o)
	query("DELETE FROM new_orders WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %d", w, d, o)
	local c = tonumber((row("SELECT o_c_id FROM orders WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d", w, d, o)))
	query("UPDATE orders SET o_carrier_id = %d WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d", any(10), w, d, o)
	query("UPDATE order_line SET ol_delivery_d = now() WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, o)
	query("UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1, c_balance = c_balance + (SELECT sum(ol_amount) FROM " ..
	      "order_line WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d) WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d",
	      w, d, o, w, d, c)
end

local function delivery()
	local w = home()
	for d = 1, DISTRICTS do
		deliver(w, d)
	end
end

local function stock_level()
	local w, d = home(), any(DISTRICTS)
	local o = tonumber((row("SELECT d_next_o_id FROM district WHERE d_w_id = %d AND d_id = %d", w, d)))
	row("SELECT count(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id >= %d AND " ..
	    "s_w_id = %d AND s_i_id = ol_i_id AND s_quantity < %d", w, d, o - 20, w, sysbench.rand.uniform(10, 20))
end

-- Of 100, as TPC-C has it.
local function choose()
	local n = any(100)
	if opt.mix == "payment" or n <= 43 then return payment end
	if n <= 88 then return new_order end
	if n <= 92 then return order_status end
	if n <= 96 then return delivery end
	return stock_level
end

function thread_init()
	connect()
end

function event()
	local transaction = choose()
	query("BEGIN")
	transaction()
	query("COMMIT")
end
