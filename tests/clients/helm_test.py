"""Helm, built by the test from its Go module, and the charts of the folder helm: from install to uninstall, in the server and in the client."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../e2e'))
import harness  # noqa: E402
import clients  # noqa: E402

CHARTS = os.path.join(HERE, 'helm', 'charts')
NEVER = 'example.com/shop:never'  # an image whose deployment does not come up
APPLY = {'Content-Type': 'application/apply-patch+yaml'}
MERGE = {'Content-Type': 'application/merge-patch+json'}
DONE = {'status': {'startTime': '2026-01-01T00:00:00Z', 'completionTime': '2026-01-01T00:00:01Z', 'succeeded': 1, 'conditions': [
    {'type': kind, 'status': 'True', 'lastTransitionTime': '2026-01-01T00:00:01Z'} for kind in ('SuccessCriteriaMet', 'Complete')]}}


class Controllers(threading.Thread):
    """Plays controllers and kubelets: deployments become ready, jobs and pods succeed, deployments of one image never become ready."""

    def __init__(self, server, ns):
        super().__init__(daemon=True)
        self.server, self.ns, self.over = server, ns, threading.Event()

    def each(self, path):
        code, _, found = self.server.request('GET', '%s?%s' % (path % self.ns, 'limit=50'))
        return found['items'] or [] if code == 200 else []

    def say(self, path, item, status):
        self.server.request('PATCH', '%s/%s/status' % (path % self.ns, item['metadata']['name']), status, MERGE)

    def run(self):
        deployments, jobs, pods = '/apis/apps/v1/namespaces/%s/deployments', '/apis/batch/v1/namespaces/%s/jobs', '/api/v1/namespaces/%s/pods'
        while not self.over.wait(0.2):
            for item in self.each(deployments):
                seen, spec = item['metadata']['generation'], item['spec']
                if item['status'].get('observedGeneration') != seen and spec['template']['spec']['containers'][0]['image'] != NEVER:
                    counts = {name: spec['replicas'] for name in ('replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas')}
                    self.say(deployments, item, {'status': dict(counts, observedGeneration=seen, conditions=[
                        {'type': 'Available', 'status': 'True'}, {'type': 'Progressing', 'status': 'True', 'reason': 'NewReplicaSetAvailable'}])})
            for item in self.each(jobs):
                if not item['status'].get('succeeded'):
                    self.say(jobs, item, DONE)
            for item in self.each(pods):
                if item['status']['phase'] == 'Pending':
                    self.say(pods, item, {'status': {'phase': 'Succeeded'}})

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


class Helm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.program = clients.build_helm()
        except clients.Missing as why:
            raise unittest.SkipTest('Helm cannot be built: %s' % why)
        cls.server = harness.Server()
        cls.folder = tempfile.TemporaryDirectory(prefix='backplane-helm-')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def helm(self, ns, *args, code=0, driver='secret'):
        command = [self.program, '--kubeconfig', self.server.kubeconfig, '-n', ns, *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=CHARTS,
                              env=dict(os.environ, HOME=self.folder.name, HELM_DRIVER=driver))
        self.assertEqual(done.returncode, code, '%s\n%s%s' % (' '.join(args), done.stdout, done.stderr))
        return done.stdout if code == 0 else done.stderr

    def install(self, ns, *args, chart='shop', **how):
        return self.helm(ns, 'install', 'r', chart, '--create-namespace', *args, **how)

    def get(self, path):
        code, _, answer = self.server.request('GET', path)
        return answer if code == 200 else None

    def deployment(self, ns):
        return self.get('/apis/apps/v1/namespaces/%s/deployments/r' % ns)

    def image(self, ns):
        return {c['name']: c['image'] for c in self.deployment(ns)['spec']['template']['spec']['containers']}['c']

    def managers(self, ns):
        return {(m['manager'], m['operation']) for m in self.deployment(ns)['metadata']['managedFields'] if 'subresource' not in m}

    def configmap(self, ns, name):
        return self.get('/api/v1/namespaces/%s/configmaps/%s' % (ns, name))

    def names(self, ns, resource):
        return {item['metadata']['name'] for item in self.get('/api/v1/namespaces/%s/%s' % (ns, resource))['items'] or []}

    def releases(self, ns, *flags, **how):
        return [(r['name'], r['revision'], r['status']) for r in json.loads(self.helm(ns, 'list', '-o', 'json', *flags, **how))]

    def history(self, ns):
        return [(h['revision'], h['status']) for h in json.loads(self.helm(ns, 'history', 'r', '-o', 'json'))]

    def test_a_release_from_install_to_uninstall(self):
        ns = 'life'
        self.assertIn('r sells since revision 1.', self.install(ns))
        self.assertEqual(self.releases(ns), [('r', '1', 'deployed')])
        self.assertEqual(self.configmap(ns, 'r-settings')['data'], {'revision': '1', 'server': '36', 'looked-up': 'default', 'prices': 'true'})
        self.assertEqual(self.get('/apis/shop.example.com/v1/namespaces/%s/prices/r' % ns)['spec'], {'cents': 99, 'currency': 'EUR'})
        uid = self.deployment(ns)['metadata']['uid']
        self.helm(ns, 'upgrade', '--install', 'r', 'shop', '--set', 'replicas=5,extra=true')
        self.assertEqual((self.deployment(ns)['spec']['replicas'], self.configmap(ns, 'r-settings')['data']['revision']), (5, '2'))
        self.assertIn('r-extra', self.names(ns, 'configmaps'))
        self.helm(ns, 'rollback', 'r', '1')
        self.assertEqual((self.deployment(ns)['spec']['replicas'], self.deployment(ns)['metadata']['uid']), (2, uid))
        self.assertNotIn('r-extra', self.names(ns, 'configmaps'), 'what the first revision did not have')
        self.assertEqual(self.history(ns), [(1, 'superseded'), (2, 'superseded'), (3, 'deployed')])
        self.uninstalled(ns)

    def uninstalled(self, ns):
        self.helm(ns, 'uninstall', 'r')
        self.assertEqual(self.releases(ns), [])
        self.assertIsNone(self.deployment(ns))
        self.assertIsNone(self.get('/apis/shop.example.com/v1/namespaces/%s/prices/r' % ns))
        self.assertEqual(self.get('/api/v1/namespaces/%s/secrets?fieldSelector=type=helm.sh/release.v1' % ns)['items'], [])
        left = self.names(ns, 'configmaps')
        self.assertLessEqual({'r-kept', 'r-farewell'}, left)
        self.assertNotIn('r-settings', left)
        self.assertIsNotNone(self.get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/prices.shop.example.com'), 'definitions stay')

    def test_release_information(self):
        ns = 'told'
        self.install(ns, '--set', 'replicas=3', '--labels', 'team=red', '--description', 'the first one')
        self.assertIn('replicas: 3', self.helm(ns, 'get', 'values', 'r'))
        self.assertEqual(json.loads(self.helm(ns, 'get', 'values', 'r', '--all', '-o', 'json'))['port'], 80)
        self.assertIn('kind: Deployment', self.helm(ns, 'get', 'manifest', 'r'))
        self.assertIn('r-before-1', self.helm(ns, 'get', 'hooks', 'r'))
        self.assertIn('r sells since', self.helm(ns, 'get', 'notes', 'r'))
        self.assertEqual(json.loads(self.helm(ns, 'get', 'metadata', 'r', '-o', 'json'))['chart'], 'shop')
        status = json.loads(self.helm(ns, 'status', 'r', '-o', 'json'))
        self.assertEqual((status['info']['status'], status['info']['description']), ('deployed', 'the first one'))
        self.assertIn('deployment.apps', self.helm(ns, 'status', 'r').replace('Deployment', 'deployment.apps'))
        self.assertEqual(self.releases(ns, '-l', 'team=red'), [('r', '1', 'deployed')])
        self.assertEqual(self.releases(ns, '-l', 'team=blue'), [])
        self.assertIn((ns, 'r'), [(r['namespace'], r['name']) for r in json.loads(self.helm(ns, 'list', '-A', '-o', 'json'))])

    def test_hooks(self):
        ns = 'hooks'
        self.install(ns)
        self.assertEqual(self.configmap(ns, 'r-before-1')['data'], {'ran': 'yes'})
        self.assertNotIn('r-gone', self.names(ns, 'configmaps'))
        self.helm(ns, 'upgrade', 'r', 'shop')
        self.helm(ns, 'upgrade', 'r', 'shop', '--no-hooks')
        self.helm(ns, 'rollback', 'r', '1')
        names = self.names(ns, 'configmaps')
        self.assertLessEqual({'r-before-1', 'r-before-2', 'r-turned-back'}, names)
        self.assertNotIn('r-before-3', names)

    def test_a_job_before_all_and_a_pod_that_tests(self):
        ns = 'jobs'
        self.server.request('POST', '/api/v1/namespaces', harness.namespace(ns))
        with Controllers(self.server, ns):
            self.install(ns, '--timeout', '120s', chart='jobs')
            self.assertEqual(self.get('/apis/batch/v1/namespaces/%s/jobs' % ns)['items'], [], 'it has succeeded')
            self.assertIn('Succeeded', self.helm(ns, 'test', 'r', '--timeout', '120s'))
        self.assertEqual(self.get('/api/v1/namespaces/%s/pods/r-test' % ns)['status']['phase'], 'Succeeded')

    def test_what_is_looked_up_is_kept(self):
        ns = 'looked-up'
        self.install(ns)
        secret = '/api/v1/namespaces/%s/secrets/r-key' % ns
        key = self.get(secret)['data']
        self.helm(ns, 'upgrade', 'r', 'shop', '--set', 'replicas=4')
        self.assertEqual(self.get(secret)['data'], key)

    def test_a_dry_run_asks_the_server_and_leaves_nothing(self):
        ns = 'dry'
        self.server.request('POST', '/api/v1/namespaces', harness.namespace(ns))
        self.install('dry-before')  # its definitions
        shown = self.helm(ns, 'install', 'r', 'shop', '--dry-run=server')
        self.assertIn('looked-up: "default"', shown)
        self.assertEqual(self.releases(ns), [])
        self.assertIsNone(self.deployment(ns))
        self.install(ns)
        self.assertIn('replicas: 7', self.helm(ns, 'upgrade', 'r', 'shop', '--set', 'replicas=7', '--dry-run=server'))
        self.assertEqual((self.deployment(ns)['spec']['replicas'], self.history(ns)), (2, [(1, 'deployed')]))
        self.assertIn('r-settings', self.helm(ns, 'template', 'r', 'shop', '--validate'))

    def test_it_waits_until_all_is_ready(self):
        ns = 'waits'
        self.server.request('POST', '/api/v1/namespaces', harness.namespace(ns))
        with Controllers(self.server, ns):
            self.install(ns, '--wait', '--timeout', '120s')
            self.assertEqual(self.deployment(ns)['status']['readyReplicas'], 2)
            self.helm(ns, 'upgrade', 'r', 'shop', '--wait', '--timeout', '120s', '--set', 'replicas=3')
            self.assertEqual(self.deployment(ns)['status']['readyReplicas'], 3)
            self.helm(ns, 'upgrade', 'r', 'shop', '--wait', '--timeout', '10s', '--set', 'image=' + NEVER, code=1)
            self.assertEqual((self.releases(ns), self.image(ns)), ([('r', '3', 'failed')], NEVER))
            self.helm(ns, 'rollback', 'r', '2', '--wait', '--timeout', '120s')
            self.assertEqual((self.releases(ns), self.image(ns)), ([('r', '4', 'deployed')], 'example.com/shop:1'))
            self.helm(ns, 'uninstall', 'r', '--wait', '--timeout', '120s', '--cascade', 'background')
        self.assertIsNone(self.deployment(ns))

    def test_a_failed_upgrade_goes_back(self):
        ns = 'atomic'
        self.server.request('POST', '/api/v1/namespaces', harness.namespace(ns))
        with Controllers(self.server, ns):
            # The rollback has the same time limit as the upgrade that timed out.
            self.assertIn('uninstalled', self.install(ns, '--atomic', '--timeout', '10s', '--set', 'image=' + NEVER, code=1))
            self.assertEqual((self.releases(ns), self.deployment(ns)), ([], None))
            self.install(ns, '--timeout', '120s')
            said = self.helm(ns, 'upgrade', 'r', 'shop', '--atomic', '--timeout', '20s', '--set', 'extra=true,image=' + NEVER, code=1)
            self.assertIn('has been rolled back', said)
        self.assertEqual(self.image(ns), 'example.com/shop:1')
        self.assertNotIn('r-extra', self.names(ns, 'configmaps'))
        self.assertEqual(self.history(ns), [(1, 'superseded'), (2, 'failed'), (3, 'deployed')])

    def test_it_applies_in_the_server_and_meets_other_managers(self):
        ns = 'applied'
        self.install(ns)
        self.assertEqual(self.managers(ns), {('helm', 'Apply')})
        path = '/apis/apps/v1/namespaces/%s/deployments/r?fieldManager=scaler&force=true' % ns
        code, _, answer = self.server.request('PATCH', path, json.dumps({'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'r'}, 'spec': {
            'replicas': 9}}), APPLY)
        self.assertEqual(code, 200, answer)
        said = self.helm(ns, 'upgrade', 'r', 'shop', '--set', 'image=example.com/shop:2', code=1)
        self.assertIn('conflict with "scaler"', said)
        self.assertIn('.spec.replicas', said)
        self.assertEqual(self.deployment(ns)['spec']['replicas'], 9)
        self.helm(ns, 'upgrade', 'r', 'shop', '--set', 'image=example.com/shop:2', '--force-conflicts')
        self.assertEqual((self.deployment(ns)['spec']['replicas'], self.image(ns)), (2, 'example.com/shop:2'))
        # Fields of other managers stay, and remain owned by them.
        code, _, _ = self.server.request('PATCH', path.partition('?')[0] + '?fieldManager=other', {'metadata': {'labels': {'note': 'theirs'}}}, MERGE)
        self.assertEqual(code, 200)
        self.helm(ns, 'upgrade', 'r', 'shop')
        self.assertEqual(self.deployment(ns)['metadata']['labels']['note'], 'theirs')

    def test_three_ways_in_the_client(self):
        ns = 'client-side'
        self.install(ns, '--server-side=false')
        self.assertEqual({operation for _, operation in self.managers(ns)}, {'Update'})
        path = '/apis/apps/v1/namespaces/%s/deployments/r' % ns
        sidecar = {'spec': {'replicas': 9, 'template': {'spec': {'containers': [{'name': 'sidecar', 'image': 'example.com/s:1'}]}}}}
        code, _, answer = self.server.request('PATCH', path, sidecar, {'Content-Type': 'application/strategic-merge-patch+json'})
        self.assertEqual(code, 200, answer)
        self.helm(ns, 'upgrade', 'r', 'shop', '--server-side=false', '--set', 'image=example.com/shop:2')
        spec = self.deployment(ns)['spec']
        # The chart's value is restored; fields outside the chart stay.
        self.assertEqual(({c['name']: c['image'] for c in spec['template']['spec']['containers']}, spec['replicas']),
                         ({'c': 'example.com/shop:2', 'sidecar': 'example.com/s:1'}, 2))
        self.helm(ns, 'rollback', 'r', '1', '--server-side=false')
        self.assertEqual(self.image(ns), 'example.com/shop:1')

    def test_from_the_client_to_the_server(self):
        ns = 'migrated'
        self.install(ns, '--server-side=false')
        self.helm(ns, 'upgrade', 'r', 'shop', '--server-side=true', '--set', 'replicas=4')
        self.assertEqual(self.deployment(ns)['spec']['replicas'], 4)
        self.assertIn(('helm', 'Apply'), self.managers(ns))
        self.helm(ns, 'upgrade', 'r', 'shop', '--set', 'replicas=5')
        self.assertEqual(self.deployment(ns)['spec']['replicas'], 5)

    def test_objects_of_other_owners_are_taken_over_with_the_flag(self):
        ns = 'taken'
        self.server.request('POST', '/api/v1/namespaces', harness.namespace(ns))
        self.server.request('POST', '/api/v1/namespaces/%s/configmaps' % ns, harness.configmap('r-settings', revision='0'))
        self.assertIn('cannot be imported into the current release', self.install(ns, code=1))
        self.assertEqual(self.configmap(ns, 'r-settings')['data'], {'revision': '0'})
        self.install(ns, '--take-ownership', '--replace', '--force-conflicts')
        self.assertEqual(self.configmap(ns, 'r-settings')['metadata']['labels']['app.kubernetes.io/managed-by'], 'Helm')

    def test_what_the_server_refuses_fails_the_release(self):
        ns = 'wrong'
        self.install(ns)
        self.assertIn('must be between 1 and 65535', self.helm(ns, 'upgrade', 'r', 'shop', '--set', 'port=70000', code=1))
        self.assertEqual(self.releases(ns), [('r', '2', 'failed')])
        self.helm(ns, 'rollback', 'r')
        self.assertEqual(self.releases(ns), [('r', '3', 'deployed')])
        self.assertIn('replicas', self.helm(ns, 'upgrade', 'r', 'shop', '--set', 'replicas=-1', code=1))

    def test_replaced_by_force(self):
        ns = 'forced'
        self.install(ns)
        before = self.deployment(ns)['metadata']
        self.helm(ns, 'upgrade', 'r', 'shop', '--server-side=false', '--force-replace', '--set', 'replicas=6')
        after = self.deployment(ns)
        self.assertEqual((after['spec']['replicas'], after['metadata']['uid']), (6, before['uid']))

    def test_history_is_bounded_and_kept_with_the_flag(self):
        ns = 'kept'
        self.install(ns, driver='configmap')
        for count in (3, 4, 5):
            self.helm(ns, 'upgrade', 'r', 'shop', '--set', 'replicas=%d' % count, '--history-max', '2', driver='configmap')
        self.assertEqual({n for n in self.names(ns, 'configmaps') if n.startswith('sh.helm')}, {'sh.helm.release.v1.r.v3', 'sh.helm.release.v1.r.v4'})
        self.helm(ns, 'uninstall', 'r', '--keep-history', driver='configmap')
        self.assertEqual(self.releases(ns, '--uninstalled', driver='configmap'), [('r', '4', 'uninstalled')])
        self.helm(ns, 'rollback', 'r', '4', driver='configmap')
        self.assertEqual((self.releases(ns, driver='configmap'), self.deployment(ns)['spec']['replicas']), ([('r', '5', 'deployed')], 5))


if __name__ == '__main__':
    unittest.main()
