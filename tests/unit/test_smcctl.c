// SPDX-License-Identifier: GPL-2.0-or-later
/* smcctl: its table and its pure parts: command line, lines of the shell, completion, filters, tables, JSON to text. */
#include "smcctl.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* As argv is declared, though nobody writes to it. */
#define WORDS(...) ((char **)(const char *[]){ __VA_ARGS__, NULL })

static int count(char *const *words)
{
	int n = 0;

	while (words[n])
		n++;
	return n;
}

static void parse(char *const *words, struct request *ret)
{
	struct err e = { 0 };

	if (request_parse(count(words), words, ret, &e) < 0)
		fail_msg("refused: %s", e.text);
}

static void refused(char *const *words, const char *says)
{
	CLEANUP_REQUEST struct request r = { 0 };
	struct err e = { 0 };

	assert_int_equal(request_parse(count(words), words, &r, &e), -EINVAL);
	if (!strstr(e.text, says))
		fail_msg("says '%s', not '%s'", e.text, says);
	assert_null(r.args);
}

/* ---- the table ---- */

static void every_command_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_commands; i++) {
		const struct command *c = &commands[i];
		CLEANUP_TEXT struct text help = { 0 }, title = { 0 };

		command_title(c, &title);
		assert_non_null(command_name(c));
		assert_non_null(command_summary(c));
		assert_non_null(c->run);
		assert_ptr_equal(command_find(command_name(c), c->verb), c);
		assert_true((c->kind == ARGS_NONE) == !c->args);
		assert_true((c->kind == ARGS_NONE) == !c->max_args);
		assert_true(c->min_args <= c->max_args);
		if (c->kind == ARGS_FILTER || c->kind == ARGS_ENTRY)
			assert_non_null(c->noun);
		help_command(c, &help);
		assert_non_null(strstr(text_str(&help), text_str(&title)));
		assert_non_null(strstr(text_str(&help), command_summary(c)));
	}
}

/* What changes something says so in the table: --direct is refused for it. */
static void access_follows_the_verb(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_commands; i++) {
		const char *word = commands[i].verb ? commands[i].verb : command_name(&commands[i]);
		bool changes = str_eq(word, "set") || str_eq(word, "reset") || str_eq(word, "add") ||
			       str_eq(word, "delete") || str_eq(word, "flush") || str_eq(word, "replace") ||
			       str_eq(word, "enable") || str_eq(word, "disable");

		assert_int_equal(commands[i].access, changes ? ACCESS_WRITE : ACCESS_READ);
	}
}

static void help_names_everything(void **state)
{
	CLEANUP_TEXT struct text t = { 0 }, knobs_help = { 0 };

	(void)state;
	help_all(&t);
	for (size_t i = 0; i < n_commands; i++) {
		CLEANUP_TEXT struct text title = { 0 };

		command_title(&commands[i], &title);
		assert_non_null(strstr(text_str(&t), text_str(&title)));
	}
	for (size_t i = 0; i < N_COMMON_OPTIONS; i++)
		assert_non_null(strstr(text_str(&t), option_table[i].name));
	help_command(command_find("knobs", "set"), &knobs_help);
	for (size_t i = 0; i < n_knobs; i++)
		assert_non_null(strstr(text_str(&knobs_help), knobs[i].name));
	assert_non_null(strstr(text_str(&knobs_help), "--save"));
}

/* Filters keep sets of fields in 64 bits, and a table has so many columns. */
static void fields_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_NOUNS; i++)
		assert_true(nouns[i].n_fields <= 64 && nouns[i].n_fields <= TABLE_COLUMNS_MAX);
}

/* ---- the command line ---- */

static void parses_commands(void **state)
{
	CLEANUP_REQUEST struct request a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	parse(WORDS("knobs", "set", "wmem=1M", "--save", "rmem=64K"), &a);
	assert_ptr_equal(a.command, command_find("knobs", "set"));
	assert_int_equal(a.n_args, 2);
	assert_int_equal(a.args[0].key_len, 4);
	assert_string_equal(a.args[0].value, "1M");
	assert_true(request_has(&a, OPT_SAVE));
	assert_false(request_has(&a, OPT_JSON));

	parse(WORDS("-jn", "blue", "set", "hs_ctrl=", "--socket=/s"), &b);
	assert_true(request_has(&b, OPT_JSON));
	assert_string_equal(b.value[OPT_NETNS], "blue");
	assert_string_equal(b.value[OPT_SOCKET], "/s");
	assert_string_equal(b.args[0].value, "");

	parse(WORDS("-nblue", "explain", "--", "-1"), &c);
	assert_string_equal(c.value[OPT_NETNS], "blue");
	assert_string_equal(c.args[0].word, "-1");
}

static void parses_fields(void **state)
{
	CLEANUP_REQUEST struct request a = { 0 }, b = { 0 };

	(void)state;
	parse(WORDS("sockets", "show", "--port", "80", "mode=tcp", "--peer-addr=::1"), &a);
	assert_int_equal(a.n_args, 3);
	assert_string_equal(a.args[0].value, "80");
	assert_int_equal(command_key_fields(a.command, a.args[0].key, a.args[0].key_len),
			 1u << SOCK_LOCAL_PORT | 1u << SOCK_PEER_PORT);
	assert_int_equal(command_key_fields(a.command, a.args[2].key, a.args[2].key_len), 1u << SOCK_PEER_ADDR);

	/* The ID comes first wherever it stands. */
	parse(WORDS("pnet", "add", "--rdma", "rxe0", "NETA", "port=1"), &b);
	assert_int_equal(b.n_args, 3);
	assert_string_equal(b.args[0].word, "NETA");
	assert_string_equal(b.args[1].value, "rxe0");
	assert_string_equal(b.args[2].value, "1");
}

static void help_wins(void **state)
{
	CLEANUP_REQUEST struct request a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	parse(WORDS("--help"), &a);
	assert_null(a.name);
	parse(WORDS("knobs", "-h"), &b);
	assert_string_equal(b.name, "knobs");
	assert_null(b.command);
	parse(WORDS("knobs", "set", "--help"), &c);
	assert_ptr_equal(c.command, command_find("knobs", "set"));
}

static void refuses_wrong_lines(void **state)
{
	(void)state;
	refused(WORDS("--json"), "a command is missing");
	refused(WORDS("konbs"), "did you mean knobs?");
	refused(WORDS("\033[31m"), "\\x1b");
	refused(WORDS("knobs"), "show, set, reset");
	refused(WORDS("knobs", "sett"), "did you mean set?");
	refused(WORDS("knobs", "zzzzzz"), "show, set, reset");
	refused(WORDS("set", "wmem"), "no NAME=VALUE");
	refused(WORDS("set", "=1"), "no NAME=VALUE");
	refused(WORDS("set"), "needs NAME=VALUE");
	refused(WORDS("status", "now"), "takes no arguments");
	refused(WORDS("status", "--save"), "no option '--save'");
	refused(WORDS("status", "--jsno"), "did you mean --json?");
	refused(WORDS("status", "--json=1"), "takes no value");
	refused(WORDS("status", "-n"), "needs a value");
	refused(WORDS("status", "-x"), "unknown option '-x'");
	refused(WORDS("status", "--state", "active"), "no option '--state'");
	refused(WORDS("links", "show", "stat=active"), "did you mean state?");
	refused(WORDS("links", "show", "active"), "no FIELD=VALUE");
	refused(WORDS("sockets", "show", "--frobnicate", "1"), "no option '--frobnicate'");
	refused(WORDS("pnet", "add", "NETA"), "needs ID");
	refused(WORDS("pnet", "add", "NETA", "eth0"), "no FIELD=VALUE");
	refused(WORDS("pnet", "add", "NETA", "id=NETB"), "no field 'id'");
	refused(WORDS("pnet", "add", "--interface", "eth0", "--port", "1"), "needs ID");
	refused(WORDS("ueid", "add", "A", "B"), "at most 1");
	refused(WORDS("knobs", "reset", "wmem", "--direct"), "smcd only");
	refused(WORDS("status", "-n", "blue"), "whole host: --netns");
	refused(WORDS("ueid", "add", "EID1", "-n", "blue"), "whole host: --netns");
	refused(WORDS("", "show"), "unknown command ''");
}

/* ---- lines of the shell ---- */

static void split(const char *line, const char *joined)
{
	CLEANUP_WORDS struct words w = { 0 };
	CLEANUP_TEXT struct text t = { 0 };
	struct err e = { 0 };

	if (words_split(line, &w, &e) < 0)
		fail_msg("refused: %s", e.text);
	for (size_t i = 0; i < w.n; i++)
		text_add(&t, "[%s]", w.v[i]);
	assert_string_equal(text_str(&t), joined);
}

static void splits_lines(void **state)
{
	(void)state;
	split("", "");
	split(" \t ", "");
	split("# all of it", "");
	split("a b\tc\n", "[a][b][c]");
	split("a #b", "[a]");
	split("a#b", "[a#b]");
	split("'a b' \"c d\"", "[a b][c d]");
	split("''", "[]");
	split("a'b'\"c\"\\ d", "[abc d]");
	split("\"a\\\"b\\\\c\\d\"", "[a\"b\\c\\d]");
	split("'a\\'", "[a\\]");
}

static void refuses_open_quotes(void **state)
{
	static const char *const bad[] = { "a 'b", "\"", "x \"a\\\"", "a\\", "a\\\n" };
	CLEANUP_FREE char *line = malloc(WORDS_LINE_MAX + 2);
	CLEANUP_WORDS struct words w = { 0 };
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(words_split(bad[i], &w, &e), -EINVAL);
	assert_int_equal(words_split("ab 'c", &w, &e), -EINVAL);
	assert_non_null(strstr(e.text, "column 4"));
	assert_non_null(line);
	memset(line, 'x', WORDS_LINE_MAX + 1);
	line[WORDS_LINE_MAX + 1] = '\0';
	assert_int_equal(words_split(line, &w, &e), -E2BIG);
	/* As many words as it takes, and one more. */
	for (size_t i = 0; i < ARGS_MAX + 1; i++)
		memcpy(line + 2 * i, "x ", 2);
	line[2 * ARGS_MAX] = '\0';
	assert_int_equal(words_split(line, &w, &e), 0);
	assert_int_equal(w.n, ARGS_MAX);
	line[2 * ARGS_MAX] = 'x';
	line[2 * ARGS_MAX + 1] = '\0';
	words_done(&w);
	assert_int_equal(words_split(line, &w, &e), -E2BIG);
}

/* s as one word of a line, quoted where it has to be. */
static void quote(const char *s, struct text *t)
{
	bool plain = *s && *s != '#';

	for (const char *p = s; *p && plain; p++)
		plain = isalnum((unsigned char)*p) || strchr("_-.,:/=+@%#*?[]", *p);
	if (plain) {
		text_add(t, "%s", s);
		return;
	}
	text_add(t, "'");
	for (; *s; s++)
		if (*s == '\'')
			text_add(t, "'\\''");
		else
			text_add_mem(t, s, 1);
	text_add(t, "'");
}

static void quotes_come_back(void **state)
{
	static const char *const words[] = { "",  "a",  "a b", "it's", "\\",    "\"",
					     "#", "a#", "\t",  "'''",  "$x`y`", "\xc3\xa4" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		CLEANUP_TEXT struct text line = { 0 };
		CLEANUP_WORDS struct words w = { 0 };

		quote(words[i], &line);
		assert_int_equal(words_split(text_str(&line), &w, NULL), 0);
		assert_int_equal(w.n, 1);
		assert_string_equal(w.v[0], words[i]);
	}
}

/* ---- completion ---- */

/* Is the word offered, after these words? */
static bool offered(char *const *words, const char *partial, const char *candidate)
{
	CLEANUP_WORDS struct words w = { 0 };

	assert_int_equal(complete(words, (size_t)count(words), partial, &w), 0);
	for (size_t i = 0; i < w.n; i++) {
		assert_memory_equal(w.v[i], partial, strlen(partial));
		if (str_eq(w.v[i], candidate))
			return true;
	}
	return false;
}

static void completes(void **state)
{
	char *none[] = { NULL };

	(void)state;
	for (size_t i = 0; i < n_commands; i++)
		assert_true(offered(none, "", command_name(&commands[i])));
	assert_true(offered(none, "kn", "knobs"));
	assert_true(offered(WORDS("--json", "-n", "blue"), "kn", "knobs"));
	assert_true(offered(WORDS("knobs"), "", "reset"));
	assert_false(offered(WORDS("links"), "", "reset"));
	for (size_t i = 0; i < n_knobs; i++) {
		CLEANUP_TEXT struct text t = { 0 };

		text_add(&t, "%s=", knobs[i].name);
		assert_true(offered(WORDS("set"), "", text_str(&t)));
		assert_true(offered(WORDS("knobs", "set"), knobs[i].name, text_str(&t)));
		assert_true(offered(WORDS("show"), "", knobs[i].name));
	}
	assert_true(offered(WORDS("set"), "smcr_buf_type=v", "smcr_buf_type=virtual"));
	assert_true(offered(WORDS("set"), "limit_smc_hs=o", "limit_smc_hs=on"));
	assert_false(offered(WORDS("set"), "wmem=", "wmem="));
	for (size_t i = 0; i < n_reasons; i++)
		assert_true(offered(WORDS("explain"), "", reasons[i].name));
	assert_true(offered(WORDS("sockets", "show"), "", "port="));
	assert_true(offered(WORDS("sockets", "show"), "mode=t", "mode=tcp"));
	assert_true(offered(WORDS("sockets", "show", "--mode"), "", "smcr"));
	assert_true(offered(WORDS("links", "show"), "--st", "--state"));
	assert_true(offered(WORDS("set"), "--s", "--save"));
	assert_false(offered(WORDS("show"), "--s", "--save"));
	assert_false(offered(WORDS("pnet", "add"), "", "id="));
	assert_true(offered(WORDS("help"), "", "knobs"));
}

/* ---- tables and values ---- */

static void aligns_columns(void **state)
{
	static const char *const titles[] = { "NAME", "N", "X" };
	CLEANUP_TABLE struct table t = { 0 };
	CLEANUP_TEXT struct text out = { 0 };

	(void)state;
	table_init(&t, 3, titles, 1u << 1);
	text_add(table_cell(&t), "\xc3\xa4\xc3\xa4");
	text_add(table_cell(&t), "100");
	text_add(table_cell(&t), "a");
	text_add(table_cell(&t), "longer");
	text_add(table_cell(&t), "1");
	table_cell(&t);
	text_add(table_cell(&t), "c");
	table_cell(&t);
	text_add(table_cell(&t), " ");
	table_render(&t, &out);
	assert_string_equal(text_str(&out), "NAME      N  X\n"
					    "\xc3\xa4\xc3\xa4      100  a\n"
					    "longer    1  -\n"
					    "c         -\n");
}

static void many_rows(void **state)
{
	static const char *const titles[] = { "A" };
	CLEANUP_TABLE struct table t = { 0 };
	CLEANUP_TEXT struct text out = { 0 };

	(void)state;
	table_init(&t, 1, titles, 0);
	for (unsigned int i = 0; i < 1000; i++)
		text_add(table_cell(&t), "%u", i);
	table_render(&t, &out);
	assert_false(out.failed);
	assert_non_null(strstr(text_str(&out), "\n999\n"));
}

static struct json_object *json(const char *s)
{
	struct json_object *o = json_tokener_parse(s);

	assert_non_null(o);
	return o;
}

static void values_come_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_knobs; i++) {
		const struct knob *k = &knobs[i];
		struct json_object *o = render_value(&k->spec, k->def);

		if (k->def.kind == VALUE_ABSENT)
			continue;
		assert_true(value_equal(value_of_json(&k->spec, o), k->def));
		json_object_put(o);
	}
	assert_int_equal(value_of_json(&knobs[0].spec, NULL).kind, VALUE_ABSENT);
}

static void shows_knobs(void **state)
{
	struct json_object *o = json("[{\"name\":\"wmem\",\"supported\":true,\"value\":300000,\"default\":65536,"
				     "\"takes_effect\":\"new sockets\",\"source\":\"kernel\",\"expected_smcd\":524288,"
				     "\"expected_smcr\":1048576},"
				     "{\"name\":\"hs_ctrl\",\"supported\":true,\"value\":\"\",\"default\":\"\"},"
				     "{\"name\":\"rmem\",\"supported\":false,\"value\":null,\"default\":65536},"
				     "{\"name\":\"of_the_future\",\"supported\":true,\"value\":250,\"default\":100,"
				     "\"unit\":\"milliseconds\",\"min\":5,\"max\":5000},"
				     "{\"name\":\"turbo\",\"supported\":true,\"value\":\"fast\",\"default\":\"slow\","
				     "\"unit\":\"\",\"choices\":[\"slow\",\"fast\"]}]");
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	knobs_text(o, true, &t);
	assert_non_null(strstr(text_str(&t), "smcd 512K, smcr 1M"));
	assert_non_null(strstr(text_str(&t), "300000"));
	assert_non_null(strstr(text_str(&t), "\"\""));
	assert_non_null(strstr(text_str(&t), "does not have"));
	/* what only the kernel describes */
	assert_non_null(strstr(text_str(&t), "250ms    100ms"));
	assert_non_null(strstr(text_str(&t), "5..5000 milliseconds"));
	assert_non_null(strstr(text_str(&t), "fast     slow"));
	assert_non_null(strstr(text_str(&t), "slow, fast"));
	json_object_put(o);
}

static void shows_lists(void **state)
{
	struct json_object *o = json("[{\"id\":\"0x00000101\",\"tech\":\"smcr\",\"connections\":1000,"
				     "\"peer_host\":\"evil\\n\\u001b[2J\",\"receive_buffers\":98304,\"pnet_id\":\"\"},"
				     "{\"id\":\"0x00000102\",\"tech\":\"of_the_future\",\"direct\":true}]");
	CLEANUP_TEXT struct text t = { 0 }, wide = { 0 };

	(void)state;
	noun_text(&nouns[NOUN_LINKGROUPS], o, false, &t);
	assert_non_null(strstr(text_str(&t), "ID          TECH           ROLE"));
	assert_non_null(strstr(text_str(&t), "0x00000101  smcr           -"));
	assert_non_null(strstr(text_str(&t), "0x00000102  of_the_future  -"));
	assert_non_null(strstr(text_str(&t), " 1000  -        "));
	assert_non_null(strstr(text_str(&t), "evil\\x0a\\x1b[2J"));
	assert_non_null(strstr(text_str(&t), " 96.0K\n"));
	assert_null(strstr(text_str(&t), "direct"));
	noun_text(&nouns[NOUN_LINKGROUPS], o, true, &wide);
	assert_non_null(strstr(text_str(&wide), "direct"));
	assert_non_null(strstr(text_str(&wide), "  on "));
	json_object_put(o);
}

static void shows_histograms(void **state)
{
	struct json_object *o =
		json("[{\"tech\":\"smcd\",\"tx_bytes\":1048576,\"tx_size\":["
		     "{\"le\":8192,\"count\":1},{\"le\":16384,\"count\":1000},{\"le\":1,\"count\":0},"
		     "{\"le\":1,\"count\":0},{\"le\":1,\"count\":0},{\"le\":1,\"count\":0},"
		     "{\"le\":1,\"count\":0},{\"le\":1,\"count\":0},{\"le\":null,\"count\":500}]},"
		     "{\"tech\":\"smcr\",\"tx_bytes\":null},{\"tech\":null,\"client_handshake_errors\":7}]");
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	stats_text(o, &t);
	assert_non_null(strstr(text_str(&t), "tx_bytes                          1M      -\n"));
	/* The smallest count shows, the largest fills the width, half of it is half. */
	assert_non_null(strstr(text_str(&t), "    8K      1  #  "));
	assert_non_null(strstr(text_str(&t), "   16K  1.00k  ####################  "));
	assert_non_null(strstr(text_str(&t), "larger    500  ##########  "));
	assert_non_null(strstr(text_str(&t), "client_handshake_errors     7\n"));
	json_object_put(o);
}

static void json_is_safe_for_terminals(void **state)
{
	struct json_object *o = json_object_new_object();
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	json_object_object_add(o, "s", json_object_new_string("\x1b[31m\x7f\xc2\x9b\xc3\xa4"));
	document_text(o, &t);
	assert_non_null(strstr(text_str(&t), "\\u001b[31m\\u007f\\u009b\xc3\xa4"));
	json_object_put(o);
}

/* ---- filters ---- */

static const char sockets[] =
	"[{\"local_addr\":\"10.0.0.1\",\"local_port\":80,\"peer_addr\":\"10.0.0.2\",\"peer_port\":4000,\"mode\":\"smcr\","
	"\"state\":\"active\",\"reason\":null,\"sndbuf\":65536},"
	"{\"local_addr\":\"::ffff:10.1.0.1\",\"local_port\":81,\"peer_addr\":\"10.0.0.2\",\"peer_port\":80,\"mode\":\"tcp\","
	"\"state\":\"active\",\"reason\":\"0x03030000\",\"sndbuf\":null},"
	"{\"local_addr\":\"2001:db8::1\",\"local_port\":82,\"peer_addr\":null,\"peer_port\":null,\"mode\":\"smcd\","
	"\"state\":\"listen\",\"reason\":null,\"sndbuf\":1048576}]";

/* The local ports of what is left. */
static void filtered(char *const *filters, const char *left)
{
	const char *words[16] = { "sockets", "show" };
	CLEANUP_REQUEST struct request r = { 0 };
	CLEANUP_TEXT struct text t = { 0 };
	struct json_object *array = json(sockets);
	struct err e = { 0 };

	for (size_t i = 0; filters[i]; i++)
		words[2 + i] = filters[i];
	parse((char **)words, &r);
	if (filters_check(&nouns[NOUN_SOCKETS], &r, &e) < 0)
		fail_msg("refused: %s", e.text);
	assert_int_equal(filters_apply(&nouns[NOUN_SOCKETS], &r, array, &e), 0);
	for (size_t i = 0; i < json_object_array_length(array); i++)
		text_add(&t, "%s ", json_object_get_string(member(json_object_array_get_idx(array, i), "local_port")));
	assert_string_equal(text_str(&t), left);
	json_object_put(array);
}

static void filters_lists(void **state)
{
	char *none[] = { NULL };

	(void)state;
	filtered(none, "80 81 82 ");
	filtered(WORDS("port=80"), "80 81 ");
	filtered(WORDS("local_port=80"), "80 ");
	filtered(WORDS("port=80", "port=82"), "80 81 82 ");
	filtered(WORDS("port=80", "mode=tcp"), "81 ");
	filtered(WORDS("--mode", "tcp", "--mode", "smcd"), "81 82 ");
	filtered(WORDS("addr=10.0.0.0/8"), "80 81 ");
	filtered(WORDS("local_addr=10.0.0.0/16"), "80 ");
	filtered(WORDS("local_addr=10.1.0.1"), "81 ");
	filtered(WORDS("addr=2001:0db8:0::1"), "82 ");
	filtered(WORDS("addr=2001:db8::/33"), "82 ");
	filtered(WORDS("addr=0.0.0.0/0"), "80 81 ");
	filtered(WORDS("addr=10.*"), "80 81 ");
	filtered(WORDS("state=LIST*"), "82 ");
	filtered(WORDS("reason=3030000"), "81 ");
	filtered(WORDS("reason=-"), "80 82 ");
	filtered(WORDS("peer_addr=-"), "82 ");
	filtered(WORDS("sndbuf=64K"), "80 ");
	filtered(WORDS("sndbuf=1M"), "82 ");
	filtered(WORDS("state=gone"), "");
}

static void refuses_wrong_filters(void **state)
{
	static const struct {
		const char *filter;
		int code;
	} bad[] = {
		{ "mode=smcx", -EINVAL },        { "port=http", -EINVAL },  { "port=", -EINVAL },
		{ "port=-1", -ERANGE },          { "reason=xyz", -EINVAL }, { "reason=0x", -EINVAL },
		{ "reason=100000000", -ERANGE }, { "sndbuf=1Q", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP_REQUEST struct request r = { 0 };
		struct err e = { 0 };

		parse(WORDS("sockets", "show", bad[i].filter), &r);
		assert_int_equal(filters_check(&nouns[NOUN_SOCKETS], &r, &e), bad[i].code);
		assert_true(strlen(e.text) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_is_whole),
		cmocka_unit_test(access_follows_the_verb),
		cmocka_unit_test(help_names_everything),
		cmocka_unit_test(fields_fit),
		cmocka_unit_test(parses_commands),
		cmocka_unit_test(parses_fields),
		cmocka_unit_test(help_wins),
		cmocka_unit_test(refuses_wrong_lines),
		cmocka_unit_test(splits_lines),
		cmocka_unit_test(refuses_open_quotes),
		cmocka_unit_test(quotes_come_back),
		cmocka_unit_test(completes),
		cmocka_unit_test(aligns_columns),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(values_come_back),
		cmocka_unit_test(shows_knobs),
		cmocka_unit_test(shows_lists),
		cmocka_unit_test(shows_histograms),
		cmocka_unit_test(json_is_safe_for_terminals),
		cmocka_unit_test(filters_lists),
		cmocka_unit_test(refuses_wrong_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
