"""controller-runtime's own suite of envtest, with this server as its kube-apiserver, and a real etcd or backplane-etcd."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../e2e'))
import harness  # noqa: E402
import clients  # noqa: E402

MODULE = 'sigs.k8s.io/controller-runtime'
FOLDER = os.path.join(clients.BUILD_DIR, 'envtest')


def go(*arguments, folder):
    done = subprocess.run(['go', *arguments], cwd=folder, env=clients.go_environment(), capture_output=True, text=True, timeout=1500, check=False)
    if done.returncode != 0:
        raise clients.Missing('go %s: %s' % (arguments[0], (done.stdout + done.stderr).strip()[-300:]))
    return done.stdout


def suite():
    """The folder of the suite's sources, with the built program `envtest.test` in it.  Raises Missing."""
    if not shutil.which('go') or not shutil.which('kubectl'):
        raise clients.Missing('Go and kubectl are not both installed')
    with open(os.path.join(HERE, 'go', 'go.mod'), encoding='utf-8') as f:
        version = re.search(re.escape(MODULE) + r' (v\S+)', f.read())[1]
    sources = os.path.join(FOLDER, version)
    folder = os.path.join(sources, 'pkg', 'envtest')
    program = os.path.join(folder, 'envtest.test')
    if not os.path.exists(program):
        # A module's folder is read-only, and its tests are built within their own module.
        os.makedirs(FOLDER, exist_ok=True)
        module = json.loads(go('mod', 'download', '-json', MODULE + '@' + version, folder=FOLDER))
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(module['Dir'], sources, copy_function=shutil.copyfile)
        subprocess.run(['chmod', '-R', 'u+w', sources], check=True)
        go('test', '-c', '-o', program, './pkg/envtest', folder=sources)
    return folder, program


class Envtest(unittest.TestCase):
    def run_suite(self, etcd):
        try:
            folder, program = suite()
        except (clients.Missing, subprocess.TimeoutExpired) as why:
            self.skipTest('the suite of envtest cannot be had: %s' % why)
        with tempfile.TemporaryDirectory(prefix='backplane-envtest-') as home:
            # One spec looks for this name in the program's path.
            server = os.path.join(home, 'kube-apiserver')
            os.symlink(harness.BINARY, server)
            environment = dict(os.environ, HOME=home, TEST_ASSET_KUBE_APISERVER=server, TEST_ASSET_ETCD=etcd,
                               TEST_ASSET_KUBECTL=shutil.which('kubectl'))
            done = subprocess.run([program, '-ginkgo.no-color'], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False)
        ran = re.search(r'Ran (\d+) of', done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        self.assertGreaterEqual(int(ran[1]), 25, done.stdout[-3000:])

    @unittest.skipUnless(shutil.which('etcd'), 'etcd is not installed')
    def test_its_own_suite(self):
        self.run_suite(shutil.which('etcd'))

    def test_its_own_suite_without_etcd(self):
        self.run_suite(os.path.join(os.path.dirname(os.path.realpath(harness.BINARY)), 'backplane-etcd'))


if __name__ == '__main__':
    harness.main()
