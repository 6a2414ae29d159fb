"""A kubelet for tests: logs, exec, attach and port-forward over SPDY/3.1 and WebSocket, and plain pages for proxies.

Commands are run here, as processes of this machine.  One thread a connection; everything on a connection happens in that thread.
"""
import base64
import fcntl
import hashlib
import http.server
import json
import os
import pty
import select
import socket
import ssl
import struct
import subprocess
import termios
import threading
import urllib.parse
import zlib

WORDS = ('options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization '
         'cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range '
         'content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified '
         'location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding '
         'upgrade user-agent vary via warning www-authenticate method get status').split() + [
             '200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie', 'keep-alive', 'origin']
REST = ('100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative Information'
        '204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error'
        '501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, '
        'Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,'
        'text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.')
DICTIONARY = b''.join(struct.pack('>I', len(word)) + word.encode() for word in WORDS) + REST.encode()

SUCCESS = {'metadata': {}, 'status': 'Success'}


def exit_status(code):
    if code == 0:
        return SUCCESS
    return {'metadata': {}, 'status': 'Failure', 'reason': 'NonZeroExitCode', 'message': 'command terminated with non-zero exit code',
            'details': {'causes': [{'reason': 'ExitCode', 'message': str(code)}]}}


class Spdy:
    """The server's end of a SPDY/3.1 connection: bytes in, events out."""

    def __init__(self, connection):
        self.connection = connection
        self.input = b''
        self.inflate = zlib.decompressobj(zdict=DICTIONARY)
        self.deflate = zlib.compressobj(zdict=DICTIONARY)
        self.pings = 0

    def control(self, kind, flags, body):
        self.connection.sendall(struct.pack('>II', 0x80030000 | kind, flags << 24 | len(body)) + body)

    def send(self, stream, data, fin=False):
        self.connection.sendall(struct.pack('>II', stream, (1 if fin else 0) << 24 | len(data)) + data)

    def reply(self, stream):
        block = self.deflate.compress(struct.pack('>I', 0)) + self.deflate.flush(zlib.Z_SYNC_FLUSH)
        self.control(2, 0, struct.pack('>I', stream) + block)

    def headers(self, block):
        plain = self.inflate.decompress(block)
        count, at, out = struct.unpack_from('>I', plain)[0], 4, {}
        for _ in range(count):
            pair = []
            for _ in range(2):
                size = struct.unpack_from('>I', plain, at)[0]
                pair.append(plain[at + 4:at + 4 + size].decode())
                at += 4 + size
            out[pair[0]] = pair[1]
        return out

    def feed(self, data):
        """('open', stream, headers), ('data', stream, bytes), ('end', stream, None)"""
        self.input += data
        events = []
        while len(self.input) >= 8:
            first, second = struct.unpack_from('>II', self.input)
            flags, size = second >> 24, second & 0xffffff
            if len(self.input) < 8 + size:
                break
            body, self.input = self.input[8:8 + size], self.input[8 + size:]
            if not first & 0x80000000:
                if body:
                    events.append(('data', first, body))
                if flags & 1:
                    events.append(('end', first, None))
                continue
            kind, stream = first & 0xffff, struct.unpack_from('>I', body)[0] if len(body) >= 4 else 0
            if kind == 1:
                events.append(('open', stream, self.headers(body[10:])))
                self.reply(stream)
            elif kind == 3:
                events.append(('end', stream, None))
            elif kind == 6:
                self.pings += 1
                self.control(6, 0, body)
        return events


class WebSocket:
    """The server's end of a WebSocket: bytes in, (channel, payload) out."""

    def __init__(self, connection):
        self.connection = connection
        self.input = b''

    def send(self, channel, data):
        payload = bytes([channel]) + data
        size = len(payload)
        head = bytes([0x82, size]) if size < 126 else bytes([0x82, 126]) + struct.pack('>H', size) if size < 65536 else \
            bytes([0x82, 127]) + struct.pack('>Q', size)
        self.connection.sendall(head + payload)

    def feed(self, data):
        self.input += data
        out = []
        while len(self.input) >= 2:
            size, at = self.input[1] & 0x7f, 2
            if size == 126 and len(self.input) >= 4:
                size, at = struct.unpack_from('>H', self.input, 2)[0], 4
            elif size == 127 and len(self.input) >= 10:
                size, at = struct.unpack_from('>Q', self.input, 2)[0], 10
            if len(self.input) < at + 4 + size:
                break
            mask = self.input[at:at + 4]
            payload = bytes(b ^ mask[i % 4] for i, b in enumerate(self.input[at + 4:at + 4 + size]))
            opcode, self.input = self.input[0] & 0xf, self.input[at + 4 + size:]
            if opcode == 8:
                out.append((None, b''))
            elif opcode in (1, 2) and payload:
                out.append((payload[0], payload[1:]))
        return out


class Command:
    """A process with its pipes or terminal."""

    def __init__(self, argv, tty):
        if tty:
            self.master, slave = pty.openpty()
            self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, close_fds=True)
            os.close(slave)
            self.outputs = {self.master: 'stdout'}
        else:
            self.master = None
            self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=True)
            self.outputs = {self.process.stdout.fileno(): 'stdout', self.process.stderr.fileno(): 'stderr'}

    def write(self, data):
        try:
            while data:
                data = data[os.write(self.master if self.master is not None else self.process.stdin.fileno(), data):]
        except OSError:
            pass

    def close_input(self):
        if self.master is None and not self.process.stdin.closed:
            self.process.stdin.close()

    def resize(self, size):
        if self.master is not None:
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', size['Height'], size['Width'], 0, 0))

    def read(self, fd):
        try:
            data = os.read(fd, 65536)
        except OSError:  # the read error of a terminal if no process has the other end open
            data = b''
        if not data:
            del self.outputs[fd]
        return data

    def end(self):
        if not self.outputs:  # all its output has been read, and the process is ending
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                pass
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait()
        if self.master is not None:
            os.close(self.master)
        for end in (self.process.stdin, self.process.stdout, self.process.stderr):
            if end is not None:
                end.close()
        return code


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    rbufsize = 0  # bytes after a head are read from the socket

    def log_message(self, *_):
        pass

    def do_GET(self):
        kubelet = self.server.kubelet
        url = urllib.parse.urlsplit(self.path)
        self.query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        kubelet.requests.append((self.command, self.path, dict(self.headers.items())))
        first = url.path.split('/')[1]
        if first in kubelet.answers:
            code, headers, body = kubelet.answers[first]
            return self.answer(code, body, headers)
        if first == 'hang':
            kubelet.stopped.wait(60)
            return None
        if first == 'containerLogs':
            return self.logs(url.path.split('/')[2:])
        if first in ('exec', 'attach'):
            return self.command_in_container(first, url.path.split('/')[-1])
        if first == 'portForward':
            return self.port_forward()
        return self.page(url)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_GET

    def answer(self, code, body, headers=None):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(code)
        for name, value in (headers or {'Content-Type': 'text/plain'}).items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def page(self, url):
        size = int(self.headers.get('Content-Length') or 0)
        body = b''
        while len(body) < size:
            body += self.rfile.read(size - len(body))
        self.answer(200, json.dumps({'method': self.command, 'path': self.path, 'body': body.decode(),
                                     'headers': {k.lower(): v for k, v in self.headers.items()}}), {'Content-Type': 'application/json'})

    # ---- logs

    def logs(self, names):
        kubelet = self.server.kubelet
        lines = kubelet.logs.get('/'.join(names))
        if lines is None:
            return self.answer(404, 'no logs of %s' % '/'.join(names))
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        tail = int(self.query.get('tailLines', [len(lines)])[0])
        said = max(0, len(lines) - tail)
        try:
            while True:
                with kubelet.changed:
                    while said == len(lines) and 'follow' in self.query and not kubelet.stopped.is_set() and lines[-1:] != [None]:
                        if not kubelet.changed.wait(0.1) and self.gone():
                            kubelet.left.append('log')
                            return None
                    more = lines[said:]
                for line in more:
                    if line is not None:
                        data = (line + '\n').encode()
                        self.wfile.write(b'%x\r\n%s\r\n' % (len(data), data))
                said += len(more)
                if 'follow' not in self.query or lines[-1:] == [None] or kubelet.stopped.is_set():
                    break
            self.wfile.write(b'0\r\n\r\n')
        except OSError:
            kubelet.left.append('log')
        return None

    def gone(self):
        ready = select.select([self.connection], [], [], 0)[0]
        if not ready:
            return False
        try:
            return self.connection.recv(1) == b''
        except OSError:
            return True

    # ---- protocol upgrades

    def switch(self, protocol, headers):
        self.send_response(101)
        self.send_header('Connection', 'Upgrade')
        self.send_header('Upgrade', protocol)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def offered(self, name):
        return [word.strip() for line in self.headers.get_all(name) or [] for word in line.split(',')]

    def receive(self, others, timeout=0.2):
        """The received bytes, and the other ready descriptors; None at the end of the connection."""
        if getattr(self.connection, 'pending', int)():
            return self.connection.recv(65536), []
        ready = select.select([self.connection] + others, [], [], timeout)[0]
        if self.connection not in ready:
            return b'', ready
        try:
            data = self.connection.recv(65536)
        except OSError:
            data = b''
        return (data or None), [each for each in ready if each is not self.connection]

    def command_in_container(self, what, container):
        kubelet = self.server.kubelet
        argv = self.query.get('command') if what == 'exec' else kubelet.attached
        upgrade = self.headers.get('Upgrade', '').lower()
        tty = 'tty' in self.query
        kubelet.upgrades.append(upgrade)
        try:
            if upgrade == 'spdy/3.1':
                self.spdy_command(argv, tty)
            elif upgrade == 'websocket':
                self.websocket_command(argv, tty)
            else:
                self.answer(400, 'Upgrade request required')
        except OSError:
            pass
        kubelet.left.append(what)

    def spdy_command(self, argv, tty):
        offered = self.offered('X-Stream-Protocol-Version')
        chosen = next(each for each in self.server.kubelet.protocols if each in offered)
        self.switch('SPDY/3.1', {'X-Stream-Protocol-Version': chosen})
        spdy, streams = Spdy(self.connection), {}
        wanted = {'error'} | {name for name, query in (('stdin', 'input'), ('stdout', 'output')) if query in self.query}
        wanted |= {'resize'} if tty else {'stderr'} if 'error' in self.query else set()
        command, early = None, []
        while command is None or command.outputs:
            data, ready = self.receive(list(command.outputs) if command else [])
            if data is None or self.server.kubelet.dropped.is_set():
                if command:
                    command.end()
                return
            for kind, stream, what in spdy.feed(data):
                if kind == 'open':
                    streams[what['streamtype']] = stream
                else:
                    early.append((kind, stream, what))
            if command is None and wanted <= set(streams):
                command = Command(argv, tty)
            while command and early:
                kind, stream, what = early.pop(0)
                if stream == streams.get('stdin'):
                    command.write(what) if kind == 'data' else command.close_input()
                elif stream == streams.get('resize') and kind == 'data':
                    for line in what.decode().splitlines():
                        command.resize(json.loads(line))
            for fd in ready:
                name = command.outputs[fd]
                some = command.read(fd)
                if name in streams:
                    spdy.send(streams[name], some, fin=not some)
        code = command.end()
        status = exit_status(code)
        if chosen.startswith('v4') or chosen.startswith('v5'):
            spdy.send(streams['error'], json.dumps(status).encode(), fin=True)
        else:
            spdy.send(streams['error'], b'' if code == 0 else b'exit status %d' % code, fin=True)

    def websocket_command(self, argv, tty):
        offered = self.offered('Sec-WebSocket-Protocol')
        chosen = next((each for each in ('v5.channel.k8s.io', 'v4.channel.k8s.io') if each in offered), None)
        key = self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
        self.switch('websocket', {'Sec-WebSocket-Accept': base64.b64encode(hashlib.sha1(key.encode()).digest()).decode(),
                                  'Sec-WebSocket-Protocol': chosen})
        web, command = WebSocket(self.connection), Command(argv, tty)
        while command.outputs:
            data, ready = self.receive(list(command.outputs))
            if data is None:
                command.end()
                return
            for channel, what in web.feed(data):
                if channel == 0:
                    command.write(what)
                elif channel == 4:
                    command.resize(json.loads(what))
                elif channel == 255 and what == b'\0':
                    command.close_input()
            for fd in ready:
                name = command.outputs[fd]
                some = command.read(fd)
                if some:
                    web.send(1 if name == 'stdout' else 2, some)
        web.send(3, json.dumps(exit_status(command.end())).encode())
        self.connection.sendall(b'\x88\x02\x03\xe8')

    def port_forward(self):
        kubelet = self.server.kubelet
        kubelet.upgrades.append(self.headers.get('Upgrade', '').lower())
        self.switch('SPDY/3.1', {'X-Stream-Protocol-Version': 'portforward.k8s.io'})
        spdy, errors, sockets = Spdy(self.connection), {}, {}
        try:
            while True:
                data, ready = self.receive(list(sockets.values()))
                if data is None:
                    break
                for kind, stream, what in spdy.feed(data):
                    if kind == 'open' and what['streamtype'] == 'error':
                        errors[what['requestid']] = stream
                    elif kind == 'open':
                        try:
                            sockets[stream] = socket.create_connection(('127.0.0.1', int(what['port'])))
                        except OSError as error:
                            spdy.send(errors[what['requestid']], str(error).encode())
                            spdy.send(stream, b'', fin=True)
                        spdy.send(errors[what['requestid']], b'', fin=True)
                    elif stream in sockets and kind == 'data':
                        sockets[stream].sendall(what)
                    elif stream in sockets:
                        sockets[stream].shutdown(socket.SHUT_WR)
                for stream, each in list(sockets.items()):
                    if each in ready:
                        some = each.recv(65536)
                        spdy.send(stream, some, fin=not some)
                        if not some:
                            sockets.pop(stream).close()
        except OSError:
            pass
        kubelet.left.append('portForward')


class Kubelet:
    """Listens on `address`; records requests and disconnected clients for the tests."""

    def __init__(self, certificate, key, address='127.0.0.1', client_authority=None, tls=True):
        self.logs = {}       # "ns/pod/container" → lines; None ends a log that is followed
        self.answers = {}    # first part of a path → (code, headers, body)
        self.attached = ['cat']
        self.protocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io']
        self.requests, self.upgrades, self.left = [], [], []
        self.changed, self.stopped, self.dropped = threading.Condition(), threading.Event(), threading.Event()
        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # clients that disconnect, or do not trust the certificate
        self.server.kubelet = self
        self.port = self.server.server_address[1]
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            if client_authority:
                context.load_verify_locations(client_authority)
                context.verify_mode = ssl.CERT_REQUIRED
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def say(self, container, line):
        with self.changed:
            self.logs.setdefault(container, []).append(line)
            self.changed.notify_all()

    def stop(self):
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()


def self_signed(folder, *names):
    """Certificate and key, as files."""
    cert, key = os.path.join(folder, 'kubelet.crt'), os.path.join(folder, 'kubelet.key')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert,
                    '-subj', '/CN=kubelet', '-days', '2', '-addext', 'subjectAltName=' + ','.join(names)], check=True, capture_output=True)
    return cert, key
