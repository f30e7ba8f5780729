#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# memcached recurses nowhere: a server with the threads that it always has, whose stacks have the size of the limit, is asked
# for one thing of each kind. The client is not what is examined and has the stack that it wants. Run in its tree.
set -u

data=$(mktemp -d) || exit
server=
trap 'kill -KILL $server 2>/dev/null; rm -rf "$data"' EXIT

./memcached -u "$(id -un)" -s "$data/socket" >/dev/null 2>&1 &
server=$!
tries=0
while [ ! -S "$data/socket" ]; do
	[ $tries -lt 100 ] && kill -0 $server 2>/dev/null || exit
	tries=$((tries + 1))
	sleep 0.1
done
# shellcheck disable=SC3045 # dash and bash have -S
ulimit -S -s 8192
perl - "$data/socket" <<'END_CLIENT' || exit
use strict;
use IO::Socket::UNIX;

# ask TEXT, END: the answer, up to a line that END matches; from a connection of its own, each to the next worker
sub ask {
	my ($text, $end) = @_;
	my $server = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die;
	print $server $text;
	my $answer = "";
	while (my $line = <$server>) {
		$answer .= $line;
		last if $line =~ $end;
	}
	return $answer;
}

my $large = "x" x 500000;
my $stored = 0;
for my $i (1 .. 300) {
	my $value = $i % 30 ? "v" x $i : $large;
	$stored++ if ask("set key$i 0 0 " . length($value) . "\r\n$value\r\n", qr/^[A-Z]/) eq "STORED\r\n";
}
print "$stored stored\n";
print length(ask("get " . join(" ", map "key$_", 1 .. 200) . "\r\n", qr/^END/)), " got\n";
print ask("mg key7 v t s k\r\nmn\r\n", qr/^MN/);
print ask("set n 0 0 1\r\n1\r\nincr n 41\r\ndelete n\r\n", qr/^(DELETED|NOT_FOUND)/);
print ask("stats$_\r\n", qr/^(END|RESET|ERROR)/) =~ /^STAT/ ? "stats$_\n" : "no stats$_\n" for "", " items", " slabs", " settings", " conns";
print scalar(() = ask("lru_crawler metadump all\r\n", qr/^(END|BUSY|ERROR)/) =~ /^key=/mg) > 100 ? "dumped\n" : "not dumped\n";
print ask("flush_all\r\n", qr/./), ask("get key1\r\n", qr/^END/);
END_CLIENT
kill $server
wait $server
echo "status $?"
