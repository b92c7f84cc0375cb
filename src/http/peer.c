#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/file.h"
#include "http/door.h"

/* The kernel's answers come at once; this is for a kernel that has none. */
enum { ANSWER_MS = 200, TABLE_MAX = 64 << 20 };

/* An address as inet_diag and /proc/net/tcp* write it. */
struct end {
	int family;
	uint16_t port; /* network order, as the next */
	uint32_t address[4];
};

static bool end_of(const struct sockaddr_storage *s, struct end *ret)
{
	*ret = (struct end){ .family = s->ss_family };
	if (s->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)s;

		ret->port = in->sin_port;
		ret->address[0] = in->sin_addr.s_addr;
		return true;
	}
	if (s->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)s;

		ret->port = in->sin6_port;
		memcpy(ret->address, &in->sin6_addr, sizeof(ret->address));
		return true;
	}
	return false;
}

static bool open_diag(struct http *h)
{
	struct timeval wait = { .tv_usec = ANSWER_MS * 1000 };

	if (h->diag < 0) {
		h->diag = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
		if (h->diag >= 0)
			(void)setsockopt(h->diag, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	}
	return h->diag >= 0;
}

/* A socket that its process has closed is owned by root in the kernel's answer, and has no inode:
 * that is not an owner. */
static bool read_answer(int fd, uid_t *ret)
{
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} answer;
	ssize_t n = recv(fd, &answer, sizeof(answer), 0);

	if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) ||
		answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	const struct inet_diag_msg *m = NLMSG_DATA(&answer.head);
	if (!m->idiag_inode)
		return false;
	*ret = m->idiag_uid;
	return true;
}

/* The client's socket: its own address is our peer's. */
static bool ask_diag(struct http *h, const struct end *peer, const struct end *own, uid_t *ret)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} ask = {
		.head = { .nlmsg_len = sizeof(ask),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = (uint8_t)peer->family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = UINT32_MAX,
			.id = { .idiag_sport = peer->port,
				.idiag_dport = own->port,
				.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } },
	};

	if (!open_diag(h))
		return false;
	memcpy(ask.body.id.idiag_src, peer->address, sizeof(peer->address));
	memcpy(ask.body.id.idiag_dst, own->address, sizeof(own->address));
	if (send(h->diag, &ask, sizeof(ask), 0) != (ssize_t)sizeof(ask) ||
		!read_answer(h->diag, ret)) {
		/* A late answer must not be taken for that of the next connection. */
		close_fd(&h->diag);
		return false;
	}
	return true;
}

static void table_address(struct buf *b, const struct end *e)
{
	for (size_t i = 0; i < (e->family == AF_INET ? 1U : 4U); i++)
		buf_printf(b, "%08X", e->address[i]);
	buf_printf(b, ":%04X", ntohs(e->port));
}

/* "  1: 0100007F:A2C4 0100007F:1E09 01 …:… …:… … UID TIMEOUT INODE" */
static bool read_row(struct str row, uid_t *ret)
{
	unsigned state, uid;
	unsigned long inode;
	AUTO_BUF text = BUF_INIT;

	buf_add(&text, row);
	/* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers that fit */
	if (sscanf(buf_cstr(&text), "%x %*s %*s %*s %u %*s %lu", &state, &uid, &inode) != 3 ||
		!inode)
		return false;
	*ret = uid;
	return true;
}

static bool ask_table(const struct end *peer, const struct end *own, uid_t *ret)
{
	AUTO_BUF table = BUF_INIT;
	AUTO_BUF ends = BUF_INIT;

	table_address(&ends, peer);
	buf_addc(&ends, ' ');
	table_address(&ends, own);
	buf_addc(&ends, ' ');
	AUTO_CLOSE int fd = open(
		peer->family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, TABLE_MAX, &table) < 0 || !table.len)
		return false;
	const char *row = memmem(table.p, table.len, ends.p, ends.len);
	if (!row)
		return false;
	struct str rest = str_from(buf_str(&table), (size_t)(row - table.p) + ends.len);
	return read_row(str_sub(rest, 0, str_find(rest, '\n', 0)), ret);
}

bool peer_uid(struct http *h, const struct sockaddr_storage *peer,
	const struct sockaddr_storage *own, uid_t *ret)
{
	struct end there, here;

	return end_of(peer, &there) && end_of(own, &here) &&
	       (ask_diag(h, &there, &here, ret) || ask_table(&there, &here, ret));
}
