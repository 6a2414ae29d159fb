"""One kind in two versions, as docs/examples/two-versions registers it: every verb through both, over one storage."""
import glob
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
from harness import PLUGINS, Server  # noqa: E402

V1 = '/apis/tickets.example.com/v1/namespaces/default/tickets'
V2 = '/apis/tickets.example.com/v2/namespaces/default/tickets'
TABLE = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}
MERGE = {'Content-Type': 'application/merge-patch+json'}


def v1(name, passenger, seat, **metadata):
    return {'apiVersion': 'tickets.example.com/v1', 'kind': 'Ticket', 'metadata': dict(metadata, name=name),
            'spec': {'passenger': passenger, 'seat': seat}}


def v2(name, first, last, row, letter, **spec):
    return {'apiVersion': 'tickets.example.com/v2', 'kind': 'Ticket', 'metadata': {'name': name},
            'spec': dict(spec, passenger={'first': first, 'last': last}, seat={'row': row, 'letter': letter})}


class TwoVersions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-versions-')
        cls.plugins = os.path.join(cls.dir, 'plugins')
        os.mkdir(cls.plugins)
        for path in glob.glob(os.path.join(PLUGINS, '*.so')) + [os.environ['TWO_VERSIONS']]:
            os.symlink(os.path.abspath(path), os.path.join(cls.plugins, os.path.basename(path)))
        cls.server = Server(plugin_dir=cls.plugins)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.dir)

    def tearDown(self):
        self.call('DELETE', V2)

    def call(self, method, path, body=None, headers=None, code=200):
        got = self.server.request(method, path, body, headers=headers or {})
        self.assertEqual(got[0], code, got[2])
        return got[2]

    def create(self, *tickets):
        for ticket in tickets:
            self.call('POST', V1 if ticket['apiVersion'].endswith('/v1') else V2, ticket, code=201)

    def test_create_answers_in_its_version_and_get_in_either(self):
        made = self.call('POST', V1, v1('a', 'Ada Lovelace', '12C'), code=201)
        self.assertEqual((made['apiVersion'], made['spec']), ('tickets.example.com/v1', {'passenger': 'Ada Lovelace', 'seat': '12C'}))
        self.assertEqual(made['metadata']['generation'], 1)
        other = self.call('GET', V2 + '/a')
        self.assertEqual(other['apiVersion'], 'tickets.example.com/v2')
        self.assertEqual(other['spec'], {'passenger': {'first': 'Ada', 'last': 'Lovelace'}, 'seat': {'row': 12, 'letter': 'C'}})
        self.assertEqual(other['metadata'], made['metadata'])
        self.assertEqual(self.call('GET', V1 + '/a'), made)

    def test_defaults_and_rules_of_a_version_apply_to_its_representation(self):
        ticket = v1('a', 'Ada Lovelace', '')
        self.assertEqual(self.call('POST', V1, ticket, code=201)['spec']['seat'], '1A')
        wrong = self.call('POST', V1, v1('b', '', 'C12'), code=422)
        self.assertEqual({c['field'] for c in wrong['details']['causes']}, {'spec.seat', 'spec.passenger.first'})
        late = self.call('POST', V1, v1('b', 'Ada Lovelace', '41A'), code=422)
        self.assertIn('spec.seat.row: Forbidden: there are 40 rows', late['message'])
        self.assertEqual(self.call('GET', V2 + '/b', code=404)['message'], 'tickets.tickets.example.com "b" not found')

    def test_a_dry_run_stores_nothing(self):
        made = self.call('POST', V1 + '?dryRun=All', v1('a', 'Ada Lovelace', '12C'), code=201)
        self.assertEqual(made['spec']['seat'], '12C')
        self.call('GET', V2 + '/a', code=404)

    def test_lists_tables_and_metadata(self):
        self.create(v1('a', 'Ada Lovelace', '12C'), v2('b', 'Grace', 'Hopper', 7, 'A'))
        listed = self.call('GET', V1)
        self.assertEqual((listed['apiVersion'], listed['kind']), ('tickets.example.com/v1', 'TicketList'))
        self.assertEqual([(t['apiVersion'], t['spec']['seat']) for t in listed['items']],
                         [('tickets.example.com/v1', '12C'), ('tickets.example.com/v1', '7A')])
        first = self.call('GET', V1 + '?limit=1')
        rest = self.call('GET', V1 + '?limit=1&continue=' + first['metadata']['continue'])
        self.assertEqual([t['metadata']['name'] for t in first['items'] + rest['items']], ['a', 'b'])
        for path in (V1, V2):
            self.assertEqual([row['cells'] for row in self.call('GET', path, headers=TABLE)['rows']], [['a', 'Lovelace', 12], ['b', 'Hopper', 7]])
        self.assertEqual(self.call('GET', V1 + '/b', headers=TABLE)['rows'][0]['cells'], ['b', 'Hopper', 7])
        only = self.call('GET', V1, headers={'Accept': 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'})
        self.assertEqual([t['metadata']['name'] for t in only['items']], ['a', 'b'])

    def test_selectors(self):
        self.create(v1('a', 'Ada Lovelace', '12C', labels={'class': 'first'}), v2('b', 'Grace', 'Hopper', 7, 'A'))
        def names(path):
            return [t['metadata']['name'] for t in self.call('GET', path)['items']]
        self.assertEqual(names(V1 + '?labelSelector=class%3Dfirst'), ['a'])
        self.assertEqual(names(V2 + '?fieldSelector=spec.passenger.last%3DHopper'), ['b'])
        self.assertEqual(names(V1 + '?fieldSelector=spec.lastName%3DHopper'), ['b'])
        self.assertEqual(names(V1 + '?fieldSelector=metadata.name%3Da'), ['a'])
        for path, label in ((V1, 'spec.passenger.last'), (V2, 'spec.lastName')):
            self.assertEqual(self.call('GET', path + '?fieldSelector=' + label + '%3DHopper', code=400)['message'],
                             'field label not supported: ' + label)

    def test_an_update_through_one_version_keeps_what_it_does_not_know(self):
        self.create(v2('a', 'Ada', 'Lovelace', 12, 'C', meal='fish'))
        ticket = self.call('GET', V1 + '/a')
        self.assertEqual(ticket['metadata']['annotations'], {'tickets.example.com/meal': 'fish'})
        ticket['spec']['seat'] = '13D'
        changed = self.call('PUT', V1 + '/a', ticket)
        self.assertEqual((changed['spec']['seat'], changed['metadata']['generation']), ('13D', 2))
        stored = self.call('GET', V2 + '/a')
        self.assertEqual((stored['spec']['seat'], stored['spec']['meal']), ({'row': 13, 'letter': 'D'}, 'fish'))
        self.assertNotIn('annotations', stored['metadata'])
        same = self.call('PUT', V1 + '/a', changed)
        self.assertEqual(same['metadata']['resourceVersion'], changed['metadata']['resourceVersion'])
        self.assertEqual(self.call('PUT', V1 + '/a', ticket, code=409)['reason'], 'Conflict')

    def test_patches_apply_to_the_form_of_their_version(self):
        self.create(v2('a', 'Ada', 'Lovelace', 12, 'C', meal='fish'))
        self.assertEqual(self.call('PATCH', V1 + '/a', {'spec': {'seat': '2B'}}, headers=MERGE)['spec'], {'passenger': 'Ada Lovelace', 'seat': '2B'})
        steps = [{'op': 'test', 'path': '/spec/seat', 'value': '2B'}, {'op': 'replace', 'path': '/spec/passenger', 'value': 'Ada King'}]
        patched = self.call('PATCH', V1 + '/a', steps, headers={'Content-Type': 'application/json-patch+json'})
        self.assertEqual(patched['spec']['passenger'], 'Ada King')
        self.assertEqual(self.call('GET', V2 + '/a')['spec'],
                         {'meal': 'fish', 'passenger': {'first': 'Ada', 'last': 'King'}, 'seat': {'row': 2, 'letter': 'B'}})
        self.call('PATCH', V1 + '/a', {'spec': {'seat': 'none'}}, headers=MERGE, code=422)

    def test_status_is_a_subresource_of_both(self):
        self.create(v1('a', 'Ada Lovelace', '12C'))
        boarded = self.call('PATCH', V1 + '/a/status', {'status': {'boarded': 'yes'}, 'spec': {'seat': '1A'}}, headers=MERGE)
        self.assertEqual((boarded['status'], boarded['spec']['seat']), ({'boarded': 'yes'}, '12C'))
        self.assertEqual(self.call('GET', V2 + '/a/status')['status'], {'boarded': True})
        kept = self.call('PATCH', V1 + '/a', {'status': {'boarded': 'no'}}, headers=MERGE)
        self.assertEqual((kept['status'], kept['metadata']['generation']), ({'boarded': 'yes'}, 1))

    def test_watches_show_their_version(self):
        self.create(v2('a', 'Ada', 'Lovelace', 12, 'C'))
        since = self.call('GET', V1)['metadata']['resourceVersion']
        self.create(v2('b', 'Grace', 'Hopper', 7, 'A'))
        self.call('PATCH', V2 + '/b', {'spec': {'seat': {'row': 8}}}, headers=MERGE)
        self.call('DELETE', V1 + '/b')
        self.create(v2('c', 'Ada', 'Lovelace', 9, 'A'))
        for path, seats in ((V1, ['7A', '8A', '8A', '9A']), (V2, [{'row': row, 'letter': 'A'} for row in (7, 8, 8, 9)])):
            events = self.server.events(path + '?watch=1&resourceVersion=' + since, 4)
            self.assertEqual([e['type'] for e in events], ['ADDED', 'MODIFIED', 'DELETED', 'ADDED'])
            self.assertEqual([e['object']['spec']['seat'] for e in events], seats)
        query = '?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
        events = self.server.events(V1 + query, 3)
        self.assertEqual([(e['type'], e['object']['apiVersion']) for e in events],
                         [(kind, 'tickets.example.com/v1') for kind in ('ADDED', 'ADDED', 'BOOKMARK')])
        selected = self.server.events(V1 + '?watch=1&fieldSelector=spec.lastName%3DLovelace&resourceVersion=' + since, 1)
        self.assertEqual([(e['type'], e['object']['metadata']['name']) for e in selected], [('ADDED', 'c')])

    def test_deletes_answer_in_their_version(self):
        self.create(v1('a', 'Ada Lovelace', '12C', finalizers=['example.com/hold']), v1('b', 'Grace Hopper', '7A'))
        held = self.call('DELETE', V1 + '/a')
        self.assertEqual((held['apiVersion'], held['spec']['seat']), ('tickets.example.com/v1', '12C'))
        self.call('PATCH', V1 + '/a', {'metadata': {'finalizers': None}}, headers=MERGE)
        gone = self.call('DELETE', V1)
        self.assertEqual((gone['kind'], [t['spec']['seat'] for t in gone['items']]), ('TicketList', ['7A']))
        self.assertEqual(self.call('GET', V2)['items'], [])

    def test_discovery_and_openapi_know_both(self):
        group = self.call('GET', '/apis/tickets.example.com')
        self.assertEqual([v['version'] for v in group['versions']], ['v2', 'v1'])
        self.assertEqual(group['preferredVersion']['version'], 'v2')
        hashes = [self.call('GET', '/apis/tickets.example.com/' + v)['resources'][0]['storageVersionHash'] for v in ('v1', 'v2')]
        self.assertEqual(hashes[0], hashes[1], 'both are stored as v2')
        for version in ('v1', 'v2'):
            schemas = self.call('GET', '/openapi/v3/apis/tickets.example.com/' + version)['components']['schemas']
            self.assertIn('com.example.tickets.%s.Ticket' % version, schemas)

    def test_z_a_restart_reads_what_was_stored(self):
        self.create(v1('a', 'Ada Lovelace', '12C'))
        data = self.server.dir
        self.server.own_dir = False
        self.server.stop()
        type(self).server = Server(plugin_dir=self.plugins, data_dir=data)
        type(self).server.own_dir = True
        self.assertEqual(self.call('GET', V2 + '/a')['spec']['seat'], {'row': 12, 'letter': 'C'})
        self.assertEqual(self.call('GET', V1 + '/a')['spec']['seat'], '12C')


if __name__ == '__main__':
    unittest.main()
