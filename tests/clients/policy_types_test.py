"""status.typeChecking of ValidatingAdmissionPolicies: as written by kube-controller-manager for kube-apiserver, and by the built server's
controller. Names of object types in warnings end with a number from the clock, which is replaced."""
import json
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../conformance')]
import clients  # noqa: E402
from kube_apiserver import SideBySide, harness  # noqa: E402
from policies_test import DEFINITIONS  # noqa: E402
from recordings_test import differences  # noqa: E402

PATH = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
CONTROLLER = 'validatingadmissionpolicy-status-controller'


def rule(group, version, *resources):
    return {'apiGroups': [group], 'apiVersions': [version], 'operations': ['*'], 'resources': list(resources)}


APPS, PODS, WIDGETS = rule('apps', 'v1', 'deployments'), rule('', 'v1', 'pods'), rule('policy.test', 'v1', 'widgets')
MANY = rule('apps', 'v1', 'deployments', 'statefulsets', 'daemonsets', 'replicasets')
# (rules, expression or validations, more of the spec)
ON_DEPLOYMENTS = """
object.spec.replicas > 1
object.spec.replicas == '1'
object.spec.foo == 1
object.foo
object.spec.replicas + 'x' == ''
object.spec.template.spec.containers.all(c, c.image.startsWith('x'))
object.spec.template.spec.containers.all(c, c.img.startsWith('x'))
object.spec.template.spec.containers[0].resources.limits.cpu == '1'
object.spec.template.spec.containers[0].resources.claims.size() == 0
object.spec.strategy.rollingUpdate.maxSurge == 1
object.spec.strategy.rollingUpdate.maxSurge == '1'
object.spec.strategy.rollingUpdate.maxSurge.foo
object.metadata.labels.app == 1
object.metadata.labels['app'] == 'x'
object.metadata.creationTimestamp > timestamp('2020-01-01T00:00:00Z')
object.metadata.creationTimestamp == '2020'
object.metadata.managedFields[0].fieldsV1.foo == 1
object.spec == object.metadata
object.spec == 1
object.spec.template.spec.volumes.exists(v, v.emptyDir.sizeLimit == '1')
object.spec.template.spec.containers[0].livenessProbe.httpGet.port == 80
object.spec.selector.matchLabels == object.spec.template.metadata.labels
object.spec.selector.matchExpressions[0].values.size() > 0 && object.x
oldObject.spec.replicas < object.spec.replicas
oldObject.nothing
request.operation == 'CREATE'
request.foo
request.options.anything == 1
namespaceObject.metadata.name == 'x'
namespaceObject.spec.foo
authorizer.group('').resource('pods').check('get').allowed()
authorizer.requestResource.check('get').allowed()
params.foo == 1
variables.foo
variables
object.spec.
object.spec.replicas === 1
'text'
1 + 'a'
has(object.spec.replicas)
has(object.spec.foo)
object.?spec.?replicas.orValue('x') == 1
object.spec.template.spec.containers.map(c, c.name).exists(n, n == 1)
object.spec.template.spec.containers.filter(c, c.name == 'x')[0].nothing
object.spec.template.spec.containers.exists(c, c.securityContext.runAsUser == 'root')
object.kind == 'x' && object.apiVersion == 1
object.status.conditions[0].lastTransitionTime == object.metadata.creationTimestamp
quantity(object.spec.replicas)
object.spec.template.spec.overhead
object.spec.replicas.matches('x')
'a'.matches('[')
Deployment0{}
""".strip().split('\n')
CASES = [([APPS], each, {}) for each in ON_DEPLOYMENTS] + [
    ([MANY], 'object.spec.replicas > 1 && object.spec.serviceName == 1', {}), ([APPS, PODS], 'object.spec.replicas > 1', {}), ([PODS], 'object.spec.hostNetwork == 1', {}),
    ([WIDGETS], 'object.spec.size > 1', {}), ([WIDGETS], "object.spec.size == 'x'", {}), ([WIDGETS], 'object.spec.open.foo', {}), ([WIDGETS], 'object.spec.items[0].value.foo', {}),
    ([WIDGETS], "object.metadata.labels.x == 1", {}), ([rule('policy.test', '*', 'widgets')], 'object.foo', {}), ([rule('*', 'v1', 'pods')], 'object.foo', {}),
    ([rule('', 'v1', '*')], 'object.foo', {}), ([rule('', 'v1', 'pods/status', 'pods')], 'object.foo', {}), ([rule('none.test', 'v1', 'things')], 'object.foo', {}),
    ([rule('', 'v1', 'pod')], 'object.foo', {}), ([rule('', 'v1', 'pods', 'services', 'configmaps', 'secrets', 'endpoints', 'nodes', 'events', 'namespaces', 'limitranges',
                                                        'persistentvolumes', 'podtemplates', 'serviceaccounts')], 'object.foo == 1', {}),
    ([rule('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')], 'object.spec.versions[0].schema.openAPIV3Schema.properties.x.foo == 1', {}),
    ([rule('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')], 'object.spec.versions[0].schema.openAPIV3Schema.default == 1', {}),
    ([rule('', 'v1', 'configmaps')], "object.data.x == 1", {}), ([rule('', 'v1', 'secrets')], "object.data.x == 'y'", {}), ([rule('', 'v1', 'secrets')], "object.data.x == b'y'", {}),
    ([rule('', 'v1', 'services')], "object.spec.ports[0].targetPort == 80 && object.spec.ports[0].port == '80'", {}), ([rule('', 'v1', 'events')], 'object.eventTime == object.foo', {}),
    ([rule('batch', 'v1', 'jobs')], "object.spec.suspend == 'true'", {}), ([rule('networking.k8s.io', 'v1', 'networkpolicies')], 'object.spec.ingress[0].from[0].port == 1', {}),
    ([rule('autoscaling', 'v2', 'horizontalpodautoscalers')], 'object.spec.metrics[0].resource.target.averageValue == 1', {}),
    ([APPS], 'params.data.x == 1', {'paramKind': {'apiVersion': 'v1', 'kind': 'ConfigMap'}}), ([APPS], 'params.foo', {'paramKind': {'apiVersion': 'policy.test/v1', 'kind': 'Limit'}}),
    ([APPS], "params.spec.limit == 'x' && object.foo", {'paramKind': {'apiVersion': 'policy.test/v1', 'kind': 'Limit'}}), ([APPS], 'params.any.thing', {'paramKind': {'apiVersion': 'none.test/v1', 'kind': 'X'}}),
    ([APPS], "variables.r == 'x'", {'variables': [{'name': 'r', 'expression': 'object.spec.replicas'}]}), ([APPS], 'variables.s.foo', {'variables': [{'name': 's', 'expression': 'object.spec'}]}),
    ([APPS], 'variables.b.foo', {'variables': [{'name': 'b', 'expression': 'object.bad'}]}), ([APPS], "variables.l[0] == 1", {'variables': [{'name': 'l', 'expression': 'object.spec.template.spec.containers.map(c, c.name)'}]}),
    ([APPS], [{'expression': 'true', 'messageExpression': 'object.spec.replicas'}, {'expression': 'object.a', 'messageExpression': 'object.b + 1'}, {'expression': 'object.c == 1'}], {}),
    ([APPS], [{'expression': 'true'}], {'matchConditions': [{'name': 'x', 'expression': 'object.foo == 1'}]}),
]


def policy(number):
    rules, validations, more = CASES[number]
    whole = [{'expression': validations}] if isinstance(validations, str) else validations
    return {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': 'ValidatingAdmissionPolicy', 'metadata': {'name': 'p%03d' % number},
            'spec': dict({'matchConstraints': {'resourceRules': rules}, 'validations': whole}, **more)}


def normalized(status):
    return json.loads(re.sub(r'\b([A-Z][A-Za-z]+)\d+(?=[^\w])', r'\1#', json.dumps(status)))


class PolicyTypes(SideBySide):
    @classmethod
    def own_flags(cls, name):
        return ('--controllers=' + CONTROLLER,) if name == 'backplane' else ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = clients.build(('kube-controller-manager',))['kube-controller-manager']
        for server in cls.servers:
            for body in DEFINITIONS:
                server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body)
            if server.name == 'kube-apiserver':
                manager = clients.Program(program, cls.reached(server), '--controllers=' + CONTROLLER, '--leader-elect=false')
                cls.addClassCleanup(manager.stop)

    @classmethod
    def reached(cls, server):
        """The server with a kubeconfig of the common client."""
        server.dir = cls.pki.dir
        server.kubeconfig = os.path.join(cls.pki.dir, server.name + '.kubeconfig')
        with open(server.kubeconfig, 'w', encoding='utf-8') as out:
            json.dump({'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c', 'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'u'}}],
                       'clusters': [{'name': 'c', 'cluster': {'server': 'https://127.0.0.1:%d' % server.port, 'insecure-skip-tls-verify': True}}],
                       'users': [{'name': 'u', 'user': {'client-certificate': cls.pki.client, 'client-key': cls.pki.key}}]}, out)
        return server

    def status(self, server, name):
        found = server.request('GET', PATH + '/' + name)[2]
        status = found.get('status', {})
        return status if status.get('observedGeneration') == found['metadata'].get('generation') else None

    def test_warnings_are_the_same(self):
        made, reports = [], []
        for number in range(len(CASES)):
            codes = {server.request('POST', PATH, policy(number))[0] for server in self.servers}
            self.assertEqual(len(codes), 1, policy(number))
            if codes == {201}:
                made.append(number)
        for number in made:
            answers = []
            for server in self.servers:
                answers.append(harness.wait_for(lambda server=server: self.status(server, 'p%03d' % number), 120))
                self.assertIsNotNone(answers[-1], 'no status of %d from %s' % (number, server.name))
            found = differences(*map(normalized, answers))
            if found:
                reports.append('%s: %s' % (CASES[number][1], '; '.join(found[:2])))
        warned = sum(1 for number in made if 'expressionWarnings' in self.status(self.servers[0], 'p%03d' % number).get('typeChecking', {}))
        print('%d policies, %d with warnings, %d differences' % (len(made), warned, len(reports)), *reports, sep='\n  ', file=sys.stderr)
        self.assertGreater(warned, 20)
        self.assertEqual(reports, [])

    def test_a_change_is_checked_again(self):
        for server in self.servers:
            body = policy(0)
            body['metadata']['name'] = 'changed'
            self.assertEqual(server.request('POST', PATH, body)[0], 201)
            self.assertIsNotNone(harness.wait_for(lambda server=server: self.status(server, 'changed'), 120))
            body['spec']['validations'] = [{'expression': 'object.foo == 1'}]
            self.assertEqual(server.request('PATCH', PATH + '/changed', body, {'Content-Type': 'application/merge-patch+json'})[0], 200)
            found = harness.wait_for(lambda server=server: (self.status(server, 'changed') or {}).get('typeChecking', {}).get('expressionWarnings'), 120)
            self.assertIsNotNone(found, server.name)
            entry = [each for each in server.request('GET', PATH + '/changed')[2]['metadata']['managedFields'] if each.get('subresource') == 'status']
            self.assertEqual([(each['manager'], each['operation']) for each in entry], [('validatingadmissionpolicy-status', 'Apply')])


if __name__ == '__main__':
    unittest.main(verbosity=2)
