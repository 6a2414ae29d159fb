"""A real kube-apiserver together with the built server, over one etcd: both have the same flags and clients use the same certificate."""
import http.client
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '../e2e'), os.path.join(HERE, '../conformance')]
import clients  # noqa: E402
import harness  # noqa: E402
from etcd_test import ETCD, Etcd  # noqa: E402
from recordings_test import HEADERS, in_any_order, parsed  # noqa: E402

RANGE = '10.0.0.0/16'
# The harness disables it for the built server, because no controller creates accounts.
WITHOUT = ('ServiceAccount',)


def openssl(*args):
    subprocess.run(['openssl', *args], check=True, capture_output=True)


class Pki:
    """The shared files of a cluster's servers: an authority of clients, one client (system:masters), and the key of service accounts."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='backplane-pki-')
        self.ca, self.client, self.key, self.accounts = (os.path.join(self.dir, n) for n in ('ca.crt', 'client.crt', 'client.key', 'sa.key'))
        openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', self.dir + '/ca.key', '-out', self.ca, '-subj', '/CN=test-ca')
        openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', self.key, '-out', self.dir + '/client.csr', '-subj',
                '/O=system:masters/CN=kubernetes-admin')
        openssl('x509', '-req', '-in', self.dir + '/client.csr', '-CA', self.ca, '-CAkey', self.dir + '/ca.key', '-CAcreateserial', '-out',
                self.client, '-days', '2')
        openssl('genrsa', '-out', self.accounts, '2048')

    def flags(self, etcd):
        """The flags of both servers: those of a kubeadm manifest that the built server has."""
        over = ['--etcd-servers=' + etcd.url] if etcd else []
        return over + ['--service-cluster-ip-range=' + RANGE, '--allow-privileged=true',
                       '--client-ca-file=' + self.ca, '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
                       '--service-account-key-file=' + self.accounts, '--service-account-signing-key-file=' + self.accounts]

    def context(self, certificate=True):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if certificate:
            context.load_cert_chain(self.client, self.key)
        return context

    def kubeconfig(self, port):
        """The text of a kubeconfig of the client for the server on that port of 127.0.0.1."""
        cluster = {'server': 'https://127.0.0.1:%d' % port, 'insecure-skip-tls-verify': True}
        user = {'client-certificate': self.client, 'client-key': self.key}
        return json.dumps({'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c', 'clusters': [{'name': 'c', 'cluster': cluster}],
                           'users': [{'name': 'c', 'user': user}], 'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'c'}}]})

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Requests:
    """Requests of one client over one connection, which is reopened after it was closed."""

    def __init__(self, pki, port):
        self.pki, self.context, self.port, self.connection = pki, pki.context(), port, None

    def connect(self, certificate=True):
        context = self.context if certificate else self.pki.context(certificate=False)
        return http.client.HTTPSConnection('127.0.0.1', self.port, context=context, timeout=60)

    def raw(self, method, path, body=None, headers=None):
        """(status, headers, bytes)"""
        send = dict({'User-Agent': 'tester/1'}, **(headers or {}))
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            send.setdefault('Content-Type', 'application/json')
        for again in (True, False):
            self.connection = self.connection or self.connect()
            try:
                self.connection.request(method, path, body=body, headers=send)
                response = self.connection.getresponse()
                return response.status, dict(response.getheaders()), response.read()
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
                if not again:
                    raise

    def request(self, method, path, body=None, headers=None):
        status, got, data = self.raw(method, path, body, headers)
        try:
            return status, got, json.loads(data)
        except ValueError:
            return status, got, data.decode(errors='replace')

    def watch(self, path, since):
        """The events of a list since a version, as they arrive."""
        connection = self.connect()
        connection.request('GET', path + '?watch=1&timeoutSeconds=120&resourceVersion=' + since)
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(response.read())
        while line := response.readline():
            yield json.loads(line)


class KubeApiserver(Requests):
    """kube-apiserver, started and ready."""
    name = 'kube-apiserver'

    def __init__(self, path, pki, etcd, *flags, under=()):
        super().__init__(pki, harness.free_port())
        self.dir = tempfile.mkdtemp(prefix='backplane-kube-')
        self.log_path = os.path.join(self.dir, 'log')
        modes = [] if any(flag.startswith('--authorization-') for flag in flags) else ['--authorization-mode=RBAC']
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen(
                [*under, path, '--secure-port=%d' % self.port, '--bind-address=127.0.0.1', '--advertise-address=192.0.2.10', '--cert-dir=' + self.dir,
                 *modes, '--disable-admission-plugins=' + ','.join(WITHOUT), *pki.flags(etcd), *flags],
                stdout=log, stderr=subprocess.STDOUT, env=dict(os.environ, HOME=self.dir))
        if not harness.wait_for(self.ready, 300):
            raise AssertionError('kube-apiserver does not come up:\n' + self.text()[-5000:])

    def ready(self):
        if self.process.poll() is not None:
            raise AssertionError('kube-apiserver ended:\n' + self.text()[-5000:])
        try:
            return self.raw('GET', '/readyz')[0] == 200
        except (OSError, http.client.HTTPException):
            time.sleep(0.2)
            return False

    def text(self):
        with open(self.log_path, errors='replace') as f:
            return f.read()

    def stop(self):
        clients.end(self.process, 90)
        shutil.rmtree(self.dir, ignore_errors=True)


class Backplane(Requests):
    """The built server over the same etcd, or without one in a directory."""
    name = 'backplane'

    def __init__(self, pki, etcd, *flags, data_dir=None):
        self.server = harness.Server('--advertise-address=192.0.2.11', *pki.flags(etcd), *flags, data_dir=data_dir)
        super().__init__(pki, self.server.port)

    def text(self):
        return self.server.text()

    def stop(self):
        if self.server.process.poll() is None:
            self.server.terminate()
        self.server.stop()


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class SideBySide(unittest.TestCase):
    """`servers`: kube-apiserver and the built server, each with a separate store. `flags`: additional flags of both."""
    flags = ()

    @classmethod
    def start_flags(cls):
        """Flags of both servers; the files that they name can be written to the directory of `pki`."""
        return cls.flags

    @classmethod
    def own_flags(cls, name):
        """Flags of one server besides those: 'kube-apiserver' or 'backplane'."""
        return ()

    @classmethod
    def setUpClass(cls):
        try:
            program = clients.build(('kube-apiserver',))['kube-apiserver']
        except clients.Missing as why:
            raise unittest.SkipTest('kube-apiserver cannot be built: %s' % why)
        cls.pki = Pki()
        cls.addClassCleanup(cls.pki.remove)
        etcd = Etcd().start()
        cls.addClassCleanup(etcd.stop)
        cls.servers, flags = [], cls.start_flags()
        for make in (lambda: KubeApiserver(program, cls.pki, etcd, *flags, *cls.own_flags('kube-apiserver')),
                     lambda: Backplane(cls.pki, None, *flags, *cls.own_flags('backplane'))):
            cls.servers.append(make())
            cls.addClassCleanup(cls.servers[-1].stop)

    @staticmethod
    def answer(server, method, path, body, media_type='application/json'):
        """The compared part of a response: the status, some headers, and the body with sorted lists. A text body is sent unchanged."""
        text = body if isinstance(body, (str, type(None))) else json.dumps(body)
        status, headers, raw = server.raw(method, path, text and text.encode(), {'Content-Type': media_type, 'User-Agent': 'recorder'})
        kept = {key.lower(): value for key, value in headers.items() if key.lower() in HEADERS}
        return {'status': status, 'headers': kept, 'body': in_any_order(parsed(kept.get('content-type'), raw))}


def listed(server):
    """[(group version path, resource)] of all that both list and get, by discovery."""
    out = []
    _, _, core = server.request('GET', '/api/v1')
    documents = [('/api/v1', core)]
    _, _, groups = server.request('GET', '/apis')
    for group in groups['groups']:
        for version in group['versions']:
            path = '/apis/' + version['groupVersion']
            documents.append((path, server.request('GET', path)[2]))
    for path, document in documents:
        # A group version whose server is unavailable has no document.
        for resource in document['resources'] if isinstance(document, dict) else []:
            if '/' not in resource['name'] and {'list', 'get'} <= set(resource['verbs']):
                out.append((path, resource))
    return out


def object_path(group, resource, item):
    metadata = item['metadata']
    space = '/namespaces/' + metadata['namespace'] if resource['namespaced'] else ''
    return '%s%s/%s/%s' % (group, space, resource['name'], metadata['name'])
