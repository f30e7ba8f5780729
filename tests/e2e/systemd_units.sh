#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# systemd_units: doc/systemd/vprof@.service under a supervisor of the test's own, which does what the unit says: environment, state
# directory, command, signal at the end.  A service that runs already is recorded, and its digests arrive.
. "${srcdir:-.}/tests/e2e/lib.sh"
unit=$top/doc/systemd/vprof@.service
if command -v systemd-analyze >/dev/null; then
	mkdir units
	for file in "$top"/doc/systemd/*; do
		cp "$file" "units/$(basename "$file" | sed 's/@/@shop/')"
	done
	printf '[Service]\nExecStart=/bin/true\n' >units/shop.service
	for file in units/*; do
		systemd-analyze verify --man=no "$PWD/$file" >.out 2>&1
		grep -q -e "$(basename "$file"):.*" .out && fail "systemd-analyze of $(basename "$file"): $(cat .out)" || pass
	done
fi
cat >shop.c <<'END'
#include <unistd.h>
#include <vprof.h>

__attribute__((noinline)) void answer(long i)
{
	usleep(i % 10 ? 500 : 3000);
}

int main(void)
{
	for (long i = 0; ; i++) {
		VPROF_BEGIN("request", i);
		answer(i);
		VPROF_END("request", i);
	}
}
END
mkdir lib lib/shop got bin default
expect 0 "$VPROF" -d lib/shop build --functions all -- cc -g -O1 -o shop shop.c
./shop &
shop=$!
trap 'kill $shop; rm -rf "$work"' EXIT
printf '#!/bin/sh\n[ "$*" = "show --property MainPID --value shop.service" ] && echo %d\n' $shop >bin/systemctl
printf '#!/bin/sh\nexec %s "$@"\n' "$VPROF" >bin/vprof
chmod +x bin/*
printf '%s\n' "VPROF_TO='cat >got/\$\$.part && mv got/\$\$.part got/\$\$.vpd'" VPROF_EVERY=300ms VPROF_KEEP=30s VPROF_SAMPLE=1/2 >default/vprof

# value KEY: what the unit says, for the instance, with this test's directories and a dollar for two
value()
{
	sed -n "s/^$1=//p" "$unit" | sed "s|%i|shop|g; s|/var/lib/vprof|$work/lib|g; s|/etc/default|$work/default|g; s|\\\$\\\$|\$|g"
}

for variable in $(value Environment); do
	export "$variable"
done
[ "$VPROF_LIMIT" = 1G ] && pass || fail "the unit's environment: $(value Environment)"
set -a
. "$(value EnvironmentFile)"
set +a
PATH=$work/bin:$PATH
cat >start <<END
exec $(value ExecStart)
END
setsid env --default-signal=INT sh start >.out 2>.err </dev/null &	# signals as a supervisor gives them
recorder=$!
i=0
until [ "$(ls got | grep -c vpd)" -ge 2 ] || [ $i -gt 600 ] || ! kill -0 $recorder; do
	i=$((i + 1))
	sleep 0.1
done
kill -s "$(value KillSignal | sed 's/SIG//')" -- -$recorder
wait $recorder
status=$?
[ $status = 0 ] && pass || { fail "the recorder ended with $status"; cat .err; }
kill -0 $shop && pass || fail "the service ended with its recorder"
"$VPROF" merge got/*.vpd -o all.vpd 2>.err && pass || fail "digests cannot be merged: $(cat .err)"
n=$("$VPROF" export --format digest-tsv --table vprof_window all.vpd | awk -F'\t' '$4 == "request" { n += $17 } END { print n + 0 }')
[ "$n" -gt 50 ] && pass || fail "only $n intervals came"
[ "$(ls lib/shop/spool)" = lock ] && pass || fail "something is left: $(ls lib/shop/spool)"

finish
