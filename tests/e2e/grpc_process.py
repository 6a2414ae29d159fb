"""A gRPC server on a Unix socket with the standard library only: HTTP/2 without TLS, unary calls, messages of protobuf."""
import os
import socket
import struct
import threading

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
END_STREAM, END_HEADERS, ACK, PADDED, PRIORITY = 1, 4, 1, 8, 32
# The static Huffman code of HPACK (RFC 7541, appendix B) is canonical; the letters of paths have the codes of 5 to 8 bits.
HUFFMAN = {5: '012aceiost', 6: ' %-./3456789=A_bdfghlmnpru', 7: ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz', 8: '&*,;XZ'}
PATHS = (4, 5)  # indexes of :path in the static table
DYNAMIC = 62  # the first index of the dynamic table


# ---- protobuf

def varint(number):
    out = b''
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    """A field of a message: text, bytes or a number; empty values are omitted."""
    if isinstance(content, int):
        return bytes([number << 3]) + varint(content) if content else b''
    if isinstance(content, str):
        content = content.encode()
    return bytes([number << 3 | 2]) + varint(len(content)) + content if content else b''


def fields(message):
    """The values of a message by field number."""
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


# ---- HPACK

def header(name, value):
    return b'\0' + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def huffman_codes():
    codes, code = {}, 0
    for bits, letters in HUFFMAN.items():
        for letter in letters:
            codes[(bits, code)] = letter
            code += 1
        code <<= 1
    return codes


CODES = huffman_codes()


def unpacked(content):
    """The text of a Huffman-coded string."""
    out, code, bits = '', 0, 0
    for byte in content:
        for shift in range(7, -1, -1):
            code, bits = code << 1 | byte >> shift & 1, bits + 1
            letter = CODES.get((bits, code))
            if letter is not None:
                out, code, bits = out + letter, 0, 0
    return out


class HeaderBlock:
    """Finds the path in a block of request headers. `table`: the connection's dynamic table, the newest entry first; entries that its sender has
    dropped may stay, because it no longer names them."""

    def __init__(self, block, table):
        self.block, self.at, self.table = block, 0, table

    def number(self, prefix):
        value = self.block[self.at] & (1 << prefix) - 1
        self.at += 1
        if value < (1 << prefix) - 1:
            return value
        shift = 0
        while True:
            byte = self.block[self.at]
            self.at += 1
            value += (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        packed = self.block[self.at] & 128
        size = self.number(7)
        content = self.block[self.at:self.at + size]
        self.at += size
        return (content, packed)

    def name(self, index):
        """The index of the name in the static table; None for other names."""
        if index == 0:
            self.text()
            return None
        return self.table[index - DYNAMIC][0] if index >= DYNAMIC else index

    def path(self):
        found = None
        while self.at < len(self.block):
            first = self.block[self.at]
            if first & 128:
                index = self.number(7)
                name, value = self.table[index - DYNAMIC] if index >= DYNAMIC else (None, None)
            elif first & 0xe0 == 0x20:
                self.number(5)
                continue
            else:
                name = self.name(self.number(6 if first & 64 else 4))
                content, packed = self.text()
                value = (unpacked(content) if packed else content.decode()) if name in PATHS else None
                if first & 64:
                    self.table.insert(0, (name, value))
            if name in PATHS:
                found = value
        if found is None:
            raise ValueError('a request without a path')
        return found


# ---- HTTP/2

class GrpcProcess:
    """`respond(path, request)` returns the message and the gRPC code of the answer. `mode`: 'ok', 'hang', 'fail' or 'rubbish'."""

    def __init__(self, path):
        self.path = path
        self.mode = 'ok'
        self.calls = {}
        self.changed = threading.Condition()
        self.connections = []
        self.listener = None
        self.start()

    def respond(self, path, request):
        raise NotImplementedError

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
        """Calls of a method, by the last part of its path."""
        with self.changed:
            return self.calls.get(method, 0)

    def wait_for_calls(self, method, count, seconds=30):
        """True once there have been this many."""
        with self.changed:
            return self.changed.wait_for(lambda: self.calls.get(method, 0) >= count, seconds)

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
        paths, bodies, table = {}, {}, []
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
                elif kind == HEADERS:
                    if flags & PADDED or not flags & END_HEADERS:
                        raise ValueError('a header block of another form')
                    paths[number] = HeaderBlock(payload[5:] if flags & PRIORITY else payload, table).path()
                elif kind == DATA:
                    bodies[number] = bodies.get(number, b'') + payload
                    if payload:
                        self.send(connection, WINDOW_UPDATE, 0, 0, struct.pack('>I', len(payload)))
                    if flags & END_STREAM:
                        self.answer(connection, number, paths.pop(number), bodies.pop(number)[5:])
        except (OSError, ValueError):
            pass

    @staticmethod
    def send(connection, kind, flags, number, payload):
        connection.sendall(len(payload).to_bytes(3, 'big') + bytes([kind, flags]) + number.to_bytes(4, 'big') + payload)

    def answer(self, connection, number, path, request):
        response, status = self.respond(path, request)
        method = path.rsplit('/')[-1]
        with self.changed:
            self.calls[method] = self.calls.get(method, 0) + 1
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
