"""Input of admission plugins for each verb and subresource, recorded by a plugin; and their effects on a write."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

from harness import configmap, main, namespace, wait_for  # pylint: disable=wrong-import-position
from seams_test import server_with  # pylint: disable=wrong-import-position

DEFAULT = '/api/v1/namespaces/default/'
MERGE = {'Content-Type': 'application/merge-patch+json'}
APPLY = {'Content-Type': 'application/apply-patch+yaml'}
CREATE = {'kind': 'CreateOptions', 'apiVersion': 'meta.k8s.io/v1'}
UPDATE = {'kind': 'UpdateOptions', 'apiVersion': 'meta.k8s.io/v1'}
DELETE = {'kind': 'DeleteOptions', 'apiVersion': 'meta.k8s.io/v1'}
LABELS = '/apis/apps/v1/namespaces/default/deployments'
POD = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'pod'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}
DEPLOYMENT = {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'web'}, 'spec': {
    'replicas': 1, 'selector': {'matchLabels': {'a': 'b'}}, 'template': {
        'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}}
CRD = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'widgets.admission.example.com'},
       'spec': {'group': 'admission.example.com', 'scope': 'Namespaced', 'names': {'plural': 'widgets', 'kind': 'Widget'}, 'versions': [
           {'name': 'v1', 'served': True, 'storage': True, 'subresources': {'status': {}, 'scale': {
               'specReplicasPath': '.spec.replicas', 'statusReplicasPath': '.status.replicas'}}, 'schema': {'openAPIV3Schema': {
                   'type': 'object', 'x-kubernetes-preserve-unknown-fields': True, 'properties': {
                       'spec': {'type': 'object', 'properties': {'replicas': {'type': 'integer'}}},
                       'status': {'type': 'object', 'properties': {'replicas': {'type': 'integer'}}}}}}}]}}


def record(operation, resource, kind, name='', ns='default', subresource='', old=None, **other):
    """What a plugin receives.  `kind` is the kind of the objects; on delete there is only the old one."""
    out = {'operation': operation, 'resource': resource, 'subresource': subresource, 'kind': kind, 'requestKind': kind, 'namespace': ns, 'name': name,
           'dryRun': False, 'user': 'kubernetes-admin', 'object': '' if operation == 'DELETE' else kind,
           'oldObject': kind if operation in ('UPDATE', 'DELETE') else '',
           'options': {'CREATE': CREATE, 'UPDATE': UPDATE, 'DELETE': DELETE, 'CONNECT': None}[operation]}
    if old is not None:
        out['oldObject'] = old
    out.update(other)
    return out


class Witnessed(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = server_with('witness', flags=('--disable-admission-plugins=ServiceAccount',))
        cls.take()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    @classmethod
    def take(cls, user='kubernetes-admin'):
        """The records of writes of `user` since the last call."""
        return [each for each in cls.server.request('GET', '/witness')[2] if each['user'] == user]

    def send(self, method, path, body=None, headers=None, code=None):
        got, headers_back, answer = self.server.request(method, path, body, headers)
        if code is not None:
            self.assertEqual(got, code, answer)
        return got, headers_back, answer

    def check(self, method, path, body, expected, headers=None, code=None):
        """Both steps get `expected`; some options may be more than expected."""
        self.take()
        _, _, answer = self.send(method, path, body, headers, code)
        seen = self.take()
        wanted = [dict(expected, step='admit'), dict(expected, step='validate')]
        for each in seen:
            each.pop('connect', None)
        self.assertEqual(seen, wanted, '%s %s: %s' % (method, path, answer))
        return answer

    def make(self, path, body):
        code, _, answer = self.server.request('POST', path, body)
        self.assertIn(code, (201, 409), answer)
        return answer


class Objects(Witnessed):
    def test_create_update_patch_delete(self):
        maps = DEFAULT + 'configmaps'
        self.check('POST', maps, configmap('a'), record('CREATE', 'v1 configmaps', 'v1 ConfigMap', 'a'), code=201)
        self.check('POST', maps + '?dryRun=All', configmap('b'), record('CREATE', 'v1 configmaps', 'v1 ConfigMap', 'b', dryRun=True,
                                                                          options=dict(CREATE, dryRun=['All'])), code=201)
        self.check('POST', maps + '?fieldManager=me&fieldValidation=Strict', configmap('b'), record(
            'CREATE', 'v1 configmaps', 'v1 ConfigMap', 'b', options=dict(CREATE, fieldManager='me', fieldValidation='Strict')), code=201)
        updated = record('UPDATE', 'v1 configmaps', 'v1 ConfigMap', 'a')
        self.check('PUT', maps + '/a', configmap('a', x='y'), updated, code=200)
        self.check('PATCH', maps + '/a', '{"data":{"x":"z"}}', updated, MERGE, code=200)
        self.check('PATCH', maps + '/a', '{"data":{"x":"z"}}', updated, MERGE, code=200)
        self.check('DELETE', maps + '/a', None, record('DELETE', 'v1 configmaps', 'v1 ConfigMap', 'a'), code=200)
        self.check('DELETE', maps + '/b', {'kind': 'DeleteOptions', 'apiVersion': 'v1', 'propagationPolicy': 'Background'}, record(
            'DELETE', 'v1 configmaps', 'v1 ConfigMap', 'b', options=dict(DELETE, propagationPolicy='Background')), code=200)

    def test_a_generated_name_is_known_to_the_validating_step(self):
        self.take()
        _, _, made = self.send('POST', DEFAULT + 'configmaps', {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'generateName': 'gen-'}}, code=201)
        self.assertEqual([(each['step'], each['name']) for each in self.take()], [('admit', ''), ('validate', made['metadata']['name'])])

    def test_apply_creates_and_updates(self):
        path = DEFAULT + 'configmaps/applied?fieldManager=me&force=true'
        body = json.dumps(configmap('applied', x='y'))
        created = record('CREATE', 'v1 configmaps', 'v1 ConfigMap', 'applied', options=dict(CREATE, fieldManager='me'))
        self.check('PATCH', path, body, created, APPLY, code=201)
        self.check('PATCH', path, json.dumps(configmap('applied', x='z')), record('UPDATE', 'v1 configmaps', 'v1 ConfigMap', 'applied', options=dict(
            UPDATE, fieldManager='me')), APPLY, code=200)

    def test_an_update_that_creates(self):
        lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'l'}, 'spec': {}}
        kind = 'coordination.k8s.io/v1 Lease'
        path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/l'
        made = self.check('PUT', path, lease, record('CREATE', 'coordination.k8s.io/v1 leases', kind, 'l'), code=201)
        self.check('PUT', path, made, record('UPDATE', 'coordination.k8s.io/v1 leases', kind, 'l'), code=200)

    def test_each_item_of_a_collection(self):
        self.send('POST', '/api/v1/namespaces', namespace('several'), code=201)
        for name in 'abc':
            self.send('POST', '/api/v1/namespaces/several/configmaps', configmap(name), code=201)
        self.take()
        self.send('DELETE', '/api/v1/namespaces/several/configmaps', code=200)
        seen = self.take()
        expected = record('DELETE', 'v1 configmaps', 'v1 ConfigMap', '', 'several')
        self.assertEqual(sorted(each.pop('step') for each in seen), ['admit'] * 3 + ['validate'] * 3)
        self.assertEqual(seen, [expected] * 6, 'without a name, as upstream')

    def test_namespaces_belong_to_themselves(self):
        self.check('POST', '/api/v1/namespaces', namespace('own'), record('CREATE', 'v1 namespaces', 'v1 Namespace', 'own', 'own'), code=201)
        updated = record('UPDATE', 'v1 namespaces', 'v1 Namespace', 'own', 'own')
        made = self.check('PATCH', '/api/v1/namespaces/own', '{"metadata":{"labels":{"a":"b"}}}', updated, MERGE, code=200)
        self.check('PUT', '/api/v1/namespaces/own/status', made, dict(updated, subresource='status'), code=200)
        made['spec'] = {}
        self.check('PUT', '/api/v1/namespaces/own/finalize', made, dict(updated, subresource='finalize'), code=200)
        self.check('DELETE', '/api/v1/namespaces/own', None, record('DELETE', 'v1 namespaces', 'v1 Namespace', 'own', 'own'))

    def test_cluster_scoped(self):
        role = {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRole', 'metadata': {'name': 'r'}, 'rules': []}
        kind, resource = 'rbac.authorization.k8s.io/v1 ClusterRole', 'rbac.authorization.k8s.io/v1 clusterroles'
        path = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
        self.check('POST', path, role, record('CREATE', resource, kind, 'r', ''), code=201)
        self.check('DELETE', path + '/r', None, record('DELETE', resource, kind, 'r', ''), code=200)

    def test_reviews(self):
        review = {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectAccessReview', 'spec': {'nonResourceAttributes': {'path': '/', 'verb': 'get'}}}
        self.check('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review, record(
            'CREATE', 'authorization.k8s.io/v1 selfsubjectaccessreviews', 'authorization.k8s.io/v1 SelfSubjectAccessReview', '', ''), code=201)
        review = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview', 'spec': {'token': 'x'}}
        self.check('POST', '/apis/authentication.k8s.io/v1/tokenreviews', review, record(
            'CREATE', 'authentication.k8s.io/v1 tokenreviews', 'authentication.k8s.io/v1 TokenReview', '', ''), code=201)

    def test_custom_resources(self):
        crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
        self.check('POST', crds, CRD, record('CREATE', 'apiextensions.k8s.io/v1 customresourcedefinitions',
                                             'apiextensions.k8s.io/v1 CustomResourceDefinition', CRD['metadata']['name'], ''), code=201)
        path = '/apis/admission.example.com/v1/namespaces/default/widgets'
        self.assertTrue(wait_for(lambda: self.server.request('GET', path)[0] == 200))
        kind, resource = 'admission.example.com/v1 Widget', 'admission.example.com/v1 widgets'
        widget = {'apiVersion': 'admission.example.com/v1', 'kind': 'Widget', 'metadata': {'name': 'w'}, 'spec': {'replicas': 1}}
        made = self.check('POST', path, widget, record('CREATE', resource, kind, 'w'), code=201)
        self.check('PUT', path + '/w/status', made, record('UPDATE', resource, kind, 'w', subresource='status'), code=200)
        scale = self.send('GET', path + '/w/scale', code=200)[2]
        self.check('PUT', path + '/w/scale', scale, record('UPDATE', resource, 'autoscaling/v1 Scale', 'w', subresource='scale'), code=200)
        self.check('DELETE', path + '/w', None, record('DELETE', resource, kind, 'w'), code=200)


class Subresources(Witnessed):
    def test_status_scale_and_finalizers(self):
        made = self.make(LABELS, DEPLOYMENT)
        kind, resource = 'apps/v1 Deployment', 'apps/v1 deployments'
        self.check('PUT', LABELS + '/web/status', made, record('UPDATE', resource, kind, 'web', subresource='status'), code=200)
        scale = self.send('GET', LABELS + '/web/scale', code=200)[2]
        scale['spec']['replicas'] = 3
        scaled = record('UPDATE', resource, 'autoscaling/v1 Scale', 'web', subresource='scale')
        self.check('PUT', LABELS + '/web/scale', scale, scaled, code=200)
        self.check('PATCH', LABELS + '/web/scale', '{"spec":{"replicas":4}}', scaled, MERGE, code=200)

    def test_pods(self):
        self.make(DEFAULT + 'pods', POD)
        pod = DEFAULT + 'pods/pod'
        patched = record('UPDATE', 'v1 pods', 'v1 Pod', 'pod')
        self.check('PATCH', pod + '/ephemeralcontainers', json.dumps({'spec': {'ephemeralContainers': [{'name': 'e', 'image': 'i'}]}}),
                   dict(patched, subresource='ephemeralcontainers'), MERGE, code=200)
        self.check('PATCH', pod + '/status', '{"status":{"message":"m"}}', dict(patched, subresource='status'), MERGE, code=200)
        resized = {'spec': {'containers': [{'name': 'c', 'resources': {}}]}}
        self.check('PATCH', pod + '/resize', json.dumps(resized), dict(patched, subresource='resize'),
                   {'Content-Type': 'application/strategic-merge-patch+json'}, code=200)
        binding = {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'pod'}, 'target': {'kind': 'Node', 'name': 'n'}}
        self.check('POST', pod + '/binding', binding, record('CREATE', 'v1 pods', 'v1 Binding', 'pod', subresource='binding'), code=201)
        self.check('POST', DEFAULT + 'bindings', binding, record('CREATE', 'v1 bindings', 'v1 Binding', 'pod'), code=409)
        eviction = {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'pod'}}
        self.check('POST', pod + '/eviction', eviction, record('CREATE', 'v1 pods', 'policy/v1 Eviction', 'pod', subresource='eviction'), code=201)

    def test_connections(self):
        pod = dict(POD, metadata={'name': 'connected'})
        self.make(DEFAULT + 'pods', pod)
        path = DEFAULT + 'pods/connected'
        service = {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'svc'}, 'spec': {'ports': [{'port': 80}]}}
        self.make(DEFAULT + 'services', service)
        self.make('/api/v1/nodes', {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'node'}})
        for method, target, resource, kind, name, ns, subresource, options in (
                ('POST', path + '/exec?command=ls&command=-l&stdout=true&container=c', 'pods', 'PodExecOptions', 'connected', 'default', 'exec',
                 {'stdout': True, 'container': 'c', 'command': ['ls', '-l']}),
                ('GET', path + '/exec?command=ls&stdin=1', 'pods', 'PodExecOptions', 'connected', 'default', 'exec', {'stdin': True, 'command': ['ls']}),
                ('POST', path + '/attach?stdout=true&tty=true', 'pods', 'PodAttachOptions', 'connected', 'default', 'attach', {'stdout': True, 'tty': True}),
                ('POST', path + '/portforward?ports=80&ports=443', 'pods', 'PodPortForwardOptions', 'connected', 'default', 'portforward', {'ports': [80, 443]}),
                ('GET', path + '/proxy/some/path', 'pods', 'PodProxyOptions', 'connected', 'default', 'proxy', {'path': '/some/path'}),
                ('PUT', DEFAULT + 'services/svc/proxy/x', 'services', 'ServiceProxyOptions', 'svc', 'default', 'proxy', {'path': '/x'}),
                ('GET', '/api/v1/nodes/node/proxy/stats', 'nodes', 'NodeProxyOptions', 'node', '', 'proxy', {'path': '/stats'})):
            self.take()
            code, _, answer = self.send(method, target)
            self.assertGreaterEqual(code, 400, 'nothing is there')
            seen = self.take()
            expected = record('CONNECT', 'v1 ' + resource, 'v1 ' + kind, name, ns, subresource, connect=dict({'kind': kind, 'apiVersion': 'v1'}, **options))
            self.assertEqual(seen, [dict(expected, step='admit'), dict(expected, step='validate')], '%s %s: %s' % (method, target, answer))

    def test_tokens(self):
        self.make(DEFAULT + 'serviceaccounts', {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'acc'}})
        asked = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {'audiences': []}}
        self.check('POST', DEFAULT + 'serviceaccounts/acc/token', asked, record(
            'CREATE', 'v1 serviceaccounts', 'authentication.k8s.io/v1 TokenRequest', 'acc', subresource='token'), code=201)

    def test_checks_of_the_object_precede_the_validating_step(self):
        """As upstream's storages call their createValidation: checks that need the store follow, except the account of a token."""
        self.make(DEFAULT + 'serviceaccounts', {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'ordered'}})

        def binding(pod, **target):
            return {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': pod}, 'target': target}

        def eviction(name, **more):
            return dict({'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': name}}, **more)

        def token(**spec):
            return {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': spec}

        def review(kind, **spec):
            return {'apiVersion': 'authorization.k8s.io/v1', 'kind': kind, 'spec': spec}
        gone, reviews = DEFAULT + 'pods/gone', '/apis/authorization.k8s.io/v1/'
        path = {'resourceAttributes': {'namespace': 'other', 'verb': 'get'}}
        for target, body, code, validated in (
                (gone + '/binding', binding('gone', name=''), 500, False),
                (gone + '/binding', binding('other', name='n'), 400, False),
                (gone + '/binding', binding('gone', name='n'), 404, True),
                (DEFAULT + 'bindings', binding('gone', name='n', kind='Pod'), 500, False),
                (DEFAULT + 'bindings', binding('gone', name='n'), 404, True),
                (gone + '/eviction', eviction('other'), 400, False),
                (gone + '/eviction', eviction('gone', deleteOptions={'ignoreStoreReadErrorWithClusterBreakingPotential': True}), 422, False),
                (gone + '/eviction', eviction('gone'), 404, True),
                (DEFAULT + 'serviceaccounts/missing/token', token(), 404, False),
                (DEFAULT + 'serviceaccounts/ordered/token', token(expirationSeconds=1), 422, False),
                (DEFAULT + 'serviceaccounts/ordered/token', token(boundObjectRef={'apiVersion': 'v1', 'kind': 'Pod', 'name': 'gone'}), 404, True),
                (reviews + 'subjectaccessreviews', review('SubjectAccessReview', **path), 422, False),
                (reviews + 'selfsubjectaccessreviews', review('SelfSubjectAccessReview'), 422, False),
                (reviews + 'namespaces/default/localsubjectaccessreviews', review('LocalSubjectAccessReview', user='u', **path), 422, False),
                (reviews + 'selfsubjectrulesreviews', review('SelfSubjectRulesReview'), 400, False),
                ('/apis/authentication.k8s.io/v1/tokenreviews',
                 {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview', 'spec': {}}, 400, False)):
            self.take()
            self.send('POST', target, body, code=code)
            self.assertEqual([each['step'] for each in self.take()], ['admit', 'validate'] if validated else ['admit'], (target, body))


class Interference(Witnessed):
    def map(self, name, wish):
        return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name, 'annotations': {'witness': wish}}}

    def test_refusals(self):
        for step, text in (('refuse-admit', 'the witness refuses to admit it'), ('refuse-validate', 'the witness refuses it')):
            code, _, answer = self.send('POST', DEFAULT + 'configmaps', self.map('r', step))
            self.assertEqual((code, answer['message']), (403, 'configmaps "r" is forbidden: ' + text))
            self.assertEqual(self.send('GET', DEFAULT + 'configmaps/r')[0], 404)

    def test_managers_that_a_plugin_spoils_are_reverted(self):
        _, headers, made = self.send('POST', DEFAULT + 'configmaps?fieldManager=me', self.map('spoiled', 'spoil-managers'), code=201)
        self.assertEqual([each['manager'] for each in made['metadata']['managedFields']], ['me'])
        self.assertIn('.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission '
                      'controller; please fix your requests: invalid fieldsType "Wrong" in managed fields entry 0', headers['Warning'].replace('\\"', '"'))
        _, headers, made = self.send('PUT', DEFAULT + 'configmaps/spoiled?fieldManager=other', dict(self.map('spoiled', 'spoil-managers'), data={'a': 'b'}), code=200)
        self.assertEqual(sorted(each['manager'] for each in made['metadata']['managedFields']), ['me', 'other'])
        self.assertIn('invalid state after admission', headers['Warning'])

    def test_managers_that_a_plugin_changes_are_kept(self):
        _, headers, made = self.send('POST', DEFAULT + 'configmaps?fieldManager=me', self.map('changed', 'change-managers'), code=201)
        self.assertEqual([each['manager'] for each in made['metadata']['managedFields']], ['witness'])
        self.assertNotIn('Warning', headers)

    def test_metrics(self):
        self.send('POST', DEFAULT + 'configmaps', self.map('m', 'refuse-validate'), code=403)
        text = self.send('GET', '/metrics')[2]
        for line in ('apiserver_admission_controller_admission_duration_seconds_count{name="Witness",operation="CREATE",rejected="true",type="validate"}',
                     'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="true",type="validate"}',
                     'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="admit"}',
                     'apiserver_admission_step_admission_duration_seconds_summary_count{operation="CREATE",rejected="false",type="admit"}'):
            self.assertIn(line, text)


if __name__ == '__main__':
    main()
