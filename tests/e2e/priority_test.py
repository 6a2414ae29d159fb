"""Flow schemas and priority levels that the server keeps by itself."""
import tempfile
import unittest

from harness import Server, wait_for

GROUP = '/apis/flowcontrol.apiserver.k8s.io/v1'
SCHEMAS = GROUP + '/flowschemas'
LEVELS = GROUP + '/prioritylevelconfigurations'
AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec'


class PriorityAndFairness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.TemporaryDirectory(prefix='backplane-test-')
        cls.server = Server(data_dir=cls.data.name)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.data.cleanup()

    def get(self, path):
        code, _, answer = self.server.request('GET', path)
        return answer if code == 200 else None

    def merge(self, path, patch):
        return self.server.request('PATCH', path, patch, headers={'Content-Type': 'application/merge-patch+json'})

    def test_a_ready_server_has_them_all(self):
        schemas = {item['metadata']['name']: item['spec']['matchingPrecedence'] for item in self.get(SCHEMAS)['items']}
        self.assertEqual(schemas, {
            'exempt': 1, 'probes': 2, 'system-leader-election': 100, 'system-node-high': 400, 'system-nodes': 500,
            'kube-controller-manager': 800, 'kube-scheduler': 800, 'kube-system-service-accounts': 900, 'service-accounts': 9000,
            'global-default': 9900, 'catch-all': 10000})
        levels = {item['metadata']['name']: item['spec'].get('limited', item['spec'].get('exempt')) for item in self.get(LEVELS)['items']}
        self.assertEqual({name: (level['nominalConcurrencyShares'], level['lendablePercent']) for name, level in levels.items()}, {
            'exempt': (0, 0), 'catch-all': (5, 0), 'system': (30, 33), 'node-high': (40, 25), 'leader-election': (10, 0),
            'workload-high': (40, 50), 'workload-low': (100, 90), 'global-default': (20, 50)})

    def test_both_hooks_are_told_of(self):
        ready = self.server.request('GET', '/readyz?verbose')[2]
        for hook in ('priority-and-fairness-config-producer', 'priority-and-fairness-config-consumer'):
            self.assertIn('[+]poststarthook/%s ok' % hook, ready)

    def test_what_is_removed_comes_back(self):
        for path in (SCHEMAS + '/service-accounts', SCHEMAS + '/catch-all', LEVELS + '/catch-all'):
            old = self.get(path)
            self.assertEqual(self.server.request('DELETE', path)[0], 200)
            back = wait_for(lambda: self.get(path))
            self.assertNotEqual(back['metadata']['uid'], old['metadata']['uid'])
            self.assertEqual(back['spec'], old['spec'])
            self.assertEqual(back['metadata']['annotations'], {AUTO_UPDATE: 'true'})

    def test_mandatory_ones_cannot_be_changed(self):
        code, _, answer = self.merge(SCHEMAS + '/catch-all', {'spec': {'matchingPrecedence': 9000}})
        self.assertEqual(code, 422)
        self.assertIn("spec of 'catch-all' must equal the fixed value", answer['message'])
        code, _, answer = self.merge(LEVELS + '/exempt', {'spec': {'exempt': {'nominalConcurrencyShares': 3}}})
        self.assertEqual(code, 200, answer)
        self.assertEqual(answer['spec']['exempt']['nominalConcurrencyShares'], 3)

    def test_suggested_ones_are_put_right_unless_somebody_says_no(self):
        path = LEVELS + '/workload-low'

        def shares():
            return self.get(path)['spec']['limited']['nominalConcurrencyShares']

        self.assertEqual(self.merge(path, {'spec': {'limited': {'nominalConcurrencyShares': 7}}})[0], 200)
        self.assertTrue(wait_for(lambda: shares() == 100))
        mine = {'metadata': {'annotations': {AUTO_UPDATE: 'false'}}, 'spec': {'limited': {'nominalConcurrencyShares': 7}}}
        self.assertEqual(self.merge(path, mine)[0], 200)
        # What is put right after it has been looked at before.
        self.assertEqual(self.merge(LEVELS + '/system', {'spec': {'limited': {'nominalConcurrencyShares': 7}}})[0], 200)
        self.assertTrue(wait_for(lambda: self.get(LEVELS + '/system')['spec']['limited']['nominalConcurrencyShares'] == 30))
        self.assertEqual(shares(), 7)
        self.server.stop()
        type(self).server = Server(data_dir=self.data.name)
        self.assertEqual(shares(), 7)

    def test_a_schema_says_whether_its_level_exists(self):
        schema = {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'FlowSchema', 'metadata': {'name': 'mine'},
                  'spec': {'priorityLevelConfiguration': {'name': 'mine'}}}
        self.assertEqual(self.server.request('POST', SCHEMAS, schema)[0], 201)

        def missing():
            conditions = self.get(SCHEMAS + '/mine')['status'].get('conditions', [])
            return [c['status'] for c in conditions if c['type'] == 'Dangling']

        self.assertTrue(wait_for(lambda: missing() == ['True']))
        level = {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'PriorityLevelConfiguration', 'metadata': {'name': 'mine'},
                 'spec': {'type': 'Limited', 'limited': {'limitResponse': {'type': 'Reject'}}}}
        self.assertEqual(self.server.request('POST', LEVELS, level)[0], 201)
        self.assertTrue(wait_for(lambda: missing() == ['False']))
        self.assertEqual(self.server.request('DELETE', LEVELS + '/mine')[0], 200)
        self.assertTrue(wait_for(lambda: missing() == ['True']))

    def test_a_table_of_schemas_stands_by_precedence(self):
        table = self.server.request('GET', SCHEMAS, headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})[2]
        numbers = [row['cells'][2] for row in table['rows']]
        self.assertEqual((numbers, table['rows'][0]['cells'][0], table['rows'][-1]['cells'][0]), (sorted(numbers), 'exempt', 'catch-all'))

    def test_what_an_older_version_delivered_goes(self):
        level = {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'PriorityLevelConfiguration',
                 'metadata': {'name': 'of-old', 'annotations': {AUTO_UPDATE: 'true'}},
                 'spec': {'type': 'Limited', 'limited': {'limitResponse': {'type': 'Reject'}}}}
        self.assertEqual(self.server.request('POST', LEVELS, level)[0], 201)
        self.assertTrue(wait_for(lambda: self.get(LEVELS + '/of-old') is None))


if __name__ == '__main__':
    unittest.main()
