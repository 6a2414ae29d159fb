"""kube-apiserver and the built server on one etcd with one EncryptionConfiguration: each reads what the other has encrypted, by aescbc, aesgcm,
secretbox and a KMS v2 plugin, also with a key that only reads; the values in etcd have upstream's prefixes and no plain text."""
import base64
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import clients  # noqa: E402
from kube_apiserver import Backplane, KubeApiserver, Pki  # noqa: E402
import harness  # noqa: E402
from etcd_keys import Keys  # noqa: E402
from etcd_test import ETCD, Etcd  # noqa: E402
from kms_plugin import KmsPlugin  # noqa: E402

NEEDLE = 'needle-in-the-store-4711'
NAMESPACE = '/api/v1/namespaces/default/'
RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'
# provider → (path of the resource, its name in the configuration, its key in etcd)
RESOURCES = {'aescbc': (NAMESPACE + 'secrets', 'secrets', 'secrets/default/'), 'aesgcm': (NAMESPACE + 'configmaps', 'configmaps',
    'configmaps/default/'),
             'secretbox': (NAMESPACE + 'serviceaccounts', 'serviceaccounts', 'serviceaccounts/default/'),
             'kms': (RBAC, 'roles.rbac.authorization.k8s.io', 'roles/default/')}
KINDS = {'aescbc': ('v1', 'Secret'), 'aesgcm': ('v1', 'ConfigMap'), 'secretbox': ('v1', 'ServiceAccount'),
    'kms': ('rbac.authorization.k8s.io/v1', 'Role')}
PREFIXES = {'aescbc': b'k8s:enc:aescbc:v1:k%d:', 'aesgcm': b'k8s:enc:aesgcm:v1:k%d:', 'secretbox': b'k8s:enc:secretbox:v1:k%d:',
    'kms': b'k8s:enc:kms:v2:test:'}


def key(number):
    return {'name': 'k%d' % number, 'secret': base64.b64encode(bytes(range(number, number + 32))).decode()}


def item(provider, name):
    version, kind = KINDS[provider]
    return {'apiVersion': version, 'kind': kind, 'metadata': {'name': name, 'annotations': {'needle': NEEDLE}}}


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class EncryptedEtcd(unittest.TestCase):
    def setUp(self):
        try:
            self.program = clients.build(('kube-apiserver',))['kube-apiserver']
        except clients.Missing as why:
            self.skipTest('kube-apiserver cannot be built: %s' % why)
        self.pki = Pki()
        self.addCleanup(self.pki.remove)
        self.etcd = Etcd().start()
        self.addCleanup(self.etcd.stop)
        self.plugin = KmsPlugin(os.path.join(self.pki.dir, 'kms.sock'))
        self.addCleanup(self.plugin.die)

    def configure(self, *numbers):
        """The first key writes; all of them read."""
        def provider(name):
            if name == 'kms':
                return {'kms': {'apiVersion': 'v2', 'name': 'test', 'endpoint': self.plugin.endpoint, 'timeout': '3s'}}
            return {name: {'keys': [key(number) for number in numbers]}}
        path = os.path.join(self.pki.dir, 'encryption-%d.json' % numbers[0])
        with open(path, 'w', encoding='utf-8') as out:
            json.dump({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'EncryptionConfiguration', 'resources': [
                {'resources': [resource], 'providers': [provider(name), {'identity': {}}]} for name, (_, resource, _) in RESOURCES.items()]}, out)
        return '--encryption-provider-config=' + path

    def servers(self, flag):
        return (KubeApiserver(self.program, self.pki, self.etcd, flag), Backplane(self.pki, self.etcd, flag))

    def create(self, server, name):
        for provider, (path, _, _) in RESOURCES.items():
            code, _, answer = server.request('POST', path, item(provider, name))
            self.assertEqual(code, 201, (server.name, provider, answer))

    def check_stored(self, name, number):
        stored = Keys(self.etcd).all()
        for provider, (_, _, place) in RESOURCES.items():
            value, _ = stored['/registry/' + place + name]
            prefix = PREFIXES[provider] % number if b'%d' in PREFIXES[provider] else PREFIXES[provider]
            self.assertTrue(value.startswith(prefix), (provider, value[:40]))
            self.assertNotIn(NEEDLE.encode(), value)

    def check_read(self, servers, *names):
        for provider, (path, _, _) in RESOURCES.items():
            for name in names:
                answers = [server.request('GET', '%s/%s' % (path, name))[2] for server in servers]
                self.assertEqual(answers[0], answers[1], (provider, name))
                self.assertEqual(answers[0]['metadata']['annotations']['needle'], NEEDLE)
            for server in servers:
                listed = [each['metadata']['name'] for each in server.request('GET', path)[2]['items']]
                self.assertTrue(set(names) <= set(listed), (server.name, provider, listed))

    def test_each_reads_what_the_other_has_encrypted(self):
        servers = self.servers(self.configure(1))
        try:
            for server in servers:
                self.create(server, 'by-' + server.name)
                self.check_stored('by-' + server.name, 1)
            self.check_read(servers, 'by-kube-apiserver', 'by-backplane')
        finally:
            for server in servers:
                server.stop()
        self.plugin.key_id = 'key-2'
        servers = self.servers(self.configure(2, 1))
        try:
            self.check_read(servers, 'by-kube-apiserver', 'by-backplane')
            for writer, name in zip(servers, ('by-backplane', 'by-kube-apiserver')):
                for provider, (path, _, _) in RESOURCES.items():
                    code, _, answer = writer.request('PATCH', '%s/%s' % (path, name), {'metadata': {'labels': {'a': 'b'}}},
                        {'Content-Type': 'application/merge-patch+json'})
                    self.assertEqual(code, 200, (writer.name, provider, answer))
                self.check_stored(name, 2)
            self.check_read(servers, 'by-kube-apiserver', 'by-backplane')
        finally:
            for server in servers:
                server.stop()


if __name__ == '__main__':
    unittest.main(verbosity=2)
