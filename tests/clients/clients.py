"""Builds Kubernetes' own components from their Go module, and runs them against a server.

go.mod beside this file is the recipe; if Go or the module is not available, `build` has the reason and the test is skipped."""
import contextlib
import fcntl
import filecmp
import glob
import os
import re
import shutil
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD_DIR = os.environ.get('CLIENTS_DIR', os.path.join(HERE, '../../build/clients'))
PROGRAMS = ('kube-apiserver', 'kube-controller-manager', 'kube-scheduler')
BUSY = re.compile('[Tt]oo many requests|time allotted|Timeout: ')  # the texts in which clients report 429 and 504


class Missing(Exception):
    """The reason why the programs are not available."""


def go_environment():
    env = dict(os.environ, GOFLAGS='-mod=mod -trimpath', GOTOOLCHAIN='local')
    env.setdefault('HOME', BUILD_DIR)
    return env


def module():
    """The environment for `go` in BUILD_DIR, which has a copy of the recipe. Raises Missing."""
    if not shutil.which('go'):
        raise Missing('Go is not installed')
    changed(BUILD_DIR, recipe())
    return go_environment()


def download(folder, packages, env):
    """Fetches the modules and all dependencies of the packages."""
    try:
        got = subprocess.run(['go', 'list', '-deps'] + packages, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, timeout=900)
    except subprocess.TimeoutExpired:
        raise Missing('the modules of %s do not come' % ', '.join(packages)) from None
    if got.returncode != 0:
        raise Missing('the modules of %s cannot be had: %s' % (', '.join(packages), got.stderr.strip()[-300:]))


def changed(folder, sources):
    """Copies the sources to `folder`; returns whether anything changed."""
    os.makedirs(folder, exist_ok=True)
    different = [path for path in sources if not os.path.exists(os.path.join(folder, os.path.basename(path)))
                 or (not path.endswith(('go.mod', 'go.sum')) and not filecmp.cmp(path, os.path.join(folder, os.path.basename(path)), shallow=False))]
    for path in different:
        shutil.copy(path, folder)
    return bool(different)


@contextlib.contextmanager
def build_lock():
    """One build at a time on this machine: tests that run at the same time use the same folders, and a build uses all cores."""
    os.makedirs(BUILD_DIR, exist_ok=True)
    with open(os.path.join(BUILD_DIR, 'lock'), 'w', encoding='utf-8') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def go_build(folder, sources, packages):
    """{name: path} of the programs of `packages`, built in `folder` if they do not exist yet. Raises Missing."""
    with build_lock():
        return go_build_locked(folder, sources, packages)


def go_build_locked(folder, sources, packages):
    paths = {os.path.basename(package): os.path.join(folder, os.path.basename(package)) for package in packages}
    if not changed(folder, sources) and all(os.path.exists(path) for path in paths.values()):
        return paths
    if not shutil.which('go'):
        raise Missing('Go is not installed')
    env = go_environment()
    download(folder, packages, env)
    for package, path in zip(packages, paths.values()):
        build_package(folder, package, path, env)
    return paths


def build_package(folder, package, path, env):
    """Builds once more after a failure: a module may not have come."""
    for left in (1, 0):
        made = subprocess.run(['go', 'build', '-ldflags=-s -w', '-o', path, package], cwd=folder, env=env, capture_output=True, text=True)
        if made.returncode == 0:
            return
        if left == 0:
            raise AssertionError('go build %s:\n%s' % (package, made.stderr[-3000:]))


def recipe(*folder):
    return [os.path.join(HERE, *folder, name) for name in ('go.mod', 'go.sum')]


def build(names=PROGRAMS):
    """{name: path} of Kubernetes' own programs."""
    return go_build(BUILD_DIR, recipe(), ['k8s.io/kubernetes/cmd/' + name for name in names])


def build_checks():
    """The path of the program in the folder go."""
    sources = recipe('go') + glob.glob(os.path.join(HERE, 'go', '*.go'))
    return go_build(os.path.join(BUILD_DIR, 'go'), sources, ['backplane.dev/clients/checks'])['checks']


def build_aggregated():
    """The path of the sample API server with a store of its own (aggregated/)."""
    sources = recipe('aggregated') + glob.glob(os.path.join(HERE, 'aggregated', '*.go'))
    return go_build(os.path.join(BUILD_DIR, 'aggregated'), sources, ['backplane.dev/clients/aggregated'])['aggregated']


def build_oidc():
    """The path of the OpenID provider (oidc/)."""
    sources = recipe('oidc') + [os.path.join(HERE, 'oidc', 'main.go')]
    return go_build(os.path.join(BUILD_DIR, 'oidc'), sources, ['backplane.dev/clients/oidc'])['oidc']


def build_metrics_server():
    """The path of metrics-server."""
    return go_build(os.path.join(BUILD_DIR, 'metrics'), recipe('metrics'), ['sigs.k8s.io/metrics-server/cmd/metrics-server'])['metrics-server']


def build_helm():
    """The path of Helm."""
    return go_build(os.path.join(BUILD_DIR, 'helm'), recipe('helm'), ['helm.sh/helm/v4/cmd/helm'])['helm']


def build_own(source):
    """The path of a single-file program of this project that uses Kubernetes' module; named like its folder."""
    name = os.path.basename(os.path.dirname(source))
    with build_lock():
        if changed(os.path.join(BUILD_DIR, 'own', name), [source]) and os.path.exists(os.path.join(BUILD_DIR, name)):
            os.remove(os.path.join(BUILD_DIR, name))
        return go_build_locked(BUILD_DIR, recipe(), ['./own/' + name])[name]


def build_specs():
    """The paths of upstream's end-to-end specs (apimachinery/) and of ginkgo, which runs several of them at a time."""
    program = build_own(os.path.join(HERE, 'apimachinery', 'main.go'))
    return program, go_build(BUILD_DIR, recipe(), ['github.com/onsi/ginkgo/v2/ginkgo'])['ginkgo']


def build_kwok():
    """The path of kwok's controller, which plays kubelets."""
    return go_build(os.path.join(BUILD_DIR, 'kwok'), recipe('kwok'), ['sigs.k8s.io/kwok/cmd/kwok'])['kwok']


def build_k9s():
    """The path of k9s, a terminal interface."""
    return go_build(os.path.join(BUILD_DIR, 'k9s'), recipe('k9s'), ['github.com/derailed/k9s'])['k9s']


def end(process, seconds):
    """Terminates it, and kills it after this number of seconds."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Program:
    """One running component; its output goes to a file next to the server's."""

    def __init__(self, path, server, *flags, kubeconfig=None):
        self.log_path = os.path.join(server.dir, os.path.basename(path) + '.log')
        self.log = open(self.log_path, 'wb')
        self.process = subprocess.Popen([path, '--kubeconfig', kubeconfig or server.kubeconfig, '--secure-port=0', '--leader-elect=true', '-v=2', *flags],
                                        stdout=self.log, stderr=subprocess.STDOUT, env=dict(os.environ, HOME=server.dir))

    def text(self):
        self.log.flush()
        with open(self.log_path, errors='replace') as f:
            return f.read()

    def failed_watches(self):
        """Its messages about failed watches, except those that a busy server refused, because they are retried."""
        return [line for line in self.text().splitlines() if 'Failed to watch' in line and not BUSY.search(line)]

    def stop(self):
        end(self.process, 20)
        self.log.close()
