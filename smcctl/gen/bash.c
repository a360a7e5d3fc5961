// SPDX-License-Identifier: GPL-2.0-or-later
/* bash.c - the bash completion: the tables as bash arrays, and a function that walks them as complete.c does. */
#include "generate.h"

static const char head[] = "# SPDX-License-Identifier: GPL-2.0-or-later\n"
			   "# bash completion of smcctl(8). Generated from the tables by make generate: edit those.\n"
			   "\n"
			   "_smcctl()\n"
			   "{\n";

static const char body[] =
	"\tlocal -a words=()\n"
	"\tlocal word cur name= verb= command= waiting= plain= candidates= i\n"
	"\n"
	"\t# Readline divides words at '=': put NAME=VALUE together again.\n"
	"\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif ((${#words[@]})) && [[ $word == '=' || ${words[-1]} == *= ]] &&\n"
	"\t\t\t[[ -n $word || ${COMP_LINE:COMP_POINT-1:1} != ' ' ]]; then\n"
	"\t\t\twords[-1]+=$word\n"
	"\t\telse\n"
	"\t\t\twords+=(\"$word\")\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tCOMPREPLY=()\n"
	"\t((${#words[@]})) || return 0\n"
	"\tcur=${words[-1]}\n"
	"\tunset 'words[-1]'\n"
	"\n"
	"\tfor word in \"${words[@]}\"; do\n"
	"\t\tif [[ $waiting ]]; then\n"
	"\t\t\twaiting=\n"
	"\t\telif [[ ! $plain && $word == -- ]]; then\n"
	"\t\t\tplain=1\n"
	"\t\telif [[ ! $plain && $word == -?* ]]; then\n"
	"\t\t\t[[ \" $valued \" == *\" $word \"* || ($word == --* && $word != *=* && \" $flags ${options[${command:-.}]-} \" != *\" $word \"*) ]] &&\n"
	"\t\t\t\twaiting=$word\n"
	"\t\telif [[ ! $name ]]; then\n"
	"\t\t\tname=$word\n"
	"\t\t\t[[ $name && ${kind[$name]-} ]] && command=$name\n"
	"\t\telif [[ ! $command ]]; then\n"
	"\t\t\tverb=$word\n"
	"\t\t\tcommand=\"$name $verb\"\n"
	"\t\tfi\n"
	"\tdone\n"
	"\n"
	"\tif [[ $waiting == --netns || $waiting == -n ]]; then\n"
	"\t\tcandidates=$(cd /run/netns 2>/dev/null && printf '%s ' *)\n"
	"\telif [[ $waiting == --socket ]]; then\n"
	"\t\tcompopt -o default 2>/dev/null\n"
	"\telif [[ $waiting ]]; then\n"
	"\t\tword=${waiting#--}\n"
	"\t\tcandidates=${values[$name:${word//-/_}]-}\n"
	"\telif [[ ! $plain && $cur == -* ]]; then\n"
	"\t\tcandidates=\"$common ${options[${command:-.}]-}\"\n"
	"\t\tfor word in ${keys[${command:-.}]-}; do\n"
	"\t\t\tcandidates+=\" --$word\"\n"
	"\t\tdone\n"
	"\telif [[ ! $name ]]; then\n"
	"\t\tcandidates=$names\n"
	"\telif [[ ! $command ]]; then\n"
	"\t\tcandidates=${verbs[$name]-}\n"
	"\telse\n"
	"\t\tcase ${kind[$command]-} in\n"
	"\t\tknobs)\n"
	"\t\t\tcandidates=$knobs\n"
	"\t\t\t;;\n"
	"\t\tassign)\n"
	"\t\t\t_smcctl_pairs knob \"$knobs\"\n"
	"\t\t\t;;\n"
	"\t\tfilter | entry)\n"
	"\t\t\t_smcctl_pairs \"$name\" \"${keys[$command]-}\"\n"
	"\t\t\t;;\n"
	"\t\tcodes)\n"
	"\t\t\tcandidates=$reasons\n"
	"\t\t\t;;\n"
	"\t\tevents)\n"
	"\t\t\tcandidates=$events\n"
	"\t\t\t;;\n"
	"\t\tcommand)\n"
	"\t\t\tcandidates=$names\n"
	"\t\t\t;;\n"
	"\t\tfiles)\n"
	"\t\t\tcompopt -o default 2>/dev/null\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tfi\n"
	"\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$candidates\" -- \"$cur\")\n"
	"\t# What readline took for a word of its own begins behind the '='.\n"
	"\tif [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then\n"
	"\t\tCOMPREPLY=(\"${COMPREPLY[@]#*=}\")\n"
	"\telif [[ ${COMPREPLY[0]-} == *= ]]; then\n"
	"\t\tcompopt -o nospace 2>/dev/null\n"
	"\tfi\n"
	"\treturn 0\n"
	"}\n"
	"\n"
	"# _smcctl_pairs TABLE NAMES: NAME= of each name, or, after it, its values. Works on the caller's cur, values and candidates.\n"
	"_smcctl_pairs()\n"
	"{\n"
	"\tlocal word\n"
	"\n"
	"\tif [[ $cur == *=* ]]; then\n"
	"\t\tfor word in ${values[$1:${cur%%=*}]-}; do\n"
	"\t\t\tcandidates+=\" ${cur%%=*}=$word\"\n"
	"\t\tdone\n"
	"\telse\n"
	"\t\tfor word in $2; do\n"
	"\t\t\tcandidates+=\" $word=\"\n"
	"\t\tdone\n"
	"\tfi\n"
	"}\n"
	"\n"
	"complete -F _smcctl smcctl\n";

static const char *const kind_names[] = {
	[ARGS_NONE] = "none",       [ARGS_KNOBS] = "knobs",   [ARGS_ASSIGN] = "assign", [ARGS_FILTER] = "filter",
	[ARGS_ENTRY] = "entry",     [ARGS_CODES] = "codes",   [ARGS_FILES] = "files",   [ARGS_WORDS] = "words",
	[ARGS_COMMAND] = "command", [ARGS_EVENTS] = "events",
};

static bool first_of_name(size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(command_name(&commands[i]), command_name(&commands[at])))
			return false;
	return true;
}

static void add_names(struct text *t)
{
	text_add(t, "\tlocal names=\"");
	for (size_t i = 0; i < n_commands; i++)
		if (first_of_name(i))
			text_add(t, "%s%s", i ? " " : "", command_name(&commands[i]));
	text_add(t, "\"\n\tlocal knobs=\"");
	for (size_t i = 0; i < n_knobs; i++)
		text_add(t, "%s%s", i ? " " : "", knobs[i].name);
	text_add(t, "\"\n\tlocal events=\"");
	for (enum event_kind i = 0; i < N_EVENTS; i++)
		text_add(t, "%s%s", i ? " " : "", event_types[i].noun.name);
	text_add(t, "\"\n\tlocal reasons=\"");
	for (size_t i = 0; i < n_reasons; i++)
		text_add(t, "%s%s", i ? " " : "", reasons[i].name);
	text_add(t, "\"\n");
}

static void add_option_lists(struct text *t)
{
	text_add(t, "\tlocal common=\"");
	for (enum option_id o = 0; o < N_COMMON_OPTIONS; o++)
		text_add(t, "%s--%s", o ? " " : "", option_table[o].name);
	text_add(t, "\"\n\tlocal valued=\"");
	for (enum option_id o = 0; o < N_OPTIONS; o++) {
		if (!option_table[o].arg)
			continue;
		text_add(t, "--%s ", option_table[o].name);
		if (option_table[o].letter)
			text_add(t, "-%c ", option_table[o].letter);
	}
	text_add(t, "\"\n\tlocal flags=\"");
	for (enum option_id o = 0; o < N_COMMON_OPTIONS; o++)
		if (!option_table[o].arg)
			text_add(t, "--%s ", option_table[o].name);
	text_add(t, "\"\n");
}

static void add_verbs(struct text *t)
{
	text_add(t, "\tlocal -A verbs=(\n");
	for (size_t i = 0; i < n_commands; i++) {
		if (!commands[i].verb || !first_of_name(i))
			continue;
		text_add(t, "\t\t[%s]=\"", command_name(&commands[i]));
		for (size_t j = i; j < n_commands; j++)
			if (commands[j].verb && str_eq(command_name(&commands[j]), command_name(&commands[i])))
				text_add(t, "%s%s", j == i ? "" : " ", commands[j].verb);
		text_add(t, "\"\n");
	}
	text_add(t, "\t)\n");
}

static void add_title(const struct command *c, struct text *t)
{
	text_add(t, "\t\t[\"");
	command_title(c, t);
	text_add(t, "\"]=");
}

static void add_commands(struct text *t)
{
	text_add(t, "\tlocal -A kind=(\n");
	for (size_t i = 0; i < n_commands; i++) {
		add_title(&commands[i], t);
		text_add(t, "%s\n", kind_names[commands[i].kind]);
	}
	text_add(t, "\t)\n\tlocal -A options=(\n");
	for (size_t i = 0; i < n_commands; i++) {
		if (!commands[i].options)
			continue;
		add_title(&commands[i], t);
		text_add(t, "\"");
		for (enum option_id o = N_COMMON_OPTIONS; o < N_OPTIONS; o++)
			if (commands[i].options & OPTION(o))
				text_add(t, "--%s ", option_table[o].name);
		text_add(t, "\"\n");
	}
	text_add(t, "\t)\n");
}

static void add_keys(struct text *t)
{
	text_add(t, "\tlocal -A keys=(\n");
	for (size_t i = 0; i < n_commands; i++) {
		const struct command *c = &commands[i];
		CLEANUP_TEXT struct text both = { 0 };

		if (c->kind != ARGS_FILTER && c->kind != ARGS_ENTRY)
			continue;
		add_title(c, t);
		text_add(t, "\"");
		for (size_t f = c->kind == ARGS_ENTRY; f < c->noun->n_fields; f++)
			text_add(t, "%s ", c->noun->fields[f].name);
		command_short_keys(c, &both, " ");
		text_add(t, "%s\"\n", text_str(&both));
	}
	text_add(t, "\t)\n");
}

static void add_value_list(const char *table, const char *name, const struct value_spec *spec, struct text *t)
{
	const char *const *choices = value_names(spec);

	if (!choices)
		return;
	text_add(t, "\t\t[%s:%s]=\"", table, name);
	for (; *choices; choices++)
		text_add(t, "%s%s", *choices, choices[1] ? " " : "");
	text_add(t, "\"\n");
}

static void add_values(struct text *t)
{
	text_add(t, "\tlocal -A values=(\n");
	for (size_t i = 0; i < n_knobs; i++)
		add_value_list("knob", knobs[i].name, &knobs[i].spec, t);
	for (size_t n = 0; n < N_NOUNS; n++)
		for (size_t f = 0; f < nouns[n].n_fields; f++)
			add_value_list(nouns[n].name, nouns[n].fields[f].name, &nouns[n].fields[f].spec, t);
	text_add(t, "\t)\n");
}

void bash_completion(struct text *t)
{
	text_add(t, "%s", head);
	add_names(t);
	add_option_lists(t);
	add_verbs(t);
	add_commands(t);
	add_keys(t);
	add_values(t);
	text_add(t, "%s", body);
}
