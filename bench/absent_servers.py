#!/usr/bin/env python3
"""The cost of dead and hanging aggregated servers for other requests: two servers, one of them with APIServices for twenty addresses
without a listener and twenty whose listener accepts connections and never responds. Both get the same requests alternately.

    bench/absent_servers.py [BUILD] [ROUNDS]

Prints medians in milliseconds, the median of the differences within a round, and CPU milliseconds of each server per request."""
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build').resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
os.environ.setdefault('BACKPLANE', str(BUILD / 'bin/backplane'))
os.environ.setdefault('BACKPLANE_PLUGINS', str(BUILD / 'lib/backplane/plugins'))
sys.path.insert(0, str(ROOT / 'tests/e2e'))
import aggregated  # noqa: E402
import harness  # noqa: E402

APISERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
AGGREGATED = {'Accept': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'}
EACH = 20


class Asked:
    """A server and a connection to it."""

    def __init__(self):
        self.server = harness.Server()
        self.connection = self.server.connect()
        self.made = 0

    def call(self, method, path, body=None, headers=None):
        return self.server.request(method, path, body, headers, connection=self.connection)

    def read(self, path, headers=None):
        code = self.call('GET', path, headers=headers)[0]
        assert code == 200, (path, code)

    def end_namespace(self):
        name = 'short-%d' % self.made
        self.made += 1
        assert self.call('POST', '/api/v1/namespaces', harness.namespace(name))[0] == 201
        path = '/api/v1/namespaces/' + name
        assert self.call('POST', path + '/configmaps', harness.configmap('one'))[0] == 201
        assert self.call('DELETE', path)[0] in (200, 202)
        # Like the namespace controller: lists the contents, then removes the last finalizer.
        self.read('/apis', AGGREGATED)
        assert self.call('DELETE', path + '/configmaps')[0] == 200
        left = dict(self.call('GET', path)[2], spec={})
        assert self.call('PUT', path + '/finalize', left)[0] == 200
        assert self.call('GET', path)[0] == 404

    def kubectl(self, binary):
        self.server.kubectl(binary, 'get', 'namespaces')

    def kubectl_fresh(self, binary):
        cache = os.path.join(self.server.dir, 'cache')
        if os.path.exists(cache):
            os.rename(cache, os.path.join(self.server.dir, 'cache-%d' % time.monotonic_ns()))
        self.kubectl(binary)


def register(asked, port):
    call = asked.call
    assert call('POST', '/api/v1/namespaces', harness.namespace('agg'))[0] == 201
    assert call('POST', '/api/v1/namespaces/agg/services', aggregated.external('echo'))[0] == 201
    names = []
    for i in range(EACH):
        for kind, where in (('dead', 1), ('hanging', port)):
            group = '%s-%d.example.com' % (kind, i)
            made = call('POST', APISERVICES, aggregated.apiservice('v1', group, 'agg', 'echo', where, insecureSkipTLSVerify=True))
            assert made[0] == 201, made
            names.append('v1.' + group)
    for name in names:
        assert harness.wait_for(lambda name=name: (aggregated.available(asked.server, name) or ('',))[0] == 'False'), name


def cpu(asked):
    """Milliseconds."""
    return sum(int(task.read_text(encoding='ascii').split()[0]) for task in
               pathlib.Path('/proc/%d/task' % asked.server.process.pid).glob('*/schedstat')) / 1e6


def timed(work, asked):
    """(milliseconds, those of the server's CPU)"""
    used, start = cpu(asked), time.monotonic()
    work(asked)
    return (time.monotonic() - start) * 1e3, cpu(asked) - used


def main():
    kinds = [('GET /apis', lambda asked: asked.read('/apis')),
             ('aggregated discovery', lambda asked: asked.read('/apis', AGGREGATED)),
             ('GET /openapi/v3', lambda asked: asked.read('/openapi/v3')),
             ('a list', lambda asked: asked.read('/api/v1/namespaces')),
             ('end of a namespace', lambda asked: asked.end_namespace())]
    for binary in harness.kubectls()[:1]:
        kinds += [('kubectl get', lambda asked: asked.kubectl(binary)), ('kubectl get, no cache', lambda asked: asked.kubectl_fresh(binary))]
    hanging = aggregated.Hanging()
    without, beside = Asked(), Asked()
    try:
        register(beside, hanging.port)
        print('%-22s %10s %10s %12s %14s %10s' % ('ms', 'without', 'with', 'difference', 'CPU without', 'with'))
        for name, work in kinds:
            rows = []
            for i in range(ROUNDS + 1):
                pair = [without, beside] if i % 2 else [beside, without]
                took = {asked: timed(work, asked) for asked in pair}
                if i > 0:
                    rows.append((*took[without], *took[beside]))
            medians = [statistics.median(each) for each in zip(*rows)]
            print('%-22s %10.2f %10.2f %12.2f %14.2f %10.2f' % (name, medians[0], medians[2], statistics.median(b - a for a, _, b, _ in rows),
                                                               medians[1], medians[3]))
    finally:
        without.server.stop()
        beside.server.stop()
        hanging.stop()


if __name__ == '__main__':
    main()
