"""backplane-etcd: started as envtest starts etcd and kube-apiserver, without an etcd."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import drop_in_test
import harness

STAND_IN = os.path.join(os.path.dirname(os.path.realpath(harness.BINARY)), 'backplane-etcd')
CONFIGMAPS = '/api/v1/namespaces/default/configmaps'


class StandIn(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='backplane-etcd-')
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.data = os.path.join(self.dir, 'etcd')
        self.url = 'http://127.0.0.1:%d' % harness.free_port()

    def start_etcd(self, *flags):
        process = subprocess.Popen([STAND_IN, '--listen-peer-urls=http://127.0.0.1:1', '--data-dir=' + self.data, '--advertise-client-urls=' + self.url,
                                    '--listen-client-urls=' + self.url, *flags])
        self.addCleanup(process.kill)
        self.assertTrue(harness.wait_for(lambda: self.get('/health') is not None or process.poll() is not None))
        self.assertIsNone(process.poll())
        return process

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return json.loads(answer.read())
        except (urllib.error.URLError, ConnectionError):
            return None

    def test_a_server_keeps_its_store_there(self):
        etcd = self.start_etcd('--unsafe-no-fsync=true')
        self.assertEqual(self.get('/health'), {'health': 'true', 'reason': ''})
        self.assertEqual(self.get('/version')['backplane'], {'dataDir': self.data, 'unsafeNoFsync': True})
        with harness.Server('--etcd-servers=' + self.url) as server:
            self.assertIn('is backplane-etcd', server.text())
            self.assertEqual(server.request('POST', CONFIGMAPS, harness.configmap('a'))[0], 201)
            self.assertTrue(os.path.exists(os.path.join(self.data, 'rocksdb', 'CURRENT')))
            self.assertFalse(os.path.exists(os.path.join(server.dir, 'data', 'rocksdb')))
            server.terminate()
        # Another server with another data directory continues, as with an etcd.
        with harness.Server('--etcd-servers=' + self.url) as server:
            self.assertEqual(server.request('GET', CONFIGMAPS + '/a')[0], 200)
            server.terminate()
        etcd.terminate()
        self.assertEqual(etcd.wait(60), 0)

    def test_as_envtest_starts_it(self):
        text = subprocess.run([STAND_IN, '--help'], capture_output=True, text=True, check=True).stdout
        self.assertIn('--unsafe-no-fsync', text)  # envtest requires it
        self.start_etcd('--unsafe-no-fsync=true')
        pki = drop_in_test.Pki(self.dir)
        port = harness.free_port()
        flags = drop_in_test.ENVTEST.format(pki=self.dir, etcd=self.url, port=port).split()
        log_path = os.path.join(self.dir, 'log')
        with open(log_path, 'wb') as log:
            begun = time.monotonic()
            environment = dict(os.environ, HOME=self.dir)
            process = subprocess.Popen([harness.BINARY, '--plugin-dir', harness.PLUGINS, *flags], env=environment, stdout=log, stderr=log)
            self.addCleanup(drop_in_test.stop, process)
            self.assertTrue(harness.wait_for(lambda: 'export KUBECONFIG=' in pathlib.Path(log_path).read_text(encoding='utf-8')))
            took = time.monotonic() - begun
        print('a server over backplane-etcd has started in %.3f s' % took)
        self.assertTrue(os.path.exists(pki.file('ca.crt')))

    def test_what_it_refuses(self):
        done = subprocess.run([STAND_IN, '--listen-client-urls=https://127.0.0.1:1'], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('is not an http URL of a loopback address', done.stderr)
        # Without a stand-in the URL refers to an etcd.
        with harness.Server('--etcd-servers=' + self.url, wait=False) as server:
            self.assertTrue(harness.wait_for(lambda: 'the store cannot be reached' in server.text()), server.text())


if __name__ == '__main__':
    harness.main()
