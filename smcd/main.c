/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - smcd: the event loop around the manager and the varlink server, and what systemd is told. All of it works
 * without systemd too: sd_notify(3) and the watchdog do nothing then.
 */
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "listen.h"
#include "options.h"
#include "watch.h"

#define READERS_GROUP "smcd"
#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"
#define RELOAD_TIMEOUT_SEC 60
#define HEAP_KEEP (128 * 1024) /* bytes of freed memory that are kept; larger blocks are mapped on their own */

enum { EXIT_USAGE = 2 };

struct daemon {
	const struct logger *log;
	struct options opt;
	char boot_id[64];
	sd_event *event;
	struct manager *manager;
	struct watch watch;
	struct server *server;
	struct api api;
	struct listen_socket own; /* fd is the server's; dev 0: the socket is systemd's */
};

/* ---- what systemd is told ---- */

static uint64_t clock_usec(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static uint64_t realtime_usec(void)
{
	return clock_usec(CLOCK_REALTIME);
}

/* The status is one line whatever it quotes: a line more would be an assignment of its own. */
static void tell_ready(const struct daemon *d)
{
	CLEANUP_TEXT struct text status = { 0 }, line = { 0 };

	manager_status(d->manager, &status);
	text_add_safe(&line, text_str(&status), status.len, 1024);
	sd_notifyf(0, "READY=1\nSTATUS=%s", text_str(&line));
}

static int reload(void *ctx, struct failure *f)
{
	struct daemon *d = ctx;
	int r;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=reading the policy",
		   clock_usec(CLOCK_MONOTONIC));
	r = manager_reload(d->manager, f);
	watch_start(&d->watch, d->manager, d->event);
	tell_ready(d);
	return r;
}

static void pnet_changed(void *ctx, const struct pnet_entry *own, size_t n)
{
	struct daemon *d = ctx;

	watch_take(&d->watch, own, n);
}

/* ---- signals ---- */

static int on_hangup(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
	(void)s;
	(void)si;
	/* What went wrong is in the log and in the status; smcd goes on with what it had. */
	reload(userdata, NULL);
	return 0;
}

static int on_stop(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
	struct daemon *d = userdata;

	(void)s;
	(void)si;
	return sd_event_exit(d->event, 0);
}

static int add_signals(struct daemon *d)
{
	static const struct {
		int signal;
		sd_event_signal_handler_t handler;
	} signals[] = { { SIGHUP, on_hangup }, { SIGTERM, on_stop }, { SIGINT, on_stop } };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		int r = sd_event_add_signal(d->event, NULL, signals[i].signal, signals[i].handler, d);

		if (r < 0)
			return r;
	}
	return 0;
}

/* From the start, so that a reload asked for while smcd starts is not the end of it. */
/* A log or a client whose reader has gone is an error of a write, not smcd's end. */
static void block_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* ---- groups ---- */

/* /etc/group is read directly: the libraries of NSS would take more memory than all of smcd. */
static gid_t group_in_file(const char *name)
{
	FILE *f = fopen("/etc/group", "re");
	gid_t gid = NO_GROUP;
	struct group *g;

	if (!f)
		return NO_GROUP;
	while (gid == NO_GROUP && (g = fgetgrent(f)))
		if (str_eq(g->gr_name, name))
			gid = g->gr_gid;
	fclose(f);
	return gid;
}

/* By name or number; from elsewhere than /etc/group too. */
static int find_group(const char *name, gid_t *ret)
{
	static const struct value_spec spec = { .type = TYPE_COUNT, .max = UINT32_MAX - 1 };
	struct group *g;
	struct value v;

	*ret = group_in_file(name);
	if (*ret != NO_GROUP)
		return 0;
	if (value_parse(&spec, name, &v, NULL) == 0) {
		*ret = (gid_t)v.u;
		return 0;
	}
	g = getgrnam(name);
	if (!g)
		return -ENOENT;
	*ret = g->gr_gid;
	return 0;
}

/* ---- start ---- */

static struct policy_paths paths_of(const struct options *o)
{
	/* What is named takes the place of the installed layers, all of them: a test or a trial has no other settings.
	 */
	if (o->policy || o->policy_dir)
		return (struct policy_paths){ .main_file = o->policy, .etc_dir = o->policy_dir };
	return policy_paths_default;
}

static int read_boot_id(struct daemon *d, struct err *e)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;
	int r = read_whole_file(BOOT_ID_FILE, sizeof(d->boot_id) - 1, &text, &len);

	if (r < 0)
		return err_set(e, r, "read %s: %s", BOOT_ID_FILE, strerror(-r));
	snprintf(d->boot_id, sizeof(d->boot_id), "%.*s", (int)strcspn(text, "\n"), text);
	return 0;
}

static int start_manager(struct daemon *d, struct err *e)
{
	struct manager_config config = {
		.paths = paths_of(&d->opt),
		.main_file_required = d->opt.policy,
		.state_dir = d->opt.state_dir ?: SMCD_RUN_DIR,
		.boot_id = d->boot_id,
		.netns_helper = d->opt.netns_helper,
		.log = d->log,
		.now_usec = realtime_usec,
	};
	int r;

	r = read_boot_id(d, e);
	if (r == 0)
		r = make_dir(config.state_dir, 0755, e);
	return r < 0 ? r : manager_new(&config, &d->manager, e);
}

static int listen_activated(struct daemon *d, int n, struct err *e)
{
	for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + n; fd++) {
		int r = sd_is_socket(fd, AF_UNIX, SOCK_STREAM, 1);

		if (r > 0)
			r = server_listen_fd(d->server, fd);
		else if (r == 0)
			r = -EINVAL;
		if (r < 0)
			return err_set(e, r, "descriptor %d from socket activation: %s", fd,
				       r == -EINVAL ? "it is no listening unix stream socket" : strerror(-r));
	}
	return 0;
}

static const char *socket_path(const struct daemon *d)
{
	return d->opt.socket ?: SMCD_SOCKET;
}

/*
 * A file has one group. With two that may call, everybody may connect: who may call what is looked at in each call
 * anyway, and the number of connections of a user is limited.
 */
static mode_t socket_mode(const struct daemon *d)
{
	if (d->api.admins != NO_GROUP)
		return 0666;
	return d->api.readers != NO_GROUP ? 0660 : 0600;
}

static int listen_own(struct daemon *d, struct err *e)
{
	int r;

	r = listen_create(socket_path(d), d->api.readers, socket_mode(d), SERVER_BACKLOG, &d->own, e);
	if (r < 0)
		return r;
	r = server_listen_fd(d->server, d->own.fd);
	return r < 0 ? err_set(e, r, "listen at %s: %s", socket_path(d), strerror(-r)) : 0;
}

static int start_server(struct daemon *d, struct err *e)
{
	struct server_config config = {
		.vendor = SMCD_VENDOR,
		.product = "smcd",
		.version = SMCD_VERSION,
		.url = SMCD_URL,
		.interface = api_interface(&d->api),
		.log = d->log,
		.limits = server_limits_default,
	};
	int r, n;

	d->api = (struct api){
		.readers = group_in_file(READERS_GROUP), .admins = NO_GROUP, .reload = reload, .reload_ctx = d
	};
	if (d->opt.admin_group) {
		r = find_group(d->opt.admin_group, &d->api.admins);
		if (r < 0)
			return err_set(e, r, "there is no group '%s'", d->opt.admin_group);
	}
	r = server_new(d->event, &config, &d->server);
	if (r < 0)
		return err_set(e, r, "make the server: %s", strerror(-r));
	n = sd_listen_fds(1);
	if (n < 0)
		return err_set(e, n, "socket activation: %s", strerror(-n));
	return n > 0 ? listen_activated(d, n, e) : listen_own(d, e);
}

static int start_loop(struct daemon *d, struct err *e)
{
	int r;

	r = sd_event_new(&d->event);
	if (r >= 0)
		r = add_signals(d);
	if (r >= 0)
		r = sd_event_set_watchdog(d->event, true);
	return r < 0 ? err_set(e, r, "make the event loop: %s", strerror(-r)) : 0;
}

/* The socket comes first: a second smcd stops there, before it touches the kernel. */
static int start(struct daemon *d, struct err *e)
{
	int r;

	r = start_loop(d, e);
	if (r == 0)
		r = start_server(d, e);
	if (r == 0)
		r = start_manager(d, e);
	if (r < 0)
		return r;
	d->api.manager = d->manager;
	/* A policy that is refused leaves the kernel alone; smcd is there all the same and says so. */
	manager_reload(d->manager, NULL);
	watch_start(&d->watch, d->manager, d->event);
	d->manager->pnet_changed = pnet_changed;
	d->manager->pnet_changed_ctx = d;
	tell_ready(d);
	return 0;
}

static void stop(struct daemon *d)
{
	if (d->own.dev)
		listen_remove(socket_path(d), &d->own);
	d->server = server_free(d->server);
	watch_done(&d->watch);
	d->manager = manager_free(d->manager);
	d->event = sd_event_unref(d->event);
}

/* As many descriptors as the limits of the server need. */
static void raise_descriptors(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= SERVER_CONNECTIONS_MAX + 128)
		return;
	l.rlim_cur = l.rlim_max < SERVER_CONNECTIONS_MAX + 128 ? l.rlim_max : SERVER_CONNECTIONS_MAX + 128;
	setrlimit(RLIMIT_NOFILE, &l); /* with fewer, accepting pauses when they are used up */
}

static int run(const struct options *opt)
{
	struct daemon d = { .log = &log_default, .opt = *opt };
	struct err e = { 0 };
	int r;

	/* Answers of megabytes come and go: what they took goes back to the system. */
	mallopt(M_MMAP_THRESHOLD, HEAP_KEEP);
	mallopt(M_TRIM_THRESHOLD, HEAP_KEEP);
	block_signals();
	raise_descriptors();
	r = start(&d, &e);
	if (r < 0) {
		log_error(d.log, "cannot start: %s", e.text);
	} else {
		r = sd_event_loop(d.event);
		sd_notify(0, "STOPPING=1\nSTATUS=stopping; the kernel stays as it is");
		if (r < 0)
			log_error(d.log, "the event loop failed: %s", strerror(-r));
	}
	stop(&d);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- without a daemon ---- */

static int check(const char *file)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	int r;

	r = policy_init(&p);
	if (r == 0)
		r = policy_add_file(&p, file, &problems);
	for (size_t i = 0; i < problems.n; i++)
		fprintf(stderr, "%s\n", problems.text[i]);
	if (problems.n_more)
		fprintf(stderr, "and %zu more\n", problems.n_more);
	if (r < 0 && problems.n == 0)
		fprintf(stderr, "smcd: check %s: %s\n", file, strerror(-r));
	if (r == 0)
		printf("%s: the policy is valid\n", file);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void print_refusal(const char *error, struct json_object *params)
{
	struct json_object *problems = json_object_object_get(params, "problems");
	struct json_object *message = json_object_object_get(params, "message");

	for (size_t i = 0; problems && i < json_object_array_length(problems); i++)
		fprintf(stderr, "%s\n", json_object_get_string(json_object_array_get_idx(problems, i)));
	if (!problems)
		fprintf(stderr, "smcd: %s\n", message ? json_object_get_string(message) : error);
}

static int ask_to_reload(const char *path)
{
	CLEANUP_FREE char *error = NULL;
	struct json_object *params = NULL;
	struct varlink *v = NULL;
	struct err e = { 0 };
	int r;

	r = varlink_connect(path, RELOAD_TIMEOUT_SEC, &v, &e);
	if (r == 0)
		r = varlink_call(v, SMCD_INTERFACE ".Reload", NULL, &params, &error, &e);
	if (r < 0)
		fprintf(stderr, "smcd: %s\n", e.text);
	else if (error)
		print_refusal(error, params);
	json_object_put(params);
	varlink_free(v);
	return r < 0 || error ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Standard descriptors that are closed would become sockets, and the log a client's input. */
static void open_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* What was asked for has to be seen: a full disk is a failure. */
static int printed(int status)
{
	return fflush(stdout) == EOF || ferror(stdout) ? EXIT_FAILURE : status;
}

int main(int argc, char **argv)
{
	struct options opt = { 0 };

	open_standard_descriptors();
	switch (options_parse(argc, argv, &opt)) {
	case OPTIONS_DONE:
		return printed(EXIT_SUCCESS);
	case OPTIONS_WRONG:
		return EXIT_USAGE;
	case OPTIONS_RUN:
		break;
	}
	if (opt.check)
		return printed(check(opt.check));
	if (opt.reload)
		return ask_to_reload(opt.socket ?: SMCD_SOCKET);
	return run(&opt);
}
