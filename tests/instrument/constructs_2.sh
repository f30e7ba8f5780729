#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A third of constructs.sh, which takes minutes.
CONSTRUCTS_SHARE=2 exec "${srcdir:-.}/tests/instrument/constructs.sh"
