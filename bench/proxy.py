#!/usr/bin/env python3
"""The cost of forwarding a request: one server is behind an APIService of another, and the same object is read through it and directly.

    bench/proxy.py [BUILD] [SECONDS] [CLIENTS]

Prints microseconds of CPU a read, and instructions where perf can count them: of the server for a direct request, and of both for a
forwarded one, over HTTP/2 and over HTTP/1.1.  The overhead is the additional cost of the front server alone, and of both, compared with a
direct request."""
import json
import os
import pathlib
import shutil
import signal
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


class Counted:
    """Instructions of a server, with those of the kernel counted separately."""
    EVENTS = 'instructions:u', 'instructions:k'

    def __init__(self, server):
        self.perf = None
        if shutil.which('perf'):
            self.perf = subprocess.Popen(['perf', 'stat', '-x', ',', '-e', ','.join(self.EVENTS), '-p', str(server.process.pid)],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def end(self):
        if self.perf is None:
            return [0, 0]
        self.perf.send_signal(signal.SIGINT)
        rows = [line.split(',') for line in self.perf.communicate()[1].splitlines()]
        return [next((int(row[0]) for row in rows if event in row and row[0].isdigit()), 0) for event in self.EVENTS]


def read(asked, servers):
    """(microseconds of CPU, thousands of instructions, those of the kernel) of each server for one read of PATH through `asked`; and the
    driver's output."""
    counted = [Counted(each) for each in servers]
    before = [cpu(each) for each in servers]
    out = subprocess.run([str(BUILD / 'bin/backplane-bench'), '--kubeconfig', asked.kubeconfig, '--pid', str(asked.process.pid), '--clients',
                          CLIENTS, '--seconds', SECONDS, '--path', PATH, 'path'], check=True, capture_output=True, text=True).stdout
    said = json.loads(out.strip().splitlines()[-1])
    spent = [(cpu(each) - start) / said['ops'] * 1e6 for each, start in zip(servers, before)]
    return [(us, *(count / said['ops'] / 1e3 for count in each.end())) for us, each in zip(spent, counted)], said


def row(name, spent):
    counted = ', %.1f k instructions and %.1f k of the kernel' % spent[1:] if spent[1] else ''
    print('%-24s %8.1f us%s' % (name, spent[0], counted))


def differ(left, right):
    return tuple(a - b for a, b in zip(left, right))


def main():
    folder = tempfile.TemporaryDirectory()
    front = aggregated.Certificates(os.path.join(folder.name, 'front'))
    front.issue('proxy', 'front-proxy-client')
    for name, flags in (('HTTP/2', ()), ('HTTP/1.1', ('--disable-http2-serving=true',))):
        measure(name, front, harness.Server('--requestheader-client-ca-file=' + front.path('ca.crt'), *flags, *aggregated.IDENTITY_FLAGS))


def measure(protocol, front, behind):
    certificate, key = front.path('proxy.crt'), front.path('proxy.key')
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
        print('over %s' % protocol)
        (direct,), _ = read(behind, [behind])
        (passing, answering), _ = read(asked, [asked, behind])
        row('direct', direct)
        row('passed on, in front', passing)
        row('passed on, behind', answering)
        row('overhead in front', differ(passing, direct))
        row('overhead in all', differ(tuple(map(sum, zip(passing, answering))), direct))
    finally:
        asked.stop()
        behind.stop()


if __name__ == '__main__':
    main()
