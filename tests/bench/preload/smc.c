// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loaded with LD_PRELOAD, it makes the TCP sockets of IPv4 that a program asks for sockets of IPPROTO_SMC, for programs
 * that know nothing of SMC. There is no fallback here: without SMC in the kernel socket() fails.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif
#define SOCK_TYPE 0xf /* the rest of the type are flags */

int socket(int family, int type, int protocol)
{
	if (family == AF_INET && (type & SOCK_TYPE) == SOCK_STREAM && (!protocol || protocol == IPPROTO_TCP))
		protocol = IPPROTO_SMC;
	return (int)syscall(SYS_socket, family, type, protocol);
}
