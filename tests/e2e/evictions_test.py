"""Evictions of pods within PodDisruptionBudgets."""
import concurrent.futures
import unittest

from harness import Served, main, namespace

MERGE = {'Content-Type': 'application/merge-patch+json'}


class Evictions(Served, unittest.TestCase):
    def setUp(self):
        self.ns = self.id().rsplit('.', 1)[1].replace('_', '-')[:50]
        self.ask('POST', '/api/v1/namespaces', namespace(self.ns), 201)

    def path(self, resource, group='/api/v1'):
        return '%s/namespaces/%s/%s' % (group, self.ns, resource)

    def budget_path(self, name='pdb'):
        return self.path('poddisruptionbudgets/' + name, '/apis/policy/v1')

    def ask(self, method, path, body, code, headers=None):
        status, _, answer = self.server.request(method, path, body, headers=headers)
        self.assertEqual(status, code, answer)
        return answer

    def make_pod(self, name, phase='Running', ready=True):
        pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name, 'labels': {'app': 'a'}},
               'spec': {'nodeName': 'node', 'containers': [{'name': 'c', 'image': 'i'}]}}
        made = self.ask('POST', self.path('pods'), pod, 201)
        status = {'phase': phase, 'conditions': [{'type': 'Ready', 'status': 'True' if ready else 'False'}]}
        self.ask('PATCH', self.path('pods/%s/status' % name), {'status': status}, 200, MERGE)
        return made

    def make_budget(self, allowed, name='pdb', healthy=2, desired=1, **spec):
        body = {'apiVersion': 'policy/v1', 'kind': 'PodDisruptionBudget', 'metadata': {'name': name},
                'spec': dict({'minAvailable': 1, 'selector': {'matchLabels': {'app': 'a'}}}, **spec)}
        self.ask('POST', self.path('poddisruptionbudgets', '/apis/policy/v1'), body, 201)
        status = {'observedGeneration': 1, 'disruptionsAllowed': allowed, 'currentHealthy': healthy, 'desiredHealthy': desired, 'expectedPods': 2}
        self.ask('PATCH', self.budget_path(name) + '/status', {'status': status}, 200, MERGE)

    def evict(self, name, query='', **options):
        body = {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': name}}
        if options:
            body['deleteOptions'] = options
        return self.server.request('POST', self.path('pods/%s/eviction%s' % (name, query)), body)

    def budget_status(self, name='pdb'):
        return self.ask('GET', self.budget_path(name), None, 200)['status']

    def test_pods_go_while_their_budget_allows_it(self):
        for name in ('a', 'b'):
            self.make_pod(name)
        self.make_budget(1)
        status, _, answer = self.evict('a')
        self.assertEqual((status, answer), (201, {'kind': 'Status', 'apiVersion': 'v1', 'metadata': {}, 'status': 'Success', 'code': 201}))
        pod = self.ask('GET', self.path('pods/a'), None, 200)
        self.assertIn('deletionTimestamp', pod['metadata'])
        target = [c for c in pod['status']['conditions'] if c['type'] == 'DisruptionTarget'][0]
        self.assertEqual((target['status'], target['reason'], target['message']), ('True', 'EvictionByEvictionAPI', 'Eviction API: evicting'))
        budget = self.budget_status()
        self.assertEqual(budget['disruptionsAllowed'], 0)
        self.assertEqual(list(budget['disruptedPods']), ['a'])
        self.assertEqual(budget['conditions'][0]['reason'], 'InsufficientPods')

        status, headers, answer = self.evict('b')
        self.assertEqual(status, 429, answer)
        self.assertNotIn('Retry-After', headers)
        self.assertEqual(answer['message'], "Cannot evict pod as it would violate the pod's disruption budget.")
        self.assertEqual(answer['details'], {'causes': [{'reason': 'DisruptionBudget', 'message':
            'The disruption budget pdb does not allow evicting pods currently'}]})
        self.assertNotIn('deletionTimestamp', self.ask('GET', self.path('pods/b'), None, 200)['metadata'])

    def test_budgets_that_are_behind_ask_to_come_back(self):
        self.make_pod('a')
        self.make_budget(1)
        self.ask('PATCH', self.budget_path(), {'spec': {'minAvailable': 2}}, 200, MERGE)
        status, headers, answer = self.evict('a')
        self.assertEqual((status, headers.get('Retry-After')), (429, '10'))
        self.assertEqual(answer['details'], {'retryAfterSeconds': 10, 'causes': [{'reason': 'DisruptionBudget', 'message':
            'The disruption budget pdb is still being processed by the server.'}]})

    def test_trials_take_nothing(self):
        self.make_pod('a')
        self.make_budget(1)
        for trial in (lambda: self.evict('a', '?dryRun=All'), lambda: self.evict('a', dryRun=['All'])):
            self.assertEqual(trial()[0], 201)
        self.assertEqual(self.budget_status()['disruptionsAllowed'], 1)
        self.assertEqual(len(self.ask('GET', self.path('pods/a'), None, 200)['status']['conditions']), 1)

    def test_pods_that_are_over_or_have_not_begun_go_at_once(self):
        for phase in ('Succeeded', 'Failed', 'Pending'):
            self.make_pod(phase.lower(), phase)
        self.make_budget(0)
        for name in ('succeeded', 'failed', 'pending'):
            self.assertEqual(self.evict(name)[0], 201, name)
        for name in ('succeeded', 'failed'):
            self.ask('GET', self.path('pods/' + name), None, 404)
        self.assertIn('deletionTimestamp', self.ask('GET', self.path('pods/pending'), None, 200)['metadata'])

    def test_one_pod_has_one_budget(self):
        self.make_pod('a')
        self.make_budget(1, 'one')
        self.make_budget(1, 'two')
        answer = self.evict('a')[2]
        self.assertEqual((answer['status'], answer['code']), ('Failure', 500))
        self.assertEqual(answer['message'], 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.')
        self.ask('DELETE', self.budget_path('two'), None, 200)
        self.assertEqual(self.evict('a')[0], 201)

    def test_unready_pods_are_not_counted_where_the_budget_says_so(self):
        self.make_pod('a', ready=False)
        self.make_budget(0, healthy=0, desired=1)
        self.assertEqual(self.evict('a')[0], 429)
        self.ask('PATCH', self.budget_path(), {'spec': {'unhealthyPodEvictionPolicy': 'AlwaysAllow'}}, 200, MERGE)
        self.assertEqual(self.evict('a')[0], 201)
        self.assertEqual(self.budget_status()['disruptionsAllowed'], 0)

    def test_the_pod_that_was_meant_goes(self):
        pod = self.make_pod('a')
        self.make_budget(3)  # an eviction that fails now has already been counted
        status, _, answer = self.evict('a', preconditions={'uid': 'other'})
        self.assertEqual(status, 409, answer)
        self.assertIn('the UID in the precondition (other) does not match the UID in record', answer['message'])
        self.assertEqual(self.evict('a', preconditions={'resourceVersion': '1'})[0], 409)
        version = self.ask('GET', self.path('pods/a'), None, 200)['metadata']['resourceVersion']
        self.assertEqual(self.evict('a', preconditions={'uid': pod['metadata']['uid'], 'resourceVersion': version})[0], 201)

    def test_what_is_asked_for_must_make_sense(self):
        self.make_pod('a')
        body = {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'b'}}
        answer = self.ask('POST', self.path('pods/a/eviction'), body, 400)
        self.assertEqual(answer['message'], 'name in URL does not match name in Eviction object')
        answer = self.evict('a', ignoreStoreReadErrorWithClusterBreakingPotential=True)[2]
        self.assertEqual((answer['code'], answer['details']['kind']), (422, 'Eviction'))
        self.assertEqual(self.evict('nobody')[0], 404)

    def test_evictions_at_once_take_no_more_than_there_is(self):
        names = ['p%d' % i for i in range(6)]
        for name in names:
            self.make_pod(name)
        self.make_budget(3, healthy=6, desired=3)
        with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
            codes = sorted(answer[0] for answer in pool.map(self.evict, names))
        self.assertEqual(codes, [201] * 3 + [429] * 3)
        self.assertEqual(len(self.budget_status()['disruptedPods']), 3)


if __name__ == '__main__':
    main()
