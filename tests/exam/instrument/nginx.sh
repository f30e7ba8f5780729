# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh
# nginx: a configure of its own, -Werror, one event loop a worker.  Its tests are not in the package:
# nginx_checks.sh stands for them.
source=nginx release=1.22
packages='libpcre2-dev zlib1g-dev curl apache2-utils'
modules='stub_status dav addition sub auth_request slice realip random_index secure_link flv mp4 gunzip v2'
configure='./configure --with-threads --with-file-aio --with-stream --with-mail --with-pcre-jit'
for module in $modules; do
	configure="$configure --with-http_${module}_module"
done
build='make -j2'
suite="sh $here/instrument/nginx_checks.sh"
deep="sh $here/instrument/nginx_deep.sh"

results() {
	sed -n -e 's/^ok \(.*\)/\1	ok/p' -e 's/^not ok \(.*\)/\1	failed/p'
}
