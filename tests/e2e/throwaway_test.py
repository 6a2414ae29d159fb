"""--throwaway: a store in memory, a free port, a temporary directory; the server ends with its parent."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import harness

FLAGS = ['--throwaway', '--plugin-dir', harness.PLUGINS]
# A parent that starts the server, waits for a line of input and exits without stopping the server.
PARENT = ('import os, subprocess, sys\n'
          'child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)\n'
          'print("child", child.pid, flush=True)\nsys.stdin.readline()\nos._exit(0)\n')


class Throwaway(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='backplane-test-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = dict(os.environ, TMPDIR=self.folder)

    def kubeconfig(self, process):
        """The path that the server prints once it serves."""
        for line in process.stdout:
            found = re.search('export KUBECONFIG=(.*)', line)
            if found:
                return found[1].strip()
        self.fail('the server ended with %s' % process.wait())

    def test_it_serves_and_leaves_nothing(self):
        with subprocess.Popen([harness.BINARY, *FLAGS], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            kubeconfig = self.kubeconfig(process)
            self.assertTrue(kubeconfig.startswith(self.folder), kubeconfig)
            server = harness.Server.__new__(harness.Server)
            server.kubeconfig = kubeconfig
            server.read_kubeconfig()
            self.assertTrue(harness.wait_for(lambda: server.request('GET', '/readyz')[0] == 200))
            made = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a'}}
            self.assertEqual(server.request('POST', '/api/v1/namespaces/default/configmaps', made)[0], 201)
            process.terminate()
            process.stdout.read()
            self.assertEqual(process.wait(60), 0)
        self.assertEqual(os.listdir(self.folder), [])

    def test_it_ends_with_its_parent(self):
        with subprocess.Popen([sys.executable, '-c', PARENT, harness.BINARY, *FLAGS], env=self.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as parent:
            self.kubeconfig(parent)
            parent.stdin.close()
            parent.stdout.read()  # returns when the server, which also holds the other end, has ended
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_store_flag_cannot_be_combined_with_it(self):
        for flag in ('--data-dir=' + self.folder, '--storage-backend=rocksdb', '--etcd-servers=http://127.0.0.1:1'):
            ended = subprocess.run([harness.BINARY, *FLAGS, flag], env=self.environment, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(ended.returncode, 1)
            self.assertIn('--throwaway: cannot be combined with ' + flag.partition('=')[0], ended.stderr)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == '__main__':
    harness.main()
