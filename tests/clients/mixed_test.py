"""A cluster with two API servers over one etcd, kube-apiserver and the built server: controllers and scheduler use one, clients and the
kubelet the other, and workloads run as usual."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clients  # noqa: E402
import controllers_test  # noqa: E402
from kube_apiserver import Backplane, KubeApiserver, Pki, Requests  # noqa: E402
import harness  # noqa: E402
from etcd_test import ETCD, Etcd  # noqa: E402

SECONDS = 240
WORK = '/namespaces/work/'


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class Mixed(unittest.TestCase):
    def setUp(self):
        try:
            paths = clients.build()
        except clients.Missing as why:
            raise unittest.SkipTest('kube-apiserver and the controllers cannot be built: %s' % why)
        pki, etcd = Pki(), Etcd().start()
        self.addCleanup(pki.remove)
        self.addCleanup(etcd.stop)
        self.kube = KubeApiserver(paths['kube-apiserver'], pki, etcd)
        self.addCleanup(self.kube.stop)
        self.ours = Backplane(pki, etcd)
        self.addCleanup(self.ours.stop)
        self.programs = [clients.Program(paths['kube-controller-manager'], self.ours.server, '--node-monitor-grace-period=1h'),
                         clients.Program(paths['kube-scheduler'], self.ours.server)]
        for program in self.programs:
            self.addCleanup(program.stop)
        self.kubelet = controllers_test.Kubelet(Requests(pki, self.kube.port))
        self.kubelet.start()
        self.addCleanup(self.kubelet.end)

    def created(self, server, path, body):
        status, _, answer = server.request('POST', path, body)
        self.assertEqual(status, 201, answer)

    def wait(self, what, holds):
        if not harness.wait_for(holds, SECONDS):
            self.fail('%s did not come about\n%s' % (what, '\n'.join(p.log_path + '\n' + p.text()[-3000:] for p in self.programs)))
        self.assertIsNone(self.kubelet.error)

    def status(self, path, name):
        code, _, answer = self.kube.request('GET', path)
        return answer['status'].get(name) if code == 200 else None

    def has_new_daemon(self, path):
        code, _, daemons = self.kube.request('GET', path)
        if code != 200:
            return False
        status = daemons['status']
        # Until the controller has seen the change, the counts are those of the previous template.
        return (status['observedGeneration'], status.get('updatedNumberScheduled'), status['numberReady']) == (daemons['metadata']['generation'], 1, 1)

    def revisions(self):
        found = self.ours.request('GET', '/apis/apps/v1' + WORK + 'controllerrevisions')[2]['items']
        return sorted(item['metadata']['name'] for item in found if item['metadata']['name'].startswith('agent-'))

    def test_controllers_at_one_and_clients_at_the_other(self):
        self.created(self.kube, '/api/v1/nodes', controllers_test.node())
        self.created(self.kube, '/api/v1/namespaces', harness.namespace('work'))
        self.created(self.kube, '/api/v1' + WORK + 'services', {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'web'}, 'spec': {
            'selector': {'app': 'web'}, 'ports': [{'port': 80}]}})
        for n, (group, resource, body) in enumerate(controllers_test.WORKLOADS):
            self.created((self.kube, self.ours)[n % 2], group + WORK + resource, body)
        self.wait('the job', lambda: self.status('/apis/batch/v1' + WORK + 'jobs/once', 'succeeded') == 2)
        self.wait('the deployment', lambda: self.status('/apis/apps/v1' + WORK + 'deployments/web', 'readyReplicas') == 3)
        self.wait('the set', lambda: self.status('/apis/apps/v1' + WORK + 'statefulsets/db', 'readyReplicas') == 2)
        self.wait('the daemons', lambda: self.status('/apis/apps/v1' + WORK + 'daemonsets/agent', 'numberReady') == 1)
        # A revision holds bytes that the controller compares with its own encoding: a set that changes once must have one more revision.
        agents = '/apis/apps/v1' + WORK + 'daemonsets/agent'
        change = {'spec': {'template': {'metadata': {'annotations': {'note': 'a<b>&c \u00e9'}}}}}
        self.assertEqual(self.kube.request('PATCH', agents, change, {'Content-Type': 'application/merge-patch+json'})[0], 200)
        self.wait('the new daemon', lambda: self.has_new_daemon(agents))
        self.assertEqual(len(self.revisions()), 2)
        self.assertEqual(self.kube.request('DELETE', '/api/v1/namespaces/work')[0], 200)
        self.wait('the end of the namespace', lambda: self.ours.request('GET', '/api/v1/namespaces/work')[0] == 404)
        for program in self.programs:
            self.assertEqual(program.failed_watches(), [], program.log_path)


if __name__ == '__main__':
    harness.main()
