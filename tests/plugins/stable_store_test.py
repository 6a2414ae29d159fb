"""A server whose store is a plugin of the stable tier: the example docs/examples/stable-store, chosen with --storage-backend."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

import stable_test as stable  # pylint: disable=wrong-import-position
from harness import BINARY, PLUGINS, Server, configmap, kubectls, namespace, wait_for  # pylint: disable=wrong-import-position

EXAMPLE = os.path.join(stable.EXAMPLES, 'stable-store')
NAME = 'example.com/stable-store'
BACKEND = '--storage-backend=stable-store'
ARCHIVED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'stable/store-1.so')
MAPS = '/api/v1/namespaces/default/configmaps'
MERGE = {'Content-Type': 'application/merge-patch+json'}


def compiled(folder, compiler, *flags):
    out = os.path.join(folder, 'stable-store.so')
    subprocess.run([compiler, '-std=c11', *stable.SHARED, *flags, '-pthread', '-I', EXAMPLE, '-o', out, os.path.join(EXAMPLE, 'store.c')], check=True)
    return out


def plugin(*args):
    return subprocess.run([BINARY, 'plugin', *args], capture_output=True, text=True, timeout=200, check=False)


class Store:
    """What kubectl and controllers do with the objects of a server, whichever compiler and release built its store."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='backplane-stable-store-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.file = cls.build(cls.folder)
        cls.server = Server('--plugin-dir=' + cls.folder, BACKEND, '--event-ttl=2s', plugin_dir=PLUGINS)
        cls.addClassCleanup(cls.server.stop)

    def call(self, method, path, body=None, code=200, **more):
        got, _, answer = self.server.request(method, path, body, **more)
        self.assertEqual(got, code, '%s\n%s' % (answer, self.server.text()[-3000:]))
        return answer

    def test_an_object_is_made_read_changed_and_deleted(self):
        made = self.call('POST', MAPS, configmap('whole', a='1'), 201)
        self.assertEqual(self.call('GET', MAPS + '/whole')['metadata']['resourceVersion'], made['metadata']['resourceVersion'])
        self.assertEqual(self.call('POST', MAPS, configmap('whole'), 409)['reason'], 'AlreadyExists')
        self.assertEqual(self.call('PATCH', MAPS + '/whole', '{"data":{"b":"2"}}', headers=MERGE)['data'], {'a': '1', 'b': '2'})
        self.call('DELETE', MAPS + '/whole')
        self.assertEqual(self.call('GET', MAPS + '/whole', code=404)['reason'], 'NotFound')
        again = self.call('POST', MAPS, configmap('whole'), 201)
        self.assertNotEqual(again['metadata']['uid'], made['metadata']['uid'])

    def test_an_update_at_an_old_revision_is_a_conflict_and_changes_nothing(self):
        first = self.call('POST', MAPS, configmap('contended', owner='nobody'), 201)
        self.call('PUT', MAPS + '/contended', dict(first, data={'owner': 'first'}))
        refused = self.call('PUT', MAPS + '/contended', dict(first, data={'owner': 'second'}), 409)
        self.assertEqual(refused['reason'], 'Conflict')
        self.assertEqual(self.call('GET', MAPS + '/contended')['data'], {'owner': 'first'})

    def test_a_watch_gets_each_change_from_its_revision_on(self):
        self.call('POST', '/api/v1/namespaces', namespace('watched'), 201)
        path = '/api/v1/namespaces/watched/configmaps'
        before = self.call('GET', path)['metadata']['resourceVersion']
        self.call('POST', path, configmap('seen', step='1'), 201)
        self.call('POST', MAPS, configmap('elsewhere'), 201)
        self.call('PATCH', path + '/seen', '{"data":{"step":"2"}}', headers=MERGE)
        self.call('DELETE', path + '/seen')
        events = self.server.events(path + '?watch=1&fieldSelector=metadata.name%3Dseen&resourceVersion=' + before, 3)
        self.assertEqual([(each['type'], each['object']['data']['step']) for each in events], [('ADDED', '1'), ('MODIFIED', '2'), ('DELETED', '2')])

    def test_a_list_is_read_in_pages_at_one_revision(self):
        self.call('POST', '/api/v1/namespaces', namespace('paged'), 201)
        path = '/api/v1/namespaces/paged/configmaps'
        for i in range(25):
            self.call('POST', path, configmap('page-%02d' % i), 201)
        first = self.call('GET', path + '?limit=10')
        self.call('DELETE', path + '/page-24')
        pages = [first]
        while 'continue' in pages[-1]['metadata']:
            pages.append(self.call('GET', path + '?limit=10&continue=' + pages[-1]['metadata']['continue']))
        self.assertEqual([item['metadata']['name'] for page in pages for item in page['items']], ['page-%02d' % i for i in range(25)])
        self.assertEqual({page['metadata']['resourceVersion'] for page in pages}, {first['metadata']['resourceVersion']})
        self.assertEqual(len(self.call('GET', path)['items']), 24)

    def test_an_event_ends_with_its_lease_and_watches_see_it(self):
        event = {'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'short'}, 'reason': 'Tested', 'type': 'Normal',
                 'involvedObject': {'kind': 'ConfigMap', 'namespace': 'default', 'name': 'whole'}}
        path = '/api/v1/namespaces/default/events'
        made = self.call('POST', path, event, 201)
        ended, = self.server.events(path + '?watch=1&fieldSelector=metadata.name%3Dshort&resourceVersion=' + made['metadata']['resourceVersion'], 1)
        self.assertEqual((ended['type'], ended['object']['reason']), ('DELETED', 'Tested'))
        self.call('GET', path + '/short', code=404)

    def test_kubectl_applies_and_shows(self):
        for i, kubectl in enumerate(kubectls()):
            name = 'applied-%d' % i
            for value in ('1', '2'):
                self.server.kubectl(kubectl, 'apply', '-f', '-', stdin=json.dumps(configmap(name, value=value)))
            self.assertEqual(self.server.kubectl(kubectl, 'get', 'configmap', name, '-o', 'jsonpath={.data.value}'), '2')
            self.assertIn(name, self.server.kubectl(kubectl, 'get', 'configmaps'))
            self.server.kubectl(kubectl, 'delete', 'configmap', name)
            self.call('GET', MAPS + '/' + name, code=404)

    def test_check_inspect_and_list_show_it(self):
        checked = plugin('check', self.file)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        shown = json.loads(plugin('inspect', self.file, '-o', 'json').stdout)
        self.assertEqual((shown['manifest']['name'], shown['manifest']['provides'], shown['findings']), (NAME, ['storage/stable-store'], []))
        self.assertEqual(shown['stamp'], {'stable': '1'})
        found = json.loads(plugin('list', '--kubeconfig', self.server.kubeconfig, '-o', 'json').stdout)['plugins']
        self.assertIn(NAME, [each['name'] for each in found])

    def test_it_is_healthy_and_cannot_be_replaced_while_the_server_runs(self):
        self.assertIn('ok', self.call('GET', '/readyz'))
        refused = plugin('reload', NAME, '--kubeconfig', self.server.kubeconfig)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn('it provides a store', refused.stdout + refused.stderr)


@unittest.skipUnless(stable.GCC, 'no gcc')
class ByGcc(Store, unittest.TestCase):
    build = classmethod(lambda cls, folder: compiled(folder, 'gcc', '-O2', '-s'))


@unittest.skipUnless(stable.CLANG, 'no clang')
class ByClang(Store, unittest.TestCase):
    build = classmethod(lambda cls, folder: compiled(folder, (stable.CLANG or '').replace('clang++', 'clang'), '-O1'))


@unittest.skipUnless(os.uname().machine == 'x86_64', 'the archived binary is for x86-64')
class FirstRelease(Store, unittest.TestCase):
    build = classmethod(lambda cls, folder: shutil.copy(ARCHIVED, os.path.join(folder, 'stable-store.so')))


@unittest.skipUnless(stable.GCC, 'no gcc')
class Ends(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='backplane-stable-store-')
        self.addCleanup(shutil.rmtree, self.folder)
        compiled(self.folder, 'gcc', '-O2')

    def test_the_server_stops_in_order(self):
        with Server('--plugin-dir=' + self.folder, BACKEND, plugin_dir=PLUGINS) as server:
            self.assertEqual(server.request('POST', MAPS, configmap('last'))[0], 201)
            self.assertEqual(server.terminate(), 0, server.text()[-3000:])
            self.assertNotIn('did not stop cleanly', server.text())
            self.assertIn('the objects are in memory, and end with the server', server.text())

    def test_old_revisions_are_compacted_away(self):
        with Server('--plugin-dir=' + self.folder, BACKEND, '--etcd-compaction-interval=3s', plugin_dir=PLUGINS) as server:
            made = server.request('POST', MAPS, configmap('a', n='0'))[2]
            exact = MAPS + '?resourceVersionMatch=Exact&resourceVersion=' + made['metadata']['resourceVersion']
            self.assertEqual(server.request('GET', exact)[0], 200)
            self.assertEqual(server.request('PATCH', MAPS + '/a', '{"data":{"n":"1"}}', MERGE)[0], 200)
            self.assertTrue(wait_for(lambda: server.request('GET', exact)[0] == 410), 'the old revision is still read')
            self.assertEqual(server.request('GET', MAPS + '/a')[2]['data'], {'n': '1'})

    def refused_start(self, *flags):
        with Server('--plugin-dir=' + self.folder, *flags, plugin_dir=PLUGINS, wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            return server.text()

    def test_a_runner_has_no_stores(self):
        text = self.refused_start(BACKEND, '--plugin-placement=stable-store=runner')
        self.assertIn("a storage backend runs in the server's process: leave the plugin out of --plugin-placement", text)

    def test_an_unknown_name_lists_those_that_there_are(self):
        text = self.refused_start('--storage-backend=stable-stone')
        self.assertRegex(text, 'no loaded plugin has this backend; available: .*stable-store')

    def test_the_example_is_short(self):
        with open(os.path.join(EXAMPLE, 'store.c'), encoding='utf-8') as f:
            self.assertLessEqual(len(f.readlines()), 400)


if __name__ == '__main__':
    unittest.main()
