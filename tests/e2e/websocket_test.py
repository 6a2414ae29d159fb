"""Watches over WebSocket, by hand over TLS: the handshake, events as messages, pings, and both ways to end."""
import base64
import hashlib
import json
import os
import socket
import struct
import unittest

from harness import Served, Server, configmap, main

MAPS = '/api/v1/namespaces/default/configmaps'
KEY = base64.b64encode(b'0123456789abcdef').decode()
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
PROTOBUF = 'application/vnd.kubernetes.protobuf'


class Socket:
    def __init__(self, server, path, headers=(), receive_buffer=None):
        raw = socket.socket()
        if receive_buffer:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        raw.settimeout(60)
        raw.connect(('127.0.0.1', server.port))
        self.stream = server.tls.wrap_socket(raw, server_hostname='127.0.0.1')
        lines = ['GET %s HTTP/1.1' % path, 'Host: a', 'Upgrade: websocket', 'Connection: Upgrade', *headers]
        self.stream.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode())
        self.file = self.stream.makefile('rb')
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        for line in iter(self.file.readline, b'\r\n'):
            name, _, value = line.decode().partition(':')
            self.headers[name.lower()] = value.strip()

    def send(self, opcode, payload=b''):
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.stream.sendall(bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + masked)

    def receive(self):
        """(opcode, payload); None at the end of the connection."""
        head = self.file.read(2)
        if len(head) < 2:
            return None
        length = head[1]
        if length == 126:
            length = struct.unpack('>H', self.file.read(2))[0]
        elif length == 127:
            length = struct.unpack('>Q', self.file.read(8))[0]
        return head[0] & 15, self.file.read(length)

    def event(self):
        opcode, payload = self.receive()
        assert opcode == TEXT, opcode
        return json.loads(payload)

    def close(self):
        self.file.close()
        self.stream.close()


def asked(*more):
    return ['Sec-WebSocket-Key: ' + KEY, 'Sec-WebSocket-Version: 13', 'Origin: https://example.com', *more]


class WebSockets(Served, unittest.TestCase):
    def make(self, name, size=1):
        self.assertEqual(self.server.request('POST', MAPS, configmap(name, k='v' * size))[0], 201)

    def watch(self, query, *headers):
        opened = Socket(self.server, MAPS + '?watch=1' + query, asked(*headers))
        self.addCleanup(opened.close)
        self.assertEqual(opened.status, 101)
        return opened

    def test_events_are_messages_and_the_client_ends(self):
        self.make('first')
        watch = self.watch('&fieldSelector=metadata.name=first', 'Sec-WebSocket-Protocol: mine')
        accept = base64.b64encode(hashlib.sha1((KEY + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest()).decode()
        self.assertEqual({name: watch.headers[name] for name in ('upgrade', 'connection', 'sec-websocket-accept', 'sec-websocket-protocol')},
                         {'upgrade': 'websocket', 'connection': 'Upgrade', 'sec-websocket-accept': accept, 'sec-websocket-protocol': 'mine'})
        self.assertNotIn('transfer-encoding', watch.headers)
        event = watch.event()
        self.assertEqual((event['type'], event['object']['metadata']['name']), ('ADDED', 'first'))
        watch.send(TEXT, b'nobody listens')
        watch.send(PING, b'there?')
        self.assertEqual(watch.receive(), (PONG, b'there?'))
        self.assertEqual(self.server.request('DELETE', MAPS + '/first')[0], 200)
        self.assertEqual(watch.event()['type'], 'DELETED')
        watch.send(CLOSE, b'\x03\xe8')
        self.assertEqual(watch.receive(), (CLOSE, b'\x03\xe8'))
        self.assertIsNone(watch.receive())

    def test_an_origin_that_is_no_url_is_refused(self):
        for origin in ('null', 'example.com', 'http://a:b', ''):
            opened = Socket(self.server, MAPS + '?watch=1', [*asked()[:2], 'Origin: ' + origin])
            self.addCleanup(opened.close)
            self.assertEqual(opened.status, 403, origin)

    def test_protobuf_comes_in_binary_messages(self):
        """Each is the WatchEvent that a stream of chunks delimits with its length, and nothing else."""
        self.make('packed')
        selected = '&fieldSelector=metadata.name=packed'
        watch = self.watch(selected, 'Accept: %s;stream=watch' % PROTOBUF)
        chunks = self.server.connect()
        self.addCleanup(chunks.close)
        chunks.request('GET', MAPS + '?watch=1' + selected, headers={'Accept': PROTOBUF + ';stream=watch'})
        streamed = chunks.getresponse()
        for kind in (b'ADDED', b'DELETED'):
            length = struct.unpack('>I', streamed.read(4))[0]
            event = streamed.read(length)
            self.assertEqual(event[:2 + len(kind)], b'\x0a' + bytes([len(kind)]) + kind)
            self.assertIn(b'k8s\0', event)
            self.assertEqual(watch.receive(), (BINARY, event))
            if kind == b'ADDED':
                self.assertEqual(self.server.request('DELETE', MAPS + '/packed')[0], 200)

    def test_messages_of_every_length(self):
        for size in (1, 40_000, 90_000):
            self.make('size%d' % size, size)
            event = self.watch('&fieldSelector=metadata.name=size%d' % size).event()
            self.assertEqual(len(event['object']['data']['k']), size)

    def test_the_server_ends_with_a_close_frame(self):
        watch = self.watch('&timeoutSeconds=1&fieldSelector=metadata.name=nobody')
        self.assertEqual(watch.receive(), (CLOSE, b'\x03\xe8'))
        self.assertIsNone(watch.receive())

    def test_the_server_survives_a_client_that_closes_the_socket(self):
        watch = self.watch('')
        watch.stream.close()
        watch.file.close()
        self.make('after')
        self.assertEqual(self.server.request('GET', '/livez')[0], 200)

    def test_a_client_that_does_not_mask_is_closed_on(self):
        watch = self.watch('&fieldSelector=metadata.name=nobody')
        watch.stream.sendall(b'\x81\x02hi')
        self.assertEqual(watch.receive(), (CLOSE, b'\x03\xe8'))

    def test_handshakes_that_cannot_be(self):
        for headers, code in ((asked()[1:], 400), (asked()[:1] + asked()[2:], 400), (asked()[:2], 403)):
            refused = Socket(self.server, MAPS + '?watch=1', headers)
            self.assertEqual((refused.status, refused.headers['connection']), (code, 'close'))
            refused.close()
        # Errors of the request itself are reported as before.
        wrong = Socket(self.server, MAPS + '?watch=1&fieldSelector=nonsense', asked())
        self.assertEqual((wrong.status, wrong.headers['content-type']), (400, 'application/json'))
        wrong.close()
        self.assertEqual(self.server.request('GET', MAPS, headers={'Upgrade': 'websocket', 'Connection': 'Upgrade'})[0], 200)


class Shutdown(unittest.TestCase):
    def test_a_client_that_stops_reading_and_pings_delays_no_other_client(self):
        """The watch and the reply to pings write to the socket: both wait for room at the same time, and both must resume."""
        with Server() as server:
            deaf = Socket(server, MAPS + '?watch=1', asked(), receive_buffer=4096)
            self.assertEqual(deaf.status, 101)
            reader = Socket(server, MAPS + '?watch=1&fieldSelector=metadata.name=last', asked())
            connection = server.connect()
            # More than the sockets and the window of a response hold.
            for i in range(60):
                self.assertEqual(server.request('POST', MAPS, configmap('big%d' % i, k='v' * 200_000), connection=connection)[0], 201)
                deaf.send(PING, b'%d' % i)
            self.assertEqual(server.request('POST', MAPS, configmap('last', k='v'), connection=connection)[0], 201)
            self.assertEqual(reader.event()['object']['metadata']['name'], 'last')
            # A client that reads again finds every event, in order, and every response.
            names, pongs = [], []
            while len(names) < 61 or len(pongs) < 60:
                opcode, payload = deaf.receive()
                if opcode == PONG:
                    pongs.append(int(payload))
                else:
                    names.append(json.loads(payload)['object']['metadata']['name'])
            self.assertEqual(names, ['big%d' % i for i in range(60)] + ['last'])
            self.assertEqual(pongs, list(range(60)))
            connection.close()
            reader.close()
            deaf.close()
            self.assertEqual(server.terminate(), 0)

    def test_a_client_that_never_reads_again_is_cut_and_nothing_of_it_stays(self):
        with Server() as server:
            deaf = Socket(server, MAPS + '?watch=1', asked(), receive_buffer=4096)
            connection = server.connect()
            for i in range(60):
                self.assertEqual(server.request('POST', MAPS, configmap('big%d' % i, k='v' * 200_000), connection=connection)[0], 201)
                deaf.send(PING, b'%d' % i)
            connection.close()
            self.assertEqual(server.terminate(40), 0)  # the server does not wait for the request timeout of a minute
            self.assertNotIn('connections did not end in time', server.text())
            self.assertNotIn('handlers still run', server.text())
            deaf.close()

    def test_open_sockets_do_not_hold_the_server(self):
        with Server() as server:
            watch = Socket(server, MAPS + '?watch=1&fieldSelector=metadata.name=nobody', asked())
            self.assertEqual(watch.status, 101)
            self.assertEqual(server.terminate(), 0)
            self.assertEqual(watch.receive(), (CLOSE, b'\x03\xe8'))
            watch.close()


if __name__ == '__main__':
    main()
