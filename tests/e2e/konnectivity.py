"""konnectivity's proxy server (ProxyService of konnectivity-client/proto/client) on a Unix socket, which connects to the addresses itself."""
import socket
import struct
import threading

from grpc_process import (ACK, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, SETTINGS, WINDOW_UPDATE, GrpcProcess, field, fields,
                          header)

DIAL_REQUEST, DIAL_RESPONSE, CLOSE_REQUEST, CLOSE_RESPONSE, PACKET_DATA = range(5)
WINDOW, PIECE = 65535, 16384


class Stream:
    """One connection of a client: one call, one connection behind."""

    def __init__(self, proxy, connection):
        self.proxy, self.connection = proxy, connection
        self.windows, self.changed = {0: WINDOW, 1: WINDOW}, threading.Condition()
        self.sending, self.rest, self.behind = threading.Lock(), b'', None

    def frame(self, kind, flags, number, payload):
        with self.sending:
            self.proxy.send(self.connection, kind, flags, number, payload)

    def say(self, packet):
        """A packet, as far as the client's windows permit it."""
        message = b'\0' + struct.pack('>I', len(packet)) + packet
        while message:
            with self.changed:
                self.changed.wait_for(lambda: min(self.windows.values()) > 0)
                piece = message[:min(PIECE, *self.windows.values())]
                for number in self.windows:
                    self.windows[number] -= len(piece)
            self.frame(DATA, 0, 1, piece)
            message = message[len(piece):]

    def open_window(self, number, payload):
        with self.changed:
            self.windows[min(number, 1)] += struct.unpack('>I', payload)[0]
            self.changed.notify_all()

    def take(self, some):
        self.rest += some
        while len(self.rest) >= 5 and len(self.rest) >= 5 + struct.unpack('>I', self.rest[1:5])[0]:
            size = struct.unpack('>I', self.rest[1:5])[0]
            packet, self.rest = fields(self.rest[5:5 + size]), self.rest[5 + size:]
            kind = packet.get(1, [0])[0]
            if kind == DIAL_REQUEST:
                self.dial(fields(packet[2][0]))
            elif kind == PACKET_DATA:
                self.behind.sendall(fields(packet[4][0])[3][0])
            elif kind == CLOSE_REQUEST:
                self.proxy.closed.set()
                self.say(field(1, CLOSE_RESPONSE) + field(6, field(2, 1)))

    def dial(self, request):
        address, random = request[2][0].decode(), request[3][0]
        self.proxy.asked.append(address)
        error = self.proxy.refuses
        if not error:
            host, _, port = address.rpartition(':')
            self.behind = socket.create_connection((host, int(port)))
        self.say(field(1, DIAL_RESPONSE) + field(3, field(1, error or '') + field(2, 1) + field(3, random)))
        if not error:
            threading.Thread(target=self.pump, daemon=True).start()

    def pump(self):
        try:
            while some := self.behind.recv(PIECE):
                self.say(field(1, PACKET_DATA) + field(4, field(1, 1) + field(3, some)))
            self.say(field(1, CLOSE_RESPONSE) + field(6, field(2, 1)))
        except OSError:
            pass


class KonnectivityProxy(GrpcProcess):
    """`asked`: the addresses; `refuses`: the error of every further dial; `closed`: a client has closed a connection."""

    def __init__(self, path):
        self.asked, self.refuses, self.closed = [], None, threading.Event()
        super().__init__(path)

    def respond(self, path, request):
        raise NotImplementedError

    def serve(self, connection):
        incoming, stream = connection.makefile('rb'), Stream(self, connection)
        try:
            if incoming.read(len(PREFACE)) != PREFACE:
                return
            stream.frame(SETTINGS, 0, 0, b'')
            while len(head := incoming.read(9)) == 9:
                payload, kind, flags = incoming.read(int.from_bytes(head[:3], 'big')), head[3], head[4]
                number = int.from_bytes(head[5:], 'big') & 0x7fffffff
                if kind == SETTINGS and not flags & ACK:
                    stream.frame(SETTINGS, ACK, 0, b'')
                elif kind == PING and not flags & ACK:
                    stream.frame(PING, ACK, 0, payload)
                elif kind == HEADERS:
                    stream.frame(HEADERS, END_HEADERS, number, b'\x88' + header('content-type', 'application/grpc'))
                elif kind == WINDOW_UPDATE:
                    stream.open_window(number, payload)
                elif kind == DATA and payload:
                    for each in (0, number):
                        stream.frame(WINDOW_UPDATE, 0, each, struct.pack('>I', len(payload)))
                    stream.take(payload)
                    if flags & END_STREAM:
                        return
        except OSError:
            pass
        finally:
            if stream.behind:
                stream.behind.close()
