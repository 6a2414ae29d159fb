"""The controllers that run in the server if no kube-controller-manager is active (--controllers)."""
import base64
import datetime
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest
import uuid

from etcd_test import ETCD, Etcd
from harness import BINARY, PLUGINS, Server, configmap, main, namespace, wait_for

MERGE = {'Content-Type': 'application/merge-patch+json'}
MAPS = '/api/v1/namespaces/%s/configmaps'


def b64(text):
    return base64.b64encode(text.encode()).decode()


def owner_ref(owner, **more):
    return dict({'apiVersion': owner['apiVersion'], 'kind': owner['kind'], 'name': owner['metadata']['name'], 'uid': owner['metadata']['uid']}, **more)


def owned(name, *owners):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name, 'ownerReferences': list(owners)}}


def pod(name, **spec):
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name},
            'spec': dict({'containers': [{'name': 'c', 'image': 'example.com/c:1'}]}, **spec)}


def definition(group, kind, versions=('v1',), conversion=None):
    plural = kind.lower() + 's'
    spec = {'group': group, 'scope': 'Namespaced', 'names': {'plural': plural, 'singular': kind.lower(), 'kind': kind},
            'versions': [{'name': name, 'served': True, 'storage': i == 0, 'schema': {'openAPIV3Schema': {
                'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}} for i, name in enumerate(versions)]}
    if conversion:
        spec['conversion'] = conversion
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': '%s.%s' % (plural, group)},
            'spec': spec}


class Base:
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory(prefix='backplane-controllers-')
        cls.server = Server(*(flag.replace('DIR', cls.dir.name) for flag in cls.flags), data_dir=cls.dir.name, controllers=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.dir.cleanup()

    def call(self, method, path, body=None, headers=None, codes=(200, 201, 202)):
        code, _, answer = self.server.request(method, path, body, headers)
        self.assertIn(code, codes, answer)
        return answer

    def get(self, path):
        code, _, answer = self.server.request('GET', path)
        return answer if code == 200 else None

    def authority(self):
        return pathlib.Path(self.dir.name, 'data/pki/ca.crt').read_text(encoding='utf-8')

    def created(self, path, body):
        return self.call('POST', path, body)

    def new_namespace(self):
        name = 'n-' + uuid.uuid4().hex[:8]
        self.created('/api/v1/namespaces', namespace(name))
        return name

    def eventually(self, what, holds):
        found = wait_for(holds)
        self.assertTrue(found, '%s did not come about\n%s' % (what, self.server.text()[-3000:]))
        return found

    def gone(self, path):
        self.eventually('the end of ' + path, lambda: self.server.request('GET', path)[0] == 404)


class Accounts(Base, unittest.TestCase):
    """Service accounts, their authority and their legacy tokens."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory(prefix='backplane-controllers-')
        cls.server = Server(data_dir=cls.dir.name, controllers=True, service_accounts=True)

    def test_a_namespace_gets_its_account_and_authority_and_both_return(self):
        ns = self.new_namespace()
        account = '/api/v1/namespaces/%s/serviceaccounts/default' % ns
        authority = MAPS % ns + '/kube-root-ca.crt'
        first = self.eventually('the account', lambda: self.get(account))
        root = self.eventually('the authority', lambda: self.get(authority))
        self.assertEqual(root['data']['ca.crt'], self.authority())
        self.assertIn('kubernetes.io/description', root['metadata']['annotations'])
        self.assertEqual(root['metadata']['managedFields'][0]['manager'], 'kube-controller-manager')
        self.call('DELETE', account)
        self.eventually('a new account', lambda: (self.get(account) or first)['metadata']['uid'] != first['metadata']['uid'])
        self.call('PATCH', authority, {'data': {'ca.crt': 'other', 'more': 'x'}}, MERGE)
        self.eventually('the former data', lambda: self.get(authority)['data'] == root['data'])
        self.call('DELETE', authority)
        self.eventually('a new map', lambda: self.get(authority))

    def test_pods_can_be_created_on_the_server_alone(self):
        ns = self.new_namespace()
        self.eventually('the account', lambda: self.get('/api/v1/namespaces/%s/serviceaccounts/default' % ns))
        made = self.created('/api/v1/namespaces/%s/pods' % ns, pod('p'))
        self.assertEqual(made['spec']['serviceAccountName'], 'default')

    def test_a_token_secret_is_filled_and_goes_with_its_account(self):
        ns = self.new_namespace()
        account = self.created('/api/v1/namespaces/%s/serviceaccounts' % ns, {'metadata': {'name': 'robot'}})
        path = '/api/v1/namespaces/%s/secrets' % ns
        self.created(path, {'metadata': {'name': 'token', 'annotations': {'kubernetes.io/service-account.name': 'robot'}},
                            'type': 'kubernetes.io/service-account-token'})
        secret = self.eventually('the token', lambda: [s for s in [self.get(path + '/token')] if s and 'token' in s.get('data', {})])[0]
        self.assertEqual(secret['metadata']['annotations']['kubernetes.io/service-account.uid'], account['metadata']['uid'])
        self.assertEqual(base64.b64decode(secret['data']['namespace']).decode(), ns)
        token = base64.b64decode(secret['data']['token']).decode()
        review = self.created('/apis/authentication.k8s.io/v1/tokenreviews', {'spec': {'token': token}})
        self.assertEqual(review['status'].get('user', {}).get('username'), 'system:serviceaccount:%s:robot' % ns, review['status'])
        self.call('DELETE', '/api/v1/namespaces/%s/serviceaccounts/robot' % ns)
        self.gone(path + '/token')

    def test_a_token_secret_of_an_account_that_does_not_exist_is_deleted(self):
        ns = self.new_namespace()
        path = '/api/v1/namespaces/%s/secrets' % ns
        self.created(path, {'metadata': {'name': 'token', 'annotations': {'kubernetes.io/service-account.name': 'nobody'}},
                            'type': 'kubernetes.io/service-account-token'})
        self.gone(path + '/token')


class Garbage(Base, unittest.TestCase):
    def setUp(self):
        self.ns = self.new_namespace()
        self.maps = MAPS % self.ns

    def owner(self, name='owner', **metadata):
        made = self.created(self.maps, dict(configmap(name), metadata=dict({'name': name}, **metadata)))
        return dict(made, apiVersion='v1', kind='ConfigMap')

    def delete(self, path, policy):
        return self.call('DELETE', path, {'propagationPolicy': policy})

    def test_dependants_go_after_their_owner(self):
        owner = self.owner()
        child = dict(self.created(self.maps, owned('child', owner_ref(owner))), apiVersion='v1', kind='ConfigMap')
        self.created('/api/v1/namespaces/%s/secrets' % self.ns, {'metadata': {'name': 'grandchild', 'ownerReferences': [owner_ref(child)]}})
        self.created(self.maps, configmap('stranger'))
        self.delete(self.maps + '/owner', 'Background')
        self.gone(self.maps + '/child')
        self.gone('/api/v1/namespaces/%s/secrets/grandchild' % self.ns)
        self.assertTrue(self.get(self.maps + '/stranger'))

    def test_dependants_are_released_by_the_policy_orphan(self):
        owner = self.owner()
        other = self.owner('other')
        for i in range(30):
            self.created(self.maps, owned('child-%d' % i, owner_ref(owner)))
        self.created(self.maps, owned('shared', owner_ref(owner), owner_ref(other, controller=True)))
        self.delete(self.maps + '/owner', 'Orphan')
        self.gone(self.maps + '/owner')
        for i in range(30):
            self.assertNotIn('ownerReferences', self.get(self.maps + '/child-%d' % i)['metadata'])
        kept = self.get(self.maps + '/shared')['metadata']['ownerReferences']
        self.assertEqual(kept, [owner_ref(other, controller=True)])

    def test_a_foreground_deletion_ends_after_the_blocking_dependants(self):
        owner = self.owner()
        held = owned('held', owner_ref(owner, blockOwnerDeletion=True))
        held['metadata']['finalizers'] = ['example.com/hold']
        self.created(self.maps, held)
        self.created(self.maps, owned('free', owner_ref(owner)))
        self.delete(self.maps + '/owner', 'Foreground')
        self.gone(self.maps + '/free')
        self.eventually('the deletion of the held one', lambda: 'deletionTimestamp' in self.get(self.maps + '/held')['metadata'])
        waiting = self.get(self.maps + '/owner')
        self.assertEqual(waiting['metadata']['finalizers'], ['foregroundDeletion'])
        self.call('PATCH', self.maps + '/held', {'metadata': {'finalizers': None}}, MERGE)
        self.gone(self.maps + '/held')
        self.gone(self.maps + '/owner')

    def test_foreground_goes_down_the_tree(self):
        owner = self.owner()
        child = dict(self.created(self.maps, owned('child', owner_ref(owner, blockOwnerDeletion=True))), apiVersion='v1', kind='ConfigMap')
        self.created(self.maps, owned('grandchild', owner_ref(child, blockOwnerDeletion=True)))
        self.delete(self.maps + '/owner', 'Foreground')
        for name in ('grandchild', 'child', 'owner'):
            self.gone(self.maps + '/' + name)

    def test_a_cycle_of_blocking_owners_is_deleted(self):
        one = self.owner('one')
        two = dict(self.created(self.maps, owned('two', owner_ref(one, blockOwnerDeletion=True))), apiVersion='v1', kind='ConfigMap')
        three = dict(self.created(self.maps, owned('three', owner_ref(two, blockOwnerDeletion=True))), apiVersion='v1', kind='ConfigMap')
        self.call('PATCH', self.maps + '/one', {'metadata': {'ownerReferences': [owner_ref(three, blockOwnerDeletion=True)]}}, MERGE)
        self.delete(self.maps + '/one', 'Foreground')
        for name in ('one', 'two', 'three'):
            self.gone(self.maps + '/' + name)

    def test_owners_that_do_not_exist(self):
        owner = self.owner()
        nobody = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'nobody', 'uid': str(uuid.uuid4())}
        self.created(self.maps, owned('absent', nobody))
        self.created(self.maps, owned('former', dict(owner_ref(owner), uid=str(uuid.uuid4()))))
        self.created(self.maps, owned('both', nobody, owner_ref(owner)))
        self.created(self.maps, owned('odd', dict(nobody, uid='not a uuid', name='../x?y')))
        for name in ('absent', 'former', 'odd'):
            self.gone(self.maps + '/' + name)
        self.eventually('the removal of the reference',
                        lambda: self.get(self.maps + '/both')['metadata']['ownerReferences'] == [owner_ref(owner)])

    def test_an_owner_in_another_namespace_is_reported_and_does_not_count(self):
        elsewhere = self.new_namespace()
        owner = dict(self.created(MAPS % elsewhere, configmap('owner')), apiVersion='v1', kind='ConfigMap')
        # An object with an owner is in the graph, so the graph has its namespace.
        parent = dict(self.created(MAPS % elsewhere, configmap('parent')), apiVersion='v1', kind='ConfigMap')
        self.call('PATCH', MAPS % elsewhere + '/owner', {'metadata': {'ownerReferences': [owner_ref(parent)]}}, MERGE)
        self.created(MAPS % elsewhere, owned('good', owner_ref(owner)))
        self.created(self.maps, owned('child', owner_ref(owner)))
        self.gone(self.maps + '/child')
        self.assertTrue(self.get(MAPS % elsewhere + '/good'), 'its owner exists')
        events = self.eventually('the event', lambda: [
            e for e in self.get('/api/v1/namespaces/%s/events' % self.ns)['items'] if e['reason'] == 'OwnerRefInvalidNamespace'])
        self.assertEqual(events[0]['message'], 'ownerRef [v1/ConfigMap, namespace: %s, name: owner, uid: %s] does not exist in namespace "%s"' % (
            self.ns, owner['metadata']['uid'], self.ns))
        self.assertEqual(events[0]['involvedObject']['name'], 'child')

    def test_a_cluster_scoped_object_with_a_namespaced_owner_stays(self):
        owner = self.owner()
        name = 'role-' + self.ns
        self.created('/apis/rbac.authorization.k8s.io/v1/clusterroles', {'metadata': {'name': name, 'ownerReferences': [owner_ref(owner)]}})
        self.delete(self.maps + '/owner', 'Background')
        self.created(self.maps, owned('marker', owner_ref(owner)))
        self.gone(self.maps + '/marker')
        self.assertTrue(self.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/' + name))

    def test_custom_types_come_and_go(self):
        group = self.ns + '.example.com'
        self.created('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(group, 'Gadget'))
        gadgets = '/apis/%s/v1/namespaces/%s/gadgets' % (group, self.ns)
        self.eventually('the type', lambda: self.get(gadgets))
        owner = self.created(gadgets, {'apiVersion': group + '/v1', 'kind': 'Gadget', 'metadata': {'name': 'owner'}})
        self.created(gadgets, {'apiVersion': group + '/v1', 'kind': 'Gadget', 'metadata': {'name': 'child', 'ownerReferences': [owner_ref(owner)]}})
        self.created(self.maps, owned('map', owner_ref(owner)))
        self.delete(gadgets + '/owner', 'Orphan')
        self.gone(gadgets + '/owner')
        self.assertNotIn('ownerReferences', self.get(gadgets + '/child')['metadata'])
        child = self.get(gadgets + '/child')
        self.created(self.maps, owned('last', owner_ref(child)))
        self.delete(gadgets + '/child', 'Background')
        self.gone(self.maps + '/last')
        self.call('DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.' + group)

    def test_a_reference_to_a_type_that_is_not_served_yet_waits_for_it(self):
        group = self.ns + '.late.example.com'
        self.created(self.maps, owned('early', {'apiVersion': group + '/v1', 'kind': 'Gadget', 'name': 'g', 'uid': str(uuid.uuid4())}))
        self.created(self.maps, owned('marker', {'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'no', 'uid': str(uuid.uuid4())}))
        self.gone(self.maps + '/marker')
        self.assertTrue(self.get(self.maps + '/early'))
        self.created('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(group, 'Gadget'))
        self.gone(self.maps + '/early')

    def test_a_type_whose_conversion_webhook_is_down_blocks_no_other(self):
        group = self.ns + '.dead.example.com'
        crd = definition(group, 'Gadget', versions=('v1', 'v2'))
        self.created('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
        gadgets = '/apis/%s/v1/namespaces/%s/gadgets' % (group, self.ns)
        self.eventually('the type', lambda: self.get(gadgets))
        owner = self.owner()
        for i in range(40):
            self.created(gadgets, {'apiVersion': group + '/v1', 'kind': 'Gadget', 'metadata': {
                'name': 'g-%d' % i, 'ownerReferences': [owner_ref(owner)]}})
        self.call('PATCH', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.' + group, {'spec': {'conversion': {
            'strategy': 'Webhook', 'webhook': {'conversionReviewVersions': ['v1'], 'clientConfig': {
                'url': 'https://127.0.0.1:1/convert', 'caBundle': b64(self.authority())}}}}},
            MERGE)
        self.created(self.maps, owned('child', owner_ref(owner)))
        self.delete(self.maps + '/owner', 'Background')
        self.gone(self.maps + '/child')
        second = self.owner('second')
        self.created(self.maps, owned('later', owner_ref(second)))
        self.delete(self.maps + '/second', 'Background')
        self.gone(self.maps + '/later')

    def test_a_restart_collects_what_was_left(self):
        with Server() as alone:
            alone.request('POST', '/api/v1/namespaces', namespace('n'))
            _, _, owner = alone.request('POST', MAPS % 'n', configmap('owner'))
            owner = dict(owner, apiVersion='v1', kind='ConfigMap')
            alone.request('POST', MAPS % 'n', owned('child', owner_ref(owner)))
            alone.request('POST', MAPS % 'n', owned('kept', owner_ref(dict(owner, metadata=dict(owner['metadata'])))))
            _, _, second = alone.request('POST', MAPS % 'n', configmap('second'))
            alone.request('POST', MAPS % 'n', owned('held', owner_ref(dict(second, apiVersion='v1', kind='ConfigMap'), blockOwnerDeletion=True)))
            alone.request('DELETE', MAPS % 'n' + '/second', {'propagationPolicy': 'Foreground'})
            alone.request('DELETE', MAPS % 'n' + '/owner')
            self.assertEqual(alone.request('GET', MAPS % 'n' + '/child')[0], 200, 'no controller runs')
            self.assertEqual(alone.terminate(), 0)
            with Server(data_dir=alone.dir, controllers=True) as again:
                for name in ('child', 'kept', 'held', 'second'):
                    self.assertTrue(wait_for(lambda name=name: again.request('GET', MAPS % 'n' + '/' + name)[0] == 404), again.text()[-3000:])


class Quotas(Base, unittest.TestCase):
    def test_usage_follows_the_objects(self):
        ns = self.new_namespace()
        quotas = '/api/v1/namespaces/%s/resourcequotas' % ns
        self.created(MAPS % ns, configmap('before'))
        self.eventually('the authority', lambda: self.get(MAPS % ns + '/kube-root-ca.crt'))
        hard = {'configmaps': '10', 'pods': '5', 'requests.cpu': '4', 'services': '3', 'count/deployments.apps': '2', 'secrets': '5'}
        self.created(quotas, {'metadata': {'name': 'q'}, 'spec': {'hard': hard}})

        def used():
            return (self.get(quotas + '/q') or {}).get('status', {}).get('used')
        zero = {'configmaps': '2', 'pods': '0', 'requests.cpu': '0', 'services': '0', 'count/deployments.apps': '0', 'secrets': '0'}
        self.eventually('the first count', lambda: used() == zero)
        self.assertEqual(self.get(quotas + '/q')['status']['hard'], hard)
        one = pod('p')
        one['spec']['containers'][0]['resources'] = {'requests': {'cpu': '500m'}}
        self.created('/api/v1/namespaces/%s/pods' % ns, one)
        self.created(MAPS % ns, configmap('more'))
        self.created('/apis/apps/v1/namespaces/%s/deployments' % ns, {'metadata': {'name': 'd'}, 'spec': {
            'selector': {'matchLabels': {'a': 'b'}}, 'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': one['spec']}}})
        self.eventually('the new usage', lambda: used() == dict(zero, **{
            'configmaps': '3', 'pods': '1', 'requests.cpu': '500m', 'count/deployments.apps': '1'}))
        self.call('DELETE', MAPS % ns + '/more')
        self.call('DELETE', '/api/v1/namespaces/%s/pods/p?gracePeriodSeconds=0' % ns)
        self.call('DELETE', '/apis/apps/v1/namespaces/%s/deployments/d' % ns)
        self.eventually('the former usage', lambda: used() == zero)
        self.call('PATCH', quotas + '/q', {'spec': {'hard': {'secrets': None, 'configmaps': '20'}}}, MERGE)
        self.eventually('the new limits', lambda: self.get(quotas + '/q')['status']['hard'].get('configmaps') == '20'
                        and 'secrets' not in used())

    def test_a_pod_that_has_ended_uses_nothing_and_custom_objects_count(self):
        ns = self.new_namespace()
        group = ns + '.example.com'
        self.created('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(group, 'Gadget'))
        gadgets = '/apis/%s/v1/namespaces/%s/gadgets' % (group, ns)
        self.eventually('the type', lambda: self.get(gadgets))
        self.created(gadgets, {'apiVersion': group + '/v1', 'kind': 'Gadget', 'metadata': {'name': 'g'}})
        self.created('/api/v1/namespaces/%s/pods' % ns, pod('p'))
        quotas = '/api/v1/namespaces/%s/resourcequotas' % ns
        count = 'count/gadgets.' + group
        self.created(quotas, {'metadata': {'name': 'q'}, 'spec': {'hard': {'pods': '5', count: '5'}}})

        def used():
            return (self.get(quotas + '/q') or {}).get('status', {}).get('used')
        self.eventually('the count', lambda: used() == {'pods': '1', count: '1'})
        self.call('PATCH', '/api/v1/namespaces/%s/pods/p/status' % ns, {'status': {'phase': 'Succeeded'}}, MERGE)
        self.call('DELETE', gadgets + '/g')
        self.eventually('the end of both', lambda: used() == {'pods': '0', count: '0'})


class Others(Base, unittest.TestCase):
    flags = ('--controllers=*,bootstrap-signer-controller,token-cleaner-controller', '--terminated-pod-gc-threshold=1',
             '--cluster-signing-cert-file=DIR/data/pki/ca.crt', '--cluster-signing-key-file=DIR/data/pki/ca.key')

    def test_cluster_roles_are_aggregated(self):
        roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
        rule = {'verbs': ['get'], 'apiGroups': ['example.com'], 'resources': ['gadgets']}
        self.created(roles, {'metadata': {'name': 'all-gadgets'}, 'aggregationRule': {'clusterRoleSelectors': [{'matchLabels': {'gadgets': 'yes'}}]},
                             'rules': []})
        self.created(roles, {'metadata': {'name': 'gadget-reader', 'labels': {'gadgets': 'yes'}}, 'rules': [rule]})
        self.eventually('the rule', lambda: self.get(roles + '/all-gadgets').get('rules') == [rule])
        managers = [f['manager'] for f in self.get(roles + '/all-gadgets')['metadata']['managedFields']]
        self.assertIn('clusterrole-aggregation-controller', managers)
        self.call('DELETE', roles + '/gadget-reader')
        self.eventually('its end', lambda: not self.get(roles + '/all-gadgets').get('rules'))
        self.assertTrue(self.get(roles + '/view')['rules'], 'the default roles are aggregated too')

    def test_admission_policies_are_type_checked(self):
        path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
        self.created(path, {'metadata': {'name': 'typed'}, 'spec': {
            'matchConstraints': {'resourceRules': [{'apiGroups': ['apps'], 'apiVersions': ['v1'], 'operations': ['*'], 'resources': ['deployments']}]},
            'validations': [{'expression': 'object.spec.replicas > 1'}, {'expression': 'object.spec.foo == 1'}]}})
        self.eventually('the status', lambda: self.get(path + '/typed').get('status', {}).get('observedGeneration') == 1)
        self.assertEqual(self.get(path + '/typed')['status']['typeChecking'], {'expressionWarnings': [{
            'fieldRef': 'spec.validations[1].expression',
            'warning': "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'foo'\n | object.spec.foo == 1\n | ...........^\n"}]})

    def test_a_finished_job_is_deleted_after_its_time(self):
        ns = self.new_namespace()
        jobs = '/apis/batch/v1/namespaces/%s/jobs' % ns
        self.created(jobs, {'metadata': {'name': 'j'}, 'spec': {'ttlSecondsAfterFinished': 1, 'template': {'spec': dict(
            pod('p')['spec'], restartPolicy='Never')}}})
        job = self.get(jobs + '/j')
        self.created('/api/v1/namespaces/%s/pods' % ns, dict(pod('p'), metadata={'name': 'p', 'ownerReferences': [
            owner_ref(dict(job, apiVersion='batch/v1', kind='Job'), controller=True, blockOwnerDeletion=True)]}))
        now = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
        self.call('PATCH', jobs + '/j/status', {'status': {'startTime': now, 'completionTime': now, 'succeeded': 1, 'conditions': [
            {'type': kind, 'status': 'True', 'lastTransitionTime': now} for kind in ('SuccessCriteriaMet', 'Complete')]}}, MERGE)
        self.gone(jobs + '/j')
        self.gone('/api/v1/namespaces/%s/pods/p' % ns)

    def certificate_request(self, subject, signer, usages):
        key = os.path.join(self.dir.name, 'key.pem')
        made = subprocess.run(['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key,
                               '-subj', subject], capture_output=True, text=True, check=True).stdout
        return {'spec': {'request': b64(made), 'signerName': signer, 'usages': usages}}

    def test_requests_are_approved_and_signed(self):
        path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
        usages = ['client auth', 'digital signature']
        body = self.certificate_request('/O=system:nodes/CN=system:node:n1', 'kubernetes.io/kube-apiserver-client-kubelet', usages)
        self.created(path, dict(body, metadata={'name': 'kubelet'}))
        signed = self.eventually('the certificate', lambda: [r for r in [self.get(path + '/kubelet')] if r['status'].get('certificate')])[0]
        self.assertEqual(signed['status']['conditions'][0]['reason'], 'AutoApproved')
        file = os.path.join(self.dir.name, 'signed.pem')
        with open(file, 'wb') as out:
            out.write(base64.b64decode(signed['status']['certificate']))
        checked = subprocess.run(['openssl', 'verify', '-purpose', 'sslclient', '-CAfile', os.path.join(self.dir.name, 'data/pki/ca.crt'), file],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        text = subprocess.run(['openssl', 'x509', '-in', file, '-noout', '-text'], capture_output=True, text=True, check=True).stdout
        self.assertIn('CN = system:node:n1', text)
        self.assertIn('CA:FALSE', text)
        self.assertIn('Digital Signature', text)

        body = self.certificate_request('/O=system:nodes/CN=other', 'kubernetes.io/kubelet-serving', ['server auth', 'digital signature'])
        wrong = self.created(path, dict(body, metadata={'name': 'wrong'}))
        wrong['status'] = {'conditions': [{'type': 'Approved', 'status': 'True', 'reason': 'Test'}]}
        self.call('PUT', path + '/wrong/approval', wrong)
        failed = self.eventually('the failure', lambda: [
            c for c in self.get(path + '/wrong')['status'].get('conditions', []) if c['type'] == 'Failed'])[0]
        self.assertEqual(failed['message'], 'DNS or IP subjectAltName is required')
        self.assertEqual(failed['reason'], 'SignerValidationFailure')

    def test_claims_and_volumes_are_protected_while_they_are_used(self):
        ns = self.new_namespace()
        claims = '/api/v1/namespaces/%s/persistentvolumeclaims' % ns
        spec = {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}
        for name in ('free', 'used'):
            made = self.created(claims, {'metadata': {'name': name}, 'spec': spec})
            self.assertEqual(made['metadata']['finalizers'], ['kubernetes.io/pvc-protection'])
        self.created('/api/v1/namespaces/%s/pods' % ns, pod('p', nodeName='n1', volumes=[{'name': 'v', 'persistentVolumeClaim': {'claimName': 'used'}}]))
        for name in ('used', 'free'):
            self.call('DELETE', claims + '/' + name)
        self.gone(claims + '/free')
        self.assertIn('deletionTimestamp', self.get(claims + '/used')['metadata'])
        self.call('DELETE', '/api/v1/namespaces/%s/pods/p?gracePeriodSeconds=0' % ns)
        self.gone(claims + '/used')
        self.created('/api/v1/persistentvolumes', {'metadata': {'name': ns}, 'spec': {
            'accessModes': ['ReadWriteOnce'], 'capacity': {'storage': '1Gi'}, 'hostPath': {'path': '/tmp/x'}}})
        self.call('DELETE', '/api/v1/persistentvolumes/' + ns)
        self.gone('/api/v1/persistentvolumes/' + ns)

    def test_terminated_and_lost_pods_are_deleted(self):
        ns = self.new_namespace()
        pods = '/api/v1/namespaces/%s/pods' % ns
        held = pod('terminating')
        held['metadata']['finalizers'] = ['example.com/hold']
        self.created(pods, held)
        self.call('DELETE', pods + '/terminating')
        for name in ('ended-1', 'ended-2', 'ended-3'):
            self.created(pods, pod(name))
            self.call('PATCH', pods + '/' + name + '/status', {'status': {'phase': 'Succeeded'}}, MERGE)
        self.eventually('one ended pod', lambda: len([p for p in self.get(pods)['items'] if p['status']['phase'] == 'Succeeded']) <= 1)
        self.eventually('the failure of the terminating pod', lambda: self.get(pods + '/terminating')['status']['phase'] == 'Failed')
        self.call('PATCH', pods + '/terminating', {'metadata': {'finalizers': None}}, MERGE)

    def test_bootstrap_tokens_sign_and_expire(self):
        self.call('POST', MAPS % 'kube-public', configmap('cluster-info', kubeconfig='content'))
        secrets = '/api/v1/namespaces/kube-system/secrets'
        data = {'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true'}
        self.created(secrets, {'metadata': {'name': 'bootstrap-token-abcdef'}, 'type': 'bootstrap.kubernetes.io/token', 'stringData': data})
        info = MAPS % 'kube-public' + '/cluster-info'
        signature = self.eventually('the signature', lambda: self.get(info)['data'].get('jws-kubeconfig-abcdef'))
        # As k8s.io/cluster-bootstrap computes it.
        self.assertTrue(signature.startswith('eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..'), signature)
        soon = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)).strftime('%Y-%m-%dT%H:%M:%SZ')
        self.call('PATCH', secrets + '/bootstrap-token-abcdef', {'stringData': {'expiration': soon}}, MERGE)
        self.gone(secrets + '/bootstrap-token-abcdef')
        self.eventually('the end of the signature', lambda: 'jws-kubeconfig-abcdef' not in self.get(info)['data'])


class Migrations(Base, unittest.TestCase):
    flags = ('--runtime-config=storagemigration.k8s.io/v1beta1=true', '--feature-gates=StorageVersionMigrator=true')

    def test_objects_are_written_in_the_new_version(self):
        ns = self.new_namespace()
        group = ns + '.example.com'
        path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
        self.created(path, definition(group, 'Gadget', versions=('v1', 'v2')))
        gadgets = '/apis/%s/v1/namespaces/%s/gadgets' % (group, ns)
        self.eventually('the type', lambda: self.get(gadgets))
        for i in range(3):
            self.created(gadgets, {'apiVersion': group + '/v1', 'kind': 'Gadget', 'metadata': {'name': 'g-%d' % i}})
        before = {g['metadata']['name']: g['metadata']['resourceVersion'] for g in self.get(gadgets)['items']}
        crd = self.get(path + '/gadgets.' + group)
        for version in crd['spec']['versions']:
            version['storage'] = version['name'] == 'v2'
        self.call('PUT', path + '/gadgets.' + group, crd)
        self.eventually('the second stored version', lambda: self.get(path + '/gadgets.' + group)['status']['storedVersions'] == ['v1', 'v2'])
        migrations = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations'
        self.created(migrations, {'metadata': {'name': 'm'}, 'spec': {'resource': {'group': group, 'resource': 'gadgets'}}})

        def conditions():
            return {c['type']: c['status'] for c in self.get(migrations + '/m').get('status', {}).get('conditions', [])}
        self.eventually('the end', lambda: conditions() == {'Running': 'False', 'Succeeded': 'True'})
        after = {g['metadata']['name']: g['metadata']['resourceVersion'] for g in self.get(gadgets)['items']}
        self.assertEqual(set(after), set(before))
        for name, revision in after.items():
            self.assertNotEqual(revision, before[name])
        self.assertEqual(self.get(path + '/gadgets.' + group)['status']['storedVersions'], ['v2'])
        self.created(migrations, {'metadata': {'name': 'unknown'}, 'spec': {'resource': {'group': group, 'resource': 'widgets'}}})
        self.eventually('its start', lambda: 'Running' in {
            c['type'] for c in self.get(migrations + '/unknown').get('status', {}).get('conditions', [])})


class Selecting(Base, unittest.TestCase):
    """Selection of controllers, and their start and end."""

    LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

    def account(self, ns):
        return self.get('/api/v1/namespaces/%s/serviceaccounts/default' % ns)

    def lease(self, holder):
        now = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%fZ')
        return {'holderIdentity': holder, 'leaseDurationSeconds': 120, 'renewTime': now, 'acquireTime': now}

    def test_the_server_yields_to_a_kube_controller_manager(self):
        before = self.new_namespace()
        self.eventually('the account', lambda: self.account(before))
        self.created(self.LEASE, {'metadata': {'name': 'kube-controller-manager'}, 'spec': self.lease('someone')})
        self.eventually('the line in the log', lambda: 'controllers stopped on this server' in self.server.text())
        held = self.new_namespace()
        # No running controller can act on these.
        self.created(MAPS % held, owned('child', {'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'no', 'uid': str(uuid.uuid4())}))
        self.assertIsNone(self.account(held))
        self.assertTrue(self.get(MAPS % held + '/child'))
        self.assertEqual(self.server.text().count('a kube-controller-manager holds its lease'), 1)
        self.call('PATCH', self.LEASE + '/kube-controller-manager', {'spec': {'holderIdentity': ''}}, MERGE)
        self.eventually('the account', lambda: self.account(held))
        self.gone(MAPS % held + '/child')

    def test_controllers_are_switched_off_by_name(self):
        with Server('--controllers=*,-serviceaccount-controller') as server:
            server.request('POST', '/api/v1/namespaces', namespace('n'))
            self.assertTrue(wait_for(lambda: server.request('GET', MAPS % 'n' + '/kube-root-ca.crt')[0] == 200))
            self.assertEqual(server.request('GET', '/api/v1/namespaces/n/serviceaccounts/default')[0], 404)

    def test_they_run_in_a_server_without_flags_only(self):
        """With flags a server may be a part of a cluster that has a kube-controller-manager."""
        with Server(controllers=None) as server:
            self.assertIn('no controllers run here; --controllers=* starts them', server.text())
        with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
            if probe.connect_ex(('127.0.0.1', 6443)) == 0:
                self.skipTest('port 6443 is in use')
            with open(os.path.join(folder, 'log'), 'w+', encoding='utf-8') as log:
                process = subprocess.Popen([BINARY], env=dict(os.environ, XDG_STATE_HOME=folder), stdout=log, stderr=subprocess.STDOUT)
                try:
                    def text():
                        log.seek(0)
                        return log.read()
                    self.assertTrue(wait_for(lambda: 'controllers run on this server' in text() or process.poll() is not None), text())
                    self.assertIsNone(process.poll(), text())
                finally:
                    process.kill()
                    process.wait()

    def test_an_unknown_name_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([BINARY, '--data-dir', folder, '--plugin-dir', PLUGINS, '--secure-port', '0', '--controllers=*,gadget-controller'],
                                  capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('"gadget-controller" is not in the list of known controllers', json.dumps(done.stderr + done.stdout).replace('\\"', '"').replace('\\\\', ''))


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class SharedStore(unittest.TestCase):
    """Of several servers over one etcd one runs the controllers, and only if the flag says so."""

    RUNS = 'controllers run on this server'

    def test_one_server_runs_them_and_another_takes_over(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        # Each has a separate directory, and so other token keys.
        flags = ('--etcd-servers=' + etcd.url, '--controllers=*')
        with Server(*flags) as one, Server(*flags) as two, Server('--etcd-servers=' + etcd.url, controllers=None) as none:
            holder = wait_for(lambda: [server for server in (one, two) if self.RUNS in server.text()])
            self.assertTrue(holder, one.text()[-3000:] + two.text()[-3000:])
            first, second = holder[0], two if holder[0] is one else one
            first.request('POST', '/api/v1/namespaces', namespace('n'))
            self.assertTrue(wait_for(lambda: second.request('GET', '/api/v1/namespaces/n/serviceaccounts/default')[0] == 200))
            _, _, lease = first.request('GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/backplane-controllers')
            self.assertTrue(lease['spec']['holderIdentity'])
            self.assertNotIn(self.RUNS, second.text())
            self.assertEqual(first.terminate(), 0)
            self.assertTrue(wait_for(lambda: self.RUNS in second.text()), second.text()[-3000:])
            second.request('POST', '/api/v1/namespaces', namespace('m'))
            self.assertTrue(wait_for(lambda: second.request('GET', '/api/v1/namespaces/m/serviceaccounts/default')[0] == 200))
            self.assertNotIn(self.RUNS, none.text())
            _, _, lease = second.request('GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/backplane-controllers')
            self.assertEqual(lease['spec']['leaseTransitions'], 1)


if __name__ == '__main__':
    main()
