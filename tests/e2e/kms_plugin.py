"""A KMS plugin of version 2 on a Unix socket, on upstream's published proto (k8s.io/kms/apis/v2/api.proto): gRPC over HTTP/2 with the standard library.

Method paths are not decoded (HPACK); the three requests differ in their fields: none, plaintext and uid, or also key_id."""
import os
import socket
import struct
import threading

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def varint(number):
    out = b''
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    """A length-delimited field of a protobuf message; nothing for empty content."""
    return bytes([number << 3 | 2]) + varint(len(content)) + content if content else b''


def fields(message):
    """The length-delimited fields of a message, by number."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(message):
        tag = number()
        if tag & 7 == 0:
            found.setdefault(tag >> 3, []).append(number())
            continue
        size = number()
        found.setdefault(tag >> 3, []).append(message[at:at + size])
        at += size
    return found


def header(name, value):
    return b'\0' + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


class KmsPlugin:
    """`key_id` names its key; keys that are in `lost` decrypt nothing. `mode`: 'ok', 'hang', 'fail' or 'rubbish'."""

    def __init__(self, path, key_id='key-1'):
        self.path = path
        self.key_id = key_id
        self.lost = set()
        self.mode = 'ok'
        self.healthz = 'ok'
        self.calls = {'Status': 0, 'Encrypt': 0, 'Decrypt': 0}
        self.changed = threading.Condition()
        self.connections = []
        self.listener = None
        self.start()

    @property
    def endpoint(self):
        return 'unix://' + self.path

    def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(16)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def die(self):
        listener, self.listener = self.listener, None
        if listener is not None:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()
        self.connections = []
        if os.path.exists(self.path):
            os.unlink(self.path)

    def count(self, method):
        with self.changed:
            return self.calls[method]

    def wait_for_calls(self, method, count, seconds=30):
        """True once there have been so many."""
        with self.changed:
            return self.changed.wait_for(lambda: self.calls[method] >= count, seconds)

    # ---- HTTP/2

    def accept(self, listener):
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = connection.makefile('rb')
        bodies = {}
        try:
            if stream.read(len(PREFACE)) != PREFACE:
                return
            self.send(connection, SETTINGS, 0, 0, b'')
            while True:
                head = stream.read(9)
                if len(head) < 9:
                    return
                size = int.from_bytes(head[:3], 'big')
                kind, flags = head[3], head[4]
                number = int.from_bytes(head[5:], 'big') & 0x7fffffff
                payload = stream.read(size)
                if kind == SETTINGS and not flags & ACK:
                    self.send(connection, SETTINGS, ACK, 0, b'')
                elif kind == PING and not flags & ACK:
                    self.send(connection, PING, ACK, 0, payload)
                elif kind == DATA:
                    bodies[number] = bodies.get(number, b'') + payload
                    if payload:
                        self.send(connection, WINDOW_UPDATE, 0, 0, struct.pack('>I', len(payload)))
                    if flags & END_STREAM:
                        self.answer(connection, number, bodies.pop(number)[5:])
        except (OSError, ValueError):
            pass

    @staticmethod
    def send(connection, kind, flags, number, payload):
        connection.sendall(len(payload).to_bytes(3, 'big') + bytes([kind, flags]) + number.to_bytes(4, 'big') + payload)

    def answer(self, connection, number, request):
        method, response, status = self.respond(request)
        with self.changed:
            self.calls[method] += 1
            self.changed.notify_all()
        if self.mode == 'hang':
            return
        if self.mode == 'fail':
            status = '9'
        if self.mode == 'rubbish':
            response = b'\xff\xff\xff'
        self.send(connection, HEADERS, END_HEADERS, number, b'\x88' + header('content-type', 'application/grpc'))
        if status == '0':
            self.send(connection, DATA, 0, number, b'\0' + struct.pack('>I', len(response)) + response)
        self.send(connection, HEADERS, END_HEADERS | END_STREAM, number, header('grpc-status', status) + header('grpc-message', 'the test says so'))

    # ---- the service

    def respond(self, request):
        parts = fields(request)
        if not parts:
            return 'Status', field(1, b'v2') + field(2, self.healthz.encode()) + field(3, self.key_id.encode()), '0'
        if 3 in parts:
            key_id = parts[3][0].decode()
            sealed = parts[1][0]
            if key_id in self.lost or not sealed.startswith(key_id.encode() + b':'):
                return 'Decrypt', b'', '5'
            return 'Decrypt', field(1, self.swap(sealed[len(key_id) + 1:], key_id)), '0'
        sealed = self.key_id.encode() + b':' + self.swap(parts[1][0], self.key_id)
        annotation = field(1, b'kms.example.com') + field(2, b'test')
        return 'Encrypt', field(1, sealed) + field(2, self.key_id.encode()) + field(3, annotation), '0'

    @staticmethod
    def swap(content, key_id):
        return bytes(byte ^ (len(key_id) + 17) for byte in content)
