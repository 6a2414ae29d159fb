"""Connections to nodes, pods and services: logs, exec, attach, port-forward, cp and the proxies, with every available kubectl."""
import base64
import fcntl
import gzip
import json
import os
import pty
import re
import select
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

from aggregated import GROUP, Backend, Certificates, apiservice, available, external
from conversion_test import Webhook, definition
from etcd_test import Etcd
from harness import Server, kubectls, main, namespace, wait_for
from konnectivity import KonnectivityProxy
from kubelet import Kubelet, self_signed

PODS = '/api/v1/namespaces/default/pods'


def own_address():
    """An address of this machine that is not loopback; None if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(('192.0.2.1', 9))
            address = s.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith('127.') else address


class Cluster:
    """A server, a kubelet, and pods on its node."""

    def __init__(self, *flags, address='127.0.0.1', names=('IP:127.0.0.1',), folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix='kubelet-')
        self.certificate, self.key = self_signed(self.folder, *names)
        self.kubelet = Kubelet(self.certificate, self.key, address)
        self.server = Server(*flags)
        self.node('n1', address, self.kubelet.port)
        self.pod('p', ['c'], 'n1')

    def node(self, name, address, port, **status):
        status = dict(addresses=[{'type': 'InternalIP', 'address': address}], daemonEndpoints={'kubeletEndpoint': {'Port': port}}, **status)
        node = {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': name}}
        assert self.server.request('POST', '/api/v1/nodes', node)[0] == 201
        code, _, answer = self.server.request('PATCH', '/api/v1/nodes/%s/status' % name, json.dumps({'status': status}),
                                              {'Content-Type': 'application/merge-patch+json'})
        assert code == 200, answer

    def pod(self, name, containers, node, init=(), ports=(), **status):
        spec = {'containers': [{'name': c, 'image': 'i', 'ports': [{'containerPort': p} for p in ports]} for c in containers],
                'initContainers': [{'name': c, 'image': 'i'} for c in init], 'nodeName': node}
        code, _, answer = self.server.request('POST', PODS, {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name}, 'spec': spec})
        assert code == 201, answer
        state = {'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}], **status}
        code, _, answer = self.server.request('PATCH', '%s/%s/status' % (PODS, name), json.dumps({'status': state}),
                                              {'Content-Type': 'application/merge-patch+json'})
        assert code == 200, answer

    def stop(self):
        self.server.stop()
        self.kubelet.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class WebSocketClient:
    """A raw WebSocket client of `server`."""

    def upgraded(self, path, *protocols):
        """The response head and the connection of a WebSocket request."""
        connection = self.server.connect()
        connection.connect()
        head = ['GET %s HTTP/1.1' % path, 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
                'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
        head += ['Sec-WebSocket-Protocol: ' + ', '.join(protocols)] if protocols else []
        connection.sock.sendall('\r\n'.join(head + ['', '']).encode())
        answer = b''
        while b'\r\n\r\n' not in answer:
            some = connection.sock.recv(1)
            if not some:
                break
            answer += some
        self.addCleanup(connection.close)
        return answer.decode(), connection.sock

    @staticmethod
    def messages(sock):
        """Opcodes and payloads of the messages until the end."""
        data, out = b'', []
        while some := sock.recv(65536):
            data += some
        while data:
            size, at = (data[1], 2) if data[1] < 126 else (int.from_bytes(data[2:4], 'big'), 4)
            out.append((data[0] & 15, data[at:at + size]))
            data = data[at + size:]
        return out


class Texts(WebSocketClient, unittest.TestCase):
    """The messages of errors, without kubectl."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.server, cls.kubelet = cls.cluster.server, cls.cluster.kubelet
        cls.cluster.pod('two', ['a', 'b'], 'n1', init=['first'])
        cls.cluster.pod('nowhere', ['c'], '')
        cls.cluster.pod('lost', ['c'], 'none')
        cls.kubelet.logs['default/p/c'] = ['one', 'two', 'three']

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def get(self, path, headers=None, method='GET'):
        return self.server.request(method, PODS + path, headers=headers)

    def message(self, path, method='GET'):
        code, _, answer = self.get(path, method=method)
        return code, answer['message']

    def test_a_log_is_plain_text(self):
        code, headers, text = self.get('/p/log')
        self.assertEqual((code, headers['Content-Type'], text), (200, 'text/plain', 'one\ntwo\nthree\n'))
        self.assertNotIn('Content-Length', headers)

    def test_options_of_logs_reach_the_kubelet(self):
        self.kubelet.requests.clear()
        code, _, text = self.get('/p/log?tailLines=1&limitBytes=100&sinceSeconds=5&timestamps=true&previous=1&follow=false&pretty=true')
        self.assertEqual((code, text), (200, 'three\n'))
        self.assertEqual(self.kubelet.requests[0][1],
                         '/containerLogs/default/p/c?limitBytes=100&previous=true&sinceSeconds=5&tailLines=1&timestamps=true')
        self.get('/p/log?sinceTime=2024-01-02T03:04:05%2B01:00')
        self.assertEqual(self.kubelet.requests[1][1], '/containerLogs/default/p/c?sinceTime=2024-01-02T02%3A04%3A05Z')

    def test_options_of_logs_are_checked(self):
        for query, code, message in (
                ('tailLines=-1', 422, 'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'),
                ('limitBytes=0', 422, 'PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0'),
                ('sinceSeconds=0', 422, 'PodLogOptions "p" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0'),
                ('sinceSeconds=1&sinceTime=2024-01-02T03:04:05Z', 422,
                 'PodLogOptions "p" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'),
                ('stream=Stdout', 422, 'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified'),
                ('tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
                ('limitBytes=99999999999999999999', 400, 'strconv.ParseInt: parsing "99999999999999999999": value out of range'),
                ('sinceTime=x', 400, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"')):
            with self.subTest(query):
                self.assertEqual(self.message('/p/log?' + query), (code, message))

    def test_a_container_is_chosen_or_asked_for(self):
        choose = 'a container name must be specified for pod two, choose one of: [first a b]'
        for verb, method in (('log', 'GET'), ('exec', 'POST'), ('attach', 'GET')):
            with self.subTest(verb):
                self.assertEqual(self.message('/two/%s' % verb, method), (400, choose))
                self.assertEqual(self.message('/two/%s?container=x' % verb, method), (400, 'container x is not valid for pod two'))
        self.assertEqual(self.message('/two/log?container=first')[0], 404)
        self.assertEqual(self.message('/two/portforward', 'POST'), (400, 'Upgrade request required'))

    def test_pods_without_a_node(self):
        code, headers, text = self.get('/nowhere/log')
        self.assertEqual((code, text), (204, ''))
        self.assertNotIn('Content-Type', headers)
        for verb in ('exec', 'attach', 'portforward'):
            self.assertEqual(self.message('/nowhere/' + verb, 'POST'), (400, 'pod nowhere does not have a host assigned'))
        self.assertEqual(self.message('/lost/log'), (404, 'pods "none" not found'))
        self.assertEqual(self.message('/absent/log'), (404, 'pods "absent" not found'))

    def test_a_node_without_addresses(self):
        self.server.request('POST', '/api/v1/nodes', {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'bare'}})
        self.cluster.pod('on-bare', ['c'], 'bare')
        self.assertEqual(self.message('/on-bare/log'), (500, 'no preferred addresses found; known addresses: []'))

    def test_a_kubelet_that_is_not_there(self):
        silent = socket.socket()  # the port is reserved, and refuses connections
        self.addCleanup(silent.close)
        silent.bind(('127.0.0.1', 0))
        port = silent.getsockname()[1]
        self.cluster.node('dead', '127.0.0.1', port)
        self.cluster.pod('on-dead', ['c'], 'dead')
        refused = 'dial tcp 127.0.0.1:%d: connect: connection refused' % port
        self.assertEqual(self.message('/on-dead/log'), (500, 'Get "https://127.0.0.1:%d/containerLogs/default/on-dead/c": %s' % (port, refused)))
        code, _, answer = self.get('/on-dead/exec?command=ls&stdout=1', {'Connection': 'Upgrade', 'Upgrade': 'SPDY/3.1'}, 'POST')
        self.assertEqual((code, answer['message']), (500, 'error dialing backend: ' + refused))

    def test_refusals_of_the_kubelet_are_reported(self):
        for code, body, expected, message in (
                (400, 'bad container', 400, 'bad container'),
                (404, 'gone', 404, 'the server could not find the requested resource ( pods/log p)'),
                (500, 'broken', 500, 'Internal error occurred: broken'),
                (502, 'away', 502, 'an error on the server ("away") has prevented the request from succeeding ( pods/log p)')):
            with self.subTest(code):
                self.kubelet.answers['containerLogs'] = (code, {'Content-Type': 'text/plain'}, body)
                self.assertEqual(self.message('/p/log'), (expected, message))
        self.kubelet.answers['containerLogs'] = (302, {'Location': 'https://elsewhere/'}, '')
        self.assertEqual(self.message('/p/log'), (500, 'Get "https://elsewhere/": redirects forbidden'))
        del self.kubelet.answers['containerLogs']

    def test_what_may_be_accepted(self):
        self.assertEqual(self.get('/p/log', {'Accept': 'application/json'})[0], 200)
        code, _, answer = self.get('/p/log', {'Accept': 'image/png'})
        self.assertEqual(code, 406)
        self.assertEqual(self.get('/p/log/more')[0], 404)
        self.assertEqual(self.get('/p/exec/more', method='POST')[0], 404)

    def test_a_dry_run_connects_nowhere(self):
        self.assertEqual(self.message('/p/exec?dryRun=All', 'POST'), (400, 'dryRun is not supported'))

    def test_ports_that_are_none(self):
        self.assertEqual(self.message('/p/portforward?ports=x', 'POST'),
                         (400, 'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax'))
        self.assertEqual(self.message('/p/portforward?ports=70000', 'POST'),
                         (400, 'cannot convert to []int32: strconv.ParseUint: parsing "70000": value out of range'))

    def test_a_reader_that_disconnects_ends_the_call(self):
        self.kubelet.left.clear()
        connection = self.server.connect()
        connection.request('GET', PODS + '/p/log?follow=true')
        response = connection.getresponse()
        self.assertEqual(response.read(4), b'one\n')
        response.close()
        connection.close()
        self.assertTrue(wait_for(lambda: 'log' in self.kubelet.left))

    def test_logs_over_a_websocket(self):
        head, sock = self.upgraded(PODS + '/p/log?tailLines=1')
        self.assertIn(' 101 ', head)
        self.assertIn('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=', head)
        self.assertEqual(self.messages(sock), [(2, b''), (2, b'three\n'), (8, b'\x03\xe8')])
        head, sock = self.upgraded(PODS + '/p/log?tailLines=1', 'other', 'base64.binary.k8s.io')
        self.assertIn('Sec-Websocket-Protocol: base64.binary.k8s.io', head)
        self.assertEqual(self.messages(sock), [(1, b''), (1, b'dGhyZWUK'), (8, b'\x03\xe8')])
        self.assertIn(' 403 ', self.upgraded(PODS + '/p/log', 'other')[0])

    def test_older_websockets_reach_the_kubelet_as_they_are(self):
        head, sock = self.upgraded(PODS + '/p/exec?command=echo&command=hi&stdout=1', 'v4.channel.k8s.io')
        self.assertIn('Sec-Websocket-Protocol: v4.channel.k8s.io', head)
        self.assertEqual(self.kubelet.upgrades[-1], 'websocket')
        said = self.messages(sock)
        self.assertEqual(said[0], (2, b'\x01hi\n'))
        self.assertEqual(json.loads(said[1][1][1:])['status'], 'Success')

    def test_a_kubelet_that_translates_websockets(self):
        self.cluster.node('modern', '127.0.0.1', self.kubelet.port, declaredFeatures=['ExtendWebSocketsToKubelet'])
        self.cluster.pod('on-modern', ['c'], 'modern')
        head, sock = self.upgraded(PODS + '/on-modern/exec?command=echo&command=hi&stdout=1', 'v5.channel.k8s.io')
        self.assertIn('Sec-Websocket-Protocol: v5.channel.k8s.io', head)
        self.assertEqual(self.kubelet.upgrades[-1], 'websocket')
        self.assertEqual(self.messages(sock)[0], (2, b'\x01hi\n'))
        self.upgraded(PODS + '/p/exec?command=true&stdout=1', 'v5.channel.k8s.io')
        self.assertTrue(wait_for(lambda: self.kubelet.upgrades[-1] == 'spdy/3.1'))

    def test_a_kubelet_that_refuses_an_upgrade_is_quoted(self):
        self.kubelet.answers['exec'] = (404, {'Content-Type': 'text/plain'}, 'no such container')
        try:
            head, sock = self.upgraded(PODS + '/p/exec?command=true&stdout=1', 'v5.channel.k8s.io')
            self.assertIn(' 101 ', head)
            hello, status, farewell = self.messages(sock)
            self.assertEqual((hello, farewell), ((2, b'\x01'), (8, b'\x03\xe8')))
            self.assertEqual(status[1][:1], b'\x03')
            self.assertEqual(json.loads(status[1][1:])['message'],
                             'Internal error occurred: unable to upgrade connection: no such container')
            head, sock = self.upgraded(PODS + '/p/exec?command=true&stdout=1', 'v4.channel.k8s.io')
            self.assertIn(' 404 ', head)
        finally:
            del self.kubelet.answers['exec']

    def test_a_kubelet_that_hangs_blocks_only_its_client(self):
        self.kubelet.requests.clear()
        self.kubelet.left.clear()
        with socket.create_server(('127.0.0.1', 0)) as silent:
            self.cluster.node('silent', '127.0.0.1', silent.getsockname()[1])
            self.cluster.pod('on-silent', ['c'], 'silent')
            _, sock = self.upgraded(PODS + '/on-silent/exec?command=true&stdout=1', 'v5.channel.k8s.io')
            peer = silent.accept()[0]
            sock.close()
            peer.settimeout(30)
            while peer.recv(65536):  # the beginning of a TLS handshake, then the end of the stream
                pass
            peer.close()

    def test_broken_frames_end_the_connection(self):
        self.kubelet.left.clear()
        _, sock = self.upgraded(PODS + '/p/exec?command=sleep&command=100&stdin=1&stdout=1', 'v5.channel.k8s.io')
        self.assertEqual(sock.recv(3), b'\x82\x01\x01')
        sock.sendall(b'\x82\x01x')  # not masked
        self.assertTrue(wait_for(lambda: 'exec' in self.kubelet.left))
        sock.close()

    def test_discovery_lists_them(self):
        listed = {r['name']: (r['kind'], r['verbs']) for r in self.server.request('GET', '/api/v1')[2]['resources']}
        proxied = ['create', 'delete', 'get', 'patch', 'update']
        self.assertEqual(listed['pods/log'], ('Pod', ['get']))
        for name, kind in (('exec', 'PodExecOptions'), ('attach', 'PodAttachOptions'), ('portforward', 'PodPortForwardOptions')):
            self.assertEqual(listed['pods/' + name], (kind, ['create', 'get']))
        for name, kind in (('pods', 'Pod'), ('nodes', 'Node'), ('services', 'Service')):
            self.assertEqual(listed[name + '/proxy'], (kind + 'ProxyOptions', proxied))


class Suite:
    """One subclass per kubectl and protocol."""

    binary = None
    websockets = True

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.server, cls.kubelet = cls.cluster.server, cls.cluster.kubelet
        cls.old = dict(os.environ)
        words = 'true' if cls.websockets else 'false'
        os.environ.update(KUBECTL_REMOTE_COMMAND_WEBSOCKETS=words, KUBECTL_PORT_FORWARD_WEBSOCKETS=words)

    @classmethod
    def tearDownClass(cls):
        os.environ.clear()
        os.environ.update(cls.old)
        cls.cluster.stop()

    def run_kubectl(self, *args, data=None, timeout=60):
        return subprocess.run([self.binary, '--kubeconfig', self.server.kubeconfig, *args], input=data, capture_output=True, timeout=timeout,
                              env=dict(os.environ, HOME=self.server.dir))

    def start_kubectl(self, *args, **kw):
        return subprocess.Popen([self.binary, '--kubeconfig', self.server.kubeconfig, *args], env=dict(os.environ, HOME=self.server.dir), **kw)

    def test_logs_are_followed(self):
        self.kubelet.logs['default/p/c'] = ['before']
        with self.start_kubectl('logs', '-f', 'p', stdout=subprocess.PIPE) as following:
            self.assertEqual(following.stdout.readline(), b'before\n')
            self.kubelet.say('default/p/c', 'now')
            self.assertEqual(following.stdout.readline(), b'now\n')
            self.kubelet.say('default/p/c', None)
            self.assertEqual(following.stdout.read(), b'')
            self.assertEqual(following.wait(30), 0)

    def test_outputs_and_the_exit_code(self):
        done = self.run_kubectl('exec', 'p', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3')
        self.assertEqual((done.returncode, done.stdout), (3, b'out\n'), done.stderr)
        self.assertTrue(done.stderr.startswith(b'err\n'), done.stderr)
        self.assertIn(b'command terminated with exit code 3', done.stderr)
        done = self.run_kubectl('exec', 'p', '--', 'true')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b'', b''))
        self.assertEqual(self.kubelet.upgrades[-1], 'spdy/3.1')

    def test_input_passes_whole_and_ends(self):
        data = os.urandom(3 << 20)
        done = self.run_kubectl('exec', '-i', 'p', '--', 'cat', data=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout), len(data))
        self.assertEqual(done.stdout, data)

    def test_older_protocols_of_the_kubelet(self):
        self.kubelet.protocols = ['v2.channel.k8s.io']
        try:
            done = self.run_kubectl('exec', 'p', '--', 'sh', '-c', 'echo out; exit 2')
            self.assertEqual(done.stdout, b'out\n')
            self.assertIn(b'exit status 2', done.stderr)
            self.assertNotEqual(done.returncode, 0)
        finally:
            self.kubelet.protocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io']

    def test_a_terminal_has_the_clients_size(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 33, 111, 0, 0))
        command = 'for i in $(seq 300); do [ "$(stty size)" = "33 111" ] && break; sleep 0.2; done; stty size; read x; echo got $x'
        running = self.start_kubectl('exec', '-it', 'p', '--', 'sh', '-c', command, stdin=slave, stdout=slave, stderr=slave,
                                     start_new_session=True)
        os.close(slave)
        seen = b''
        for wanted, then in ((b'33 111', b'word\n'), (b'got word', b'')):
            while wanted not in seen:
                self.assertTrue(select.select([master], [], [], 60)[0], seen)
                seen += os.read(master, 4096)
            os.write(master, then)
        self.assertEqual(running.wait(30), 0)
        os.close(master)

    def test_attach(self):
        self.kubelet.attached = ['sh', '-c', 'echo hello; cat']
        done = self.run_kubectl('attach', '-i', 'p', data=b'from here\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b'from here\n', done.stdout)

    def test_cp_there_and_back(self):
        with tempfile.TemporaryDirectory() as folder:
            source, there, back = (os.path.join(folder, name) for name in ('source', 'there', 'back'))
            with open(source, 'wb') as f:
                f.write(os.urandom(200_000))
            done = self.run_kubectl('cp', source, 'p:' + there)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.run_kubectl('cp', 'p:' + there, back)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(source, 'rb') as a, open(back, 'rb') as b:
                self.assertEqual(a.read(), b.read())

    def test_port_forward(self):
        with socket.socket() as listening:
            listening.bind(('127.0.0.1', 0))
            listening.listen()

            def echo():
                for _ in range(2):
                    peer, _ = listening.accept()
                    with peer:
                        data = b''
                        while some := peer.recv(65536):
                            data += some
                        peer.sendall(data[::-1])
            threading.Thread(target=echo, daemon=True).start()
            with self.start_kubectl('port-forward', 'p', ':%d' % listening.getsockname()[1], stdout=subprocess.PIPE) as forwarding:
                port = int(re.search(rb':(\d+) ->', forwarding.stdout.readline())[1])
                try:
                    for data in (b'hello', os.urandom(500_000)):
                        with socket.create_connection(('127.0.0.1', port)) as s:
                            s.sendall(data)
                            s.shutdown(socket.SHUT_WR)
                            got = b''
                            while some := s.recv(65536):
                                got += some
                        self.assertEqual(got, data[::-1])
                finally:
                    forwarding.kill()
        self.assertTrue(wait_for(lambda: 'portForward' in self.kubelet.left))

    def test_a_client_that_is_killed_leaves_nothing(self):
        self.kubelet.left.clear()
        with self.start_kubectl('exec', 'p', '--', 'sh', '-c', 'echo ready; exec sleep 300', stdout=subprocess.PIPE) as running:
            self.assertEqual(running.stdout.readline(), b'ready\n')
            running.kill()
        self.assertTrue(wait_for(lambda: 'exec' in self.kubelet.left))

    def test_a_kubelet_that_breaks_off_ends_the_client(self):
        with self.start_kubectl('exec', 'p', '--', 'sh', '-c', 'echo ready; exec sleep 300', stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL) as running:
            self.assertEqual(running.stdout.readline(), b'ready\n')
            self.kubelet.dropped.set()
            try:
                running.wait(30)
            finally:
                self.kubelet.dropped.clear()


class Proxies(WebSocketClient, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.address = own_address()
        if cls.address is None:
            raise unittest.SkipTest('this machine has no address that a proxy may go to')
        cls.cluster = Cluster(address=cls.address, names=('IP:' + cls.address,))
        cls.server, cls.kubelet = cls.cluster.server, cls.cluster.kubelet
        cls.plain = Kubelet(None, None, cls.address, tls=False)
        ip = [{'ip': cls.address}]
        cls.cluster.pod('web', ['c'], 'n1', ports=[cls.plain.port], podIP=cls.address, podIPs=ip)
        cls.cluster.pod('local', ['c'], 'n1', ports=[80], podIP='127.0.0.1', podIPs=[{'ip': '127.0.0.1'}])
        meta = {'name': 'web'}
        request = cls.server.request
        spec = {'ports': [{'name': 'http', 'port': 80}, {'name': 'other', 'port': 81}]}
        assert request('POST', '/api/v1/namespaces/default/services', {'apiVersion': 'v1', 'kind': 'Service', 'metadata': meta, 'spec': spec})[0] == 201
        subset = {'addresses': [{'ip': cls.address, 'targetRef': {'kind': 'Pod', 'namespace': 'default', 'name': 'web'}}],
                  'ports': [{'name': 'http', 'port': cls.plain.port}]}
        code, _, answer = request('POST', '/api/v1/namespaces/default/endpoints',
                                  {'apiVersion': 'v1', 'kind': 'Endpoints', 'metadata': meta, 'subsets': [subset]})
        assert code == 201, answer

    @classmethod
    def tearDownClass(cls):
        if cls.address is not None:
            cls.plain.stop()
            cls.cluster.stop()

    def ask(self, path, method='GET', body=None, headers=None):
        return self.server.request(method, path, body, headers)

    def test_nodes(self):
        code, _, answer = self.ask('/api/v1/nodes/n1/proxy/stats/summary?only=cpu')
        self.assertEqual((code, answer['path']), (200, '/stats/summary?only=cpu'))
        self.assertEqual(answer['headers']['x-forwarded-uri'], '/api/v1/nodes/n1/proxy/stats/summary')
        self.assertNotIn('authorization', answer['headers'])
        self.assertEqual(self.ask('/api/v1/nodes/n1:%d/proxy/x' % self.kubelet.port)[2]['path'], '/x')
        self.assertEqual(self.ask('/api/v1/nodes/http:n1:%d/proxy/x' % self.plain.port)[2]['path'], '/x')
        self.assertEqual(self.ask('/api/v1/nodes/a:b:c:d/proxy/x')[2]['message'], 'invalid node request "a:b:c:d"')
        self.cluster.node('loop', '127.0.0.1', 1)
        self.assertEqual(self.ask('/api/v1/nodes/loop/proxy/x')[2]['message'], 'address not allowed')

    def test_pods(self):
        for name in ('web', 'web:%d' % self.plain.port, 'http:web:'):
            with self.subTest(name):
                self.assertEqual(self.ask('%s/%s/proxy/a/b/' % (PODS, name))[2]['path'], '/a/b/')
        code, _, answer = self.ask(PODS + '/web/proxy/form', 'POST', 'x' * 100_000)
        self.assertEqual((code, answer['method'], len(answer['body'])), (200, 'POST', 100_000))
        self.assertEqual(self.ask(PODS + '/local/proxy/x')[2]['message'], 'address not allowed')
        self.assertEqual(self.ask(PODS + '/https:web:%d/proxy/x' % self.kubelet.port)[2]['path'], '/x')

    def test_services(self):
        base = '/api/v1/namespaces/default/services/'
        for name in ('web:http', 'web:80', 'http:web:http'):
            with self.subTest(name):
                self.assertEqual(self.ask(base + name + '/proxy/x')[2]['path'], '/x')
        for name, message in (('web', 'no endpoints available for service "web"'), ('web:81', 'no endpoints available for service "web:81"'),
                              ('web:99', 'no service port 99 found for service "web"')):
            code, _, answer = self.ask(base + name + '/proxy/x')
            self.assertEqual((code, answer['message']), (503, message))
        self.assertEqual(self.ask(base + 'none:http/proxy/')[2]['message'], 'services "none" not found')

    def test_a_page_without_a_slash_is_redirected(self):
        code, headers, _ = self.ask(PODS + '/web/proxy?a=b')
        self.assertEqual((code, headers['Location']), (301, PODS + '/web/proxy/?a=b'))
        self.assertEqual(self.ask(PODS + '/web/proxy/')[2]['path'], '/')

    def test_links_lead_through_the_proxy(self):
        page = '<p><a href="/next?x=1#y">n</a><img src=\'http://%s:%d/i.png\'><a href="https://else/where">e</a><a href="near">r</a>' \
               '<script>var a = "<a href=\'/kept\'>";</script></p>' % (self.address, self.plain.port)
        prefix = PODS + '/web/proxy'
        wanted = '<p><a href="%s/next?x=1#y">n</a><img src=\'%s/i.png\'><a href="https://else/where">e</a><a href="near">r</a>' \
                 '<script>var a = "<a href=\'/kept\'>";</script></p>' % (prefix, prefix)
        self.plain.answers['page'] = (200, {'Content-Type': 'text/html; charset=utf-8'}, page)
        code, headers, text = self.ask(prefix + '/page')
        self.assertEqual((code, headers['Content-Type'], text), (200, 'text/html; charset=utf-8', wanted))
        self.plain.answers['page'] = (200, {'Content-Type': 'text/html', 'Content-Encoding': 'gzip'}, gzip.compress(page.encode()))
        connection = self.server.connect()
        connection.request('GET', prefix + '/page', headers={'Accept-Encoding': 'gzip'})
        response = connection.getresponse()
        self.assertEqual(response.getheader('Content-Encoding'), 'gzip')
        self.assertEqual(gzip.decompress(response.read()).decode(), wanted)
        connection.close()
        self.plain.answers['page'] = (302, {'Location': '/login'}, '')
        self.assertEqual(self.ask(prefix + '/page')[1]['Location'], prefix + '/login')
        del self.plain.answers['page']

    def test_websockets_pass(self):
        head, sock = self.upgraded(PODS + '/web/proxy/exec/a?command=echo&command=hi&output=1', 'v4.channel.k8s.io')
        self.assertIn('Sec-Websocket-Protocol: v4.channel.k8s.io', head)
        self.assertEqual(self.messages(sock)[0], (2, b'\x01hi\n'))

    def test_an_unreachable_backend(self):
        with socket.socket() as silent:  # the port is reserved, and refuses connections
            silent.bind((self.address, 0))
            port = silent.getsockname()[1]
            code, _, answer = self.ask('%s/web:%d/proxy/x' % (PODS, port))
        self.assertEqual((code, answer['reason']), (503, 'ServiceUnavailable'))
        self.assertEqual(answer['message'],
                         'error trying to reach service: dial tcp %s:%d: connect: connection refused' % (self.address, port))

    def test_a_backend_that_hangs_blocks_only_its_client(self):
        connection = self.server.connect()
        connection.request('GET', PODS + '/web/proxy/hang')
        self.assertTrue(wait_for(lambda: any(path == '/hang' for _, path, _ in self.plain.requests)))
        connection.close()
        self.assertEqual(self.ask(PODS + '/web/proxy/alive')[0], 200)


class Trust(unittest.TestCase):
    """Certificates of kubelets, and client certificates for kubelets."""

    def test_certificates(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = self_signed(folder, 'IP:127.0.0.1')
            flags = ['--kubelet-client-certificate=' + certificate, '--kubelet-client-key=' + key]
            cluster = Cluster('--kubelet-certificate-authority=' + certificate, *flags)
            try:
                # Its own certificate is not signed by that authority.
                code, _, answer = cluster.server.request('GET', PODS + '/p/log')
                self.assertEqual(code, 500)
                self.assertIn('x509', answer['message'])
                cluster.kubelet.logs['default/p/c'] = ['said']
                self.assertEqual(cluster.server.request('GET', PODS + '/p/log?insecureSkipTLSVerifyBackend=true')[2], 'said\n')
                strict = Kubelet(certificate, key, client_authority=certificate)
                strict.logs['default/q/c'] = ['trusted']
                cluster.node('n2', '127.0.0.1', strict.port)
                cluster.pod('q', ['c'], 'n2')
                self.assertEqual(cluster.server.request('GET', PODS + '/q/log')[2], 'trusted\n')
                strict.stop()
            finally:
                cluster.stop()

    def test_a_missing_certificate_file_makes_startup_fail(self):
        with Server('--kubelet-client-certificate=/absent', wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            self.assertIn('kubelet-client-certificate', server.text())


class ConnectProxy:
    """Accepts HTTP CONNECT; `refuses`: the response instead.  `tls`: a context, or no TLS."""

    def __init__(self, path=None, tls=None):
        self.asked, self.refuses, self.tls = [], None, tls
        self.listening = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self.listening.bind(path or ('127.0.0.1', 0))
        self.listening.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer = self.listening.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.forward, args=(peer,), daemon=True).start()

    def forward(self, peer):
        if self.tls:
            try:
                peer = self.tls.wrap_socket(peer, server_side=True)
            except OSError:
                return None
        head = b''
        while b'\r\n\r\n' not in head:
            head += peer.recv(1)
        self.asked.append(head.split()[1].decode())
        if self.refuses:
            peer.sendall(self.refuses)
            return peer.close()
        host, _, port = self.asked[-1].rpartition(':')
        with peer, socket.create_connection((host, int(port))) as backend:
            peer.sendall(b'HTTP/1.1 200 Connection established\r\n\r\n')
            ends = {peer: backend, backend: peer}
            while True:
                waiting = [one for one in ends if isinstance(one, ssl.SSLSocket) and one.pending()]
                for one in waiting or select.select(list(ends), [], [])[0]:
                    some = one.recv(65536)
                    if not some:
                        return None
                    ends[one].sendall(some)


class Egress(unittest.TestCase):
    """Connections into the cluster use the proxies of --egress-selector-config-file."""

    CONFIG = 'apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n' \
             '- name: %s\n  connection:\n    proxyProtocol: %s\n    transport: %s\n'

    def config(self, folder, protocol, transport, name='cluster'):
        path = os.path.join(folder, 'egress.yaml')
        with open(path, 'w') as f:
            f.write(self.CONFIG % (name, protocol, transport))
        return '--egress-selector-config-file=' + path

    def check(self, proxy, flag):
        cluster = Cluster(flag)
        try:
            authority = '127.0.0.1:%d' % cluster.kubelet.port
            cluster.kubelet.logs['default/p/c'] = ['by proxy']
            self.assertEqual(cluster.server.request('GET', PODS + '/p/log')[2], 'by proxy\n')
            self.assertEqual(proxy.asked, [authority])
            said = cluster.server.kubectl(kubectls()[0], 'exec', 'p', '--', 'echo', 'hello')
            self.assertEqual(said, 'hello\n')
            self.assertEqual(proxy.asked, [authority] * 2)
            proxy.refuses = b'HTTP/1.1 403 Forbidden\r\n\r\n'
            cluster.pod('q', ['c'], 'n1')
            code, _, answer = cluster.server.request('GET', PODS + '/q/log?insecureSkipTLSVerifyBackend=true')
            self.assertEqual(code, 500)
            self.assertIn('while dialing %s, code 403: 403 Forbidden' % authority, answer['message'])
        finally:
            proxy.listening.close()
            cluster.stop()

    def test_over_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'proxy')
            self.check(ConnectProxy(path), self.config(folder, 'HTTPConnect', '{uds: {udsName: %s}}' % path))

    def test_over_tcp(self):
        with tempfile.TemporaryDirectory() as folder:
            proxy = ConnectProxy()
            url = 'http://127.0.0.1:%d' % proxy.listening.getsockname()[1]
            self.check(proxy, self.config(folder, 'HTTPConnect', "{tcp: {url: '%s'}}" % url))

    def test_over_tls_with_a_client_certificate(self):
        with tempfile.TemporaryDirectory() as folder:
            certificates = Certificates(folder)
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(*certificates.issue('proxy', 'proxy', 'proxy.example.com'))
            tls.load_verify_locations(certificates.path('ca.crt'))
            tls.verify_mode = ssl.CERT_REQUIRED
            proxy = ConnectProxy(tls=tls)
            client = certificates.issue('client', 'apiserver')
            url = 'https://127.0.0.1:%d' % proxy.listening.getsockname()[1]
            files = 'tlsConfig: {caBundle: %s, clientCert: %s, clientKey: %s' % (certificates.path('ca.crt'), *client)
            self.check(proxy, self.config(folder, 'HTTPConnect', "{tcp: {url: '%s', %s, tlsServerName: proxy.example.com}}}" % (url, files)))

    def test_a_proxy_with_another_name_is_not_trusted(self):
        with tempfile.TemporaryDirectory() as folder:
            certificates = Certificates(folder)
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(*certificates.issue('proxy', 'proxy', 'proxy.example.com'))
            proxy = ConnectProxy(tls=tls)
            client = certificates.issue('client', 'apiserver')
            url = 'https://127.0.0.1:%d' % proxy.listening.getsockname()[1]
            files = 'tlsConfig: {caBundle: %s, clientCert: %s, clientKey: %s}' % (certificates.path('ca.crt'), *client)
            cluster = Cluster(self.config(folder, 'HTTPConnect', "{tcp: {url: '%s', %s}}" % (url, files)))
            try:
                code, _, answer = cluster.server.request('GET', PODS + '/p/log')
                self.assertEqual(code, 500)
                self.assertIn('tls: failed to verify certificate: x509: ', answer['message'])
                self.assertIn('apiserver_egress_dialer_dial_failure_count{protocol="http_connect",stage="connect",transport="tcp"}',
                              cluster.server.request('GET', '/metrics')[2])
            finally:
                proxy.listening.close()
                cluster.stop()

    def test_aggregated_servers_and_webhooks_are_dialled_through_it(self):
        with tempfile.TemporaryDirectory() as folder:
            proxy = ConnectProxy(os.path.join(folder, 'proxy'))
            backs = Certificates(os.path.join(folder, 'backs'))
            backend, hook = Backend(backs), Webhook(folder, name='hook.agg.svc')
            with Server(self.config(folder, 'HTTPConnect', '{uds: {udsName: %s}}' % os.path.join(folder, 'proxy'))) as server:
                self.serve(server, backs, backend, hook)
                self.assertEqual(server.request('GET', '/apis/%s/v1/namespaces/default/echoes' % GROUP)[0], 200)
                self.assertEqual({each for each in proxy.asked if each.endswith(':%d' % backend.port)}, {'localhost:%d' % backend.port})
                path = '/apis/convert.example.com/%s/namespaces/default/foos'
                foo = {'apiVersion': 'convert.example.com/v1', 'kind': 'Foo', 'metadata': {'name': 'f'}, 'spec': {'size': 2}}
                self.assertTrue(wait_for(lambda: server.request('POST', path % 'v1', foo)[0] == 201))
                self.assertEqual(server.request('GET', path % 'v2' + '/f')[2]['spec']['dimensions'], {'size': 2})
                self.assertIn('localhost:%d' % hook.port, proxy.asked)
                metrics = server.request('GET', '/metrics')[2]
                for name in ('dial_start_total', 'dial_duration_seconds_count'):
                    self.assertIn('apiserver_egress_dialer_%s{protocol="http_connect",transport="uds"}' % name, metrics)
            proxy.listening.close()
            backend.stop()
            hook.stop()

    def serve(self, server, backs, backend, hook):
        """An aggregated server and a conversion webhook behind services."""
        self.assertEqual(server.request('POST', '/api/v1/namespaces', namespace('agg'))[0], 201)
        for name in ('echo', 'hook'):
            self.assertEqual(server.request('POST', '/api/v1/namespaces/agg/services', external(name))[0], 201)
        behind = apiservice('v1', GROUP, 'agg', 'echo', backend.port, caBundle=base64.b64encode(backs.bundle()).decode())
        self.assertEqual(server.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', behind)[0], 201)
        self.assertTrue(wait_for(lambda: (available(server, 'v1.' + GROUP) or ('', ''))[1] == 'Passed'))
        client = {'service': {'namespace': 'agg', 'name': 'hook', 'port': hook.port, 'path': '/convert'}, 'caBundle': hook.ca}
        crd = definition('foos', 'Foo', client)
        self.assertEqual(server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)[0], 201)

    def test_by_grpc_over_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'proxy')
            proxy = KonnectivityProxy(path)
            cluster = Cluster(self.config(folder, 'GRPC', '{uds: {udsName: %s}}' % path))
            try:
                authority = '127.0.0.1:%d' % cluster.kubelet.port
                line = 'by proxy ' * 40000  # more than a window
                cluster.kubelet.logs['default/p/c'] = [line]
                self.assertEqual(cluster.server.request('GET', PODS + '/p/log')[2], line + '\n')
                self.assertEqual(proxy.asked, [authority])
                self.assertEqual(cluster.server.kubectl(kubectls()[0], 'exec', 'p', '--', 'echo', 'hello'), 'hello\n')
                with subprocess.Popen([kubectls()[0], '--kubeconfig', cluster.server.kubeconfig, 'exec', '-i', 'p', '--', 'cat'],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE) as kubectl:
                    kubectl.stdin.write(b'a line\n')
                    kubectl.stdin.flush()
                    self.assertEqual(kubectl.stdout.readline(), b'a line\n')
                    kubectl.kill()
                self.assertTrue(proxy.closed.wait(60), 'the end of a connection is reported')
                proxy.refuses = 'no agent available'
                cluster.pod('q', ['c'], 'n1')
                code, _, answer = cluster.server.request('GET', PODS + '/q/log?insecureSkipTLSVerifyBackend=true')
                self.assertEqual(code, 500)
                self.assertIn('no agent available', answer['message'])
                metrics = cluster.server.request('GET', '/metrics')[2]
                self.assertIn('apiserver_egress_dialer_dial_start_total{protocol="grpc",transport="uds"}', metrics)
                self.assertIn('apiserver_egress_dialer_dial_failure_count{protocol="grpc",stage="proxy",transport="uds"} 1', metrics)
            finally:
                proxy.die()
                cluster.stop()

    def test_etcd_is_dialled_through_its_proxy(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        address = etcd.url.partition('//')[2]
        for protocol, kind in (('GRPC', KonnectivityProxy), ('HTTPConnect', ConnectProxy)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'proxy')
                proxy = kind(path)
                flag = self.config(folder, protocol, '{uds: {udsName: %s}}' % path, name='etcd')
                with Server(flag, '--etcd-servers=' + etcd.url) as server:
                    self.assertEqual(server.request('GET', '/api/v1/namespaces/default')[0], 200)
                    self.assertEqual(set(proxy.asked), {address})
                proxy.die() if protocol == 'GRPC' else proxy.listening.close()


class Throttled(unittest.TestCase):
    """--max-connection-bytes-per-sec limits upgraded connections only."""

    RATE = 100

    def test_an_exec_takes_the_time_of_its_bytes(self):
        cluster = Cluster('--max-connection-bytes-per-sec=%d' % self.RATE)
        try:
            cluster.kubelet.logs['default/p/c'] = ['x' * 5000]
            began = time.monotonic()
            self.assertEqual(len(cluster.server.request('GET', PODS + '/p/log')[2]), 5001)
            read = time.monotonic() - began
            began = time.monotonic()
            said = cluster.server.kubectl(kubectls()[0], 'exec', 'p', '--', 'echo', 'y' * 500)
            self.assertEqual(said, 'y' * 500 + '\n')
            # Checks both directions: the target includes the command that is still in flight, the stream does not.
            self.assertGreater(time.monotonic() - began, 500 / self.RATE - 1)
            self.assertLess(read, 5000 / self.RATE - 1, 'logs are not throttled')
        finally:
            cluster.stop()


class Stops(unittest.TestCase):
    """Shutdown does not wait for tunnels."""

    def test_a_tunnel_does_not_hold_the_stop(self):
        cluster = Cluster()
        try:
            env = dict(os.environ, HOME=cluster.server.dir)
            with subprocess.Popen([kubectls()[0], '--kubeconfig', cluster.server.kubeconfig, 'exec', 'p', '--', 'sh', '-c', 'echo on; sleep 100'],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as running:
                self.assertEqual(running.stdout.readline(), b'on\n')
                self.assertEqual(cluster.server.terminate(50), 0)
                running.wait(30)
            self.assertTrue(wait_for(lambda: 'exec' in cluster.kubelet.left))
        finally:
            cluster.stop()


for index, path in enumerate(kubectls()):
    for websockets in (True, False):
        name = 'Kubectl%d%s' % (index, 'WebSocket' if websockets else 'Spdy')
        globals()[name] = type(name, (Suite, unittest.TestCase), {'binary': path, 'websockets': websockets})

if __name__ == '__main__':
    main()
