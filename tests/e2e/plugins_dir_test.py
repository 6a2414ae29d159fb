"""The plugin directory determines the served APIs."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import BINARY, PLUGINS, Server, main


class PluginDirectory(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        for path in glob.glob(os.path.join(PLUGINS, '*.so')):
            shutil.copy(path, self.dir)

    def tearDown(self):
        shutil.rmtree(self.dir)

    def groups(self, server):
        return {g['name'] for g in server.request('GET', '/apis')[2]['groups']}

    def test_removing_a_plugin_removes_its_group_and_nothing_else(self):
        with Server(plugin_dir=self.dir) as server:
            before = self.groups(server)
            self.assertIn('apps', before)
        os.remove(os.path.join(self.dir, 'apps.so'))
        with Server(plugin_dir=self.dir) as server:
            self.assertEqual(self.groups(server), before - {'apps'})
            self.assertEqual(server.request('GET', '/apis/apps/v1/deployments')[0], 404)
            self.assertEqual(server.request('GET', '/api/v1/pods')[0], 200)

    def test_a_disabled_plugin_is_left_out_and_a_missing_required_one_makes_startup_fail(self):
        with Server('--disable-plugin=apps', plugin_dir=self.dir) as server:
            self.assertNotIn('apps', self.groups(server))
        with Server('--require-plugin=nothing', plugin_dir=self.dir, wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            self.assertIn('nothing', server.text())

    def test_a_broken_file_is_reported_and_the_rest_is_served(self):
        with open(os.path.join(self.dir, 'broken.so'), 'wb') as f:
            f.write(open(os.path.join(self.dir, 'apps.so'), 'rb').read()[:9000])
        with Server(plugin_dir=self.dir) as server:
            self.assertIn('apps', self.groups(server))
            self.assertIn('PLG-FILE', server.text())
        done = subprocess.run([BINARY, 'plugin', 'check', '--plugin-dir', self.dir], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn('broken.so', done.stdout)

    def test_the_graph_shows_the_chain_front_to_back(self):
        done = subprocess.run([BINARY, 'plugin', 'graph', '--plugin-dir', self.dir], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        order = [done.stdout.find(name) for name in ('aggregator', 'core', 'apiextensions', 'not found')]
        self.assertNotIn(-1, order, done.stdout)
        self.assertEqual(order, sorted(order), done.stdout)


if __name__ == '__main__':
    main()
