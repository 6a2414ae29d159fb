#!/usr/bin/env python3
"""The start of a test suite on controller-runtime's envtest: environment.Start(), and until a client has read a namespace.

    bench/envtest_start.py [BUILD] [ROUNDS] [CRD-FOLDER]

Medians of ROUNDS (15) environments, each with a new control plane: `backplane` with `backplane-etcd`; and, if they are installed, etcd with
kube-apiserver of the folder CLIENTS_DIR (BUILD/clients). Go builds envtest_go with the modules of tests/clients/go."""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build').resolve()
ROUNDS = sys.argv[2] if len(sys.argv) > 2 else '15'
CRDS = str(pathlib.Path(sys.argv[3]).resolve()) if len(sys.argv) > 3 else ''


def program(folder):
    for source in (ROOT / 'tests/clients/go/go.mod', ROOT / 'tests/clients/go/go.sum', ROOT / 'bench/envtest_go/main.go'):
        shutil.copy(source, folder)
    environment = dict(os.environ, GOFLAGS='-mod=mod -trimpath', GOTOOLCHAIN='local')
    subprocess.run(['go', 'build', '-o', 'envtest_start', '.'], cwd=folder, env=environment, check=True)
    return os.path.join(folder, 'envtest_start')


def measure(name, run, server, etcd):
    with tempfile.TemporaryDirectory(prefix='backplane-envtest-') as home:
        environment = dict(os.environ, HOME=home, TEST_ASSET_KUBE_APISERVER=str(server), TEST_ASSET_ETCD=str(etcd),
                           TEST_ASSET_KUBECTL=shutil.which('kubectl') or '/bin/true')
        done = subprocess.run([run, ROUNDS, CRDS], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit('%s: %s' % (name, done.stderr[-3000:]))
    rows = [[float(field) for field in line.split()] for line in done.stdout.splitlines()]
    start, used, stop = (sorted(column) for column in zip(*rows))
    print('%s: Start() %.0f ms (%.0f to %.0f), first read after %.0f ms, Stop() %.0f ms' % (
        name, statistics.median(start), start[0], start[-1], statistics.median(used), statistics.median(stop)), flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix='backplane-envtest-go-') as folder:
        run = program(folder)
        measure('backplane', run, BUILD / 'bin/backplane', BUILD / 'bin/backplane-etcd')
        upstream = pathlib.Path(os.environ.get('CLIENTS_DIR', BUILD / 'clients')) / 'kube-apiserver'
        if upstream.is_file() and shutil.which('etcd'):
            measure('kube-apiserver', run, upstream, shutil.which('etcd'))


if __name__ == '__main__':
    main()
