"""Starts the built server for a test, with a kubeconfig, kubectl, and a plain HTTPS client with the admin's certificate."""
import base64
import http.client
import itertools
import json
import mmap
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import urllib.parse

BINARY = os.environ.get('BACKPLANE', os.path.join(os.path.dirname(__file__), '../../build/bin/backplane'))
PLUGINS = os.environ.get('BACKPLANE_PLUGINS', os.path.join(os.path.dirname(__file__), '../../build/lib/backplane/plugins'))
# No admission plugin except NamespaceLifecycle, as for the recordings of kube-apiserver and for tests of the rules of kinds.
ONLY_LIFECYCLE = '--disable-admission-plugins=' + ','.join(
    'LimitRanger ServiceAccount TaintNodesByCondition PodSecurity Priority DefaultTolerationSeconds DefaultStorageClass '
    'StorageObjectInUseProtection PodGroupProtection PersistentVolumeClaimResize RuntimeClass CertificateApproval CertificateSigning '
    'ClusterTrustBundleAttest CertificateSubjectRestriction DefaultIngressClass PodTopologyLabels PodGroupWorkloadExists '
    'NodeDeclaredFeatureValidator JobValidation PodResizeValidator MutatingAdmissionPolicy MutatingAdmissionWebhook '
    'ValidatingAdmissionPolicy ValidatingAdmissionWebhook ResourceQuota'.split())
START_SECONDS = 60  # generous: sanitizer builds on a busy machine
# Below the ephemeral ports: a connection could occupy an ephemeral port before the server binds it.
PORTS = (range(15000, 30000)[n % 15000] for n in itertools.count(os.getpid() * 31))


def free_port():
    """A free port of 127.0.0.1 for a later bind."""
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(('127.0.0.1', port))
                return port
            except OSError:
                pass


def kubectls():
    """Every available kubectl: the one on the PATH, and Debian's 1.20 if scripts/setup has unpacked it."""
    found = []
    for path in (shutil.which('kubectl'), os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../.tools/kubernetes-client/usr/bin/kubectl')):
        if path and os.path.exists(path) and os.path.realpath(path) not in [os.path.realpath(p) for p in found]:
            found.append(path)
    return found


def is_sanitized():
    """Whether the server is built with a sanitizer, which does not reuse freed memory, so its memory use cannot be checked."""
    with open(BINARY, 'rb') as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as code:
        return code.find(b'__sanitizer_') >= 0


class Server:
    """One running server with a data directory of its own.  `under`: a command that is given its command.

    `service_accounts`: the admission plugin ServiceAccount runs, as it does by default. It refuses pods in namespaces without a ServiceAccount
    `default`, which a controller would create, so that it is off for tests about other things.
    `controllers`: the controllers run, as in a server without flags; they create and delete objects. None: the flag is not set."""

    def __init__(self, *flags, data_dir=None, plugin_dir=None, wait=True, env=None, restore_signals=True, under=(), service_accounts=False,
                 controllers=False):
        self.own_dir = data_dir is None
        self.dir = data_dir or tempfile.mkdtemp(prefix='backplane-test-')
        self.log_path = os.path.join(self.dir, 'log-%d' % time.monotonic_ns())
        self.log = open(self.log_path, 'wb')
        if not service_accounts and not any(flag.startswith('--admission-control=') for flag in flags):
            flags = ('--disable-admission-plugins=ServiceAccount', *flags)
        if controllers is not None and not any(flag.startswith('--controllers=') for flag in flags):
            flags = ('--controllers=*' if controllers else '--controllers=', *flags)
        args = [*under, BINARY, '--data-dir', os.path.join(self.dir, 'data'), '--plugin-dir', plugin_dir or PLUGINS, '--secure-port', '0', *flags]
        self.process = subprocess.Popen(args, stdout=self.log, stderr=subprocess.STDOUT, env=dict(os.environ, **(env or {})),
                                        restore_signals=restore_signals)
        self.kubeconfig = os.path.join(self.dir, 'data', 'admin.kubeconfig')
        self.port = None
        if wait:
            self.wait_ready()

    def text(self):
        self.log.flush()
        with open(self.log_path, errors='replace') as f:
            return f.read()

    def wait_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError('the server ended with %s:\n%s' % (self.process.returncode, self.text()))
            if 'export KUBECONFIG=' in self.text():
                self.read_kubeconfig()
                try:
                    if self.request('GET', '/readyz')[0] == 200:
                        return
                except OSError:
                    pass
            time.sleep(0.02)
        raise AssertionError('the server did not become ready:\n' + self.text())

    def read_kubeconfig(self):
        with open(self.kubeconfig) as f:
            text = f.read()
        self.port = int(re.search(r'server: https://[^:]+:(\d+)', text)[1])
        self.tls = self.tls_context(text)

    def tls_context(self, text=None, client_certificate=True):
        text = text or pathlib.Path(self.kubeconfig).read_text(encoding='utf-8')

        def data(key):
            return base64.b64decode(re.search(key + r': (\S+)', text)[1])
        context = ssl.create_default_context(cadata=data('certificate-authority-data').decode())
        if client_certificate:
            with tempfile.NamedTemporaryFile(suffix='.pem') as f:
                f.write(data('client-certificate-data') + b'\n' + data('client-key-data'))
                f.flush()
                context.load_cert_chain(f.name)
        return context

    def connect(self, client_certificate=True, timeout=30):
        tls = self.tls if client_certificate else self.tls_context(client_certificate=False)
        return http.client.HTTPSConnection('127.0.0.1', self.port, context=tls, timeout=timeout)

    def request(self, method, path, body=None, headers=None, client_certificate=True, connection=None):
        """(status, headers, parsed body or text)"""
        conn = connection or self.connect(client_certificate)
        send = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            send.setdefault('Content-Type', 'application/json')
        conn.request(method, path, body=body, headers=send)
        response = conn.getresponse()
        raw = response.read()
        if connection is None:
            conn.close()
        try:
            return response.status, dict(response.getheaders()), json.loads(raw)
        except ValueError:
            return response.status, dict(response.getheaders()), raw.decode(errors='replace')

    def events(self, path, count):
        """The first events of a watch; None for each that does not arrive within a minute."""
        connection = self.connect(timeout=90)
        connection.request('GET', path + '&timeoutSeconds=60')
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(response.read())
        lines = [response.readline() for _ in range(count)]
        connection.close()
        return [json.loads(line) if line else None for line in lines]

    def kubectl(self, binary, *args, stdin=None, check=True, timeout=60):
        command = [binary, '--kubeconfig', self.kubeconfig, *args]
        env = dict(os.environ, HOME=self.dir, KUBECACHEDIR=os.path.join(self.dir, 'cache', os.path.basename(os.path.dirname(binary))))
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout, env=env)
        if check and done.returncode != 0:
            raise AssertionError('%s\n%s%s\n--- server\n%s' % (' '.join(args), done.stdout, done.stderr, self.text()[-3000:]))
        return done.stdout if check else done

    def terminate(self, timeout=60):
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
        if self.own_dir:
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Served:
    """For test cases that share one server; precedes TestCase in the list of bases."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()


def wait_for(what, seconds=60):
    """The first truthy result of `what`; None if there is none in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    return None


def namespace(name):
    return {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': name}}


def configmap(name, **data):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name}, 'data': data}


def main():
    unittest.main()
