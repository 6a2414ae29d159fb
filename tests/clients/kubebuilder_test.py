"""The suites of kubebuilder's sample project, which run on envtest: a controller, and admission and conversion webhooks of a kind with two versions.

The project of kubebuilder's book is made by its own generator, since modules do not contain nested ones. This server is its kube-apiserver,
backplane-etcd its etcd."""
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

MODULE, VERSION = 'sigs.k8s.io/kubebuilder/v4', 'v4.16.0'
FOLDER = os.path.join(clients.BUILD_DIR, 'kubebuilder')
# The folder of each suite → the number of its specs. The project has none of its second version.
SUITES = {'internal/controller': 6, 'internal/webhook/v1': 8, 'internal/served': 5}


def run(*command, folder, error=clients.Missing):
    # Commands of the generator install tools, which -mod=mod does not allow.
    environment = dict(clients.go_environment(), GOFLAGS='-trimpath')
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1500, check=False)
    if done.returncode != 0:
        raise error('%s: %s' % (' '.join(command[:3]), (done.stdout + done.stderr).strip()[-1500:]))
    return done.stdout


def generate(sources, made):
    """Makes the project in the folder `made`, with a copy of kubebuilder's module in `sources`."""
    if not shutil.which('go') or not shutil.which('make'):
        raise clients.Missing('Go and make are not both installed')
    module = json.loads(run('go', 'mod', 'download', '-json', MODULE + '@' + VERSION, folder=FOLDER))
    subprocess.run(['rm', '-rf', sources], check=True)
    # A module's folder is read-only.
    shutil.copytree(module['Dir'], sources, copy_function=shutil.copyfile)
    subprocess.run(['chmod', '-R', 'u+w', sources], check=True)
    generator = os.path.join(sources, 'hack', 'docs', 'sample')
    for each in (generator, made):
        os.makedirs(each)
    shutil.copy(os.path.join(HERE, 'kubebuilder', 'main.go'), generator)
    run('go', 'mod', 'download', folder=sources)
    run('go', 'build', '-o', 'bin/', '.', './hack/docs/sample', folder=sources, error=AssertionError)
    run('./bin/sample', os.path.join(sources, 'bin', 'kubebuilder'), made, folder=sources)
    run('make', 'generate', 'manifests', folder=made)
    run('go', 'mod', 'download', folder=made)


def project():
    """The folder of the project, with a built program `suite.test` in the folder of each suite. Raises Missing."""
    sources = os.path.join(FOLDER, VERSION)
    made, generated = os.path.join(sources, 'project'), os.path.join(sources, 'generated')
    with clients.build_lock():
        if clients.changed(FOLDER, [os.path.join(HERE, 'kubebuilder', 'main.go')]) or not os.path.exists(generated):
            generate(sources, made)
            os.mkdir(generated)
        built = not clients.changed(os.path.join(made, 'internal', 'served'), [os.path.join(HERE, 'kubebuilder', 'served_test.go')])
        for suite in SUITES:
            if not built or not os.path.exists(os.path.join(made, suite, 'suite.test')):
                run('go', 'test', '-c', '-o', suite + '/suite.test', './' + suite, folder=made, error=AssertionError)
    return made


class Kubebuilder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.project = project()
        except (clients.Missing, subprocess.TimeoutExpired) as why:
            raise unittest.SkipTest("kubebuilder's sample project cannot be built: %s" % why)

    def check(self, suite):
        folder = os.path.join(self.project, suite)
        own = suite == 'internal/served'  # without ginkgo
        with tempfile.TemporaryDirectory(prefix='backplane-kubebuilder-') as home:
            server = os.path.join(home, 'kube-apiserver')
            os.symlink(harness.BINARY, server)
            etcd = os.path.join(os.path.dirname(os.path.realpath(harness.BINARY)), 'backplane-etcd')
            environment = dict(os.environ, HOME=home, TEST_ASSET_KUBE_APISERVER=server, TEST_ASSET_ETCD=etcd,
                               TEST_ASSET_KUBECTL=shutil.which('kubectl') or '')
            command = ['./suite.test', '-test.v', *([] if own else ['-ginkgo.no-color'])]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-6000:])
        ran = len(re.findall(r'^ +--- PASS: ', done.stdout, re.M)) if own else int(re.search(r'Ran (\d+) of \d+ Specs', done.stdout)[1])
        self.assertEqual(ran, SUITES[suite], done.stdout[-3000:])

    def test_controller(self):
        self.check('internal/controller')

    def test_webhooks(self):
        self.check('internal/webhook/v1')

    def test_webhooks_that_the_server_calls(self):
        self.check('internal/served')


if __name__ == '__main__':
    harness.main()
