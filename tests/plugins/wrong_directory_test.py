"""The real server over one directory with the good plugins and every kind of wrong file: the log names each with its code, and the good
plugins are served."""
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
from harness import BINARY, PLUGINS, Server, configmap  # noqa: E402

ACTORS = os.environ['ACTORS']
BOOST_VERSION_IN_HEAD = 40  # offset in bp_note_head, which begins with this:
HEAD = b'BPPLUGIN'
WRONG = {
    'text.so': 'PLG-FILE-006',
    'empty.so': 'PLG-FILE-006',
    'truncated.so': 'PLG-FILE-007',
    'fifo.so': 'PLG-FILE-004',
    'directory.so': 'PLG-FILE-003',
    'dangling.so': 'PLG-FILE-002',
    'large.so': 'PLG-FILE-012',
    'stamp.so': 'PLG-ABI-007',
    'manifest.so': 'PLG-DESC-004',
    'lonely.so': 'PLG-DEP-001',
    'evil.so': 'PLG-PLAN-003',
    'zz-core-again.so': 'PLG-PLAN-001',
    'no-library.so': 'PLG-LIFE-001',
    'constructor.so': 'PLG-LIFE-004',
    'null.so': 'PLG-LIFE-005',
    'provision.so': 'PLG-LIFE-009',
    'validate.so': 'PLG-LIFE-010',
}


def read(path):
    with open(path, 'rb') as f:
        return f.read()


class WrongDirectory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-wrong-')
        for path in glob.glob(os.path.join(PLUGINS, '*.so')):
            shutil.copy(path, cls.dir)
        cls.add_files()
        cls.add_actors()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.dir, name)

    @classmethod
    def write(cls, name, data):
        with open(cls.path(name), 'wb') as f:
            f.write(data)

    @classmethod
    def add_files(cls):
        cls.write('text.so', b'#!/bin/sh\necho I am no library\n')
        cls.write('empty.so', b'')
        cls.write('truncated.so', read(os.path.join(PLUGINS, 'apps.so'))[:9000])
        os.mkfifo(cls.path('fifo.so'))
        os.mkdir(cls.path('directory.so'))
        os.symlink('nowhere', cls.path('dangling.so'))
        shutil.copy(os.path.join(PLUGINS, 'apps.so'), cls.path('large.so'))
        os.truncate(cls.path('large.so'), (1 << 30) + 1)  # takes no space
        # A second file with core in it; a byte at its end makes it another file, not another plugin.
        cls.write('zz-core-again.so', read(os.path.join(PLUGINS, 'core.so')) + b'\0')

    @classmethod
    def add_actors(cls):
        cls.actor('manifest.so', 'actor', '{"name":')
        stamp = bytearray(cls.actor('stamp.so', 'actor', cls.manifest('stamp')))
        struct.pack_into('<I', stamp, stamp.index(HEAD) + BOOST_VERSION_IN_HEAD, 108600)
        cls.write('stamp.so', stamp)
        cls.actor('lonely.so', 'actor', cls.manifest('lonely', requires=[{'name': 'nobody', 'version': '^1'}]))
        cls.actor('evil.so', 'actor', cls.manifest('evil', in_front_of=['core'], behind=['apps']))
        alone = cls.actor('no-library.so', 'actor', cls.manifest('no-library'))
        cls.write('no-library.so', alone.replace(b'libbackplane-sdk.so', b'libbackplane-sdq.so'))
        cls.actor('constructor.so', 'actor_throws', cls.manifest('constructor'))
        cls.actor('null.so', 'actor_null', cls.manifest('null'))
        cls.actor('provision.so', 'actor_throws_in_provision', cls.manifest('provision'))
        cls.actor('validate.so', 'actor_fails_in_validate', cls.manifest('validate'))

    @staticmethod
    def manifest(name, **more):
        return json.dumps(dict(more, name=name, version='1.0.0'))

    @classmethod
    def actor(cls, name, built, manifest):
        """An actor whose manifest is overwritten by another one, padded with white space."""
        data = read(os.path.join(ACTORS, built + '.so'))
        old = re.search(rb'\{"description":"The note has room[^}]*\}', data)[0]
        data = data.replace(old, manifest.encode().ljust(len(old)))
        cls.write(name, data)
        return data

    def test_each_wrong_file_is_reported_with_its_code_and_the_rest_is_served(self):
        with Server(plugin_dir=self.dir) as server:
            log = server.text()
            for name, code in WRONG.items():
                lines = [line for line in log.splitlines() if 'plugin not loaded' in line and 'file=%s ' % self.path(name) in line]
                self.assertEqual(len(lines), 1, '%s: %s\n%s' % (name, lines, log))
                self.assertIn(code, lines[0])
            self.assertNotIn('Internal error occurred', log)
            code, _, ready = server.request('GET', '/readyz?verbose')
            self.assertEqual(code, 200, ready)
            self.assertEqual(server.request('GET', '/readyz')[2], 'ok')
            self.assertIn('apps', {g['name'] for g in server.request('GET', '/apis')[2]['groups']})
            code, _, made = server.request('POST', '/api/v1/namespaces/default/configmaps', configmap('here', still='here'))
            self.assertEqual(code, 201, made)
            self.assertEqual(server.request('GET', '/api/v1/namespaces/default/configmaps/here')[2]['data'], {'still': 'here'})
            self.assertEqual(server.terminate(), 0, server.text())

    def test_check_shows_the_same_before_a_start(self):
        done = subprocess.run([BINARY, 'plugin', 'check', '--plugin-dir', self.dir, '-o', 'json'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        shown = {os.path.basename(plugin['file']): plugin['code'] for plugin in json.loads(done.stdout)['plugins']}
        for name, code in WRONG.items():
            # Faults of the plugin's code cannot be detected without running it; missing libraries can.
            by_code = code.startswith('PLG-LIFE') and code != 'PLG-LIFE-001'
            self.assertEqual(shown[name], '' if by_code else code, name)
        for name in glob.glob(os.path.join(PLUGINS, '*.so')):
            self.assertEqual(shown[os.path.basename(name)], '')

    def test_a_required_one_that_is_wrong_makes_startup_fail_with_its_reason(self):
        with Server('--require-plugin=validate', plugin_dir=self.dir, wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            self.assertIn('PLG-PLAN-005', server.text())
            self.assertIn('refused in validate', server.text())

    def test_a_missing_directory_is_reported(self):
        with Server('--plugin-dir=' + self.path('absent'), plugin_dir=PLUGINS) as server:
            self.assertIn('PLG-PLAN-008', server.text())
            self.assertIn(self.path('absent'), server.text())
        done = subprocess.run([BINARY, 'plugin', 'check', '--plugin-dir', '/nope'], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('PLG-PLAN-008', done.stdout)

    def test_a_post_start_hook_of_a_required_plugin_that_fails_ends_the_process_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(ACTORS, 'actor_throws_at_start.so'), folder)
            with Server('--plugin-dir=' + folder, '--require-plugin=actor', '--shutdown-delay-duration=1h', plugin_dir=PLUGINS, wait=False) as server:
                self.assertEqual(server.process.wait(60), 255)
                self.assertRegex(server.text(), r'PostStartHook "never-ready" failed: .*thrown in a hook')
                self.assertNotIn('ShutdownInitiated', server.text())

    def test_a_pre_shutdown_hook_that_fails_still_drains_and_ends_with_1(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(ACTORS, 'actor_throws_at_stop.so'), folder)
            with Server('--plugin-dir=' + folder, plugin_dir=PLUGINS) as server:
                self.assertEqual(server.terminate(), 1)
                self.assertIn('PreShutdownHook "never-done" failed: ', server.text())
                self.assertIn('InFlightRequestsDrained', server.text())

    def test_a_static_initializer_that_throws_is_found_by_a_probe_and_the_rest_is_served(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(ACTORS, 'actor_throws_when_loaded.so'), folder)
            with Server('--plugin-dir=' + folder, plugin_dir=PLUGINS) as server:
                self.assertRegex(server.text(), r'plugin not loaded plugin=actor .*actor_throws_when_loaded\.so PLG-LIFE-015 .*thrown before the first call')
                self.assertEqual(server.request('GET', '/api/v1/namespaces/default')[0], 200)


if __name__ == '__main__':
    unittest.main()
