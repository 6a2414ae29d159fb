"""Many nodes and pods: kwok plays the kubelets, the server's controllers collect garbage, and kube-controller-manager runs the controllers of
deployments and nodes.

KWOK_NODES and KWOK_PODS (200 and 1000) are the size; the test prints how long each step takes and how much memory the server has."""
import concurrent.futures
import contextlib
import datetime
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import clients  # noqa: E402
import harness  # noqa: E402
from controllers_test import selecting, workload  # noqa: E402

NODES, PODS = (int(os.environ.get(name, default)) for name, default in (('KWOK_NODES', '200'), ('KWOK_PODS', '1000')))
DEPLOYMENTS = 20
SECONDS = 300 + (NODES + PODS) // 5  # for each step; generous, because the machine may be busy
STAGES = ('node/fast/node-initialize', 'node/heartbeat-with-lease/node-heartbeat-with-lease', 'pod/fast/pod-ready', 'pod/fast/pod-complete',
          'pod/fast/pod-delete')
# The default rates are below what a server with many nodes needs. On a busy machine leases are renewed late: programs would end, and nodes not be
# ready.
COMMON = ('--kube-api-qps=1000', '--kube-api-burst=1000', '--leader-elect=false')
LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
POOL = '/apis/apps/v1/namespaces/many/deployments'


def node(number):
    name = 'kwok-%04d' % number
    return {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': name, 'labels': {'kubernetes.io/hostname': name},
                                                             'annotations': {'kwok.x-k8s.io/node': 'fake', 'node.alpha.kubernetes.io/ttl': '0'}},
            'status': {'capacity': {'cpu': '32', 'memory': '256Gi', 'pods': '110'}, 'allocatable': {'cpu': '32', 'memory': '256Gi', 'pods': '110'}}}


def is_ready(item):
    return any(each['type'] == 'Ready' and each['status'] == 'True' for each in item['status'].get('conditions', ()))


class Kwok:
    """kwok's controller for all nodes, with the stages of its module."""

    def __init__(self, server):
        program = clients.build_kwok()
        folder = os.path.join(clients.BUILD_DIR, 'kwok')
        module = subprocess.run(['go', 'list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/kwok'], cwd=folder, env=clients.go_environment(), text=True,
                                capture_output=True, check=True).stdout.strip()
        stages = ['--config=%s/kustomize/stage/%s.yaml' % (module, stage) for stage in STAGES]
        self.log_path = os.path.join(server.dir, 'kwok.log')
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen([program, '--kubeconfig=' + server.kubeconfig, '--manage-all-nodes', '--node-ip=192.0.2.1',
                                             '--node-lease-duration-seconds=40', *stages], stdout=log, stderr=subprocess.STDOUT,
                                            env=dict(os.environ, HOME=server.dir))

    def text(self):
        with open(self.log_path, errors='replace') as f:
            return f.read()

    def stop(self):
        clients.end(self.process, 20)


class PodWatch(threading.Thread):
    """Follows the pods of the namespace by one watch: their phases by name, and the names of deleted ones."""

    def __init__(self, server, since):
        super().__init__(daemon=True)
        self.connection = server.connect(timeout=3600)
        self.connection.request('GET', '/api/v1/namespaces/many/pods?watch=1&timeoutSeconds=3600&resourceVersion=' + since)
        self.response = self.connection.getresponse()
        self.phases, self.deleted, self.version, self.error = {}, set(), 0, None
        self.start()

    def run(self):
        try:
            while line := self.response.readline():
                self.take(json.loads(line))
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:  # reported by the test, because an exception in a thread is not
            self.error = error
        self.connection.close()

    def take(self, event):
        if event['type'] == 'ERROR':
            raise ValueError(event)
        metadata = event['object']['metadata']
        version = int(metadata['resourceVersion'])
        if version <= self.version:
            raise ValueError('revision %d after %d' % (version, self.version))
        self.version = version
        if event['type'] == 'DELETED':
            self.phases.pop(metadata['name'])
            self.deleted.add(metadata['name'])
        elif (event['type'] == 'ADDED') == (metadata['name'] in self.phases):
            raise ValueError('%s of %s' % (event['type'], metadata['name']))
        else:
            self.phases[metadata['name']] = event['object']['status'].get('phase')


class ManyNodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            paths = clients.build(('kube-controller-manager', 'kube-scheduler'))
            clients.build_kwok()
        except clients.Missing as why:
            raise unittest.SkipTest('kwok cannot be built: %s' % why)
        cls.server = harness.Server(controllers=True, service_accounts=True)
        cls.addClassCleanup(cls.server.stop)
        cls.programs = [clients.Program(paths['kube-controller-manager'], cls.server, *COMMON, '--concurrent-replicaset-syncs=20',
                                        '--node-monitor-grace-period=10m',
                                        '--controllers=deployment-controller,replicaset-controller,node-lifecycle-controller'),
                        clients.Program(paths['kube-scheduler'], cls.server, *COMMON), Kwok(cls.server)]
        for program in cls.programs:
            cls.addClassCleanup(program.stop)

    def items(self, path):
        """All items of a collection, read in pages of 500."""
        found, following = [], ''
        with contextlib.closing(self.server.connect(timeout=60)) as connection:
            while True:
                code, _, page = self.server.request('GET', '%s?limit=500%s' % (path, following), connection=connection)
                self.assertEqual(code, 200, page)
                found += page['items']
                if not page['metadata'].get('continue'):
                    return found
                following = '&continue=' + page['metadata']['continue']

    def each(self, method, paths_and_bodies):
        """Sends requests over eight connections."""
        def send(some):
            with contextlib.closing(self.server.connect(timeout=60)) as connection:
                for each in some:
                    code, _, answer = self.server.request(method, *each, connection=connection)
                    self.assertIn(code, (200, 201), answer)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(send, (paths_and_bodies[first::8] for first in range(8))))

    def step(self, what, holds, pause=1):
        """Waits until it holds, and prints the time since the last step."""
        began = time.monotonic()
        while not holds():
            for program in self.programs:
                self.assertIsNone(program.process.poll(), '%s ended:\n%s' % (program.log_path, program.text()[-3000:]))
            if time.monotonic() - began > SECONDS:
                self.fail('%s did not come about\n%s' % (what, '\n'.join(p.log_path + '\n' + p.text()[-3000:] for p in self.programs)))
            time.sleep(pause)
        now = time.monotonic()
        print('%s: %.1f s, %d MiB' % (what, now - self.last, self.resident()), file=sys.stderr)
        self.last = now

    def resident(self):
        with open('/proc/%d/status' % self.server.process.pid, encoding='utf-8') as status:
            return int(re.search(r'VmRSS:\s+(\d+)', status.read())[1]) // 1024

    def test_nodes_and_pods_come_and_go(self):
        self.last = time.monotonic()
        self.each('POST', [('/api/v1/nodes', node(number)) for number in range(NODES)])
        self.step('%d nodes are ready and without taints' % NODES,
                  lambda: sum(is_ready(each) and 'taints' not in each['spec'] for each in self.items('/api/v1/nodes')) == NODES)
        names = {each['metadata']['name'] for each in self.items(LEASES)}
        self.assertEqual(names, {node(number)['metadata']['name'] for number in range(NODES)})
        self.pods_run()
        self.leases_are_renewed()
        self.check_deletion()
        for program in self.programs[:2]:
            self.assertEqual(program.failed_watches(), [], program.log_path)
        self.assertEqual([line for line in self.programs[2].text().splitlines() if 'Failed to watch' in line], [])

    def pods_run(self):
        code, _, answer = self.server.request('POST', '/api/v1/namespaces', harness.namespace('many'))
        self.assertEqual(code, 201, answer)
        account = '/api/v1/namespaces/many/serviceaccounts/default'
        self.assertTrue(harness.wait_for(lambda: self.server.request('GET', account)[0] == 200, SECONDS))
        _, _, none = self.server.request('GET', '/api/v1/namespaces/many/pods')
        self.watch = PodWatch(self.server, none['metadata']['resourceVersion'])
        self.last = time.monotonic()
        sizes = [PODS // DEPLOYMENTS + (number < PODS % DEPLOYMENTS) for number in range(DEPLOYMENTS)]
        self.each('POST', [(POOL, workload('apps/v1', 'Deployment', 'web-%d' % number, **selecting('web-%d' % number, replicas=size)))
                           for number, size in enumerate(sizes)])
        self.step('%d pods run' % PODS, lambda: list(self.watch.phases.values()).count('Running') == PODS or self.watch.error)
        self.assertIsNone(self.watch.error)
        pods = self.items('/api/v1/namespaces/many/pods')
        self.names = {each['metadata']['name'] for each in pods}
        self.assertEqual({each['metadata']['name']: each['status']['phase'] for each in pods}, self.watch.phases)
        self.assertEqual({is_ready(each) for each in pods}, {True})
        self.assertEqual(len({each['status']['podIP'] for each in pods}), PODS)
        on_nodes = [each['spec']['nodeName'] for each in pods]
        for name in (min(on_nodes), max(on_nodes)):
            _, _, some = self.server.request('GET', '/api/v1/pods?fieldSelector=spec.nodeName=' + name)
            self.assertEqual(len(some['items']), on_nodes.count(name))
        self.step('all deployments are complete', lambda: sum(each['status'].get('readyReplicas', 0) for each in self.items(POOL)) == PODS)

    def leases_are_renewed(self):
        began = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%fZ')
        self.step('all leases are renewed', lambda: all(each['spec']['renewTime'] > began for each in self.items(LEASES)))
        self.assertEqual(sum(map(is_ready, self.items('/api/v1/nodes'))), NODES)

    def check_deletion(self):
        self.each('DELETE', [('%s/web-%d' % (POOL, number), {'propagationPolicy': 'Background'}) for number in range(DEPLOYMENTS)])
        self.step('no pod and no replica set is left', lambda: not self.items('/api/v1/namespaces/many/pods') and
                  not self.items('/apis/apps/v1/namespaces/many/replicasets'))
        # A kube-controller-manager that has not seen the deletion of a deployment may create its replica set again: those pods go, too.
        self.assertTrue(harness.wait_for(lambda: (self.names <= self.watch.deleted and not self.watch.phases) or self.watch.error, SECONDS),
                        len(self.watch.deleted))
        self.assertEqual((self.watch.error, self.watch.phases), (None, {}))
        self.each('DELETE', [('/api/v1/nodes/' + node(number)['metadata']['name'],) for number in range(NODES)])
        self.step('no lease is left', lambda: not self.items(LEASES))


if __name__ == '__main__':
    harness.main()
