# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.mk - all that reads files, and the targets, built by clang for libFuzzer into fuzz/ of the build
# directory: another compiler than the rest's, so it has rules of its own.  fuzz.sh calls it:
#
#	make -f SRC/tests/fuzz/fuzz.mk srcdir=SRC CLANG=clang LIBS=... CPPFLAGS=... fuzz/fuzz
vpath %.c $(srcdir)

# NULL + 0, where an empty list begins, is not looked for yet: some code still says that (VEC_AT() of base/alloc.h does not).
SANITIZE = address,undefined
CFLAGS = -std=gnu11 -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
	-fsanitize=fuzzer-no-link,$(SANITIZE) -fno-sanitize=pointer-overflow -w
ALL_CPPFLAGS = -I$(srcdir) -I. -D_GNU_SOURCE $(CPPFLAGS)
# Paths of an installation that does not exist (project/config/paths.c).
PATHS = ABS_BUILD_DIR ABS_SOURCE_DIR BIN_DIR PKGLIB_DIR INCLUDE_DIR PKGDATA_DIR
ALL_CPPFLAGS += $(PATHS:%=-D%='"/nowhere"')
# The lists of cmd/local.am.
IMPORT_FORMATS = tuples perf digest digest_tsv chrome_trace perfetto csv otlp uftrace ctf
EXPORT_FORMATS = tuples digest digest_tsv chrome_trace perfetto folded pprof otlp hgrm csv svg
ALL_CPPFLAGS += '-DIMPORT_FORMATS=${IMPORT_FORMATS:%=X(%)}' '-DEXPORT_FORMATS=${EXPORT_FORMATS:%=X(%)}'

ROOMS = base annotations trace drainer analysis digest store report
SOURCES = $(foreach room,$(ROOMS),$(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/$(room)/*.c $(srcdir)/$(room)/*/*.c))) \
	$(addprefix instrumenter/text/,braces.c edit.c lines.c) \
	$(addprefix instrumenter/parse/,command.c long_options.c) \
	$(addprefix instrumenter/plan/,expression.c location.c plan.c) \
	$(addprefix instrumenter/insert/,fallthrough.c) \
	$(addprefix instrumenter/scan/,scan_file.c scan_head.c scan_json.c scan_part.c scan_read.c) \
	$(addprefix instrumenter/marks/,source_text.c) \
	$(addprefix cmd/,analyze.c export.c import.c merge.c merge_digests.c messages.c options.c output_file.c pager.c ranking.c show.c \
		ask/show_source.c sql.c) \
	$(addprefix cmd/formats/,export_given.c export_sums.c spans/spans.c spans/span_waits.c spans/chrome_own.c spans/chrome_text.c spans/own_export.c spans/perfetto_clocks.c spans/perfetto_own.c \
		spans/perfetto_read.c spans/perfetto_unpack.c spans/protobuf_read.c spans/span_marks.c spans/ctf_text.c \
		spans/otlp_link.c spans/otlp_read.c spans/uftrace_names.c pieces/choose.c pieces/protobuf.c pieces/slices.c pieces/stacks.c \
		$(IMPORT_FORMATS:%=import_%.c) $(EXPORT_FORMATS:%=export_%.c)) \
	recorder/stacks/cxx_name.c project/notices.c $(addprefix project/digests/,import_digests.c recorded_by.c run_digest.c) \
	$(addprefix project/config/,config.c config_comments.c config_text.c data_lock.c launcher_context.c locate.c paths.c quantity.c) \
	$(addprefix project/runs/,bare_name.c callers.c digest_runs.c leave_out.c project.c recording.c origins.c run_analysis.c run_excerpt.c run_graph.c run_parts.c run_paths.c run_windows.c shown_run.c walked_parts.c) project/build/function_source.c \
	$(addprefix runtime/shared/,switched.c shift.c arena.c clock.c) \
	$(addprefix tests/fuzz/,fuzz.c commands.c generate.c generate_perf.c generate_trace.c generate_tuples.c mutate.c mutate_sql.c targets.c \
		target_arena.c target_db.c target_digests.c target_store.c \
		target_formats.c target_texts.c target_traces.c target_valid.c)
OBJECTS = $(SOURCES:%.c=fuzz/obj/%.o)

fuzz/fuzz: $(OBJECTS)
	$(CLANG) -fsanitize=fuzzer,$(SANITIZE) -o $@ $(OBJECTS) $(LIBS) -liberty -lm -lpthread

fuzz/obj/%.o: %.c $(srcdir)/tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(CLANG) $(ALL_CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(OBJECTS:.o=.d)
