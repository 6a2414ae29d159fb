"""Objects whose stored bytes cannot be read: what lists, gets, watches and namespaces do with them, and how they are deleted."""
import unittest

from etcd_keys import Keys
from etcd_test import ETCD, Etcd
from harness import Server, configmap, main, namespace, wait_for

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

    def test_unreadable_objects_are_reported_by_name_and_can_be_removed(self):
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
        # A plain delete fails, and this delete removes only the unreadable object.
        self.assertEqual(server.request('DELETE', CONFIGMAPS + '/bad-1')[0], 500)
        code, _, refused = server.request('DELETE', CONFIGMAPS + '/good' + IGNORE)
        self.assertEqual((code, refused['reason']), (422, 'Invalid'))
        for name in ('bad-1', 'bad-2'):
            code, _, removed = server.request('DELETE', CONFIGMAPS + '/' + name + IGNORE)
            self.assertEqual((code, removed['status'], removed['details']), (200, 'Success', {'name': name, 'kind': 'configmaps'}))
            self.assertNotIn(KEYS + name, self.keys.all(KEYS))
        code, _, shown = server.request('GET', CONFIGMAPS)
        self.assertEqual((code, [item['metadata']['name'] for item in shown['items']]), (200, ['good']))


# Objects that a starting server reads and creates, or watches.
KEPT = ('clusterroles/system:node', 'clusterroles/admin', 'clusterrolebindings/cluster-admin', 'roles/kube-system/extension-apiserver-authentication-reader',
        'priorityclasses/system-node-critical', 'flowschemas/catch-all', 'flowschemas/global-default', 'prioritylevelconfigurations/catch-all',
        'prioritylevelconfigurations/workload-low', 'servicecidrs/kubernetes', 'services/specs/default/kubernetes', 'services/endpoints/default/kubernetes',
        'endpointslices/default/kubernetes', 'namespaces/default', 'namespaces/kube-public', 'configmaps/kube-system/extension-apiserver-authentication',
        'leases/kube-system/apiserver-x', 'apiextensions.k8s.io/customresourcedefinitions/broken.example.com',
        'apiregistration.k8s.io/apiservices/v1.apps', 'apiregistration.k8s.io/apiservices/v1.broken.example.com', 'ipaddresses/10.0.0.1',
        'validatingwebhookconfigurations/broken', 'ranges/servicenodeports')
# The lists of these objects that clients request.
LISTS = {'/apis/rbac.authorization.k8s.io/v1/clusterroles': 2, '/apis/scheduling.k8s.io/v1/priorityclasses': 1,
         '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas': 2, '/apis/networking.k8s.io/v1/servicecidrs': 1, '/api/v1/namespaces': 2,
         '/apis/apiextensions.k8s.io/v1/customresourcedefinitions': 1, '/apis/apiregistration.k8s.io/v1/apiservices': 2, '/api/v1/services': 1,
         '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles': 1}


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class SingleServer(unittest.TestCase):
    """An unreadable object breaks neither lists nor the startup."""

    def started(self, *flags, prefix='/registry'):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        self.keys = Keys(etcd)
        for key in KEPT:
            self.keys.put('%s/%s' % (prefix, key), b'\x17\x2a broken')
        server = Server('--etcd-servers=' + etcd.url, *flags)
        self.addCleanup(server.stop)
        return server

    def lists(self, server, prefix='/registry'):
        for path, count in LISTS.items():
            code, headers, listed = server.request('GET', path)
            self.assertEqual(code, 200, listed)
            self.assertIn('%d object%s left out' % (count, ' is' if count == 1 else 's are'), headers.get('Warning', ''), path)
            self.assertIn(prefix + '/', headers['Warning'])

    def test_the_server_starts_serves_and_names_them(self):
        server = self.started()
        self.lists(server)
        # Readable objects exist, and new ones can be created.
        self.assertEqual(server.request('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/view')[0], 200)
        self.assertEqual(server.request('GET', '/api/v1/namespaces/kube-system')[0], 200)
        self.assertEqual(server.request('POST', CONFIGMAPS.replace('default', 'kube-system'), configmap('made'))[0], 201)
        code, _, refused = server.request('GET', '/api/v1/namespaces/kube-public')
        self.assertEqual((code, 'unable to transform key "/registry/namespaces/kube-public"' in refused['message']), (500, True), refused)
        text = server.text()
        for key in KEPT[:-1]:
            self.assertIn('/registry/' + key, text)
        _, _, metrics = server.request('GET', '/metrics')
        self.assertIn('apiserver_storage_decode_errors_total{group="rbac.authorization.k8s.io",resource="clusterroles"} 2', metrics)

    def test_a_watch_begins_with_what_can_be_read(self):
        server = self.started()
        events = server.events('/apis/scheduling.k8s.io/v1/priorityclasses?watch=1&resourceVersion=0', 1)
        self.assertEqual([event['object']['metadata']['name'] for event in events], ['system-cluster-critical'])

    def test_a_collection_is_not_said_to_be_gone_while_one_is_left(self):
        server = self.started()
        self.keys.put(KEYS.replace('default', 'kube-system') + 'bad', b'\x17\x2a')
        path = CONFIGMAPS.replace('default', 'kube-system')
        self.assertTrue(wait_for(lambda: server.request('GET', path + '/bad')[0] == 500))
        self.assertEqual(server.request('DELETE', path)[0], 500)

    def test_a_namespace_stays_while_it_holds_one(self):
        server = self.started()
        self.assertEqual(server.request('POST', '/api/v1/namespaces', namespace('holds'))[0], 201)
        self.keys.put(KEYS.replace('default', 'holds') + 'bad', b'\x17\x2a')
        self.assertTrue(wait_for(lambda: server.request('GET', CONFIGMAPS.replace('default', 'holds') + '/bad')[0] == 500))
        self.assertEqual(server.request('DELETE', '/api/v1/namespaces/holds')[0], 200)

        def problems():
            conditions = server.request('GET', '/api/v1/namespaces/holds')[2].get('status', {}).get('conditions', [])
            return [each['message'] for each in conditions if each['type'] == 'NamespaceDeletionContentFailure' and each['status'] == 'True']

        self.assertTrue(wait_for(problems))
        self.assertIn('unable to transform key "/registry/configmaps/holds/bad"', problems()[0])

    def test_keys_are_named_as_etcd_has_them(self):
        server = self.started('--etcd-prefix=/other', prefix='/other')
        self.lists(server, '/other')
        _, _, refused = server.request('GET', '/api/v1/namespaces/kube-public')
        self.assertIn('unable to transform key "/other/namespaces/kube-public"', refused['message'])

    def test_they_are_deleted_by_force(self):
        server = self.started(GATE)
        code, _, refused = server.request('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles')
        self.assertEqual((code, refused['reason']), (500, 'StorageReadError'))
        for path in ('/apis/rbac.authorization.k8s.io/v1/clusterroles/admin', '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/catch-all',
                     '/apis/networking.k8s.io/v1/servicecidrs/kubernetes', '/apis/apiregistration.k8s.io/v1/apiservices/v1.apps',
                     '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/broken.example.com',
                     '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all'):
            code, _, removed = server.request('DELETE', path + IGNORE)
            self.assertEqual((code, removed.get('status')), (200, 'Success'), removed)


if __name__ == '__main__':
    main()
