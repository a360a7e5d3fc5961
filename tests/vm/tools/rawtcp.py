# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP clients without a kernel: segments are written to a TUN device, so a client can have the SMC option in its SYN and
then say nothing, or anything, or go away without a word. For guest tests in python."""

import fcntl
import os
import select
import socket
import struct
import time

from guest import PATIENCE, fail, run

SERVER, NETWORK = "10.8.0.1", "10.8.0.0/16"
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
SMC_OPTION = bytes([254, 6, 0xE2, 0xD4, 0xC3, 0xD9])
MSS_OPTION = bytes([2, 4, 1420 >> 8, 1420 & 255])
EYECATCHER = bytes([0xE2, 0xD4, 0xC3, 0xD9])
PROPOSAL, DECLINE = 1, 4
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data)) if len(data) % 2 == 0 else checksum(data + b"\0") ^ 0xFFFF
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def proposal():
    """A PROPOSAL of SMC-R version 1, of a client that has no prefix in common with anyone: it gets a DECLINE."""
    body = b"\x12\x34" + b"\2" * 6 + b"\3" * 16 + b"\4" * 6 + struct.pack(">H", 0)
    body += bytes([10, 200, 0, 0]) + bytes([24, 0, 0, 0]) + EYECATCHER
    return EYECATCHER + struct.pack(">BHB", PROPOSAL, 8 + len(body), 0x10) + body


class Client:
    def __init__(self, tun, number, port):
        self.tun, self.port, self.sport = tun, port, 20000 + number % 10000
        self.address = socket.inet_aton(f"10.8.{1 + number // 250}.{1 + number % 250}")
        self.seq, self.ack, self.received = 1000, 0, b""

    def send(self, flags, data=b"", options=b""):
        header = struct.pack(">HHIIBBHHH", self.sport, self.port, self.seq, self.ack, (20 + len(options)) // 4 << 4,
                             flags, 65535, 0, 0) + options
        pseudo = self.address + socket.inet_aton(SERVER) + struct.pack(">BBH", 0, 6, len(header) + len(data))
        check = checksum(pseudo + header + data)
        segment = header[:16] + struct.pack(">H", check) + header[18:] + data
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0, 64, 6, 0) + self.address + socket.inet_aton(SERVER)
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        os.write(self.tun, ip + segment)
        self.seq += len(data) + (1 if flags & (SYN | FIN) else 0)

    def say(self, data):
        self.send(PSH | ACK, data)


class Clients:
    """The device and all clients behind it; what comes from the server is acknowledged in receive()."""

    def __init__(self):
        run("modprobe", "tun")
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
        run("ip", "addr", "add", SERVER + "/16", "dev", "tun0")
        run("ip", "link", "set", "tun0", "up")
        self.clients, self.number = {}, 0

    def receive(self, seconds):
        """Take what comes for so long; returns whether something has come."""
        came = False
        end = time.monotonic() + seconds
        while select.select([self.tun], [], [], max(0, end - time.monotonic()))[0]:
            packet = os.read(self.tun, 65536)
            if packet[0] >> 4 != 4 or packet[9] != 6:
                continue
            tcp = packet[(packet[0] & 15) * 4:]
            client = self.clients.get((packet[16:20], struct.unpack(">H", tcp[2:4])[0]))
            if not client:
                continue
            came = True
            seq, flags, data = struct.unpack(">I", tcp[4:8])[0], tcp[13], tcp[(tcp[12] >> 4) * 4:]
            if flags & SYN:
                client.synack, client.ack = tcp[20:(tcp[12] >> 4) * 4], seq + 1
                client.send(ACK)
            elif seq == client.ack and (data or flags & FIN):
                client.received += data
                client.ack += len(data) + (flags & FIN)
                client.send(ACK)
        return came

    def connect(self, count, port):
        """That many clients with the SMC option, established."""
        new = []
        for _ in range(count):
            client = Client(self.tun, self.number, port)
            client.synack = None
            self.number += 1
            self.clients[client.address, client.sport] = client
            new.append(client)
            client.send(SYN, options=MSS_OPTION + SMC_OPTION + b"\1\1")
            self.receive(0)
        end = time.monotonic() + PATIENCE
        while any(client.synack is None for client in new):
            self.receive(0.05)
            if time.monotonic() > end:
                fail(f"{sum(client.synack is None for client in new)} of {count} raw clients are not established")
        if not all(SMC_OPTION in client.synack for client in new):
            fail("the server does not answer with the SMC option")
        return new
