"""A real kube-apiserver and the built server, given the same random histories of writes: owners of fields afterwards, and refusals. A

history is one object and several managers, which create, put, patch and apply it, its status and its scale, through each of its versions,

with and without force, dry or not; whole responses are compared, including managedFields. FIELDS_HISTORIES and FIELDS_SEED set their

number and the seed."""
import copy
import json
import os
import random
import re
import sys
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../conformance')]
from kube_apiserver import SideBySide  # noqa: E402
from recordings_test import differences  # noqa: E402

HISTORIES = int(os.environ.get('FIELDS_HISTORIES', '10'))
WRITES = int(os.environ.get('FIELDS_WRITES', '16'))
SEED = int(os.environ.get('FIELDS_SEED', '1'))
# Share of histories that may differ, because of managers of custom resources in several versions (../../docs/compatibility.md).
MOST = {'widget': 0.4}
MANAGERS = ('one', 'two', 'three', 'kubectl-client-side-apply')
APPLY, MERGE, STRATEGIC, JSON_PATCH = ('application/%s' % name for name in (
    'apply-patch+yaml', 'merge-patch+json', 'strategic-merge-patch+json', 'json-patch+json'))


class Must:
    """A member that is always present."""

    def __init__(self, value):
        self.value = value


class One:
    """One of some values."""

    def __init__(self, *values):
        self.values = values


class Items:
    """Some of these items, in random order."""

    def __init__(self, *items, most=3):
        self.items, self.most = items, most


def made(rng, shape, share):
    """An object of the shape: each member is present with the probability `share`."""
    if isinstance(shape, Must):
        return made(rng, shape.value, share)
    if isinstance(shape, One):
        return copy.deepcopy(rng.choice(shape.values))
    if isinstance(shape, Items):
        chosen = rng.sample(shape.items, rng.randint(0 if rng.random() < 0.2 else 1, min(shape.most, len(shape.items))))
        return [made(rng, item, share) for item in chosen]
    if isinstance(shape, dict):
        return {key: made(rng, below, share) for key, below in shape.items() if isinstance(below, Must) or rng.random() < share}
    return [made(rng, item, share) for item in shape] if isinstance(shape, list) else shape


META = {
    'labels': {'a': One('1', '2'), 'b': One('1', '2')},
    'annotations': {'example.com/x': One('1', '2'), 'y': One('1', '2')},
    'finalizers': Items('example.com/f', 'example.com/g', most=2),
    'ownerReferences': Items(*({'apiVersion': Must('v1'), 'kind': Must('ConfigMap'), 'name': Must('o%d' % n), 'uid': Must('uid-%d' % n),
                                'controller': One(False), 'blockOwnerDeletion': One(True, False)} for n in (1, 2)), most=2),
}
CONTAINER = {
    'image': One('i:1', 'i:2'), 'args': Items('a', 'b', 'c'), 'imagePullPolicy': One('Always', 'Never'),
    'ports': Items({'containerPort': Must(80), 'name': One('http', 'web')}, {'containerPort': Must(80), 'protocol': Must('UDP')}, {'containerPort': Must(81)}),
    'env': Items({'name': Must('A'), 'value': One('1', '2')}, {'name': Must('B'), 'value': One('1', '2')},
                 {'name': Must('C'), 'valueFrom': Must({'fieldRef': Must({'fieldPath': Must('metadata.name')})})}),
    'resources': {'limits': {'cpu': One('1', '2'), 'memory': One('1Gi')}, 'requests': {'cpu': One('100m', '0.1')}},
    'volumeMounts': Items({'name': Must('v'), 'mountPath': Must('/v'), 'readOnly': One(True, False)}, {'name': Must('v'), 'mountPath': Must('/w')}),
    'securityContext': {'runAsUser': One(1, 2), 'capabilities': {'add': Items('A', 'B')}},
    'livenessProbe': {'httpGet': Must({'port': Must(One(80, 'http')), 'path': One('/', '/x')}), 'periodSeconds': One(5, 10)},
}
POD_SPEC = {
    'containers': Must(Items(*(dict(CONTAINER, name=Must(name), image=Must(One('i:1', 'i:2'))) for name in ('c', 'd')), most=2)),
    'initContainers': Items({'name': Must('init'), 'image': Must('i'), 'env': CONTAINER['env']}, most=1),
    'volumes': Must([{'name': Must('v'), 'emptyDir': Must({'medium': One('', 'Memory')})},
                     {'name': Must('w'), 'configMap': Must({'name': Must('c'), 'items': Items({'key': Must('k'), 'path': Must('p')})})}]),
    'nodeSelector': {'disk': One('ssd', 'hdd'), 'zone': One('a')},
    'tolerations': Items({'key': Must('k'), 'operator': Must('Exists')}, {'operator': Must('Exists'), 'effect': Must('NoSchedule')}),
    'terminationGracePeriodSeconds': One(0, 30, 60), 'hostNetwork': One(False), 'priority': One(0), 'dnsPolicy': One('Default', 'ClusterFirst'),
    'imagePullSecrets': Items({'name': Must('s')}, {'name': Must('t')}),
    'topologySpreadConstraints': Items(*({'maxSkew': Must(1), 'topologyKey': Must(key), 'whenUnsatisfiable': Must('DoNotSchedule')} for key in 'xy')),
    'hostAliases': Items({'ip': Must('192.0.2.1'), 'hostnames': Items('a', 'b')}),
    'securityContext': {'runAsUser': One(1, 2), 'supplementalGroups': Items(1, 2)},
}
SELECTED = {'app': Must('x')}
CONDITIONS = Items(*({'type': Must(kind), 'status': Must(One('True', 'False')), 'reason': Must('R'), 'message': Must(''),
                      'lastTransitionTime': Must('2020-01-01T00:00:00Z')} for kind in ('Ready', 'Available')), most=2)
WIDGET_SPEC = {
    'replicas': One(1, 2, 3), 'name': One('x', 'y'), 'anything': One({'a': 1}, {'b': {'c': [1]}}, {'a': {'d': 2}}),
    'items': Items(*({'key': Must(key), 'kind': One('k', 'l'), 'value': One(1, 2)} for key in 'pq')),
    'tags': Items('x', 'y', 'z'), 'whole': Items({'a': One(1)}, {'a': One(2)}), 'atom': {'x': One(1, 2), 'y': One(1)},
    'parts': {'x': {'n': One(1, 2)}, 'y': {'n': One(1)}}, 'quantity': One('1', 1, '100m'), 'none': One(None),
}


class Kind:
    """The parts of histories: the object's shape, its versions, its subresources."""

    def __init__(self, name, kind, versions, plural, shape, status=None, scale=False, strategic=True):
        self.name, self.kind, self.versions, self.plural, self.shape = name, kind, versions, plural, shape
        self.status, self.scale, self.strategic = status, scale, strategic

    def path(self, version, name='', subresource=''):
        base = ('/api/' if version == 'v1' else '/apis/') + version
        return '%s/namespaces/fields/%s%s%s' % (base, self.plural, '/' + name if name else '', '/' + subresource if subresource else '')


WIDGET = {'metadata': META, 'spec': Must(WIDGET_SPEC)}
KINDS = [
    Kind('deployment', 'Deployment', ['apps/v1'], 'deployments', {'metadata': META, 'spec': Must({
        'replicas': One(1, 2, 3), 'selector': Must({'matchLabels': Must(SELECTED)}), 'paused': One(True, False), 'minReadySeconds': One(0, 5),
        'strategy': One({'type': 'RollingUpdate'}, {'rollingUpdate': {'maxSurge': 1}}, {'rollingUpdate': {'maxSurge': '50%'}}),
        'template': Must({'metadata': Must({'labels': Must(dict(SELECTED, b=One('1', '2'))), 'annotations': {'a': One('1')}}), 'spec': Must(POD_SPEC)})})},
         status={'replicas': One(1, 2), 'observedGeneration': One(1, 2), 'readyReplicas': One(1), 'conditions': CONDITIONS}, scale=True),
    Kind('service', 'Service', ['v1'], 'services', {'metadata': META, 'spec': Must({
        'selector': {'a': One('1', '2'), 'b': One('1')}, 'type': One('ClusterIP', 'NodePort', 'LoadBalancer'),
        'ports': Must(Items(*({'port': Must(port), 'name': Must('p%d' % port), 'protocol': One('TCP', 'UDP'), 'targetPort': One(8080, 'http', port)} for port in (80, 81, 82)))),
        'sessionAffinity': One('None', 'ClientIP'), 'externalIPs': Items('192.0.2.1', '192.0.2.2'), 'internalTrafficPolicy': One('Local', 'Cluster'),
        'publishNotReadyAddresses': One(True, False), 'ipFamilyPolicy': One('SingleStack', 'PreferDualStack')})},
         status={'loadBalancer': {'ingress': Items({'ip': Must('192.0.2.9')}, {'hostname': Must('h')})}, 'conditions': CONDITIONS}),
    Kind('configmap', 'ConfigMap', ['v1'], 'configmaps', {
        'metadata': META, 'data': {'a': One('1', '2', ''), 'b': One('1', '2'), 'c': One('1')}, 'binaryData': {'d': One('AA==', 'AQ==')}, 'immutable': One(False)}),
    Kind('pod', 'Pod', ['v1'], 'pods', {'metadata': META, 'spec': Must(dict(POD_SPEC, containers=Must([dict(CONTAINER, name=Must('c'), image=Must(One('i:1', 'i:2')))])))},
         status={'phase': One('Pending', 'Running'), 'podIP': One('192.0.2.1'), 'podIPs': Items({'ip': Must('192.0.2.1')}, most=1), 'hostIP': One('192.0.2.7'),
                 'conditions': Items({'type': Must('Ready'), 'status': Must(One('True', 'False'))}, {'type': Must('PodScheduled'), 'status': Must('True')}, most=2)}),
    Kind('autoscaler', 'HorizontalPodAutoscaler', ['autoscaling/v1', 'autoscaling/v2'], 'horizontalpodautoscalers', {'metadata': META, 'spec': Must({
        'minReplicas': One(1, 2), 'maxReplicas': Must(One(4, 5)), 'scaleTargetRef': Must({'apiVersion': Must('apps/v1'), 'kind': Must('Deployment'), 'name': Must(One('x', 'y'))}),
        'targetCPUUtilizationPercentage': One(50, 80)})}, status={'currentReplicas': Must(1), 'desiredReplicas': Must(One(1, 2))}),
    Kind('claim', 'PersistentVolumeClaim', ['v1'], 'persistentvolumeclaims', {'metadata': META, 'spec': Must({
        'accessModes': Must(['ReadWriteOnce']), 'resources': Must({'requests': Must({'storage': Must(One('1Gi', '2Gi'))})}), 'storageClassName': Must('s'),
        'volumeMode': One('Filesystem')})}, status={'phase': One('Pending', 'Bound'), 'capacity': {'storage': One('1Gi', '2Gi')}}),
    Kind('ingress', 'Ingress', ['networking.k8s.io/v1'], 'ingresses', {'metadata': META, 'spec': Must({
        'ingressClassName': One('c', 'd'), 'defaultBackend': Must({'service': Must({'name': Must(One('s', 't')), 'port': Must({'number': Must(80)})})}),
        'tls': Items({'hosts': Items('a.example.com', 'b.example.com'), 'secretName': One('s')}),
        'rules': Items({'host': Must('a.example.com'), 'http': Must({'paths': Must(One([{'path': '/', 'pathType': 'Prefix', 'backend': {'service': {
            'name': 's', 'port': {'number': 80}}}}]))})})})}, status={'loadBalancer': {'ingress': Items({'ip': Must('192.0.2.9')})}}),
    Kind('widget', 'Widget', ['example.com/v1', 'example.com/v2'], 'widgets', WIDGET,
         status={'replicas': One(1, 2), 'conditions': CONDITIONS, 'phase': One('a', 'b')}, scale=True, strategic=False),
    Kind('thing', 'Thing', ['example.com/v1'], 'things', dict(WIDGET, other=One([1, 2], {'a': 1}, 'x')), strategic=False),
]


def structural():
    integer, string = {'type': 'integer'}, {'type': 'string'}
    item = {'type': 'object', 'required': ['key'], 'properties': {'key': string, 'kind': dict(string, default='k'), 'value': integer}}
    return {'type': 'object', 'properties': {
        'spec': {'type': 'object', 'properties': {
            'replicas': integer, 'name': dict(string, default='x'), 'anything': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True},
            'items': {'type': 'array', 'items': item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key', 'kind']},
            'tags': {'type': 'array', 'items': string, 'x-kubernetes-list-type': 'set'}, 'whole': {'type': 'array', 'items': {
                'type': 'object', 'properties': {'a': integer}}}, 'atom': {'type': 'object', 'x-kubernetes-map-type': 'atomic', 'properties': {'x': integer, 'y': integer}},
            'parts': {'type': 'object', 'additionalProperties': {'type': 'object', 'properties': {'n': integer}}},
            'quantity': {'x-kubernetes-int-or-string': True}, 'none': dict(string, nullable=True)}},
        'status': {'type': 'object', 'properties': {
            'replicas': integer, 'phase': string, 'conditions': {'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'], 'items': {
                'type': 'object', 'required': ['type'], 'properties': {name: string for name in ('type', 'status', 'reason', 'message', 'lastTransitionTime')}}}}}}}


def definition(plural, kind, versions, schema, **subresources):
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.example.com'}, 'spec': {
        'group': 'example.com', 'scope': 'Namespaced', 'names': {'plural': plural, 'kind': kind}, 'versions': [{
            'name': name, 'served': True, 'storage': name == 'v1', 'schema': {'openAPIV3Schema': schema}, 'subresources': subresources} for name in versions]}}


SCALE = {'specReplicasPath': '.spec.replicas', 'statusReplicasPath': '.status.replicas'}
DEFINITIONS = [definition('widgets', 'Widget', ['v1', 'v2'], structural(), status={}, scale=SCALE),
               definition('things', 'Thing', ['v1'], {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True})]


def leaves(value, at=()):
    """Paths of values that may be removed."""
    out = [at] if at else []
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        out += leaves(below, at + (key,))
    return out


def without(value, path):
    value = copy.deepcopy(value)
    at = value
    try:
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]
    except (KeyError, IndexError, TypeError):
        pass
    return value


def merged(value, patch):
    """The merge patch's rule."""
    if not isinstance(patch, dict) or not isinstance(value, dict):
        return copy.deepcopy(patch)
    out = dict(value)
    for key, below in patch.items():
        if below is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key, {}), below)
    return out


class Write:
    """One write of a history: `sent(live)` is the body for a server whose object is `live`."""

    def __init__(self, method, path, query, media_type, sent):
        self.method, self.path, self.media_type, self.sent = method, path + ('?' + urllib.parse.urlencode(query) if query else ''), media_type, sent

    def missing_differs(self, live):
        """A write of the status creates a service that does not exist (../../docs/compatibility.md)."""
        return live == 404 and '/services/' in self.path and '/status' in self.path

    def crashes(self, want):
        """Nor can a scale of a custom resource be applied there."""
        return want['status'] == 500 and '/scale' in self.path and self.media_type == APPLY


def query(rng, force=False, create=False):
    out = {'fieldManager': rng.choice(MANAGERS)}
    if rng.random() < 0.06:
        del out['fieldManager']
    if force and rng.random() < 0.5:
        out['force'] = 'true'
    if rng.random() < 0.05:
        out['dryRun'] = 'All'
    return out


def put_of(rng, kind, version, shape, part):
    """A PUT of the live object with a few changed members."""
    change, gone, chance, fields = made(rng, shape, 0.15), rng.random(), rng.random(), rng.random()
    change = {part: change[part]} if part in change else change
    change.pop('spec', None) if rng.random() < 0.3 else None

    def sent(live):
        body = merged(live, change)
        if gone < 0.4:
            found = leaves({k: v for k, v in body.items() if k in ('spec', 'status', 'data')}) + [('metadata',) + p for p in leaves(
                {k: v for k, v in body.get('metadata', {}).items() if k in META})]
            if found:
                body = without(body, found[int(chance * len(found))])
        body['apiVersion'], body['kind'] = version, kind.kind
        if fields < 0.1:
            body['metadata']['managedFields'] = [{}]
        elif fields < 0.2:
            body['metadata'].pop('managedFields', None)
        elif fields < 0.25 and body['metadata'].get('managedFields'):
            body['metadata']['managedFields'].pop()
        if chance < 0.7 and kind.strategic:
            body['metadata'].pop('resourceVersion', None)
        return body
    return sent


def write(rng, kind, name, sort=None):
    version = rng.choice(kind.versions)
    sort = sort or rng.choice(('apply',) * 6 + ('put',) * 3 + ('merge', 'merge', 'json', 'create') + ('strategic',) * 2 * kind.strategic +
                      ('status',) * 3 * bool(kind.status) + ('scale',) * 2 * kind.scale)
    shape = dict(kind.shape, apiVersion=Must(version), kind=Must(kind.kind), metadata=Must(dict(kind.shape['metadata'], name=Must(name))))
    path = kind.path(version, name)
    if sort == 'create':
        body = made(rng, shape, 0.4)
        return Write('POST', kind.path(version), query(rng), 'application/json', lambda live: body)
    if sort == 'apply':
        body = made(rng, shape, rng.choice((0.1, 0.3, 0.6)))
        return Write('PATCH', path, query(rng, True), APPLY, lambda live: body)
    if sort == 'status':
        return write_status(rng, kind, version, name)
    if sort == 'scale':
        return write_scale(rng, kind, version, name)
    if sort == 'put':
        return Write('PUT', path, query(rng), 'application/json', put_of(rng, kind, version, shape, 'spec'))
    if sort == 'json':
        at = rng.choice(('/metadata/labels/a', '/metadata/annotations', '/spec/replicas', '/metadata/finalizers/0', '/spec/tags/0', '/data/a'))
        patch = [{'op': rng.choice(('add', 'remove', 'replace')), 'path': at, 'value': rng.choice(('1', '2', 3, {'z': '1'}))}]
        return Write('PATCH', path, query(rng), JSON_PATCH, lambda live: patch)
    body = made(rng, shape, 0.2)
    if rng.random() < 0.3:
        body['spec'] = None if rng.random() < 0.1 else {key: None if rng.random() < 0.3 else value for key, value in body.get('spec', {}).items()}
    body['metadata'] = {k: None if rng.random() < 0.2 and k != 'name' else v for k, v in body['metadata'].items()}
    if rng.random() < 0.05:
        body['metadata']['managedFields'] = rng.choice(([], [{}], None))
    return Write('PATCH', path, query(rng), MERGE if sort == 'merge' else STRATEGIC, lambda live: body)


def write_status(rng, kind, version, name):
    shape = {'apiVersion': Must(version), 'kind': Must(kind.kind), 'metadata': Must(dict(META, name=Must(name))), 'status': Must(kind.status)}
    path, sort = kind.path(version, name, 'status'), rng.choice(('apply', 'apply', 'put', 'merge'))
    if sort == 'put':
        return Write('PUT', path, query(rng), 'application/json', put_of(rng, kind, version, shape, 'status'))
    body = made(rng, shape, 0.4)
    if sort == 'merge' or rng.random() < 0.8:
        body['metadata'] = {'name': name}
    return Write('PATCH', path, query(rng, sort == 'apply'), APPLY if sort == 'apply' else MERGE, lambda live: body)


def write_scale(rng, kind, version, name):
    body = {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {'name': name, 'namespace': 'fields'}, 'spec': {'replicas': rng.choice((1, 2, 3))}}
    if rng.random() < 0.2:
        body['metadata']['labels'] = {'a': '3'}
    path, sort = kind.path(version, name, 'scale'), rng.choice(('apply', 'put', 'merge'))
    if sort == 'put':
        return Write('PUT', path, query(rng), 'application/json', lambda live: body)
    return Write('PATCH', path, query(rng, sort == 'apply'), APPLY if sort == 'apply' else MERGE, lambda live: body)


def compared(answer):
    """The answer without the difference that a refused change of a pod shows (../../docs/compatibility.md)."""
    return json.loads(re.sub(r'\\n@@(?:[^"\\]|\\.)*', '', json.dumps(answer)))


class Fields(SideBySide):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for server in cls.servers:
            server.request('POST', '/api/v1/namespaces', {'metadata': {'name': 'fields'}})
            for body in DEFINITIONS:
                code, _, answer = server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body)
                assert code == 201, answer
            for path in ('/apis/example.com/v1/things', '/apis/example.com/v1/widgets', '/apis/example.com/v2/widgets'):
                cls.served(server, path)

    @staticmethod
    def served(server, path):
        while server.request('GET', path)[0] != 200:
            pass

    def history(self, kind, number):
        """(writes, [differences]) of one object. It ends at the first difference, because later ones follow from it."""
        rng = random.Random('%s %s %s' % (SEED, kind.name, number))
        name, ok = '%s-%d' % (kind.name, number), 0
        for count in range(1, WRITES + 1):
            each = write(rng, kind, name, 'create' if count == 1 else None)
            live = [server.request('GET', kind.path(kind.versions[0], name)) for server in self.servers]
            bodies = [each.sent(answer if code == 200 else {'metadata': {'name': name}}) for code, _, answer in live]
            if each.missing_differs(live[0][0]):
                continue
            want, got = (self.answer(server, each.method, each.path, body, each.media_type) for server, body in zip(self.servers, bodies))
            if each.crashes(want):
                return count, ok, []
            found = differences(compared(want), compared(got))
            if found:
                return count, ok, ['%s, write %d: %s %s %s: %s\n    sent %s\n    want %s' % (
                    name, count, each.method, each.path, each.media_type, '; '.join(found[:3]), json.dumps(bodies[1])[:1000],
                    json.dumps(want['body'])[:500])]
            ok += want['status'] < 300
        return WRITES, ok, []

    def test_histories_end_alike(self):
        for kind in KINDS:
            if kind.name not in os.environ.get('FIELDS_KINDS', kind.name).split(','):
                continue
            with self.subTest(kind.name):
                asked, taken, reports = 0, 0, []
                for number in range(HISTORIES):
                    count, ok, found = self.history(kind, number)
                    asked, taken, reports = asked + count, taken + ok, reports + found
                print('%s: %d writes, %d taken, %d histories differ' % (kind.name, asked, taken, len(reports)), *reports, sep='\n  ', file=sys.stderr)
                self.assertGreater(taken, 0)
                self.assertLessEqual(len(reports), MOST.get(kind.name, 0) * HISTORIES, '\n'.join(reports))


if __name__ == '__main__':
    unittest.main(verbosity=2)
