"""kube-controller-manager and kube-scheduler turn workloads into bound pods, services into endpoint slices, and empty a deleted namespace.

The test plays the kubelet, which does not run here: it creates a Node object, and reports bound pods as running (a job's pods as
succeeded)."""
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
import harness  # noqa: E402
import clients  # noqa: E402

SECONDS = 240  # generous: a cron job waits for the next minute, and the machine may be busy
NODE = 'node-1'
READY = [{'type': kind, 'status': 'True'} for kind in ('Initialized', 'Ready', 'ContainersReady', 'PodScheduled')]


def node():
    size = {'cpu': '64', 'memory': '256Gi', 'pods': '500'}
    return {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': NODE, 'labels': {'kubernetes.io/hostname': NODE}},
            'status': {'capacity': size, 'allocatable': size, 'addresses': [{'type': 'InternalIP', 'address': '192.0.2.1'}],
                       'conditions': [{'type': 'Ready', 'status': 'True', 'reason': 'Test', 'message': 'played'}]}}


def template(app, **spec):
    return {'metadata': {'labels': {'app': app}}, 'spec': dict({'containers': [{'name': 'c', 'image': 'example.com/c:1'}]}, **spec)}


def workload(group, kind, name, **spec):
    return {'apiVersion': group, 'kind': kind, 'metadata': {'name': name}, 'spec': spec}


def selecting(name, **spec):
    return dict({'selector': {'matchLabels': {'app': name}}, 'template': template(name)}, **spec)


WORKLOADS = [
    ('/apis/apps/v1', 'deployments', workload('apps/v1', 'Deployment', 'web', **selecting('web', replicas=3))),
    ('/apis/apps/v1', 'statefulsets', workload('apps/v1', 'StatefulSet', 'db', **selecting('db', replicas=2, serviceName='db'))),
    ('/apis/apps/v1', 'daemonsets', workload('apps/v1', 'DaemonSet', 'agent', **selecting('agent'))),
    ('/apis/batch/v1', 'jobs', workload('batch/v1', 'Job', 'once', completions=2, parallelism=2,
                                        template=template('once', restartPolicy='Never'))),
    ('/apis/batch/v1', 'cronjobs', workload('batch/v1', 'CronJob', 'often', schedule='* * * * *', jobTemplate={
        'spec': {'template': template('often', restartPolicy='Never')}})),
]
PODS = {'web': 3, 'db': 2, 'agent': 1, 'once': 2, 'often': 1}  # by label app


class Kubelet(threading.Thread):
    """Reports each pod that is bound to the node as running, once."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.over, self.error, self.count = server, threading.Event(), None, 0

    def run(self):
        try:
            while not self.over.wait(0.3):
                self.round()
        except Exception as error:  # reported by the test, because an exception in a thread is not
            self.error = error

    def round(self):
        code, _, pods = self.server.request('GET', '/api/v1/pods?fieldSelector=spec.nodeName=%s' % NODE)
        for pod in pods['items'] if code == 200 else []:
            path = '/api/v1/namespaces/%s/pods/%s' % (pod['metadata']['namespace'], pod['metadata']['name'])
            if 'deletionTimestamp' in pod['metadata']:
                self.server.request('DELETE', path, {'gracePeriodSeconds': 0})
            elif 'podIP' not in pod['status']:
                self.count += 1
                self.say(path, pod, '10.244.%d.%d' % divmod(self.count, 256))

    def say(self, path, pod, address):
        done = pod['spec']['restartPolicy'] == 'Never'
        status = {'phase': 'Succeeded' if done else 'Running', 'podIP': address, 'podIPs': [{'ip': address}], 'hostIP': '192.0.2.1',
                  'conditions': [dict(c, status='False') if done and c['type'].endswith('eady') else c for c in READY]}
        code, _, answer = self.server.request('PATCH', path + '/status', {'status': status}, {'Content-Type': 'application/merge-patch+json'})
        # A busy server is asked again in the next round.
        if code not in (200, 404, 409) and code < 429:
            raise AssertionError('pod status: %s' % answer)

    def end(self):
        self.over.set()
        self.join()


class Controllers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            paths = clients.build()
        except clients.Missing as why:
            raise unittest.SkipTest('kube-controller-manager and kube-scheduler cannot be built: %s' % why)
        cls.server = harness.Server()
        cls.kubelet = Kubelet(cls.server)
        # The node sends no heartbeats: its conditions stay valid for the length of the test.
        cls.programs = [clients.Program(paths['kube-controller-manager'], cls.server, '--node-monitor-grace-period=1h'),
                        clients.Program(paths['kube-scheduler'], cls.server)]
        cls.kubelet.start()

    @classmethod
    def tearDownClass(cls):
        cls.kubelet.end()
        for program in cls.programs:
            program.stop()
        cls.server.stop()

    def created(self, path, body):
        code, _, answer = self.server.request('POST', path, body)
        self.assertEqual(code, 201, answer)

    def items(self, path):
        code, _, answer = self.server.request('GET', path)
        return answer['items'] if code == 200 else []

    def status(self, path, name):
        code, _, answer = self.server.request('GET', path)
        return answer['status'].get(name) if code == 200 else None

    def wait(self, what, holds):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = holds()
            if found:
                return found
            for program in self.programs:
                self.assertIsNone(program.process.poll(), '%s ended:\n%s' % (program.log_path, program.text()[-3000:]))
            self.assertIsNone(self.kubelet.error)
            time.sleep(0.3)
        self.fail('%s did not come about\n%s' % (what, '\n'.join(p.log_path + '\n' + p.text()[-4000:] for p in self.programs)))

    def bound(self, app):
        pods = self.items('/api/v1/namespaces/work/pods?labelSelector=app=' + app)
        return [pod for pod in pods if pod['spec'].get('nodeName') == NODE]

    def test_workloads_become_bound_pods_and_a_deleted_namespace_empties(self):
        self.created('/api/v1/nodes', node())
        self.created('/api/v1/namespaces', harness.namespace('work'))
        self.created('/api/v1/namespaces/work/services', {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'web'}, 'spec': {
            'selector': {'app': 'web'}, 'ports': [{'port': 80}]}})
        for group, resource, body in WORKLOADS:
            self.created('%s/namespaces/work/%s' % (group, resource), body)
        for app, count in PODS.items():
            self.wait('bound pods of ' + app, lambda app=app, count=count: len(self.bound(app)) >= count)
        self.wait('the job', lambda: self.status('/apis/batch/v1/namespaces/work/jobs/once', 'succeeded') == 2)
        self.wait('the deployment', lambda: self.status('/apis/apps/v1/namespaces/work/deployments/web', 'readyReplicas') == 3)
        self.wait('the set', lambda: self.status('/apis/apps/v1/namespaces/work/statefulsets/db', 'readyReplicas') == 2)
        self.wait('endpoint slices', lambda: self.slice_addresses() == 3)
        code, _, answer = self.server.request('DELETE', '/api/v1/namespaces/work')
        self.assertEqual(code, 200, answer)
        self.wait('the end of the namespace', lambda: self.server.request('GET', '/api/v1/namespaces/work')[0] == 404)
        code, _, jobs = self.server.request('GET', '/apis/batch/v1/namespaces/work/jobs')
        self.assertEqual((code, jobs.get('items')), (200, []), jobs)
        self.no_watch_failed()

    def slice_addresses(self):
        slices = self.items('/apis/discovery.k8s.io/v1/namespaces/work/endpointslices?labelSelector=kubernetes.io/service-name=web')
        return sum(len(s['endpoints'] or []) for s in slices)

    def no_watch_failed(self):
        for program in self.programs:
            self.assertEqual(program.failed_watches(), [], program.log_path)


class OwnControllers(unittest.TestCase):
    """The server's controllers stop while kube-controller-manager holds its lease, and start again when the lease is free."""

    def test_one_of_both_acts(self):
        try:
            paths = clients.build()
        except clients.Missing as why:
            raise unittest.SkipTest('kube-controller-manager cannot be built: %s' % why)
        with harness.Server(controllers=True) as server:
            def account(name):
                return server.request('GET', '/api/v1/namespaces/%s/serviceaccounts/default' % name)[0] == 200

            def cascade(name):
                maps = '/api/v1/namespaces/%s/configmaps' % name
                server.request('POST', '/api/v1/namespaces', harness.namespace(name))
                _, _, owner = server.request('POST', maps, harness.configmap('owner'))
                reference = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'owner', 'uid': owner['metadata']['uid']}
                server.request('POST', maps, {'metadata': {'name': 'child', 'ownerReferences': [reference]}})
                server.request('DELETE', maps + '/owner')
                return harness.wait_for(lambda: server.request('GET', maps + '/child')[0] == 404, SECONDS)
            self.assertTrue(cascade('before'))
            self.assertTrue(harness.wait_for(lambda: account('before')))
            # It creates no service accounts, so that an account shows that the server's controller runs.
            manager = clients.Program(paths['kube-controller-manager'], server, '--controllers=*,-serviceaccount-controller')
            try:
                self.assertTrue(harness.wait_for(lambda: 'controllers stopped on this server' in server.text(), SECONDS), manager.text()[-3000:])
                self.assertTrue(cascade('during'), manager.text()[-3000:])
                self.assertFalse(account('during'))
            finally:
                manager.stop()
            self.assertTrue(harness.wait_for(lambda: account('during'), SECONDS), server.text()[-3000:])
            self.assertTrue(cascade('after'))


if __name__ == '__main__':
    harness.main()
