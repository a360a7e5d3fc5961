// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shell.c - smcctl shell: commands line by line, from a terminal (readline: completion, history) or from anything else.
 * The only file that knows readline.
 */
#include <locale.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <readline/readline.h>
#include <readline/history.h>

#include "smcctl.h"

#define PROMPT "smcctl> "
#define HISTORY_MAX 1000 /* lines kept */

/* ---- completion ---- */

/* What all candidates begin with: readline wants it as the first entry. */
static char *common_prefix(const struct words *w)
{
	size_t len = strlen(w->v[0]);

	for (size_t i = 1; i < w->n; i++)
		for (size_t at = 0; at < len; at++)
			if (w->v[i][at] != w->v[0][at])
				len = at;
	return strndup(w->v[0], len);
}

/* Words in readline's form: NULL-terminated, malloced, the common prefix first. NULL: nothing to offer. */
static char **as_matches(struct words *w)
{
	char **matches;

	if (!w->n)
		return NULL;
	matches = calloc(w->n + 2, sizeof(*matches));
	if (!matches)
		return NULL;
	matches[0] = common_prefix(w);
	if (!matches[0]) {
		free(matches);
		return NULL;
	}
	/* A single candidate is the common prefix. */
	for (size_t i = 0; w->n > 1 && i < w->n; i++) {
		matches[i + 1] = w->v[i];
		w->v[i] = NULL;
	}
	return matches;
}

static char **complete_line(const char *partial, int start, int end)
{
	CLEANUP_FREE char *before = strndup(rl_line_buffer, (size_t)start);
	CLEANUP_WORDS struct words words = { 0 }, found = { 0 };
	const struct command *c;

	(void)end;
	if (!before || words_split(before, &words, NULL) < 0)
		return NULL;
	c = words.n >= 2 ? command_find(words.v[0], words.v[1]) : NULL;
	if (c && c->kind == ARGS_FILES)
		return NULL; /* readline's own completion of file names */
	rl_attempted_completion_over = 1;
	if (complete(words.v, words.n, partial, &found) < 0)
		return NULL;
	if (found.n == 1 && found.v[0][strlen(found.v[0]) - 1] == '=')
		rl_completion_suppress_append = 1;
	return as_matches(&found);
}

/* ---- the terminal ---- */

/* While a line is read, Ctrl-C is a key and no signal: one that came at the wrong time would end smcctl or be lost. */
static void prepare_terminal(int meta)
{
	struct termios t;

	rl_prep_terminal(meta);
	if (tcgetattr(STDIN_FILENO, &t) != 0)
		return; /* it is none: nothing to prepare */
	t.c_cc[VINTR] = _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &t);
}

/* Ctrl-C: give the line up for an empty one. */
static int drop_line(int count, int key)
{
	(void)count;
	(void)key;
	rl_replace_line("", 1);
	fputs("^C", rl_outstream);
	rl_done = 1;
	return 0;
}

static char *read_terminal(void)
{
	char *line = readline(PROMPT);

	if (line && *line)
		add_history(line);
	return line;
}

/* A line, NULL at the end. A NUL becomes a character that no command has, so that it hides nothing. */
static char *read_pipe(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n = getline(&line, &size, stdin);

	if (n < 0) {
		free(line);
		return NULL;
	}
	for (ssize_t i = 0; i < n; i++)
		if (!line[i])
			line[i] = '\x01';
	return line;
}

/* ---- history ---- */

/* Where history is kept; NULL where there is no home. The directory is made. */
static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	CLEANUP_TEXT struct text t = { 0 };

	if (state && *state == '/') {
		text_add(&t, "%s", state);
	} else if (home && *home == '/') {
		text_add(&t, "%s/.local", home);
		mkdir(text_str(&t), 0700); /* there already, or writing the file fails and says so */
		text_add(&t, "/state");
	} else {
		return NULL;
	}
	mkdir(text_str(&t), 0700);
	text_add(&t, "/smcctl_history");
	return t.failed ? NULL : strdup(text_str(&t));
}

static void load_history(const char *path)
{
	using_history();
	stifle_history(HISTORY_MAX);
	if (path)
		read_history(path);
}

static void save_history(struct ctl *c, const char *path)
{
	int r = path ? write_history(path) : 0;

	if (r != 0)
		ctl_note(c, "keep the history in '%s': %s", path, strerror(r));
}

/* ---- the loop ---- */

/* The shell's own options hold for every line: they stand in front of its words. */
static int add_options(const struct request *r, struct words *w)
{
	for (enum option_id o = 0; o < N_COMMON_OPTIONS; o++) {
		char option[64];
		int rc;

		if (!request_has(r, o))
			continue;
		snprintf(option, sizeof(option), "--%s", option_table[o].name);
		rc = words_add(w, option);
		if (rc >= 0 && option_table[o].arg)
			rc = words_add(w, r->value[o]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_leave(const struct words *w)
{
	return w->n == 1 && (str_eq(w->v[0], "quit") || str_eq(w->v[0], "exit"));
}

/* CTL_OK also for an empty line. */
static int run_line(struct ctl *c, const char *line)
{
	CLEANUP_WORDS struct words words = { 0 }, all = { 0 };
	struct err e = { 0 };
	int r = words_split(line, &words, &e);

	if (r < 0) {
		ctl_note(c, "%s", e.text);
		return CTL_USAGE;
	}
	c->session->leave = is_leave(&words);
	if (!words.n || c->session->leave)
		return CTL_OK;
	r = add_options(c->req, &all);
	for (size_t i = 0; r >= 0 && i < words.n; i++)
		r = words_add(&all, words.v[i]);
	if (r < 0) {
		ctl_note(c, "out of memory");
		return CTL_FAILED;
	}
	return ctl_run(c->session, (int)all.n, all.v);
}

/* The exit code of the last command that failed; CTL_OK when none did. */
static int run_lines(struct ctl *c)
{
	int last = CTL_OK;
	char *line;

	while (!c->session->leave && (line = c->session->interactive ? read_terminal() : read_pipe())) {
		int r = run_line(c, line);

		free(line);
		if (r != CTL_OK)
			last = r;
	}
	return last;
}

static int run_terminal(struct ctl *c)
{
	CLEANUP_FREE char *path = history_path();
	int r;

	/* Characters of more than one byte; numbers stay as in the C locale. */
	setlocale(LC_CTYPE, "");
	rl_readline_name = "smcctl";
	rl_attempted_completion_function = complete_line;
	rl_completer_word_break_characters = " \t\n";
	rl_completer_quote_characters = "'\"";
	rl_prep_term_function = prepare_terminal;
	rl_bind_key(CTRL('C'), drop_line);
	load_history(path);
	r = run_lines(c);
	save_history(c, path);
	if (!c->session->leave)
		fprintf(c->session->out, "\n");
	return r;
}

int cmd_shell(struct ctl *c, const struct request *r)
{
	(void)r;
	if (c->session->in_shell)
		return ctl_fail(c, CTL_USAGE, "this is the shell already");
	c->session->in_shell = true;
	c->session->interactive = isatty(STDIN_FILENO) && c->session->tty;
	return c->session->interactive ? run_terminal(c) : run_lines(c);
}
