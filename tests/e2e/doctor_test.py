"""`backplane doctor`: what it finds on a host, in a data directory and in flags, with the exit code and the fix."""
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

from harness import BINARY, PLUGINS, Server, free_port, main


class Doctor(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='backplane-doctor-')
        self.addCleanup(directory.cleanup)
        self.dir = directory.name
        self.data = os.path.join(self.dir, 'data')

    def found(self, *flags, code=0):
        """{check: [(level, message, fix)]}"""
        done = subprocess.run([BINARY, 'doctor', '-o', 'json', '--data-dir', self.data, '--plugin-dir', PLUGINS, *flags], capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        out = {}
        for row in json.loads(done.stdout)['checks']:
            out.setdefault(row['check'], []).append((row['level'], row['message'], row.get('fix', '')))
            self.assertEqual(row['level'] == 'ok', 'fix' not in row, row)
        return out

    def served(self):
        """A data directory that a server has left."""
        with Server(data_dir=self.dir) as server:
            self.assertEqual(server.terminate(), 0)

    def only(self, found, check):
        row, = found[check]
        return row

    def test_before_the_first_startup(self):
        found = self.found('--secure-port=%d' % free_port())
        self.assertEqual(set(found), {'flags', 'files', 'disk', 'open files', 'clock', 'certificates', 'port', 'store', 'plugins', 'kubeconfig'})
        for check in ('flags', 'files', 'certificates', 'port', 'store', 'plugins', 'kubeconfig'):
            self.assertEqual(self.only(found, check)[0], 'ok', check)
        self.assertFalse(os.path.exists(self.data))

    def test_a_running_server(self):
        with Server(data_dir=self.dir):
            found = self.found()
            self.assertIn('is ready', self.only(found, 'kubeconfig')[1])
            self.assertEqual(self.only(found, 'port')[1], 'the server of this data directory runs')
            self.assertIn('it opens: revision ', self.only(found, 'store')[1])
            self.assertRegex(self.only(found, 'certificates')[1], r'^\d+ are valid; ')
            # Another kubeconfig, whose credentials the server does not know.
            text = pathlib.Path(self.data, 'admin.kubeconfig').read_text(encoding='utf-8')
            other = os.path.join(self.dir, 'other.kubeconfig')
            pathlib.Path(other).write_text('\n'.join(line for line in text.splitlines() if 'client-' not in line) + '\n    token: unknown\n', encoding='utf-8')
            found = self.found('--kubeconfig', other, code=1)
            self.assertEqual(self.only(found, 'kubeconfig')[0], 'error')

    def test_flags_and_ports(self):
        with socket.create_server(('127.0.0.1', 0)) as taken:
            found = self.found('--secure-port=%d' % taken.getsockname()[1], '--etcd-compaction-interval=-1s', code=1)
        level, message, fix = self.only(found, 'port')
        self.assertEqual(level, 'error')
        self.assertIn('Address already in use', message)
        self.assertIn('--secure-port', fix)
        self.assertIn('--etcd-compaction-interval: must not be negative', [row[1] for row in found['flags']])
        done = subprocess.run([BINARY, 'doctor', '--no-such-flag'], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ''))

    def test_files_that_others_can_read(self):
        self.served()
        key = os.path.join(self.data, 'pki', 'ca.key')
        os.chmod(key, 0o644)
        os.chmod(self.data, 0o755)
        found = self.found('--secure-port=%d' % free_port(), code=1)
        rows = {row[1]: (row[0], row[2]) for row in found['files']}
        self.assertEqual({row[0] for row in rows.values()}, {'warning', 'error'})
        self.assertTrue(any('chmod 0600 ' + key in fix for _, fix in rows.values()), rows)

    def test_a_damaged_store(self):
        self.served()
        manifest = next(pathlib.Path(self.data, 'rocksdb').glob('MANIFEST-*'))
        text = bytearray(manifest.read_bytes())
        text[len(text) // 2] ^= 0xff
        manifest.write_bytes(bytes(text))
        found = self.found('--secure-port=%d' % free_port(), code=1)
        level, message, fix = self.only(found, 'store')
        self.assertEqual(level, 'error')
        self.assertIn('is damaged', message)
        self.assertIn('backplane store restore', fix)

    def test_a_certificate_that_expires_soon(self):
        self.served()
        done = subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '7', '-subj', '/CN=x',
                               '-keyout', os.path.join(self.dir, 'x.key'), '-out', os.path.join(self.data, 'pki', 'soon.crt')], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.found('--secure-port=%d' % free_port())
        level, message, fix = self.only(found, 'certificates')
        self.assertEqual(level, 'warning')
        self.assertRegex(message, r'/pki/soon\.crt expires in [67] days$')
        self.assertTrue(fix)

    def test_plugins(self):
        broken = os.path.join(self.dir, 'plugins')
        os.mkdir(broken)
        pathlib.Path(broken, 'broken.so').write_text('not a plugin', encoding='utf-8')
        found = self.found('--plugin-dir', broken, '--secure-port=%d' % free_port(), code=1)
        messages = [row[1] for row in found['plugins'] if row[0] == 'error']
        self.assertTrue(any('broken.so' in message and message.startswith('PLG-') for message in messages), messages)


if __name__ == '__main__':
    main()
