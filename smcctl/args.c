// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * args.c - the command line to a struct request. Options may stand anywhere before "--". Pure: no output, no kernel.
 */
#include "smcctl.h"

struct parser {
	int n, at;
	char *const *words;
	bool plain; /* "--" was seen */
	struct request *r;
	struct err *e;
};

void request_done(struct request *r)
{
	free(r->args);
	*r = (struct request){ 0 };
}

static int option_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (strlen(option_table[i].name) == len && strncmp(option_table[i].name, name, len) == 0)
			return (int)i;
	return -1;
}

static int option_by_letter(char letter)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (option_table[i].letter == letter)
			return (int)i;
	return -1;
}

static const char *nth_option_name(size_t i, const void *arg)
{
	(void)arg;
	return option_table[i].name;
}

static const char *nth_command_name(size_t i, const void *arg)
{
	(void)arg;
	return command_name(&commands[i]);
}

/* Of the command's first word only; others give no match. */
static const char *nth_verb(size_t i, const void *arg)
{
	const struct command *c = &commands[i];

	return c->verb && str_eq(command_name(c), arg) ? c->verb : "";
}

static struct arg *next_arg(struct parser *p)
{
	return &p->r->args[p->r->n_args++];
}

static int take_option(struct parser *p, int id, const char *shown, const char *value)
{
	const struct option_row *row = &option_table[id];

	if (!row->arg && value)
		return err_set(p->e, -EINVAL, "option '%s' takes no value", shown);
	if (row->arg && !value) {
		if (p->at >= p->n)
			return err_set(p->e, -EINVAL, "option '%s' needs a value: %s", shown, row->arg);
		value = p->words[p->at++];
	}
	p->r->given |= OPTION(id);
	p->r->value[id] = value;
	return 0;
}

/* An option that no command has and that nothing follows, so that it is no --FIELD VALUE either. */
static int unknown_option(struct parser *p, const char *name, size_t len)
{
	CLEANUP_FREE char *copy = strndup(name, len);
	char shown[SHOWN_MAX];
	const char *near;

	if (!copy)
		return err_set(p->e, -ENOMEM, "out of memory");
	near = closest_name(copy, nth_option_name, NULL, N_OPTIONS);
	safe_str(shown, sizeof(shown), copy);
	if (near)
		return err_set(p->e, -EINVAL, "unknown option '--%s' (did you mean --%s?)", shown, near);
	return err_set(p->e, -EINVAL, "unknown option '--%s', or its value is missing", shown);
}

/* --FIELD VALUE of commands that have fields: an argument with a key. */
static int take_keyed(struct parser *p, const char *name, size_t len, const char *value)
{
	if (!value && p->at >= p->n)
		return unknown_option(p, name, len);
	if (!value)
		value = p->words[p->at++];
	*next_arg(p) = (struct arg){ .word = value, .key = name, .key_len = len, .value = value };
	return 0;
}

static int parse_long(struct parser *p, const char *word)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	int id = option_by_name(name, len);
	char shown[SHOWN_MAX];

	/* Another command's option can be a field of this one. */
	if (id >= N_COMMON_OPTIONS && p->r->command && !command_takes(p->r->command, (enum option_id)id) &&
	    command_key_fields(p->r->command, name, len))
		id = -1;
	if (id < 0)
		return take_keyed(p, name, len, equals ? equals + 1 : NULL);
	snprintf(shown, sizeof(shown), "--%s", option_table[id].name);
	return take_option(p, id, shown, equals ? equals + 1 : NULL);
}

/* -j, -jw, -n NETNS, -nNETNS */
static int parse_letters(struct parser *p, const char *word)
{
	for (const char *l = word + 1; *l; l++) {
		char shown[] = { '-', *l, '\0' }, safe[SHOWN_MAX];
		int id = option_by_letter(*l), r;
		bool rest;

		if (id < 0)
			return err_set(p->e, -EINVAL, "unknown option '%s'", safe_str(safe, sizeof(safe), shown));
		rest = option_table[id].arg && l[1];
		r = take_option(p, id, shown, rest ? l + 1 : NULL);
		if (r < 0 || rest)
			return r;
	}
	return 0;
}

static int unknown_command(struct parser *p, const char *name)
{
	const char *near = closest_name(name, nth_command_name, NULL, n_commands);
	char shown[SHOWN_MAX];

	safe_str(shown, sizeof(shown), name);
	if (near)
		return err_set(p->e, -EINVAL, "unknown command '%s' (did you mean %s?)", shown, near);
	return err_set(p->e, -EINVAL, "unknown command '%s'", shown);
}

static void add_verbs(const char *name, struct text *t)
{
	const char *between = "";

	for (size_t i = 0; i < n_commands; i++)
		if (commands[i].verb && str_eq(command_name(&commands[i]), name)) {
			text_add(t, "%s%s", between, commands[i].verb);
			between = ", ";
		}
}

static int unknown_verb(struct parser *p, const char *name, const char *verb)
{
	CLEANUP_TEXT struct text verbs = { 0 };
	const char *near = closest_name(verb, nth_verb, name, n_commands);
	char shown[SHOWN_MAX];

	if (near && *near)
		return err_set(p->e, -EINVAL, "'%s' has no '%s' (did you mean %s?)", name,
			       safe_str(shown, sizeof(shown), verb), near);
	add_verbs(name, &verbs);
	return err_set(p->e, -EINVAL, "'%s' has no '%s': it has %s", name, safe_str(shown, sizeof(shown), verb),
		       text_str(&verbs));
}

/* A word that is no option: the command's first word, its verb, or an argument. */
static int parse_word(struct parser *p, const char *word)
{
	const char *equals;

	if (!p->r->name) {
		if (!command_name_known(word))
			return unknown_command(p, word);
		p->r->name = word;
		p->r->command = command_find(word, NULL);
		return 0;
	}
	if (!p->r->command) {
		p->r->command = command_find(p->r->name, word);
		return p->r->command ? 0 : unknown_verb(p, p->r->name, word);
	}
	equals = strchr(word, '=');
	*next_arg(p) = (struct arg){
		.word = word,
		.key = equals ? word : NULL,
		.key_len = equals ? (size_t)(equals - word) : 0,
		.value = equals ? equals + 1 : NULL,
	};
	return 0;
}

static int parse_words(struct parser *p)
{
	while (p->at < p->n) {
		const char *word = p->words[p->at++];
		int r;

		if (p->plain || word[0] != '-' || !word[1])
			r = parse_word(p, word);
		else if (str_eq(word, "--"))
			p->plain = true, r = 0;
		else if (word[1] == '-')
			r = parse_long(p, word);
		else
			r = parse_letters(p, word);
		if (r < 0)
			return r;
	}
	return 0;
}

static const char *nth_option_or_key(size_t i, const void *arg)
{
	const struct command *c = arg;

	if (i < N_OPTIONS)
		return command_takes(c, (enum option_id)i) ? option_table[i].name : "";
	return c->noun->fields[i - N_OPTIONS].name;
}

/* An option or key that the command does not have. */
static int unknown_key(const struct parser *p, const struct arg *a, bool dashes)
{
	const struct command *c = p->r->command;
	CLEANUP_FREE char *copy = strndup(a->key, a->key_len);
	CLEANUP_TEXT struct text title = { 0 };
	const char *near;
	char shown[SHOWN_MAX];

	if (!copy)
		return err_set(p->e, -ENOMEM, "out of memory");
	near = closest_name(copy, nth_option_or_key, c, N_OPTIONS + (c->noun ? c->noun->n_fields : 0));
	command_title(c, &title);
	safe_str(shown, sizeof(shown), copy);
	if (near && *near)
		return err_set(p->e, -EINVAL, "'%s' has no %s '%s%s' (did you mean %s?)", text_str(&title),
			       dashes ? "option" : "field", dashes ? "--" : "", shown, near);
	return err_set(p->e, -EINVAL, "'%s' has no %s '%s%s'", text_str(&title), dashes ? "option" : "field",
		       dashes ? "--" : "", shown);
}

static int check_options(const struct parser *p)
{
	const struct command *c = p->r->command;
	CLEANUP_TEXT struct text title = { 0 };

	for (size_t i = 0; i < N_OPTIONS; i++) {
		if (!(p->r->given & OPTION(i)) || command_takes(c, (enum option_id)i))
			continue;
		command_title(c, &title);
		return err_set(p->e, -EINVAL, "'%s' has no option '--%s'", text_str(&title), option_table[i].name);
	}
	if (request_has(p->r, OPT_NETNS) && c->host_wide) {
		command_title(c, &title);
		return err_set(p->e, -EINVAL, "'%s' is about the whole host: --netns has no meaning here",
			       text_str(&title));
	}
	if (request_has(p->r, OPT_DIRECT) && c->access == ACCESS_WRITE && !c->direct) {
		command_title(c, &title);
		return err_set(p->e, -EINVAL,
			       "'%s' changes something, which goes through smcd only: --direct is for reading",
			       text_str(&title));
	}
	return 0;
}

/* Written --KEY VALUE. */
static bool is_dashed(const struct arg *a)
{
	return a->key && a->word == a->value;
}

/* Keys: fields of the noun for filters and entries, knobs for assignments (looked up later); else there are none. */
static int check_arg(const struct parser *p, const struct arg *a)
{
	const struct command *c = p->r->command;
	bool dashes = is_dashed(a);
	bool keys = c->kind == ARGS_FILTER || (c->kind == ARGS_ENTRY && (a != p->r->args || dashes));
	char shown[SHOWN_MAX];

	if (keys && !a->key)
		return err_set(p->e, -EINVAL, "'%s' is no FIELD=VALUE", safe_str(shown, sizeof(shown), a->word));
	if (dashes ? !command_key_fields(c, a->key, a->key_len) : keys && !command_key_fields(c, a->key, a->key_len))
		return unknown_key(p, a, dashes);
	if (c->kind == ARGS_ASSIGN && (!a->key || !a->key_len))
		return err_set(p->e, -EINVAL, "'%s' is no NAME=VALUE", safe_str(shown, sizeof(shown), a->word));
	return 0;
}

/* An entry's ID is the first argument without dashes, wherever --FIELD VALUE stands. False where there is none. */
static bool entry_id_first(struct request *r)
{
	for (size_t i = 0; i < r->n_args; i++) {
		struct arg id = r->args[i];

		if (is_dashed(&id))
			continue;
		memmove(r->args + 1, r->args, i * sizeof(*r->args));
		r->args[0] = id;
		return true;
	}
	return false;
}

static int check_args(const struct parser *p)
{
	const struct request *r = p->r;
	const struct command *c = r->command;
	CLEANUP_TEXT struct text title = { 0 };
	bool has_id = c->kind != ARGS_ENTRY || entry_id_first(p->r);

	command_title(c, &title);
	for (size_t i = 0; i < r->n_args; i++) {
		int rc;

		if (!c->max_args && r->args[i].word != r->args[i].value) {
			char shown[SHOWN_MAX];

			return err_set(p->e, -EINVAL, "'%s' takes no arguments, '%s' is one too many", text_str(&title),
				       safe_str(shown, sizeof(shown), r->args[i].word));
		}
		rc = check_arg(p, &r->args[i]);
		if (rc < 0)
			return rc;
	}
	if (r->n_args < c->min_args || !has_id)
		return err_set(p->e, -EINVAL, "'%s' needs %s", text_str(&title), c->args);
	if (r->n_args > c->max_args)
		return err_set(p->e, -EINVAL, "'%s' takes at most %u arguments: %s", text_str(&title), c->max_args,
			       c->args ? c->args : "");
	return 0;
}

static int check_request(const struct parser *p)
{
	const struct request *r = p->r;
	CLEANUP_TEXT struct text verbs = { 0 };
	int rc;

	if (request_has(r, OPT_HELP) || (!r->name && request_has(r, OPT_VERSION)))
		return 0;
	if (!r->name)
		return err_set(p->e, -EINVAL, "a command is missing");
	if (!r->command) {
		add_verbs(r->name, &verbs);
		return err_set(p->e, -EINVAL, "'%s' needs one of %s", r->name, text_str(&verbs));
	}
	rc = check_options(p);
	return rc < 0 ? rc : check_args(p);
}

int request_parse(int n, char *const *words, struct request *ret, struct err *e)
{
	CLEANUP_REQUEST struct request req = { 0 };
	struct parser p = { .n = n, .words = words, .r = &req, .e = e };
	int r;

	if (n > ARGS_MAX)
		return err_set(e, -EINVAL, "more than %d arguments", ARGS_MAX);
	req.args = calloc((size_t)n + 1, sizeof(*req.args));
	if (!req.args)
		return err_set(e, -ENOMEM, "out of memory");
	r = parse_words(&p);
	if (r < 0)
		return r;
	r = check_request(&p);
	if (r < 0)
		return r;
	*ret = req;
	req = (struct request){ 0 };
	return 0;
}
