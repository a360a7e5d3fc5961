/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * methods.h - the table of varlink methods of org.smcd.Manager. The interface description that smcd serves, the access
 * checks and the parameters' checks come from it and from the tables of nouns, knobs and counters.
 */
#pragma once

#include "nouns.h"

#define SMCD_INTERFACE "org.smcd.Manager"
#define SMCD_SOCKET SMCD_RUN_DIR "/" SMCD_INTERFACE
#define SMCD_VENDOR "smcd"
#define SMCD_URL "man:smcd.service(8)"

enum access { ACCESS_READ, ACCESS_WRITE };

enum method_id {
	METHOD_GET_STATUS,
	METHOD_LIST_KNOBS,
	METHOD_SET_KNOBS,
	METHOD_RESET_KNOBS,
	METHOD_GET_STATS,
	METHOD_LIST_NOUN,
	METHOD_GET_METRICS,
	METHOD_GET_POLICY,
	METHOD_EXPLAIN_CODE,
	METHOD_ADD_PNET,
	METHOD_DELETE_PNET,
	METHOD_FLUSH_PNET,
	METHOD_REPLACE_PNET,
	METHOD_ADD_UEID,
	METHOD_DELETE_UEID,
	METHOD_FLUSH_UEID,
	METHOD_SET_SEID,
	METHOD_RELOAD,
	N_METHODS,
};

struct param {
	const char *name;
	const char *type; /* varlink: the name of a type, "string", "?string", "[]string", "[string]string", "bool",
			     "?bool", "int", "?int" */
};

/* METHOD_LIST_NOUN stands for one method a noun; its name is the noun's. */
struct method {
	const char *name;
	enum access access;
	struct param in[6];
	const char *out; /* varlink struct body: "netns: string, knobs: []Knob" */
	const char *doc;
};

extern const struct method methods[N_METHODS];

/* Find by the name without interface ("ListLinks"); for nouns *ret_noun is set. NULL: no such method. */
const struct method *method_find(const char *name, const struct noun **ret_noun);

/* The interface description, made from the tables. */
void methods_describe(struct text *t);
/* Errors that the interface declares. */
#define ERROR_NO_SUCH_KNOB SMCD_INTERFACE ".NoSuchKnob"       /* name, suggestion? */
#define ERROR_OUT_OF_RANGE SMCD_INTERFACE ".OutOfRange"       /* name, allowed, message */
#define ERROR_UNSUPPORTED SMCD_INTERFACE ".Unsupported"       /* name, message */
#define ERROR_KERNEL SMCD_INTERFACE ".Kernel"                 /* errno, errno_name, message, extended_ack? */
#define ERROR_NO_SUCH_NETNS SMCD_INTERFACE ".NoSuchNamespace" /* netns, message */
#define ERROR_POLICY_INVALID SMCD_INTERFACE ".PolicyInvalid"  /* problems: []string */
