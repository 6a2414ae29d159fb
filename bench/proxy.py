#!/usr/bin/env python3
"""What passing a request on costs: one server stands behind an APIService of another, and the same object is read through it and directly.

    bench/proxy.py [BUILD] [SECONDS] [CLIENTS]

Prints microseconds of CPU a read: of the server that is asked directly, and of both when one passes it on.  The overhead is what the
server in front spends, and what the one behind spends more than when it is asked directly."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build').resolve()
SECONDS = sys.argv[2] if len(sys.argv) > 2 else '5'
CLIENTS = sys.argv[3] if len(sys.argv) > 3 else '8'
os.environ.setdefault('BACKPLANE', str(BUILD / 'bin/backplane'))
os.environ.setdefault('BACKPLANE_PLUGINS', str(BUILD / 'lib/backplane/plugins'))
sys.path.insert(0, str(ROOT / 'tests/e2e'))
import aggregated  # noqa: E402
import harness  # noqa: E402

GROUP, VERSION = 'node.k8s.io', 'v1'
COLLECTION = '/apis/%s/%s/runtimeclasses' % (GROUP, VERSION)
PATH = COLLECTION + '/bench'


def cpu(server):
    with open('/proc/%d/stat' % server.process.pid) as stat:
        fields = stat.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def read(asked, servers):
    """Microseconds of CPU that each of the servers spends on one read of PATH through `asked`."""
    before = [cpu(each) for each in servers]
    out = subprocess.run([str(BUILD / 'bin/backplane-bench'), '--kubeconfig', asked.kubeconfig, '--pid', str(asked.process.pid), '--clients',
                          CLIENTS, '--seconds', SECONDS, '--path', PATH, 'path'], check=True, capture_output=True, text=True).stdout
    said = json.loads(out.strip().splitlines()[-1])
    return [(cpu(each) - start) / said['ops'] * 1e6 for each, start in zip(servers, before)], said


def main():
    folder = tempfile.TemporaryDirectory()
    front = aggregated.Certificates(os.path.join(folder.name, 'front'))
    certificate, key = front.issue('proxy', 'front-proxy-client')
    behind = harness.Server('--requestheader-client-ca-file=' + front.path('ca.crt'), *aggregated.IDENTITY_FLAGS)
    asked = harness.Server('--proxy-client-cert-file=' + certificate, '--proxy-client-key-file=' + key)
    try:
        run_class = {'apiVersion': GROUP + '/' + VERSION, 'kind': 'RuntimeClass', 'metadata': {'name': 'bench'}, 'handler': 'h'}
        assert behind.request('POST', COLLECTION, run_class)[0] == 201
        assert asked.request('POST', '/api/v1/namespaces/default/services', aggregated.external('behind'))[0] == 201
        path = '/apis/apiregistration.k8s.io/v1/apiservices/%s.%s' % (VERSION, GROUP)
        service = asked.request('GET', path)[2]
        service['spec'].update(insecureSkipTLSVerify=True, service={'namespace': 'default', 'name': 'behind', 'port': behind.port})
        service['metadata']['labels'] = {}
        assert asked.request('PUT', path, service)[0] == 200
        assert harness.wait_for(lambda: asked.request('GET', PATH)[0] == 200), asked.request('GET', PATH)
        (direct,), said = read(behind, [behind])
        print('direct      %7.1f us  %s' % (direct, json.dumps(said)))
        (passing, answering), said = read(asked, [asked, behind])
        print('passed on   %7.1f us in front, %.1f us behind  %s' % (passing, answering, json.dumps(said)))
        print('overhead    %7.1f us in front, %.1f us in all' % (passing, passing + answering - direct))
    finally:
        asked.stop()
        behind.stop()


if __name__ == '__main__':
    main()
