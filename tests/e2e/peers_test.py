"""Two servers over one etcd with different APIs: each forwards requests for APIs that it lacks, and the discovery of both lists all.

Servers are known by the names of their machines and reached at addresses that are not loopback's, so the test runs in a separate network
namespace, and each server with a separate host name (unshare)."""
import fcntl
import http.client
import os
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

import harness
from etcd_test import ETCD, Etcd

ALONE = 'BACKPLANE_TEST_NETWORK'
ADDRESSES = {'one': '192.0.2.10', 'two': '192.0.2.11'}
AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
JOB = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'j'}, 'spec': {'template': {'spec': {
    'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': 'i'}]}}}}
SCALER = {'apiVersion': 'autoscaling/v2', 'kind': 'HorizontalPodAutoscaler', 'metadata': {'name': 'h'}, 'spec': {
    'maxReplicas': 3, 'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}}}
JOBS, SCALERS = '/apis/batch/v1/namespaces/default/jobs', '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'


def run_alone():
    """Restarts the program in a separate network namespace, if one can be created."""
    command = ['unshare', '--map-root-user', '--net', '--']
    if ALONE not in os.environ and subprocess.run([*command, 'true'], capture_output=True).returncode == 0:
        os.environ[ALONE] = '1'
        os.execvp(command[0], [*command, sys.executable, '-B', *sys.argv])


def use_network():
    if ALONE not in os.environ:
        raise unittest.SkipTest('no network of its own can be made here (unshare --net)')
    up, set_flags, set_address = 1, 0x8914, 0x8916
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, set_flags, struct.pack('16sH14x', b'lo', up))
        for n, address in enumerate(ADDRESSES.values()):
            fcntl.ioctl(control, set_address, struct.pack('16sHH4s8x', b'lo:%d' % n, socket.AF_INET, 0, socket.inet_aton(address)))


def named(name):
    """A command prefix that runs a program with this host name."""
    return 'unshare', '--uts', '--', 'sh', '-c', 'hostname %s && exec "$@"' % name, 'sh'


class Certificates:
    """One authority of serving certificates and of front proxies, and one certificate of each kind that all servers use."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix='backplane-peers-')
        self.openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=peers-ca')
        self.make('serving', '/CN=server', 'DNS:kubernetes.default.svc,DNS:localhost,IP:127.0.0.1')
        self.make('proxy', '/CN=front-proxy-client', 'DNS:front-proxy')

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def openssl(self, *args):
        subprocess.run(['openssl', *args], check=True, capture_output=True, cwd=self.dir.name)

    def make(self, name, subject, names):
        with open(self.path('names'), 'w', encoding='utf-8') as out:
            out.write('subjectAltName=' + names)
        self.openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', name + '.key', '-out', name + '.csr', '-subj', subject)
        self.openssl('x509', '-req', '-in', name + '.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', '2',
                     '-out', name + '.crt')

    def flags(self, address):
        return ('--bind-address=0.0.0.0', '--advertise-address=' + address, '--tls-cert-file=' + self.path('serving.crt'),
                '--tls-private-key-file=' + self.path('serving.key'), '--peer-ca-file=' + self.path('ca.crt'),
                '--proxy-client-cert-file=' + self.path('proxy.crt'), '--proxy-client-key-file=' + self.path('proxy.key'),
                '--requestheader-client-ca-file=' + self.path('ca.crt'), '--requestheader-allowed-names=front-proxy-client',
                '--requestheader-username-headers=X-Remote-User', '--requestheader-group-headers=X-Remote-Group',
                '--requestheader-extra-headers-prefix=X-Remote-Extra-')


def groups(server, accept=AGGREGATED):
    """{group/version: resources} of aggregated discovery."""
    status, _, found = server.request('GET', '/apis', headers={'Accept': accept})
    if status != 200:
        return {}
    return {'%s/%s' % (group['metadata']['name'], version['version']): [r['resource'] for r in version.get('resources', ())]
            for group in found['items'] for version in group['versions']}


class PeersCases:
    """Tests for any two servers: `one` lacks batch/v1, `two` lacks autoscaling/v2."""

    def served(self, server, path, body):
        """Created, read and removed there."""
        self.assertTrue(harness.wait_for(lambda: server.request('GET', path)[0] == 200, 60), server.request('GET', path))
        status, _, made = server.request('POST', path, body)
        self.assertEqual(status, 201, made)
        return made['metadata']['uid']

    def test_what_one_lacks_the_other_answers_for_it(self):
        for server, other, path, body in ((self.one, self.two, JOBS, JOB), (self.two, self.one, SCALERS, SCALER)):
            uid = self.served(server, path, body)
            name = path + '/' + body['metadata']['name']
            self.assertEqual(other.request('GET', name)[2]['metadata']['uid'], uid)
            # The request is not forwarded twice, and the server does not make up a response.
            self.assertEqual(server.request('GET', name, headers={'x-kubernetes-peer-proxied': 'true'})[0], 404)
            self.assertEqual(server.request('GET', path + '/none')[2]['reason'], 'NotFound')
            self.assertEqual(server.request('DELETE', name)[0], 200)
            self.assertEqual(server.request('GET', '/apis/none.example/v1/things')[0], 404)

    def test_discovery_lists_what_any_of_them_serves(self):
        for server, lacks in ((self.one, 'batch/v1'), (self.two, 'autoscaling/v2')):
            self.assertTrue(harness.wait_for(lambda server=server, lacks=lacks: lacks in groups(server), 60), lacks)
            self.assertNotIn(lacks, groups(server, AGGREGATED + ';profile=nopeer'))
            self.assertIn('apps/v1', groups(server, AGGREGATED + ';profile=nopeer'))
        # The responses are identical in every encoding.
        for form in (AGGREGATED, AGGREGATED.replace('json', 'vnd.kubernetes.protobuf', 1)):
            one, two = (server.request('GET', '/apis', headers={'Accept': form}) for server in (self.one, self.two))
            self.assertEqual((one[0], one[2]), (two[0], two[2]))
            self.assertEqual(one[1]['Content-Type'], two[1]['Content-Type'])

    def test_watches_pass_through(self):
        self.served(self.one, JOBS, dict(JOB, metadata={'name': 'watched'}))
        connection = self.one.connect()
        connection.request('GET', JOBS + '?watch=1&timeoutSeconds=30')
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertIn(b'"watched"', answer.readline())
        self.assertEqual(self.two.request('POST', JOBS, dict(JOB, metadata={'name': 'second'}))[0], 201)
        self.assertIn(b'"second"', answer.readline())
        connection.close()
        for name in ('watched', 'second'):
            self.assertEqual(self.two.request('DELETE', JOBS + '/' + name)[0], 200)


class Named(harness.Server):
    """One of two servers, with a client that uses its kubeconfig's certificate."""

    def __init__(self, name, certificates, etcd, *flags):
        self.certificates = certificates
        super().__init__('--etcd-servers=' + etcd.url, *certificates.flags(ADDRESSES[name]), *flags, under=named(name))

    def tls_context(self, text=None, client_certificate=True):
        context = super().tls_context(text, client_certificate)
        context.load_verify_locations(self.certificates.path('ca.crt'))
        return context


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class WithEtcd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        use_network()
        cls.certificates, cls.etcd = Certificates(), Etcd().start()
        cls.addClassCleanup(cls.certificates.dir.cleanup)
        cls.addClassCleanup(cls.etcd.stop)

    @classmethod
    def start(cls, name, *flags):
        server = Named(name, cls.certificates, cls.etcd, *flags)
        cls.addClassCleanup(server.stop)
        return server


class Peers(PeersCases, WithEtcd):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one = cls.start('one', '--runtime-config=batch/v1=false')
        cls.two = cls.start('two', '--runtime-config=autoscaling/v2=false')

    def speak(self, server, path, certificate, headers=None):
        """Sends requests as a client with a separate certificate of that name, or without one."""
        tls = ssl.create_default_context(cafile=self.certificates.path('ca.crt'))
        if certificate:
            tls.load_cert_chain(self.certificates.path(certificate + '.crt'), self.certificates.path(certificate + '.key'))
        connection = http.client.HTTPSConnection('127.0.0.1', server.port, context=tls, timeout=30)
        connection.request('GET', path, headers=headers or {})
        status = connection.getresponse().status
        connection.close()
        return status

    def test_the_user_is_forwarded_to_the_peer_with_the_same_permissions(self):
        self.assertTrue(harness.wait_for(lambda: self.one.request('GET', JOBS)[0] == 200, 60))
        user = {'X-Remote-User': 'jane', 'X-Remote-Group': 'readers'}
        self.assertEqual(self.speak(self.one, JOBS, 'proxy', user), 403)
        self.assertEqual(self.speak(self.one, JOBS, None, {'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters'}), 403)
        self.assertEqual(self.speak(self.one, JOBS, 'proxy', {'X-Remote-User': 'root', 'X-Remote-Group': 'system:masters'}), 200)

    def test_custom_types_are_each_servers_own(self):
        name = {'plural': 'widgets', 'singular': 'widget', 'kind': 'Widget', 'listKind': 'WidgetList'}
        definition = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'widgets.example.com'}, 'spec': {
            'group': 'example.com', 'scope': 'Namespaced', 'names': name, 'versions': [
                {'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {'type': 'object'}}}]}}
        self.assertEqual(self.one.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)[0], 201)
        path = '/apis/example.com/v1/namespaces/default/widgets'
        for server in (self.one, self.two):
            self.assertTrue(harness.wait_for(lambda server=server: server.request('GET', path)[0] == 200))
        self.assertEqual(self.two.request('DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com')[0], 200)
        for server in (self.one, self.two):
            self.assertTrue(harness.wait_for(lambda server=server: server.request('GET', path)[0] == 404))

    def test_forwarded_requests_are_counted(self):
        self.assertTrue(harness.wait_for(lambda: self.one.request('GET', JOBS)[0] == 200, 60))
        counts = [line for line in self.one.request('GET', '/metrics')[2].splitlines() if line.startswith('apiserver_rerouted_request_total')]
        for resource in ('group="batch",version="v1",resource="jobs"', 'group="",version="",resource=""'):
            self.assertTrue(any('{code="200",%s} ' % resource in line for line in counts), counts)

    def test_hooks_are_named_as_upstreams(self):
        text = self.one.request('GET', '/readyz?verbose')[2]
        for hook in ('mixed-version-proxy-handler', 'local-discovery-cache-sync', 'peer-discovery-workers'):
            self.assertIn('[+]poststarthook/%s ok' % hook, text)


class RemovedPeer(WithEtcd):
    def test_one_that_is_killed_is_missed_until_it_is_back(self):
        one = self.start('one', '--runtime-config=batch/v1=false')
        two = self.start('two')
        self.assertTrue(harness.wait_for(lambda: one.request('GET', JOBS)[0] == 200))
        two.kill()
        answers = []

        def fails_with_status():
            answers.append(one.request('GET', JOBS))
            return isinstance(answers[-1][2], dict)
        # While its lease is valid, the server tries to reach it, and fails.
        self.assertTrue(harness.wait_for(fails_with_status), answers[-1])
        self.assertEqual({status for status, _, _ in answers}, {503})
        self.assertEqual(answers[-1][2]['message'], 'Error getting ip and port info of the remote server while proxying')
        self.start('two')
        self.assertTrue(harness.wait_for(lambda: one.request('GET', JOBS)[0] == 200))


if __name__ == '__main__':
    run_alone()
    harness.main()
