"""`backplane plugin list|reload|upgrade|rollback|disable|enable --kubeconfig`, /plugins, and --plugin-watch, on the built server."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

from harness import BINARY, PLUGINS, Server, main, wait_for  # pylint: disable=wrong-import-position

BUILDS = os.environ['BUILDS']
NAME = 'test.example.com/gadgets'
GADGETS = '/apis/test.example.com/v1/gadgets'
TIMES = int(os.environ.get('BACKPLANE_RELOADS', '20'))


def build(name):
    return os.path.join(BUILDS, 'gadgets_%s.so' % name)


def get_until(server, paths, ended, failures, counts):
    """Gets the paths in turns until `ended` is set; appends refused requests and the number of requests."""
    connection, count = server.connect(), 0
    while not ended.is_set():
        for path in paths:
            code, _, text = server.request('GET', path, connection=connection)
            count += 1
            if code != 200:
                failures.append((path, code, text))
    counts.append(count)


class Reload(unittest.TestCase):
    flags = ()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='backplane-reload-')
        self.addCleanup(shutil.rmtree, self.folder)
        for path in glob.glob(os.path.join(PLUGINS, '*.so')):
            os.symlink(path, os.path.join(self.folder, os.path.basename(path)))
        self.file = os.path.join(self.folder, 'gadgets.so')
        self.put(build('one'))
        self.server = Server(*self.flags, plugin_dir=self.folder)
        self.addCleanup(self.server.stop)

    def put(self, path):
        """Replaces the file like an installer: moves another one over it."""
        shutil.copy(path, self.file + '.new')
        os.rename(self.file + '.new', self.file)

    def plugin(self, *args, code=0):
        done = subprocess.run([BINARY, 'plugin', *args, '--kubeconfig', self.server.kubeconfig], capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr + self.server.text()[-2000:])
        return done.stdout if code == 0 else done.stderr

    def runs(self):
        code, _, text = self.server.request('GET', '/gadgets/build')
        return text if code == 200 else code

    def status(self, name=NAME):
        found = json.loads(self.plugin('list', '-o', 'json'))
        return next(each for each in found['plugins'] if each['name'] == name)

    def wait_for_build(self, name):
        self.assertTrue(wait_for(lambda: self.runs() == name), '%s, not %s\n%s' % (self.runs(), name, self.server.text()[-3000:]))


class Commands(Reload):
    def test_a_changed_file_is_reloaded_and_rolled_back(self):
        self.assertEqual(self.runs(), 'one')
        self.put(build('two'))
        self.assertEqual(self.runs(), 'one', 'without a reload nothing changes')
        self.assertIn('plugin %s reloaded' % NAME, self.plugin('reload', NAME))
        self.assertEqual(self.runs(), 'two')
        self.assertEqual(self.status()['build'], 2)
        self.plugin('rollback', 'gadgets')  # the last part of the name is enough
        self.assertEqual(self.runs(), 'one')
        self.plugin('upgrade', NAME, '--file', build('two'))
        self.assertEqual(self.runs(), 'two')
        self.assertEqual(self.status()['file'], build('two'))

    def test_a_build_that_fails_leaves_the_former_one_in_service_and_says_why(self):
        for step, words in (('provision', 'provision() failed'), ('validate', 'validate() failed'), ('start', 'it fails on purpose')):
            output = self.plugin('upgrade', NAME, '--file', build('fails_in_' + step), code=1)
            self.assertIn(words, output)
            self.assertIn('fails_in_' + step if step != 'start' else 'fails', output)
            self.assertEqual(self.runs(), 'one')
            self.assertIn(words, self.status()['refused'])
            self.assertIn('plugin not changed plugin=' + NAME, self.server.text())
        self.assertIn('PLG-FILE-006', self.plugin('upgrade', NAME, '--file', os.path.abspath(__file__), code=1))
        self.assertIn('is plugin', self.plugin('upgrade', 'batch', '--file', build('two'), code=1))
        self.assertIn('can be upgraded', self.plugin('upgrade', NAME, '--file', build('two'), '--dry-run'))
        self.assertEqual(self.runs(), 'one')
        self.assertEqual(self.server.request('GET', '/readyz')[0], 200)

    def test_it_is_disabled_and_enabled(self):
        self.plugin('disable', NAME)
        self.assertEqual(self.runs(), 404)
        # Its objects stay readable; gone_plugin_test.py has the rest.
        self.assertEqual(self.server.request('GET', GADGETS)[0], 200)
        self.assertEqual(self.status()['state'], 'Disabled')
        self.assertIn('Disabled', self.plugin('list'))
        self.assertIn('it does not run; `backplane plugin enable` starts it', self.plugin('reload', NAME, code=1))
        self.plugin('enable', NAME)
        self.assertEqual(self.runs(), 'one')

    def test_what_cannot_be_changed_is_refused_with_the_reason(self):
        for name, words in (('storage-rocksdb', 'it provides a store'), ('core', 'requires it; plugin '), ('flowcontrol', 'it provides the request gate'),
                            ('apiextensions', 'it publishes groups at run time'), ('nothing', 'plugin "nothing" not found')):
            self.assertIn(words, self.plugin('reload', name, code=1))
            self.assertIn(words, self.plugin('disable', name, code=1))
        self.assertEqual(self.server.request('GET', '/api/v1/namespaces/default')[0], 200)

    def test_a_plugin_of_the_tree_is_reloaded(self):
        for name, path in (('batch', '/apis/batch/v1/jobs'), ('autoscaling', '/apis/autoscaling/v2/horizontalpodautoscalers'),
                           ('rbac', '/apis/rbac.authorization.k8s.io/v1/clusterroles')):
            self.plugin('reload', name)
            self.assertEqual(self.server.request('GET', path)[0], 200)
        self.assertEqual(self.server.request('GET', '/readyz')[0], 200)

    # Regression: the plugin had started its informers before the new tables added theirs, which then never ran: every write got 403
    # "not yet ready to handle request".
    def test_admission_is_reloaded_with_its_informers(self):
        quota = {'apiVersion': 'v1', 'kind': 'ResourceQuota', 'metadata': {'name': 'q'}, 'spec': {'hard': {'pods': '0'}}}
        pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}
        quotas = '/api/v1/namespaces/default/resourcequotas'
        self.assertEqual(self.server.request('POST', quotas, quota)[0], 201)
        # This server runs no controllers.
        quota['status'] = {'hard': {'pods': '0'}, 'used': {'pods': '0'}}
        self.assertEqual(self.server.request('PUT', quotas + '/q/status', quota)[0], 200)

        def refusal():
            return self.server.request('POST', '/api/v1/namespaces/default/pods?dryRun=All', pod)[2].get('message', '')

        self.assertTrue(wait_for(lambda: 'exceeded quota' in refusal()), refusal())
        for _ in range(3):
            self.plugin('reload', 'admission')
            self.assertIn('exceeded quota', refusal())

    def test_without_a_role_users_get_403(self):
        anonymous = self.server.request('POST', '/plugins/disable', {'name': NAME}, client_certificate=False)
        self.assertEqual(anonymous[0], 403)
        self.assertEqual(self.server.request('GET', '/plugins', client_certificate=False)[0], 403)
        as_jane = {'Impersonate-User': 'jane'}
        self.assertEqual(self.server.request('POST', '/plugins/disable', {'name': NAME}, headers=as_jane)[0], 403)
        rbac = '/apis/rbac.authorization.k8s.io/v1/'
        meta = {'metadata': {'name': 'reloads'}}
        self.assertEqual(self.server.request('POST', rbac + 'clusterroles', dict(
            meta, rules=[{'nonResourceURLs': ['/plugins/reload'], 'verbs': ['post']}]))[0], 201)
        self.assertEqual(self.server.request('POST', rbac + 'clusterrolebindings', dict(
            meta, subjects=[{'kind': 'User', 'name': 'jane', 'apiGroup': 'rbac.authorization.k8s.io'}],
            roleRef={'kind': 'ClusterRole', 'name': 'reloads', 'apiGroup': 'rbac.authorization.k8s.io'}))[0], 201)
        self.assertTrue(wait_for(lambda: self.server.request('POST', '/plugins/reload', {'name': NAME}, headers=as_jane)[0] == 200))
        self.assertEqual(self.server.request('POST', '/plugins/disable', {'name': NAME}, headers=as_jane)[0], 403)

    def test_bodies_that_are_wrong(self):
        for action, body, words in (('reload', {}, 'name: must be'), ('reload', {'name': NAME, 'fil': '/x'}, 'unknown member'),
                                    ('upgrade', {'name': NAME}, 'needs the file'), ('reload', {'name': NAME, 'file': 'x.so'}, 'absolute'),
                                    ('disable', {'name': NAME, 'file': '/x.so'}, 'takes no file'), ('reload', [], 'JSON object')):
            code, _, status = self.server.request('POST', '/plugins/' + action, body)
            self.assertEqual((code, status['reason']), (400, 'BadRequest'), status)
            self.assertIn(words, status['message'])
        self.assertEqual(self.server.request('GET', '/plugins/reload')[0], 405)

    def test_requests_do_not_fail_while_it_is_reloaded(self):
        self.assertEqual(self.server.request('POST', GADGETS, {'apiVersion': 'test.example.com/v1', 'kind': 'Gadget', 'metadata': {'name': 'g'}})[0], 201)
        ended, failures, counts = threading.Event(), [], []

        paths = (GADGETS + '/g', GADGETS, '/gadgets/build', '/apis/test.example.com/v1')
        threads = [threading.Thread(target=get_until, args=(self.server, paths, ended, failures, counts)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for n in range(TIMES):
            self.assertEqual(self.server.request('POST', '/plugins/upgrade', {'name': NAME, 'file': build('two' if n % 2 == 0 else 'one')})[0], 200)
        ended.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(counts), len(threads))
        self.assertEqual(self.status()['build'], TIMES + 1)


class IdentityLease(unittest.TestCase):
    def test_it_outlives_a_reload_of_its_plugin(self):
        with Server() as server:
            def holders():
                found = server.request('GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases')[2]['items']
                return [each['spec']['holderIdentity'] for each in found if each['metadata']['name'].startswith('apiserver-')]
            self.assertTrue(wait_for(holders))
            former = holders()
            self.assertEqual(server.request('POST', '/plugins/reload', {'name': 'coordination'})[0], 200)
            time.sleep(1)  # the former build ends
            self.assertEqual(len(holders()), 1)
            self.assertNotEqual(holders(), former)


class Dependants(Reload):
    """Plugins that keep the storage of another one: follower requires gadgets, last requires follower, guest requires gadgets if it is there."""
    names = ('follower', 'last', 'guest')

    def setUp(self):
        self.more = tempfile.mkdtemp(prefix='backplane-reload-')
        self.addCleanup(shutil.rmtree, self.more)
        for name in self.names:
            shutil.copy(build(name), os.path.join(self.more, name + '.so'))
        self.flags = ('--plugin-dir=' + self.more,)
        super().setUp()
        self.assertEqual(self.server.request('POST', GADGETS, {'apiVersion': 'test.example.com/v1', 'kind': 'Gadget', 'metadata': {'name': 'g'}})[0], 201)

    def builds(self):
        return [self.status('test.example.com/' + name)['build'] for name in self.names]

    def test_a_reload_takes_them_along_and_no_request_fails(self):
        ended, failures, counts = threading.Event(), [], []

        paths = (GADGETS + '/g', '/gadgets/build', '/follower', '/last', '/guest')
        threads = [threading.Thread(target=get_until, args=(self.server, paths, ended, failures, counts)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for n in range(TIMES):
            output = self.plugin('upgrade', NAME, '--file', build('two' if n % 2 == 0 else 'one'))
            self.assertIn('; reloaded with it, because they depend on it: test.example.com/follower, test.example.com/guest, test.example.com/last\n', output)
        ended.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(counts), len(threads))
        self.assertEqual(self.builds(), [TIMES + 1] * 3)
        self.plugin('rollback', NAME)
        self.assertEqual(self.runs(), 'two' if TIMES % 2 == 0 else 'one')
        # Former builds end; no running plugin keeps one of them.
        done = ' has finished'
        self.assertTrue(wait_for(lambda: self.server.text().count(done) == 3 * (TIMES + 1), 100), self.server.text()[-3000:])
        self.assertNotIn('is still in use', self.server.text())
        order = [line.split(done)[0].split()[-1] for line in self.server.text().splitlines() if done in line]
        self.assertLess(order.index('last'), order.index('follower'))

    def test_a_dependant_that_has_changed_on_disk_keeps_the_build_that_runs(self):
        with open(os.path.join(self.more, 'follower.so'), 'r+b') as f:
            f.truncate(1000)
        self.plugin('reload', NAME)
        self.assertEqual(self.server.request('GET', '/follower')[0], 200)

    def test_disable_names_them_or_takes_them_along(self):
        refused = self.plugin('disable', NAME, code=1)
        self.assertIn('plugins "test.example.com/follower", "test.example.com/last" require it; disable them first, or together with it: --cascade', refused)
        self.assertEqual(self.runs(), 'one')
        self.assertIn('can be disabled', self.plugin('disable', NAME, '--cascade', '--dry-run'))
        output = self.plugin('disable', NAME, '--cascade')
        self.assertIn('; reloaded with it, because they depend on it: test.example.com/guest; '
                      'disabled with it, because they require it: test.example.com/follower, test.example.com/last', output)
        self.assertEqual(self.runs(), 404)
        for path, code in (('/follower', 404), ('/last', 404), ('/guest', 503)):  # the plugin finds no gadgets
            self.assertEqual(self.server.request('GET', path)[0], code, path)
        self.assertIn('follower', self.plugin('enable', 'test.example.com/last', code=1))
        for name in (NAME, 'test.example.com/follower', 'test.example.com/last'):
            self.plugin('enable', name)
        self.assertEqual([self.server.request('GET', path)[0] for path in ('/gadgets/build', '/follower', '/last')], [200] * 3)
        code, _, status = self.server.request('POST', '/plugins/reload', {'name': NAME, 'cascade': True})
        self.assertEqual((code, 'unknown member' in status['message']), (400, True), status)


class Watched(Reload):
    flags = ('--plugin-watch',)

    def test_a_changed_file_is_reloaded_automatically(self):
        self.assertEqual(self.runs(), 'one')
        self.put(build('two'))
        self.wait_for_build('two')
        self.put(build('fails_in_validate'))
        self.assertTrue(wait_for(lambda: 'refused' in self.status()))
        self.assertIn('validate() failed', self.status()['refused'])
        self.assertEqual(self.runs(), 'two')
        shutil.copy(build('one'), self.file)  # in place, as a linker or cp writes it
        self.wait_for_build('one')
        self.assertNotIn('refused', self.status())

    def test_a_new_file_is_loaded_and_one_that_is_disabled_is_not(self):
        self.plugin('disable', NAME)
        self.put(build('two'))
        self.assertTrue(wait_for(lambda: 'the file of a disabled plugin has changed plugin=' + NAME in self.server.text()))
        self.assertEqual(self.runs(), 404)
        self.plugin('enable', NAME)
        self.assertEqual(self.runs(), 'two')


class Added(Reload):
    flags = ('--plugin-watch',)

    def put(self, path):
        if os.path.dirname(self.file) and getattr(self, 'server', None):
            super().put(path)

    def test_a_new_file_is_loaded(self):
        self.assertEqual(self.runs(), 404)
        with open(os.path.join(self.folder, 'text.so'), 'w', encoding='utf-8') as f:
            f.write('not a plugin')
        self.assertTrue(wait_for(lambda: 'a changed plugin file cannot be used' in self.server.text()))
        self.put(build('one'))
        self.wait_for_build('one')


if __name__ == '__main__':
    main()
