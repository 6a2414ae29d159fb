"""Definitions as older servers stored them (apiextensions.k8s.io/v1beta1, fields that are unknown are kept, schemas that are not structural):
a real kube-apiserver and the built server start on the same values, each over a separate etcd, and return the same responses."""
import base64
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e'), os.path.join(HERE, '../conformance')]
import clients  # noqa: E402
from etcd_test import ETCD, Etcd  # noqa: E402
from harness import wait_for  # noqa: E402
from kube_apiserver import Backplane, KubeApiserver, Pki, SideBySide  # noqa: E402
from recordings_test import differences  # noqa: E402

CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
JSON, MERGE, APPLY = 'application/json', 'application/merge-patch+json', 'application/apply-patch+yaml'
OLD = '2019-06-01T00:00:00Z'


def condition(kind, reason, message):
    return {'type': kind, 'status': 'True', 'lastTransitionTime': OLD, 'reason': reason, 'message': message}


def status(names, versions=('v1',)):
    return {'conditions': [condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
                           condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted')],
            'acceptedNames': names, 'storedVersions': list(versions)}


def definition(plural, group='old.example.com', served=True, **spec):
    kind = plural[:-1].capitalize()
    names = {'plural': plural, 'singular': plural[:-1], 'kind': kind, 'listKind': kind + 'List'}
    spec.setdefault('scope', 'Namespaced')
    out = {'kind': 'CustomResourceDefinition', 'apiVersion': 'apiextensions.k8s.io/v1beta1',
           'metadata': {'name': plural + '.' + group, 'uid': '00000000-0000-4000-8000-%012d' % (sum(plural.encode()) * 7), 'generation': 1,
                        'creationTimestamp': OLD},
           'spec': dict({'group': group, 'version': 'v1', 'names': names, 'versions': [{'name': 'v1', 'served': True, 'storage': True}]}, **spec)}
    if spec.get('preserveUnknownFields') is False:
        out['metadata']['generation'] = 2  # objects from before this setting exist
    if served:
        out['status'] = status(names)
    return out


def without(value, *names):
    return {key: each for key, each in value.items() if key not in names}


LOOSE = {'openAPIV3Schema': {'properties': {'spec': {'properties': {
    'size': {'type': 'integer', 'minimum': 1}, 'color': {'enum': ['red', 'blue']}, 'list': {'items': {'type': 'string'}},
    'either': {'anyOf': [{'type': 'integer'}, {'type': 'string'}]}, 'replicas': {'type': 'integer'}}, 'required': ['size']}}}}
STRUCTURAL = {'openAPIV3Schema': {'type': 'object', 'description': 'A thing.', 'properties': {
    'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}, 'inner': {'type': 'object', 'properties': {'a': {'type': 'string'}}},
                                              'maybe': {'type': 'string', 'nullable': True}, 'replicas': {'type': 'integer'}}},
    'status': {'type': 'object', 'properties': {'phase': {'type': 'string'}, 'replicas': {'type': 'integer'}}}}}}
DEFAULTED = {'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {
    'size': {'type': 'integer', 'default': 3}}}}}}
SCALE = {'status': {}, 'scale': {'specReplicasPath': '.spec.replicas', 'statusReplicasPath': '.status.replicas'}}
DEFINITIONS = [
    definition('keeps', preserveUnknownFields=True),
    definition('looses', validation=LOOSE, subresources=SCALE,
               additionalPrinterColumns=[{'name': 'Size', 'type': 'integer', 'JSONPath': '.spec.size', 'description': 'How large it is.'}]),
    definition('shapes', validation=STRUCTURAL, subresources=SCALE, preserveUnknownFields=True),
    definition('prunes', validation=STRUCTURAL, preserveUnknownFields=False),
    definition('fills', validation=DEFAULTED, preserveUnknownFields=False),
    definition('doubts', validation=DEFAULTED),
    definition('oddities', validation={'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {'type': 'any'}}}}),
    definition('twos', versions=[{'name': 'v1', 'served': True, 'storage': False}, {'name': 'v2', 'served': True, 'storage': True}],
               validation=STRUCTURAL, subresources={'status': {}}),
    definition('eaches', versions=[
        {'name': 'v1', 'served': True, 'storage': True, 'schema': LOOSE, 'additionalPrinterColumns': [{'name': 'A', 'type': 'string', 'JSONPath': '.spec.a'}]},
        {'name': 'v2', 'served': True, 'storage': False, 'subresources': {'status': {}}}], conversion={'strategy': 'None'}),
    definition('clusters', scope='Cluster', preserveUnknownFields=True, validation={'openAPIV3Schema': {
        'properties': {'spec': {'properties': {'a': {}, 'b': {'items': {}}}}}}}),
]
BARE = definition('bares', served=False)
BARE['spec'] = {'group': 'old.example.com', 'version': 'v1', 'names': {'plural': 'bares', 'kind': 'Bare'}}
GUARDED = definition('guards', group='old.k8s.io', validation=LOOSE)
LATER = definition('laters', served=False, preserveUnknownFields=True)
LATER['apiVersion'] = 'apiextensions.k8s.io/v1'
LATER['spec'] = without(LATER['spec'], 'version')
LATER['spec']['versions'] = [dict(LATER['spec']['versions'][0], schema=STRUCTURAL)]
DEFINITIONS += [BARE, GUARDED, LATER]
for two in DEFINITIONS:
    if two['spec']['names']['plural'] == 'twos':
        two['status']['storedVersions'] = ['v1', 'v2']
# Their schemas have no types: in upstream, managers own the nested objects too.
UNTYPED = ('looses', 'eaches', 'clusters', 'guards')
SPEC = {'size': 2, 'color': 'red', 'more': {'a': [1, {'b': None}]}, 'inner': {'a': 'x', 'b': 'y'}, 'nothing': None, 'maybe': None, 'either': 'x'}


def plural_of(crd):
    return crd['spec']['names']['plural']


def objects(crd):
    """One that an old server stored, for each definition."""
    kind = crd['spec']['names']['kind']
    space = '' if crd['spec'].get('scope') == 'Cluster' else 'default/'
    meta = {'name': 'old', 'uid': '11111111-0000-4000-8000-000000000001', 'generation': 1, 'creationTimestamp': OLD}
    if space:
        meta['namespace'] = 'default'
    value = {'apiVersion': crd['spec']['group'] + '/v1', 'kind': kind, 'metadata': meta, 'spec': SPEC, 'unknown': {'deep': {'er': 1}},
             'status': {'phase': 'Old', 'extra': 1, 'replicas': 4}}
    yield '/registry/%s/%s/%sold' % (crd['spec']['group'], plural_of(crd), space), value


# Keys of objects that a write of the same object would store in other bytes, and where they are served.
STALE = {
    '/registry/configmaps/default/%s': ('/api/v1/namespaces/default/configmaps/%s', {
        'kind': 'ConfigMap', 'apiVersion': 'v1', 'metadata': {'namespace': 'default', 'creationTimestamp': OLD}, 'data': {'a': 'b'}}),
    '/registry/old.example.com/twos/default/%s': ('/apis/old.example.com/v1/namespaces/default/twos/%s', {
        'apiVersion': 'old.example.com/v1', 'kind': 'Two', 'metadata': {'namespace': 'default', 'generation': 1, 'creationTimestamp': OLD}, 'spec': {'size': 1}}),
    '/registry/old.example.com/keeps/default/%s': ('/apis/old.example.com/v1/namespaces/default/keeps/%s', {
        'spec': {}, 'metadata': {'namespace': 'default', 'generation': 1, 'creationTimestamp': OLD}, 'kind': 'Keep', 'apiVersion': 'old.example.com/v1'}),
}
WAYS = ('put', 'patch', 'status', 'other')


def fill(etcd):
    for key, (_, value) in STALE.items():
        for i, way in enumerate(WAYS):
            meta = dict(value['metadata'], name=way, uid='22222222-0000-4000-8000-00000000000%d' % i)
            text = json.dumps(dict(value, metadata=meta), separators=(',', ':'), sort_keys='twos' in key) + '\n'
            etcd.call('/v3/kv/put', {name: base64.b64encode(data.encode()).decode() for name, data in (('key', key % way), ('value', text))})
    for crd in DEFINITIONS:
        values = [('/registry/apiextensions.k8s.io/customresourcedefinitions/' + crd['metadata']['name'], crd), *objects(crd)]
        for key, value in values:
            text = json.dumps(value, separators=(',', ':'), sort_keys=value is not crd) + '\n'
            etcd.call('/v3/kv/put', {name: base64.b64encode(data.encode()).decode() for name, data in (('key', key), ('value', text))})


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class OldDefinitions(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        try:
            program = clients.build(('kube-apiserver',))['kube-apiserver']
        except clients.Missing as why:
            raise unittest.SkipTest('kube-apiserver cannot be built: %s' % why)
        cls.pki = Pki()
        cls.addClassCleanup(cls.pki.remove)
        cls.servers = []
        for make in (lambda etcd: KubeApiserver(program, cls.pki, etcd), lambda etcd: Backplane(cls.pki, etcd)):
            etcd = Etcd().start()
            cls.addClassCleanup(etcd.stop)
            fill(etcd)
            cls.servers.append(make(etcd))
            cls.addClassCleanup(cls.servers[-1].stop)
        cls.wait_for_conditions()

    @classmethod
    def wait_for_conditions(cls):
        """Waits until the status of each definition is final."""
        def settled(server):
            items = server.request('GET', CRDS)[2]['items']
            found = {item['metadata']['name']: {each['type'] for each in item['status'].get('conditions') or ()} for item in items}
            wanted = {crd['metadata']['name']: {'NamesAccepted', 'Established'} for crd in DEFINITIONS}
            for name in wanted:
                if name.partition('.')[0] not in ('prunes', 'fills'):
                    wanted[name].add('NonStructuralSchema')
            return all(wanted[name] <= found.get(name, set()) for name in wanted) and 'old.example.com' in str(
                server.request('GET', '/openapi/v3')[2])
        for server in cls.servers:
            wait_for(lambda server=server: settled(server), 60)

    def both(self, what, method, path, body=None, kind=JSON, accept=None):
        answers = []
        for server in self.servers:
            if accept:
                table = server.request('GET', path, headers={'Accept': accept})[2]
                answers.append({'status': 200, 'headers': {}, 'body': plain({key: table[key] for key in ('columnDefinitions', 'rows')})})
            else:
                answers.append(SideBySide.answer(server, method, path, body(server) if callable(body) else body, kind))
            order(answers[-1]['body'])
        found = differences(*answers)
        if found:
            self.reports.append('%s %s %s: %s' % (method, path, what, '; '.join(found[:3])[:1000]))
        return answers

    def setUp(self):
        self.reports = []

    def tearDown(self):
        self.assertEqual(self.reports, [], '\n'.join(self.reports))

    def test_definitions_are_read_in_v1_and_their_conditions_are_set(self):
        for crd in DEFINITIONS:
            self.both('', 'GET', CRDS + '/' + crd['metadata']['name'])

    def test_discovery(self):
        for path in ('/apis/old.example.com', '/apis/old.example.com/v1', '/apis/old.example.com/v2', '/apis/old.k8s.io/v1'):
            self.both('', 'GET', path)
        for server in self.servers:
            document = server.request('GET', '/apis', headers={'Accept': AGGREGATED})[2]
            server.groups = [item for item in document['items'] if item['metadata']['name'].startswith('old.')]
        if self.servers[0].groups != self.servers[1].groups:
            self.reports.append('aggregated discovery differs')

    def test_documents(self):
        def schemas(server, path, *keys):
            document = server.request('GET', path)[2]
            for key in keys:
                document = document[key]
            return {name: document[name] for name in document if name.startswith(('com.example.old', 'io.k8s.old'))}

        for path, keys in (('/openapi/v3/apis/old.example.com/v1', ('components', 'schemas')),
                           ('/openapi/v3/apis/old.example.com/v2', ('components', 'schemas')),
                           ('/openapi/v3/apis/old.k8s.io/v1', ('components', 'schemas')), ('/openapi/v2', ('definitions',))):
            self.assertTrue(wait_for(lambda path=path, keys=keys: schemas(self.servers[0], path, *keys), 60))
            want, got = (plain(schemas(server, path, *keys)) for server in self.servers)
            for name in sorted(set(want) | set(got)):
                if want.get(name) != got.get(name):
                    self.reports.append('%s %s: want %s, got %s' % (path, name, want.get(name), got.get(name)))

    def test_objects_keep_what_no_schema_knows(self):
        for crd in DEFINITIONS:
            if plural_of(crd) == 'oddities':
                continue
            group, kind = crd['spec']['group'], crd['spec']['names']['kind']
            space = '' if crd['spec'].get('scope') == 'Cluster' else 'namespaces/default/'
            path = '/apis/%s/v1/%s%s' % (group, space, plural_of(crd))
            self.both('stored', 'GET', path + '/old')
            self.both('stored', 'GET', path)
            self.both('table', 'GET', path, accept='application/json;as=Table;g=meta.k8s.io;v=v1')
            new = {'apiVersion': group + '/v1', 'kind': kind, 'metadata': {'name': 'new'}, 'spec': SPEC, 'unknown': {'deep': {'er': None}},
                   'status': {'phase': 'New', 'extra': 1}}
            self.both('create', 'POST', path + '?fieldValidation=Strict', new)
            self.both('create', 'POST', path + '?fieldValidation=Warn', new)
            self.both('wrong', 'POST', path, dict(new, metadata={'name': 'wrong'}, spec={'size': 'x', 'color': 'green', 'list': [1], 'either': True}))
            self.both('no spec', 'POST', path, without(dict(new, metadata={'name': 'empty'}), 'spec'))

            def read(server, name='old', path=path):
                return server.request('GET', path + '/' + name)[2]
            self.both('unchanged', 'PUT', path + '/old', read)
            self.both('changed', 'PUT', path + '/old', lambda server, read=read: dict(read(server), other={'x': None, 'y': 2}))
            self.both('patched', 'PATCH', path + '/new', {'spec': {'added': {'z': 1}, 'color': None}}, MERGE)
            if plural_of(crd) not in UNTYPED:
                self.both('applied', 'PATCH', path + '/new?fieldManager=m&force=true',
                          dict(without(new, 'status'), spec={'size': 5}), APPLY)
            for part in ('status', 'scale'):
                self.both(part, 'GET', path + '/old/' + part)
                self.both(part, 'PATCH', path + '/old/' + part, {'status': {'phase': 'Newer', 'strange': {'a': 1}}, 'spec': {'replicas': 7}}, MERGE)
            self.both('deleted', 'DELETE', path + '/new')

    def test_what_is_stored_in_other_bytes_is_stored_anew_by_a_write_that_changes_nothing(self):
        def version(server, path):
            return server.request('GET', path)[2]['metadata']['resourceVersion']

        def write(server, path, way):
            body = server.request('GET', path)[2]
            if way == 'patch':
                return server.request('PATCH', path, '{}', {'Content-Type': MERGE})
            if way == 'status' and 'twos' in path:
                return server.request('PUT', path + '/status', body)
            if way == 'other' and 'twos' in path:
                path = path.replace('/v1/', '/v2/')
                body['apiVersion'] = 'old.example.com/v2'
            return server.request('PUT', path, body)

        for place, _ in STALE.values():
            for way in WAYS:
                reports = []
                for server in self.servers:
                    versions = [version(server, place % way)]
                    for _ in range(3):
                        self.assertEqual(write(server, place % way, way)[0], 200)
                        versions.append(version(server, place % way))
                    reports.append([one != other for one, other in zip(versions, versions[1:])])
                if reports[0] != reports[1]:
                    self.reports.append('%s %s: written %s, want %s' % (place, way, reports[1], reports[0]))
                self.assertFalse(any(reports[1][1:]), 'it is written again and again: %s %s' % (place, way))

    def test_definitions_can_be_written(self):
        for crd in DEFINITIONS:
            path = CRDS + '/' + crd['metadata']['name']
            self.both('label', 'PATCH', path + '?dryRun=All', {'metadata': {'labels': {'a': 'b'}}}, MERGE)
            self.both('put', 'PUT', path + '?dryRun=All', lambda server, path=path: server.request('GET', path)[2])
            self.both('pruning', 'PATCH', path + '?dryRun=All', {'spec': {'preserveUnknownFields': False}}, MERGE)
            self.both('keeping', 'PATCH', path + '?dryRun=All', {'spec': {'preserveUnknownFields': True}}, MERGE)
            self.both('names', 'PATCH', path + '?dryRun=All', {'spec': {'names': {'shortNames': ['x']}}}, MERGE)
            more = [{'name': 'v1', 'served': True, 'storage': True}, {'name': 'v9', 'served': True, 'storage': False}]
            self.both('versions', 'PATCH', path + '?dryRun=All', {'spec': {'versions': more}}, MERGE)
            for schema in (LOOSE, STRUCTURAL, DEFAULTED):
                self.both('schema', 'PATCH', path + '?dryRun=All', {'spec': {'versions': [dict(more[0], schema=schema)]}}, MERGE)
            for value in ([], None, ['v1'], ['v9']):
                self.both('stored versions %s' % value, 'PATCH', path + '/status?dryRun=All', {'status': {'storedVersions': value}}, MERGE)
            self.both('no status', 'PATCH', path + '/status?dryRun=All', {'status': None}, MERGE)

    def test_a_schema_that_becomes_structural_loses_its_condition(self):
        path = CRDS + '/doubts.old.example.com'
        body = {'spec': {'preserveUnknownFields': False}}
        for server in self.servers:
            self.assertEqual(server.request('PATCH', path, json.dumps(body), {'Content-Type': MERGE})[0], 200)
        for server in self.servers:
            self.assertTrue(wait_for(lambda server=server: 'NonStructuralSchema' not in str(server.request('GET', path)[2]['status']), 30))
        self.both('', 'GET', path)


def plain(value):
    """Without this project's descriptions, and without the revisions of each store."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key not in ('description', 'resourceVersion')}
    return [plain(each) for each in value] if isinstance(value, list) else value


def order(answer):
    """Conditions are set by controllers that do not wait for each other, and definitions are listed in any order."""
    body = answer.get('body', answer) if isinstance(answer, dict) else None
    if not isinstance(body, dict):
        return
    conditions = (body.get('status') if isinstance(body.get('status'), dict) else {}).get('conditions')
    if conditions:
        conditions.sort(key=lambda each: each['type'])
    if body.get('kind') == 'APIResourceList':
        body['resources'].sort(key=lambda each: each['name'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
