// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "lib/tool.h"

#define EXIT_FAILED	125
#define MAX_LINE	200
#define MAX_PEERS	32
#define ANSWER_MS	1000	/* how long to wait for a client to read its answer */

#define SYNTAX	"it takes fifo:CTL[,ACK], fd:CTL[,ACK], or the path of a FIFO or of a socket to be made"

struct peer {			/* where commands come from */
	int in, out;		/* out -1: no answers are wanted */
	bool client;		/* connected to the socket */
	bool waits;		/* for the answer by control_finish() */
	size_t len;
	char line[MAX_LINE + 1];
};

struct control {
	int epoll;
	int listener;		/* -1: FIFOs */
	char *path;		/* of the socket */
	struct peer *peer[MAX_PEERS];
};

/* ---- opening ------------------------------------------------------------ */

static void add_fd(struct control *c, int fd, void *peer)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = peer };

	if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event))
		die(EXIT_FAILED, "--control: cannot wait for commands: %s", strerror(errno));
}

static bool add_peer(struct control *c, int in, int out, bool client)
{
	for (unsigned int i = 0; i < MAX_PEERS; i++) {
		if (c->peer[i])
			continue;
		c->peer[i] = xcalloc(1, sizeof(*c->peer[i]));
		c->peer[i]->in = in;
		c->peer[i]->out = out;
		c->peer[i]->client = client;
		add_fd(c, in, c->peer[i]);
		return true;
	}
	return false;
}

/* Open for reading and writing, so that there is no end of file when a writer closes it. */
static int open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		die(EXIT_FAILED, "--control: cannot open %s: %s%s", path, strerror(errno),
		    errno == ENOENT ? "; make it with mkfifo" : "");
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
		die(EXIT_FAILED, "--control: %s is no FIFO: make one with mkfifo", path);
	return fd;
}

static void open_fifos(struct control *c, const char *spec)
{
	char *paths = xstrdup(spec), *ack = strchr(paths, ',');
	int in, out = -1;

	if (ack)
		*ack++ = 0;
	if (!*paths || (ack && !*ack))
		die(EXIT_USAGE, "--control %s: a path is missing; " SYNTAX, spec);
	in = open_fifo(paths);
	if (ack)
		out = open_fifo(ack);
	add_peer(c, in, out, false);
	free(paths);
}

static int inherited(const char *spec, const char *text, char **end)
{
	unsigned long fd = strtoul(text, end, 10);
	int flags;

	if (*end == text || fd > 65535)
		die(EXIT_USAGE, "--control fd:%s: a file descriptor is a number; " SYNTAX, spec);
	flags = fcntl(fd, F_GETFD);
	/* The recorded command must not inherit it. */
	if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC))
		die(EXIT_FAILED, "--control fd:%s: there is no file descriptor %lu: %s", spec, fd,
		    strerror(errno));
	return fd;
}

static void open_fds(struct control *c, const char *spec)
{
	int in, out = -1, flags;
	char *end;

	in = inherited(spec, spec, &end);
	if (*end == ',')
		out = inherited(spec, end + 1, &end);
	if (*end)
		die(EXIT_USAGE, "--control fd:%s: \"%s\" is too much; " SYNTAX, spec, end);
	flags = fcntl(in, F_GETFL);
	if (flags < 0 || fcntl(in, F_SETFL, flags | O_NONBLOCK))
		die(EXIT_FAILED, "--control fd:%s: %s", spec, strerror(errno));
	add_peer(c, in, out, false);
}

/* Is this the socket of a recorder that has ended? */
static bool is_stale(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool stale;

	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *)address, sizeof(*address)) && errno == ECONNREFUSED;
	close(fd);
	return stale;
}

static void open_socket(struct control *c, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	mode_t mask;
	int err;

	if (strlen(path) >= sizeof(address.sun_path))
		die(EXIT_USAGE, "--control %s: the path of a socket has at most %zu bytes", path,
		    sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	if (!lstat(path, &st)) {
		if (!S_ISSOCK(st.st_mode))
			die(EXIT_FAILED, "--control: %s is neither a FIFO nor a socket", path);
		if (!is_stale(&address))
			die(EXIT_FAILED, "--control: another process listens at %s: name another path", path);
		unlink(path);
	}
	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	err = c->listener < 0 || bind(c->listener, (struct sockaddr *)&address, sizeof(address)) ||
	      listen(c->listener, MAX_PEERS) ? errno : 0;
	umask(mask);
	if (err)
		die(EXIT_FAILED, "--control: cannot make the socket %s: %s", path, strerror(err));
	c->path = xstrdup(path);
	add_fd(c, c->listener, NULL);
}

struct control *control_open(const char *spec)
{
	struct control *c = xcalloc(1, sizeof(*c));
	const char *comma = strchr(spec, ',');
	struct stat st;
	char *path;

	c->listener = -1;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0)
		die(EXIT_FAILED, "--control: %s", strerror(errno));
	if (!*spec)
		die(EXIT_USAGE, "--control: a path is missing; " SYNTAX);
	if (!strncmp(spec, "fifo:", 5)) {
		open_fifos(c, spec + 5);
		return c;
	}
	if (!strncmp(spec, "fd:", 3)) {
		open_fds(c, spec + 3);
		return c;
	}
	path = strndup(spec, comma ? (size_t)(comma - spec) : strlen(spec));
	if (path && !stat(path, &st) && S_ISFIFO(st.st_mode))
		open_fifos(c, spec);
	else
		open_socket(c, spec);
	free(path);
	return c;
}

int control_fd(const struct control *c)
{
	return c->epoll;
}

/* ---- answering ---------------------------------------------------------- */

static void answer(const struct peer *p, const char *text)
{
	struct pollfd fd = { .fd = p->out, .events = POLLOUT };
	size_t left = strlen(text);
	ssize_t n;

	if (p->out < 0)
		return;
	for (; left; text += n, left -= n) {
		if (poll(&fd, 1, ANSWER_MS) <= 0) {
			say("control: an answer is lost: the client does not read it");
			return;
		}
		/* SIGPIPE is blocked. */
		n = p->client ? send(p->out, text, left, MSG_NOSIGNAL) : write(p->out, text, left);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			n = 0;
		if (n < 0) {
			say("control: an answer is lost: %s", strerror(errno));
			return;
		}
	}
}

static void answer_error(const struct peer *p, const char *text)
{
	char line[1200];

	snprintf(line, sizeof(line), "error: %s\n", text);
	answer(p, line);
}

static void carry_out(struct peer *p, control_act *act, void *context)
{
	static const struct {
		const char *name;
		enum control_command command;
	} commands[] = {
		{ "pause", CONTROL_PAUSE }, { "resume", CONTROL_RESUME },
		{ "snapshot", CONTROL_SNAPSHOT }, { "stop", CONTROL_STOP },
		{ "status", CONTROL_STATUS }, { "ping", CONTROL_PING },
		/* perf's names for them. */
		{ "disable", CONTROL_PAUSE }, { "enable", CONTROL_RESUME },
	};
	char text[1024] = "";

	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(p->line, commands[i].name))
			continue;
		switch (act(context, commands[i].command, text, sizeof(text))) {
		case CONTROL_ACK:
			answer(p, text);
			answer(p, "ack\n");
			break;
		case CONTROL_ERROR:
			answer_error(p, text);
			break;
		case CONTROL_LATER:
			p->waits = true;
			break;
		}
		return;
	}
	snprintf(text, sizeof(text), "unknown command \"%s\"; the commands are pause, resume, snapshot, stop, status, ping (and enable, disable as perf has them)",
		 p->line);
	answer_error(p, text);
}

static void end_line(struct peer *p, control_act *act, void *context)
{
	size_t len = p->len;

	p->len = 0;
	if (len > MAX_LINE) {
		answer_error(p, "a command has at most 200 bytes");
		return;
	}
	while (len && strchr(" \t\r", p->line[len - 1]))
		len--;
	p->line[len] = 0;
	if (len)
		carry_out(p, act, context);
}

/* Returns false at the end of file. */
static bool read_peer(struct peer *p, control_act *act, void *context)
{
	char buf[512];
	ssize_t n;

	while ((n = read(p->in, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] == '\n')
				end_line(p, act, context);
			else if (p->len < MAX_LINE)
				p->line[p->len++] = buf[i];
			else
				p->len = MAX_LINE + 1;
		}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void remove_peer(struct control *c, struct peer *p)
{
	for (unsigned int i = 0; i < MAX_PEERS; i++)
		if (c->peer[i] == p)
			c->peer[i] = NULL;
	/* Other descriptors of an inherited file would keep it in the epoll set. */
	epoll_ctl(c->epoll, EPOLL_CTL_DEL, p->in, NULL);
	close(p->in);
	if (p->out >= 0 && p->out != p->in)
		close(p->out);
	free(p);
}

static void accept_peer(struct control *c)
{
	int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 || add_peer(c, fd, fd, true))
		return;
	answer_error(&(struct peer){ .out = fd, .client = true }, "too many are connected already");
	close(fd);
}

void control_serve(struct control *c, control_act *act, void *context)
{
	struct epoll_event event;

	/* One event at a time: serving one peer may remove another. */
	while (epoll_wait(c->epoll, &event, 1, 0) > 0) {
		struct peer *p = event.data.ptr;

		if (!p) {
			accept_peer(c);
		} else if (!read_peer(p, act, context)) {
			if (p->waits)
				/* Keep the peer: it has closed its end, but waits for the answer. */
				epoll_ctl(c->epoll, EPOLL_CTL_DEL, p->in, NULL);
			else
				remove_peer(c, p);
		}
	}
}

void control_finish(struct control *c, const char *error)
{
	for (unsigned int i = 0; i < MAX_PEERS; i++) {
		struct peer *p = c->peer[i];

		if (!p || !p->waits)
			continue;
		p->waits = false;
		if (error)
			answer_error(p, error);
		else
			answer(p, "ack\n");
	}
}

void control_close(struct control *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < MAX_PEERS; i++)
		if (c->peer[i])
			remove_peer(c, c->peer[i]);
	if (c->listener >= 0) {
		close(c->listener);
		unlink(c->path);
	}
	close(c->epoll);
	free(c->path);
	free(c);
}
