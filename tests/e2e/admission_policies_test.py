"""Validating and mutating admission policies, created through the API."""
import itertools
import json
import os
import tempfile
import unittest

from harness import Server, configmap, namespace, wait_for

GROUP = '/apis/admissionregistration.k8s.io/v1/'
MAPS = '/api/v1/namespaces/%s/configmaps'
NUMBERS = itertools.count()


def match(resources=('configmaps',), groups=('',), versions=('v1',), operations=('CREATE', 'UPDATE'), **more):
    return dict({'resourceRules': [{'apiGroups': list(groups), 'apiVersions': list(versions), 'operations': list(operations),
                                    'resources': list(resources)}]}, **more)


class PoliciesTest(unittest.TestCase):
    """One server; each test has a namespace whose label selects it, so that its policies concern nothing else."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='policies-')
        policy = os.path.join(cls.folder.name, 'policy.yaml')
        cls.audit_log = os.path.join(cls.folder.name, 'audit.log')
        with open(policy, 'w') as f:
            f.write('apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Metadata\n')
        cls.server = Server('--audit-policy-file=' + policy, '--audit-log-path=' + cls.audit_log)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def setUp(self):
        self.ns = 'ns-%d' % next(NUMBERS)
        made = dict(namespace(self.ns))
        made['metadata'] = {'name': self.ns, 'labels': {'test': self.ns, 'env': 'prod'}}
        self.create('/api/v1/namespaces', made)
        self.maps = MAPS % self.ns
        self.made = []

    def tearDown(self):
        for path in reversed(self.made):
            self.server.request('DELETE', path)

    def create(self, path, body, code=201):
        answer = self.server.request('POST', path, body)
        self.assertEqual(answer[0], code, answer[2])
        return answer[2]

    def own(self, constraints):
        return dict(constraints, namespaceSelector={'matchLabels': {'test': self.ns}})

    def put_policy(self, kind, name, spec, binding=None, constraints=None):
        """A policy for this test's namespace with its binding; returns when it is in force."""
        path = GROUP + kind + 'admissionpolicies'
        title = {'validating': 'Validating', 'mutating': 'Mutating'}[kind]
        spec = dict({'matchConstraints': self.own(constraints or match())}, **spec)
        self.create(path, {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': title + 'AdmissionPolicy', 'metadata': {'name': name},
                           'spec': spec})
        self.made.append(path + '/' + name)
        if binding is None:
            return
        path = GROUP + kind + 'admissionpolicybindings'
        self.create(path, {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': title + 'AdmissionPolicyBinding',
                           'metadata': {'name': name + '-binding'}, 'spec': dict({'policyName': name}, **binding)})
        self.made.append(path + '/' + name + '-binding')

    def validating(self, name, validations, actions=('Deny',), binding=None, constraints=None, **spec):
        self.put_policy('validating', name, dict({'validations': validations}, **spec),
                        dict({'validationActions': list(actions)}, **(binding or {})), constraints)

    def mutating(self, name, mutations, binding=None, constraints=None, **spec):
        self.put_policy('mutating', name, dict({'mutations': mutations, 'reinvocationPolicy': 'Never'}, **spec), binding or {}, constraints)

    def dry(self, body, path=None, method='POST'):
        return self.server.request(method, (path or self.maps) + '?dryRun=All', body)

    def refusal(self, body, path=None):
        """The refusal of a write, as soon as a policy is in force."""
        found = wait_for(lambda: next((a for a in [self.dry(body, path)] if a[0] >= 400), None))
        self.assertIsNotNone(found, 'never refused')
        return found

    def accepted(self, body, check=lambda answer: True):
        found = wait_for(lambda: next((a for a in [self.dry(body)] if a[0] < 300 and check(a)), None))
        self.assertIsNotNone(found, 'never as wanted: %s' % (self.dry(body),))
        return found

    def test_a_policy_takes_effect_and_ends(self):
        self.validating('p.%s' % self.ns, [{'expression': 'object.data.x != "1"', 'message': 'not one', 'reason': 'Forbidden'}])
        code, _, status = self.refusal(configmap('a', x='1'))
        message = "ValidatingAdmissionPolicy 'p.%s' with binding 'p.%s-binding' denied request: not one" % (self.ns, self.ns)
        self.assertEqual(status, {
            'kind': 'Status', 'apiVersion': 'v1', 'metadata': {}, 'status': 'Failure', 'message': 'configmaps "a" is forbidden: ' + message,
            'reason': 'Forbidden', 'details': {'name': 'a', 'kind': 'configmaps', 'causes': [{'message': message}]}, 'code': 403})
        self.create(self.maps, configmap('a', x='2'))
        self.assertEqual(self.server.request('PUT', self.maps + '/a', configmap('a', x='1'))[0], 403)
        self.create(MAPS % 'default', configmap('of-' + self.ns, x='1'))
        metrics = self.server.request('GET', '/metrics')[2]
        self.assertRegex(metrics, r'apiserver_validating_admission_policy_check_total\{enforcement_action="deny",error_type="invalid_error",'
                                  r'policy="p.%s",policy_binding="p.%s-binding"\} [1-9]' % (self.ns, self.ns))
        self.server.request('DELETE', self.made.pop())
        self.accepted(configmap('b', x='1'))

    def test_messages_variables_and_conditions(self):
        self.validating('v-' + self.ns, [{'expression': 'variables.n < 3', 'messageExpression': '"%d is too much".format([variables.n])'}],
                        variables=[{'name': 'n', 'expression': 'int(object.data.n)'}],
                        matchConditions=[{'name': 'not-mine', 'expression': 'request.userInfo.username != "nobody" && has(object.data.n)'}])
        code, _, status = self.refusal(configmap('a', n='7'))
        self.assertEqual((code, status['reason']), (422, 'Invalid'))
        self.assertTrue(status['message'].endswith('denied request: 7 is too much'), status)
        self.assertEqual(self.dry(configmap('a', n='2'))[0], 201)
        self.assertEqual(self.dry(configmap('a', m='7'))[0], 201)
        _, _, status = self.dry(configmap('a', n='x'))
        self.assertIn("composited variable \"n\" fails to evaluate: type conversion error from 'string' to 'int'", status['message'])

    def test_warnings_and_audit_annotations(self):
        name = 'w.%s' % self.ns
        self.validating(name, [{'expression': 'false', 'message': 'not good'}], actions=('Warn', 'Audit'),
                        auditAnnotations=[{'key': 'who', 'valueExpression': '"by " + request.userInfo.username'}])
        self.accepted(configmap('a'), lambda answer: 'Warning' in answer[1])
        audit_id = 'audit-' + self.ns
        code, headers, _ = self.server.request('POST', self.maps, configmap('a'), headers={'Audit-ID': audit_id})
        self.assertEqual(code, 201)
        self.assertEqual(headers['Warning'], '299 - "Validation failed for ValidatingAdmissionPolicy \'%s\' with binding \'%s-binding\': '
                                             'not good"' % (name, name))

        def event():
            with open(self.audit_log) as f:
                return next((e for e in map(json.loads, f.read().splitlines()) if e['auditID'] == audit_id), None)
        annotations = wait_for(event)['annotations']
        self.assertEqual(json.loads(annotations['validation.policy.admission.k8s.io/validation_failure']),
                         [{'message': 'not good', 'policy': name, 'binding': name + '-binding', 'expressionIndex': 0,
                           'validationActions': ['Warn', 'Audit']}])
        self.assertTrue(annotations[name + '/who'].startswith('by '), annotations)

    def test_custom_parameters_by_name_and_by_selector(self):
        group = 'params-%s.example.com' % self.ns
        self.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
            'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'limits.' + group},
            'spec': {'group': group, 'scope': 'Namespaced', 'names': {'plural': 'limits', 'singular': 'limit', 'kind': 'Limit'},
                     'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {
                         'type': 'object', 'properties': {'most': {'type': 'integer'}}}}}]}})
        self.made.append('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/limits.' + group)
        limits = '/apis/%s/v1/namespaces/%s/limits' % (group, self.ns)
        self.assertTrue(wait_for(lambda: self.server.request('GET', limits)[0] == 200))
        kind = {'apiVersion': group + '/v1', 'kind': 'Limit'}
        expression = [{'expression': 'params == null || object.data.size() <= params.most',
                       'messageExpression': '"at most " + string(params.most) + " by " + params.metadata.name'}]
        self.validating('named-' + self.ns, expression, paramKind=kind,
                        binding={'paramRef': {'name': 'small', 'parameterNotFoundAction': 'Deny'}})
        code, _, status = self.refusal(configmap('a', x='1'))
        self.assertTrue(status['message'].endswith('failed to configure binding: no params found for policy binding with `Deny` '
                                                   'parameterNotFoundAction'), status)
        self.create(limits, dict(kind, metadata={'name': 'small', 'labels': {'use': 'yes'}}, most=1))
        self.accepted(configmap('a', x='1'))
        _, _, status = self.dry(configmap('a', x='1', y='2'))
        self.assertTrue(status['message'].endswith('denied request: at most 1 by small'), status)
        self.server.request('DELETE', self.made.pop())
        self.validating('selected-' + self.ns, expression, paramKind=kind,
                        binding={'paramRef': {'selector': {'matchLabels': {'use': 'yes'}}, 'parameterNotFoundAction': 'Allow'}})
        _, _, status = self.refusal(configmap('a', x='1', y='2'))
        self.assertIn("'selected-%s' with binding" % self.ns, status['message'])
        self.server.request('DELETE', limits + '/small')
        self.accepted(configmap('a', x='1', y='2'))

    def test_a_kind_of_parameters_that_is_not_served(self):
        self.validating('unknown-' + self.ns, [{'expression': 'true'}], paramKind={'apiVersion': 'no.example.com/v1', 'kind': 'Nothing'},
                        binding={'paramRef': {'name': 'x', 'parameterNotFoundAction': 'Allow'}})
        _, _, status = self.refusal(configmap('a'))
        self.assertEqual(status['message'],
                         'configmaps "a" is forbidden: ValidatingAdmissionPolicy \'unknown-%s\' denied request: failed to configure policy: '
                         "failed to find resource referenced by paramKind: 'no.example.com/v1, Kind=Nothing'" % self.ns)

    def test_selectors_and_excluded_rules(self):
        constraints = match(objectSelector={'matchExpressions': [{'key': 'checked', 'operator': 'Exists'}]},
                            excludeResourceRules=[{'apiGroups': [''], 'apiVersions': ['*'], 'operations': ['*'], 'resources': ['*'],
                                                   'resourceNames': ['free']}])
        self.validating('s-' + self.ns, [{'expression': 'false'}], constraints=constraints)
        checked = dict(configmap('a'), metadata={'name': 'a', 'labels': {'checked': ''}})
        self.refusal(checked)
        self.assertEqual(self.dry(configmap('a'))[0], 201)
        checked['metadata']['name'] = 'free'
        self.assertEqual(self.dry(checked)[0], 201)

    def test_authorizer_and_namespace(self):
        self.validating('auth-' + self.ns, [
            {'expression': 'namespaceObject.metadata.labels.env == "prod"', 'message': 'never'},
            {'expression': 'authorizer.requestResource.check("create").allowed()', 'message': 'never either'},
            {'expression': 'authorizer.serviceAccount("default", "robot").group("").resource("secrets").namespace("kube-system")'
                           '.check("get").allowed()', 'message': 'the robot may not'}])
        _, _, status = self.refusal(configmap('a'))
        self.assertTrue(status['message'].endswith('denied request: the robot may not'), status)
        rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/'
        self.create(rbac + 'roles', {'metadata': {'name': 'robot'}, 'rules': [{'apiGroups': [''], 'resources': ['secrets'], 'verbs': ['get']}]})
        self.create(rbac + 'rolebindings', {
            'metadata': {'name': 'robot'}, 'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'Role', 'name': 'robot'},
            'subjects': [{'kind': 'ServiceAccount', 'name': 'robot', 'namespace': 'default'}]})
        self.accepted(configmap('a'))

    def test_cost_limits(self):
        items = ','.join(map(str, range(60)))
        loop = 'false'
        for variable in 'edcba':
            loop = '[%s].exists(%s, %s)' % (items, variable, loop)
        self.validating('cost-' + self.ns, [{'expression': 'has(object.data.cheap) || ' + loop}])
        _, _, status = self.refusal(configmap('a'))
        self.assertTrue(status['message'].endswith('resulted in error: operation cancelled: actual cost limit exceeded'), status['message'][-300:])
        self.assertEqual(self.dry(configmap('a', cheap='1'))[0], 201)

    def test_equivalent_resources(self):
        constraints = match(groups=('autoscaling',), versions=('v2',), resources=('horizontalpodautoscalers',), matchPolicy='Equivalent')
        self.validating('e-' + self.ns, [{'expression': 'object.spec.metrics.size() > 9', 'messageExpression':
                                          '"%s %s".format([object.apiVersion, request.requestKind.version])'}], constraints=constraints)
        body = {'apiVersion': 'autoscaling/v1', 'kind': 'HorizontalPodAutoscaler', 'metadata': {'name': 'h'}, 'spec': {
            'scaleTargetRef': {'kind': 'Deployment', 'name': 'd', 'apiVersion': 'apps/v1'}, 'maxReplicas': 3,
            'targetCPUUtilizationPercentage': 50}}
        _, _, status = self.refusal(body, '/apis/autoscaling/v1/namespaces/%s/horizontalpodautoscalers' % self.ns)
        self.assertTrue(status['message'].endswith('denied request: autoscaling/v2 v1'), status)

    def test_mutations_of_both_kinds(self):
        self.mutating('m-' + self.ns, [
            {'patchType': 'ApplyConfiguration', 'applyConfiguration': {
                'expression': 'Object{metadata: Object.metadata{labels: {"by": "policy"}}, data: {"n": string(object.data.size())}}'}},
            {'patchType': 'JSONPatch', 'jsonPatch': {
                'expression': '[JSONPatch{op: "test", path: "/data/n", value: "1"}, '
                              'JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/x"), value: object.data.n}]'}}])
        _, _, made = self.accepted(configmap('a', x='1'), lambda answer: 'labels' in answer[2]['metadata'])
        self.assertEqual(made['metadata']['labels'], {'by': 'policy', 'example.com/x': '1'})
        self.assertEqual(made['data'], {'x': '1', 'n': '1'})
        _, _, made = self.dry(configmap('a', x='1', y='2'))
        self.assertEqual(made['metadata']['labels'], {'by': 'policy'}, 'the test of the patch fails')

    def test_mutated_pods_are_complete(self):
        self.mutating('pods-' + self.ns, [
            {'patchType': 'ApplyConfiguration', 'applyConfiguration': {
                'expression': 'Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "side", image: "side"}]}}'}}],
            constraints=match(resources=('pods',)), matchConditions=[
                {'name': 'once', 'expression': '!object.spec.?initContainers.orValue([]).exists(c, c.name == "side")'}])
        pods = '/api/v1/namespaces/%s/pods' % self.ns
        pod = {'metadata': {'name': 'p'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}
        found = wait_for(lambda: next((a[2] for a in [self.dry(pod, pods)] if 'initContainers' in a[2]['spec']), None))
        side = next(c for c in found['spec']['initContainers'] if c['name'] == 'side')
        self.assertEqual((side['terminationMessagePath'], side['imagePullPolicy']), ('/dev/termination-log', 'Always'))

    def test_mutations_that_fail(self):
        self.mutating('bad-' + self.ns, [{'patchType': 'ApplyConfiguration', 'applyConfiguration': {
            'expression': 'Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"a": "b"}}}}'}}],
            constraints=match(groups=('apps',), resources=('deployments',)))
        deployment = {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'd'}, 'spec': {
            'selector': {'matchLabels': {'a': 'b'}}, 'template': {'metadata': {'labels': {'a': 'b'}},
                                                                  'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}}
        code, _, status = self.refusal(deployment, '/apis/apps/v1/namespaces/%s/deployments' % self.ns)
        message = ("policy 'bad-%s' with binding 'bad-%s-binding' denied request: error applying patch: invalid ApplyConfiguration: may not "
                   'mutate atomic arrays, maps or structs: .spec.selector' % (self.ns, self.ns))
        self.assertEqual((code, status['reason'], status['message']), (403, 'Invalid', message))
        self.assertEqual(status['details'], {'name': 'd', 'group': 'apps', 'kind': 'deployments', 'causes': [{'message': message}]})

    def test_reinvocation(self):
        def counting(key):
            return [{'patchType': 'JSONPatch', 'jsonPatch': {'expression':
                     '[JSONPatch{op: "add", path: "/data/%s", value: has(object.data.%s) ? object.data.%s + "+" : "1"}]' % (key, key, key)}}]
        self.mutating('a-' + self.ns, counting('needed'), reinvocationPolicy='IfNeeded')
        self.mutating('b-' + self.ns, counting('never'))
        _, _, made = self.accepted(configmap('a', x='1'), lambda answer: {'needed', 'never'} <= set(answer[2]['data']))
        self.assertEqual(made['data'], {'x': '1', 'needed': '1+', 'never': '1'})

    def test_policies_do_not_concern_policies(self):
        everything = {'resourceRules': [{'apiGroups': ['admissionregistration.k8s.io'], 'apiVersions': ['*'], 'operations': ['*'],
                                         'resources': ['*']}]}
        path = GROUP + 'validatingadmissionpolicies'
        self.create(path, {'metadata': {'name': 'all-' + self.ns}, 'spec': {'matchConstraints': everything,
                                                                             'validations': [{'expression': 'false'}]}})
        self.create(GROUP + 'validatingadmissionpolicybindings', {'metadata': {'name': 'all-' + self.ns}, 'spec': {
            'policyName': 'all-' + self.ns, 'validationActions': ['Deny']}})
        hooks = GROUP + 'validatingwebhookconfigurations'
        self.refusal({'metadata': {'name': 'h-' + self.ns}, 'webhooks': []}, hooks)
        self.assertEqual(self.server.request('DELETE', path + '/all-' + self.ns)[0], 200)

    def test_writers_of_policies_need_to_read_their_parameters(self):
        as_bob = {'Impersonate-User': 'bob'}
        role = {'metadata': {'name': 'bob-' + self.ns}, 'rules': [{'apiGroups': ['admissionregistration.k8s.io'], 'resources': ['*'],
                                                                    'verbs': ['*']}]}
        rbac = '/apis/rbac.authorization.k8s.io/v1/'
        self.create(rbac + 'clusterroles', role)
        self.create(rbac + 'clusterrolebindings', {
            'metadata': {'name': 'bob-' + self.ns}, 'subjects': [{'kind': 'User', 'name': 'bob', 'apiGroup': 'rbac.authorization.k8s.io'}],
            'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'ClusterRole', 'name': role['metadata']['name']}})
        policy = {'metadata': {'name': 'bobs-' + self.ns}, 'spec': {
            'paramKind': {'apiVersion': 'v1', 'kind': 'Secret'}, 'matchConstraints': self.own(match()), 'validations': [{'expression': 'true'}]}}
        path = GROUP + 'validatingadmissionpolicies?dryRun=All'
        found = wait_for(lambda: next((a for a in [self.server.request('POST', path, policy, headers=as_bob)] if a[0] != 403), None))
        self.assertEqual(found[0], 422, found[2])
        self.assertEqual(found[2]['details']['causes'], [{
            'reason': 'FieldValueForbidden', 'field': 'spec.paramKind',
            'message': 'Forbidden: user &{bob  [system:authenticated] map[]} must have "get" permission on all objects of the referenced '
                       'paramKind (kind=Secret, apiVersion=v1)'}])
        binding = {'metadata': {'name': 'bobs-' + self.ns}, 'spec': {
            'policyName': 'gone', 'paramRef': {'name': 'x', 'namespace': 'default', 'parameterNotFoundAction': 'Deny'},
            'validationActions': ['Deny']}}
        code, _, status = self.server.request('POST', GROUP + 'validatingadmissionpolicybindings?dryRun=All', binding, headers=as_bob)
        self.assertEqual(code, 422, status)
        self.assertIn('unable to get policy gone to determine minimum required permissions and user &{bob ', status['message'])
        policy['spec'].pop('paramKind')
        self.assertEqual(self.server.request('POST', path, policy, headers=as_bob)[0], 201)


if __name__ == '__main__':
    unittest.main()
