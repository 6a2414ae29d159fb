"""The log of startup: at most ten lines by default, the last one for kubectl; a failed startup ends with the reason."""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

from etcd_test import ETCD, Etcd
from harness import BINARY, PLUGINS, Server, wait_for

MOST_LINES = 10


class StartupTest(unittest.TestCase):
    def check(self, server):
        """The lines until the server is ready, and those of the first seconds of its health checks."""
        server.request('GET', '/readyz')
        lines = server.text().splitlines()
        self.assertLessEqual(len(lines), MOST_LINES, server.text())
        self.assertRegex(lines[-1], r'^export KUBECONFIG=/.*/admin\.kubeconfig$')
        self.assertNotIn('FLAG:', server.text())
        self.assertNotIn('not finished', server.text())
        return lines

    def test_a_first_startup_and_a_restart_write_ten_lines_at_most(self):
        with Server() as server:
            lines = self.check(server)
            self.assertRegex(lines[0], r' I app Version: v1\.36\.\d+ backplane=\d+\.\d+\.\d+ commit=\w+ cores=\d+ ')
            self.assertIn('--secure-port="0"', lines[1])
            absent = [line for line in lines if 'default admission plugins' in line]
            self.assertLessEqual(len(absent), 1)
            self.assertNotIn('PodSecurity', ''.join(absent))
            self.assertEqual(server.terminate(), 0)
            with Server(data_dir=server.dir) as later:
                self.check(later)

    def test_flags_are_logged_at_2(self):
        with Server('-v=2') as server:
            flags = [line for line in server.text().splitlines() if ' FLAG: --' in line]
            self.assertGreater(len(flags), 150)
            self.assertIn('FLAG: --v="2"', server.text())

    def test_failed_health_checks_are_logged_at_2_only(self):
        for verbosity, logged in (('-v=2', True), ('-v=1', False)):
            with self.subTest(verbosity), Server('--etcd-servers=http://127.0.0.1:1', verbosity, wait=False) as server:
                def not_ready():
                    if not os.path.exists(server.kubeconfig):
                        return False
                    server.read_kubeconfig()
                    try:
                        return server.request('GET', '/readyz')[0] == 500
                    except OSError:
                        return False
                self.assertTrue(wait_for(not_ready), server.text())
                self.assertEqual('check failed: readyz' in server.text(), logged, server.text())

    @unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
    def test_over_etcd_as_well(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        for _ in range(2):
            with Server('--etcd-servers=' + etcd.url) as server:
                self.check(server)

    def test_a_startup_that_fails_ends_with_its_reason(self):
        with tempfile.TemporaryDirectory() as place, socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            damaged = os.path.join(place, 'damaged.pem')
            with open(damaged, 'w', encoding='utf-8') as f:
                f.write('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
            for reason, flags in {
                    '--goaway-chance: must be': ['--goaway-chance=0.5'],
                    '--blocking-threads: must be between 1 and 1024': ['--blocking-threads=0'],
                    '--offload-threads: must be between 0 and 1024': ['--offload-threads=2000'],
                    'ddress already in use': ['--secure-port=%d' % taken.getsockname()[1]],
                    'damaged.pem does not contain a PEM certificate': ['--tls-cert-file=' + damaged, '--tls-private-key-file=' + damaged],
                    'unknown api groups "nope/v1"': ['--runtime-config=nope/v1=true'],
                    '--enable-admission-plugins: unknown admission plugin "Nonesuch"': ['--enable-admission-plugins=Nonesuch'],
                    '--require-plugin: the plugin nonesuch does not run': ['--require-plugin=nonesuch'],
                    '--audit-policy-file: the plugin audit does not run': ['--audit-policy-file=/nonesuch'],
                    '--storage-backend=nonesuch: no loaded plugin has this backend': ['--storage-backend=nonesuch'],
                    'emulation version 1.32 is not between [1.33, 1.36.0]': ['--emulated-version=1.32'],
            }.items():
                done = subprocess.run([BINARY, '--plugin-dir', PLUGINS, '--data-dir', os.path.join(place, 'd'), '--secure-port=0', *flags],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
                lines = done.stdout.splitlines()
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertLessEqual(len(lines), MOST_LINES, done.stdout)
                self.assertTrue(lines[-1].startswith('Error: '), done.stdout)
                self.assertIn(reason, lines[-1])
                self.assertNotRegex(done.stdout, r'error:[0-9A-F]{8}:|routines:')
                shutil.rmtree(os.path.join(place, 'd'), ignore_errors=True)

    def test_version_names_kubernetes_first_and_then_backplane(self):
        done = subprocess.run([BINARY, '--version'], capture_output=True, text=True, timeout=60, check=True)
        self.assertRegex(done.stdout, r'^Kubernetes v1\.36\.\d+\nBackplane v\d+\.\d+\.\d+ \(commit \w+\)\n$')
        commit = re.search(r'commit (\w+)', done.stdout)[1]
        raw = subprocess.run([BINARY, '--version=raw'], capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn('gitCommit:"%s"' % commit, raw)
        with Server() as server:
            version = server.request('GET', '/version')[2]
            self.assertEqual(version['gitCommit'], commit)
            self.assertRegex(version['buildDate'], r'^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$')
            self.assertIn(version['gitTreeState'], ('clean', 'dirty', ''))


if __name__ == '__main__':
    unittest.main()
