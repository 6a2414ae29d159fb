"""Builds Kubernetes' own components from their Go module, and runs them against a server.

go.mod beside this file is the recipe; where Go is missing, or the module cannot be had, `build` says why and the test is skipped."""
import os
import shutil
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD_DIR = os.environ.get('CLIENTS_DIR', os.path.join(HERE, '../../build/clients'))
PROGRAMS = ('kube-apiserver', 'kube-controller-manager', 'kube-scheduler')


class Missing(Exception):
    """Why the programs cannot be had here."""


def download(env):
    """Fetches the module and all that it is built of."""
    try:
        got = subprocess.run(['go', 'list', '-deps'] + ['k8s.io/kubernetes/cmd/' + name for name in PROGRAMS], cwd=BUILD_DIR, env=env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        raise Missing('the module k8s.io/kubernetes does not come') from None
    if got.returncode != 0:
        raise Missing('the module k8s.io/kubernetes cannot be had: ' + got.stderr.strip()[-300:])


def build():
    """{name: path} of the programs, built if they are not there yet.  Throws Missing."""
    paths = {name: os.path.join(BUILD_DIR, name) for name in PROGRAMS}
    if all(os.path.exists(path) for path in paths.values()):
        return paths
    if not shutil.which('go'):
        raise Missing('Go is not installed')
    os.makedirs(BUILD_DIR, exist_ok=True)
    for name in ('go.mod', 'go.sum'):
        shutil.copy(os.path.join(HERE, name), BUILD_DIR)
    env = dict(os.environ, GOFLAGS='-mod=mod -trimpath', GOTOOLCHAIN='local')
    env.setdefault('HOME', BUILD_DIR)
    download(env)
    made = subprocess.run(['go', 'build', '-ldflags=-s -w', '-o', BUILD_DIR + os.sep] + ['k8s.io/kubernetes/cmd/' + name for name in PROGRAMS],
                          cwd=BUILD_DIR, env=env, capture_output=True, text=True)
    if made.returncode != 0:
        raise AssertionError('go build:\n' + made.stderr[-3000:])
    return paths


class Program:
    """One component at work; its output goes to a file beside the server's."""

    def __init__(self, path, server, *flags):
        self.log_path = os.path.join(server.dir, os.path.basename(path) + '.log')
        self.log = open(self.log_path, 'wb')
        self.process = subprocess.Popen([path, '--kubeconfig', server.kubeconfig, '--secure-port=0', '--leader-elect=true', '-v=2', *flags],
                                        stdout=self.log, stderr=subprocess.STDOUT, env=dict(os.environ, HOME=server.dir))

    def text(self):
        self.log.flush()
        with open(self.log_path, errors='replace') as f:
            return f.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
