# SPDX-License-Identifier: GPL-2.0-or-later
"""As much of netlink as the checks need, written without the project's C code so that it can contradict it."""

import os
import socket
import struct

NETLINK_SOCK_DIAG = 4
NETLINK_GENERIC = 16
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
TIMEOUT = 20  # seconds for one answer


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def attributes(data):
    """Kind -> payload; of several attributes of one kind the last."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4 or length > len(data):
            raise ValueError("malformed attribute")
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


class Netlink:
    def __init__(self, protocol):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self.socket.settimeout(TIMEOUT)
        self.socket.bind((0, 0))
        self.sequence = 0

    def request(self, kind, payload, dump=False):
        """Payloads of the answers; OSError for what the kernel refuses."""
        self.sequence += 1
        flags = NLM_F_REQUEST | (NLM_F_DUMP if dump else NLM_F_ACK)
        self.socket.send(struct.pack("=IHHII", 16 + len(payload), kind, flags, self.sequence, 0) + payload)
        answers = []
        while True:
            data = self.socket.recv(1 << 18)
            while data:
                length, kind, _, sequence, _ = struct.unpack_from("=IHHII", data)
                message, data = data[16:length], data[(length + 3) & ~3:]
                if sequence != self.sequence:
                    continue
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    error = -struct.unpack_from("=i", message)[0] if len(message) >= 4 else 0
                    if error:
                        raise OSError(error, os.strerror(error))
                    return answers
                answers.append(message)


class Generic(Netlink):
    def __init__(self, family):
        super().__init__(NETLINK_GENERIC)
        name = attribute(2, family.encode() + b"\0")
        answer = self.request(16, struct.pack("=BBH", 3, 1, 0) + name)[0]  # GENL_ID_CTRL, CTRL_CMD_GETFAMILY
        self.family = struct.unpack("=H", attributes(answer[4:])[1])[0]

    def command(self, number, payload=b"", dump=False):
        header = struct.pack("=BBH", number, 1, 0)
        return [attributes(answer[4:]) for answer in self.request(self.family, header + payload, dump)]
