"""Objects whose stored bytes nobody can read: who meets them, and how they are taken away."""
import unittest

from etcd_keys import Keys
from etcd_test import ETCD, Etcd
from harness import Server, configmap, main, wait_for

CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
KEYS = '/registry/configmaps/default/'
IGNORE = '?ignoreStoreReadErrorWithClusterBreakingPotential=true'
GATE = '--feature-gates=AllowUnsafeMalformedObjectDeletion=true'


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class Unreadable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.etcd = Etcd().start()
        cls.keys = Keys(cls.etcd)
        cls.server = Server('--etcd-servers=' + cls.etcd.url, GATE)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.etcd.stop()

    def damage(self, name):
        self.keys.put(KEYS + name, b'\x17\x2a' + name.encode())
        self.assertTrue(wait_for(lambda: self.server.request('GET', CONFIGMAPS + '/' + name)[0] == 500))

    def test_it_is_told_named_and_removed_by_who_asks_for_that(self):
        server = self.server
        self.assertEqual(server.request('POST', CONFIGMAPS, configmap('good'))[0], 201)
        for name in ('bad-1', 'bad-2'):
            self.damage(name)
        code, _, refused = server.request('GET', CONFIGMAPS + '/bad-1')
        self.assertEqual((code, refused['reason']), (500, 'InternalError'))
        self.assertIn('StorageError: corrupt object, Code: 7, Key: %sbad-1, ResourceVersion: 0' % KEYS, refused['message'])
        code, _, refused = server.request('GET', CONFIGMAPS)
        self.assertEqual((code, refused['reason']), (500, 'StorageReadError'))
        self.assertEqual(refused['message'], 'failed to read one or more configmaps from the storage')
        self.assertEqual([cause['field'] for cause in refused['details']['causes']], [KEYS + 'bad-1', KEYS + 'bad-2'])
        # Not by a plain delete, and nothing else by this one.
        self.assertEqual(server.request('DELETE', CONFIGMAPS + '/bad-1')[0], 500)
        code, _, refused = server.request('DELETE', CONFIGMAPS + '/good' + IGNORE)
        self.assertEqual((code, refused['reason']), (422, 'Invalid'))
        for name in ('bad-1', 'bad-2'):
            code, _, removed = server.request('DELETE', CONFIGMAPS + '/' + name + IGNORE)
            self.assertEqual((code, removed['status'], removed['details']), (200, 'Success', {'name': name, 'kind': 'configmaps'}))
            self.assertNotIn(KEYS + name, self.keys.all(KEYS))
        code, _, shown = server.request('GET', CONFIGMAPS)
        self.assertEqual((code, [item['metadata']['name'] for item in shown['items']]), (200, ['good']))


if __name__ == '__main__':
    main()
