"""Every table of the stable tier in the built server, by a plugin in C for tests; and plugins of the tier that go wrong."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

from harness import BINARY, PLUGINS, Server, configmap, is_sanitized, wait_for  # pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, '../../plugin-sdk/include')
POINTS = '/apis/points.example.com/v1/namespaces/default/points'
MAPS = '/api/v1/namespaces/default/configmaps'
MERGE = {'Content-Type': 'application/merge-patch+json'}
NAME = 'test.example.com/points'


def build(folder, fault='', name='points.so', manifest=None):
    """`manifest`: members that are added to the manifest."""
    out = os.path.join(folder, name)
    own = os.path.join(HERE, 'stable')
    documents = tempfile.mkdtemp(prefix='backplane-manifest-')
    with open(os.path.join(own, 'plugin.json'), encoding='utf-8') as f, open(os.path.join(documents, 'plugin.json'), 'w', encoding='utf-8') as to:
        json.dump(dict(json.load(f), **(manifest or {})), to)
    subprocess.run([os.environ.get('CC', 'gcc'), '-std=c11', '-shared', '-fPIC', '-fvisibility=hidden', '-Wall', '-Wextra', '-Werror', '-DPOINTS_FAULT="%s"' % fault,
                    '-I', INCLUDE, '-I', documents, '-I', own, '-o', out, os.path.join(own, 'points.c')], check=True)
    shutil.rmtree(documents)
    return out


class Tables:
    """What the plugin does, however it was built."""
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='backplane-points-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.make_file()
        cls.server = Server('--plugin-dir=' + cls.folder, *cls.flags, plugin_dir=PLUGINS)
        cls.addClassCleanup(cls.server.stop)

    def call(self, method, path, body=None, code=200, **more):
        got, headers, answer = self.server.request(method, path, body, **more)
        self.assertEqual(got, code, '%s\n%s' % (answer, self.server.text()[-3000:]))
        return headers, answer

    def make(self, name, **spec):
        return self.call('POST', POINTS, {'apiVersion': 'points.example.com/v1', 'kind': 'Point', 'metadata': {'name': name}, 'spec': spec}, 201)[1]

    def test_defaults_are_those_of_the_plugin(self):
        self.assertEqual(self.make('a', x=3)['spec'], {'x': 3, 'y': 3})
        self.assertEqual(self.make('b', x=3, y=0)['spec'], {'x': 3, 'y': 0})

    def test_rules_on_a_change_and_on_the_status(self):
        self.make('fixed', x=1, fixed=True)
        refused = self.call('PATCH', POINTS + '/fixed', '{"spec":{"x":2}}', 422, headers=MERGE)[1]
        self.assertEqual(refused['message'], 'Point.points.example.com "fixed" is invalid: spec.x: Forbidden: the point is fixed')
        self.call('PATCH', POINTS + '/fixed/status', '{"status":{"seen":2}}', headers=MERGE)
        refused = self.call('PATCH', POINTS + '/fixed/status', '{"status":{"seen":0}}', 422, headers=MERGE)[1]
        self.assertIn('status.seen: Invalid value: 0: must not become less', refused['message'])

    def test_both_versions_show_the_same_objects(self):
        v2 = POINTS.replace('/v1/', '/v2/')
        self.make('old', x=1, y=2)
        self.assertEqual(self.call('GET', v2 + '/old')[1]['spec'], {'column': 1, 'row': 2})
        point = {'apiVersion': 'points.example.com/v2', 'kind': 'Point', 'metadata': {'name': 'new'}, 'spec': {'column': 5, 'fixed': True}}
        self.assertEqual(self.call('POST', v2, point, 201)[1]['spec'], {'column': 5, 'fixed': True, 'row': 5})
        self.call('PATCH', v2 + '/new', '{"spec":{"row":7}}', headers=MERGE)
        self.assertEqual(self.call('GET', POINTS + '/new')[1]['spec'], {'fixed': True, 'x': 5, 'y': 7})
        self.call('PATCH', v2 + '/new', '{"spec":{"column":6}}', 422, headers=MERGE)

    def test_a_patch_of_an_admission_rule_and_its_warning(self):
        made = configmap('labelled')
        made['metadata']['labels'] = {'points': 'x'}
        headers, answer = self.call('POST', MAPS, made, 201)
        self.assertEqual(answer['metadata']['labels'], {'points': 'x', 'patched': 'yes'})
        self.assertTrue(answer['metadata']['managedFields'])
        self.assertEqual(headers['Warning'], '299 - "the map has points"')

    def test_a_rule_that_waits_asks_the_server_and_one_that_may_not_wait_is_refused(self):
        self.call('POST', MAPS, configmap('asked'), 201)
        refused = self.call('POST', MAPS, configmap('asks', waiting='nothing'), 404)[1]
        self.assertEqual((refused['reason'], refused['message']), ('NotFound', 'configmaps "nothing" not found'))
        self.call('POST', MAPS, configmap('asks', waiting='asked'), 201)
        refused = self.call('POST', MAPS, configmap('here', here='asked'), 500)[1]
        self.assertIn('must not wait', refused['message'])

    def test_the_verbs_of_the_client(self):
        headers, answer = self.call('GET', '/points/verbs')
        self.assertEqual((headers['X-Points'], answer['kind']), ('listed', 'ConfigMapList'))
        self.assertEqual([item['data'] for item in answer['items']], [{'x': '2', 'y': '3'}])
        self.call('GET', MAPS + '/called', code=404)

    def test_flags_and_a_handler_without_a_response(self):
        self.assertEqual(self.call('GET', '/points/flag/secure-port')[1], self.server.port)
        self.assertEqual(self.call('GET', '/points/flag/nothing', code=404)[1]['message'], 'there is no such flag')
        self.assertIn('no response', self.call('GET', '/points/silent', code=500)[1]['message'])

    def test_users_and_what_they_may_do(self):
        def ask(token, path):
            code, _, answer = self.server.request('GET', path, headers={'Authorization': 'Bearer ' + token}, client_certificate=False)
            return code, answer['message'] if isinstance(answer, dict) and code >= 400 else ''
        self.assertEqual(ask('points-valid', MAPS), (200, ''))
        self.assertEqual(ask('points-valid', '/points'), (403, 'forbidden: User "pointer" cannot get path "/points": pointers see objects only'))
        self.assertEqual(ask('points-wrong', MAPS)[0], 401)
        review = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'SelfSubjectReview'}
        code, _, answer = self.server.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review, {
            'Authorization': 'Bearer points-valid'}, client_certificate=False)
        self.assertEqual((code, answer['status']['userInfo']), (201, {
            'username': 'pointer', 'uid': '7', 'groups': ['points', 'system:authenticated'], 'extra': {'example.com/at': ['here']}}))

    def test_hooks_and_a_check(self):
        text = self.call('GET', '/readyz?verbose')[1]
        self.assertIn('[+]points ok', text)
        self.assertIn('[+]poststarthook/points/start ok', text)
        self.assertNotIn('[+]points ok', self.call('GET', '/livez?verbose')[1])


class Points(Tables, unittest.TestCase):
    @classmethod
    def make_file(cls):
        build(cls.folder)


@unittest.skipUnless(os.uname().machine == 'x86_64', 'the archived binary is for x86-64')
class FirstRelease(Tables, unittest.TestCase):
    @classmethod
    def make_file(cls):
        shutil.copy(os.path.join(HERE, 'stable/points-1.so'), os.path.join(cls.folder, 'points.so'))


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='backplane-points-')
        self.addCleanup(shutil.rmtree, self.folder)

    def check(self, *words, code=1):
        done = subprocess.run([BINARY, 'plugin', 'check', os.path.join(self.folder, 'points.so')], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for each in words:
            self.assertIn(each, done.stdout)

    def test_another_form_of_the_tier_is_a_finding(self):
        path = build(self.folder)
        with open(path, 'r+b') as f:
            data = f.read()
            f.seek(data.index(b'BPSTABLE') + 12)
            f.write(b'\2')
        self.check('PLG-ABI-015', 'found 2  wanted 1')

    def test_a_note_that_is_cut_is_a_finding(self):
        path = build(self.folder)
        with open(path, 'r+b') as f:
            data = f.read()
            f.seek(data.index(b'BPSTABLE') + 16)
            f.write(b'\xff\xff\0\0')
        self.check('PLG-DESC-002')

    def test_a_plugin_that_fails_is_left_out_and_says_why(self):
        for fault, words in (('entry', 'the plugin\'s constructor failed: it fails on purpose'), ('provision', 'provision() failed: it fails on purpose'),
                             ('short_table', 'the plugin\'s table has no provision()')):
            with self.subTest(fault):
                build(self.folder, fault)
                with Server('--plugin-dir=' + self.folder, plugin_dir=PLUGINS) as server:
                    self.assertIn(words, server.text())
                    self.assertEqual(server.request('GET', '/apis/points.example.com/v1')[0], 404)

    @unittest.skipIf(is_sanitized(), 'the sanitizer says it in its own way')
    def test_an_entry_point_that_crashes_takes_down_a_child_process_alone(self):
        build(self.folder, 'entry_crash')
        with Server('--plugin-dir=' + self.folder, plugin_dir=PLUGINS) as server:
            self.assertIn('PLG-LIFE-015', server.text())
            self.assertIn('SIGABRT', server.text())

    @unittest.skipIf(is_sanitized(), 'the sanitizer says it in its own way')
    def test_a_crash_is_attributed_to_the_plugin(self):
        build(self.folder)
        with Server('--plugin-dir=' + self.folder, plugin_dir=PLUGINS) as server:
            try:
                server.request('GET', '/points/crash')
            except OSError:
                pass
            self.assertTrue(wait_for(lambda: server.process.poll() is not None))
            self.assertIn('plugin=' + NAME, [line for line in server.text().splitlines() if 'fatal signal=SIGABRT' in line][0])

    def test_a_call_that_hangs_delays_nothing_and_a_server_that_is_asked_to_stop_ends(self):
        for replaced in (False, True):
            with self.subTest(replaced=replaced):
                build(self.folder)
                with Server('--plugin-dir=' + self.folder, '--request-timeout=2s', plugin_dir=PLUGINS) as server:
                    self.assertEqual(server.request('GET', '/points/hang')[0], 504)
                    self.assertEqual(server.request('GET', '/points/flag/secure-port')[0], 200)
                    if replaced:
                        subprocess.run([BINARY, 'plugin', 'reload', NAME, '--kubeconfig', server.kubeconfig], check=True, capture_output=True)
                        self.assertEqual(server.request('GET', '/points/flag/secure-port')[0], 200)
                    self.assertEqual(server.terminate(), 1)
                    self.assertIn('a plugin blocks its executor', server.text())

    def test_the_hook_of_shutdown_runs(self):
        build(self.folder)
        with Server('--plugin-dir=' + self.folder, plugin_dir=PLUGINS) as server:
            self.assertEqual(server.terminate(), 0)
            self.assertIn('the points are put away', server.text())

    def test_a_callback_that_fails_is_an_internal_error(self):
        build(self.folder, 'check_change')
        with Server('--plugin-dir=' + self.folder, plugin_dir=PLUGINS) as server:
            point = {'apiVersion': 'points.example.com/v1', 'kind': 'Point', 'metadata': {'name': 'a'}, 'spec': {}}
            self.assertEqual(server.request('POST', POINTS, point)[0], 201)
            code, _, answer = server.request('PATCH', POINTS + '/a', '{"spec":{"x":2}}', MERGE)
            self.assertEqual(code, 500, answer)
            self.assertIn('it fails on purpose', server.text())


if __name__ == '__main__':
    unittest.main()
