"""Tables of mutating policies for policies_test.py."""
from policy_cases import APPLY, DEPLOYMENTS, IN_CASE, MAPS, ONE, PODS, UPDATES, WIDGETS, configmap, deployment, mutating, pod, rule, validating, variables, widget
from policy_matching_cases import MAP_KIND, PARAMS, SCALE, VERSIONS, ref

ON_PODS = [rule(('pods',), operations=('CREATE', 'UPDATE'))]
ON_DEPLOYMENTS = [rule(('deployments',), groups=('apps',), operations=('CREATE', 'UPDATE'))]
ON_WIDGETS = [rule(('widgets',), groups=('policy.test',), operations=('CREATE', 'UPDATE'))]
POD = [('POST', PODS, pod())]
DEPLOYMENT = [('POST', DEPLOYMENTS, deployment())]
WIDGET = [('POST', WIDGETS % 'v1', widget('w', size=1, list=['a'], set=['x'], items=[{'name': 'i', 'value': 1}], open={'p': 1}))]

ON_MAPS = [
    "Object{data: {'z': '1'}}", "Object{data: {'a': '2', 'z': '3'}}", "Object{metadata: Object.metadata{labels: {'l': 'v'}}}",
    "Object{metadata: Object.metadata{annotations: {'l/v': 'v'}, labels: {'app': 'db'}}}", "Object{}", "Object{metadata: Object.metadata{name: 'other'}}",
    "Object{metadata: Object.metadata{finalizers: ['a.b/c']}}", "Object{metadata: Object.metadata{generateName: 'other'}}", "Object{metadata: Object.metadata{ownerReferences: []}}",
    "Object{metadata: Object.metadata{uid: 'x'}}", "Object{immutable: true}", "Object{immutable: 'true'}", "Object{nothing: 1}", "Object{data: {'z': 1}}", "Object{data: 'x'}", "Object{data: null}",
    "Object{data: {'z': object.data.missing}}", "Object{data: {'z': object.data.a + 'x'}}", "Object{data: {'z': string(object.data.size())}}", "Object{kind: 'Secret', data: {'z': '1'}}",
    "Object{apiVersion: 'v2'}", "Object{metadata: Object.spec{labels: {'l': 'v'}}}", "Object{metadata: Object.metadata{labels: {'l': ''}}}", "Object{binaryData: {'x': 'eA=='}}", "Object{binaryData: {'x': b'x'}}",
    "Object{data: optional.none()}", "Object{?data: optional.of({'z': '1'})}", "Object{?data: optional.none()}", "object.data.a == '1' ? Object{data: {'z': '1'}} : Object{}",
    "Object{metadata: Object.metadata{managedFields: []}}", "Object{metadata: Object.metadata{labels: null}}", "Object{data: {'z': null}}", "{'data': {'z': '1'}}", "'x'", "null", "object", "Object.metadata{labels: {}}",
    "Object{data: {'bad key!': '1'}}", "Object{metadata: Object.metadata{labels: {'bad key!': '1'}}}", "Object{metadata: Object.metadata{creationTimestamp: timestamp('2020-01-01T00:00:00Z')}}",
    "Object{metadata: Object.metadata{namespace: 'default'}}", "Object{data: variables.v}", "Object{data: {variables.k: 'x'}}",
    "[JSONPatch{op: 'add', path: '/data/z', value: '1'}]", "[JSONPatch{op: 'add', path: '/data/z', value: 1}]", "[JSONPatch{op: 'replace', path: '/data/a', value: '5'}]",
    "[JSONPatch{op: 'replace', path: '/data/none', value: '5'}]", "[JSONPatch{op: 'remove', path: '/data/a'}]", "[JSONPatch{op: 'remove', path: '/data/none'}]",
    "[JSONPatch{op: 'test', path: '/data/a', value: '1'}, JSONPatch{op: 'add', path: '/data/z', value: '1'}]",
    "[JSONPatch{op: 'test', path: '/data/a', value: '2'}, JSONPatch{op: 'add', path: '/data/z', value: '1'}]",
    "[JSONPatch{op: 'test', path: '/data/none', value: '2'}, JSONPatch{op: 'add', path: '/data/z', value: '1'}]",
    "[JSONPatch{op: 'copy', from: '/data/a', path: '/data/z'}]", "[JSONPatch{op: 'move', from: '/data/a', path: '/data/z'}]", "[JSONPatch{op: 'copy', from: '/data/none', path: '/data/z'}]",
    "[JSONPatch{op: 'other', path: '/data/z'}]", "[JSONPatch{op: 'add', path: 'data/z', value: '1'}]", "[JSONPatch{op: 'add', path: '', value: {'a': 'b'}}]", "[JSONPatch{op: 'add', path: '/a/b/c', value: '1'}]",
    "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c~d'), value: 'x'}]", "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c'), value: 'x'}]",
    "[JSONPatch{op: 'add', path: '/metadata/annotations/a.b~1z', value: 'x'}]", "[]", "[JSONPatch{op: 'add', path: '/data', value: {'only': 'this'}}]", "[JSONPatch{op: 'add', path: '/data', value: null}]",
    "[JSONPatch{op: 'add', path: '/metadata/finalizers', value: ['a.b/c']}, JSONPatch{op: 'add', path: '/metadata/finalizers/-', value: 'a.b/d'}]",
    "[JSONPatch{op: 'add', path: '/metadata/finalizers/-', value: 'a.b/d'}]", "[JSONPatch{op: 'add', path: '/nothing', value: 'x'}]", "[JSONPatch{op: 'replace', path: '/metadata/name', value: 'x'}]",
    "[JSONPatch{op: 'replace', path: '/kind', value: 'Secret'}]", "[JSONPatch{op: 'replace', path: '/kind', value: 'Pod'}]", "[JSONPatch{op: 'replace', path: '/kind', value: 'Nothing'}]", "[JSONPatch{op: 'remove', path: '/kind'}]",
    "[JSONPatch{op: 'replace', path: '/apiVersion', value: 'v2'}]", "[JSONPatch{op: 'replace', path: '/kind', value: 'Secret'}, JSONPatch{op: 'remove', path: '/data'}]", "[JSONPatch{op: 'remove', path: '/metadata'}]",
    "Object{metadata: Object.metadata{finalizers: ['a.b/c', null]}}", "Object{metadata: Object.metadata{annotations: null}}", "Object{metadata: Object.metadata{deletionGracePeriodSeconds: null}}",
    "Object{metadata: Object.metadata{creationTimestamp: timestamp('2020-01-01T10:02:03.004Z')}}", "Object{metadata: Object.metadata{generation: b'x'}}", "Object{immutable: null}", "Object{data: {'z': timestamp('2020-01-01T10:02:03.004Z')}}", "[JSONPatch{path: '/data/z', value: '1'}]", "[JSONPatch{op: 'add', path: 1, value: '1'}]",
    "[JSONPatch{op: 'add', path: '/data/z', value: Object.data{x: '1'}}]", "[JSONPatch{op: 'add', path: '/data/z', value: object.data.missing}]", "[JSONPatch{op: 'add', path: '/data/z', value: variables.k}]",
    "['x']", "[object]", "[JSONPatch{op: 'add', path: '/data', value: object.data}]", "[JSONPatch{op: 'add', path: '/immutable', value: true}]", "[JSONPatch{op: 'add', path: '/immutable', value: 'yes'}]",
    "[JSONPatch{op: 'add', path: '/data/z', value: string(timestamp('2020-01-01T00:00:00Z'))}]", "[JSONPatch{op: 'add', path: '/data/z', value: timestamp('2020-01-01T00:00:00Z')}]",
    "[JSONPatch{op: 'add', path: '/data/z', value: duration('90s')}]", "[JSONPatch{op: 'add', path: '/data/z', value: b'abc'}]", "[JSONPatch{op: 'add', path: '/data/z', value: {'a': [1, 2.5, true, null]}}]",
]
ON_PODS_EXPRESSIONS = [
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', image: 'other'}]}}", "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'new', image: 'other'}]}}",
    "Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, imagePullPolicy: 'Never'})}}",
    "Object{spec: Object.spec{containers: [Object.spec.containers{image: 'x'}]}}", "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', command: ['a']}]}}",
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'd', env: [Object.spec.containers.env{name: 'C', value: 'c'}]}]}}",
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'd', env: [Object.spec.containers.env{name: 'A', value: 'z'}]}]}}",
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', ports: [Object.spec.containers.ports{containerPort: 80, protocol: 'TCP', name: 'web'}]}]}}",
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', resources: Object.spec.containers.resources{limits: {'cpu': '1'}}}]}}",
    "Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}", "Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'a', operator: 'Exists'}]}}", "Object{spec: Object.spec{hostNetwork: true}}",
    "Object{spec: Object.spec{terminationGracePeriodSeconds: 5}}", "Object{spec: Object.spec{terminationGracePeriodSeconds: '5'}}", "Object{spec: Object.spec{terminationGracePeriodSeconds: 5.5}}",
    "Object{spec: Object.spec{securityContext: Object.spec.securityContext{runAsUser: 1, supplementalGroups: [1, 2]}}}", "Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'i', image: 'i'}]}}",
    "Object{spec: Object.spec{volumes: [Object.spec.volumes{name: 'v', emptyDir: Object.spec.volumes.emptyDir{}}]}}", "Object{spec: Object.spec{imagePullSecrets: [Object.spec.imagePullSecrets{name: 's'}]}}",
    "Object{spec: Object.spec{nodeName: 'n'}}", "Object{spec: Object.spec{containers: []}}", "Object{spec: Object.spec{wrong: 1}}", "Object{spec: Object.spec{containers: 'x'}}", "Object{status: Object.status{phase: 'Running'}}",
    "Object{spec: Object.spec{affinity: Object.spec.affinity{nodeAffinity: Object.spec.affinity.nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution: Object.spec.affinity.nodeAffinity."
    "requiredDuringSchedulingIgnoredDuringExecution{nodeSelectorTerms: []}}}}}", "Object{spec: Object.spec{hostAliases: [Object.spec.hostAliases{ip: '1.2.3.4', hostnames: ['a']}]}}",
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', image: 'a'}, Object.spec.containers{name: 'c', image: 'b'}]}}", "Object{spec: Object.spec{containers: [Object.spec.container{name: 'c'}]}}",
    "[JSONPatch{op: 'add', path: '/spec/containers/0/args', value: ['a']}]", "[JSONPatch{op: 'add', path: '/spec/containers/-', value: Object.spec.containers{name: 'z', image: 'z'}}]", "[JSONPatch{op: 'remove', path: '/spec/containers/1'}]",
    "[JSONPatch{op: 'remove', path: '/spec/containers/9'}]", "[JSONPatch{op: 'add', path: '/spec/containers/0/wrong', value: 1}]", "[JSONPatch{op: 'replace', path: '/spec/containers/0/image', value: ''}]",
    "[JSONPatch{op: 'add', path: '/spec/activeDeadlineSeconds', value: 'x'}]",
    "[JSONPatch{op: 'move', from: '/spec/containers/0', path: '/spec/containers/1'}]", "[JSONPatch{op: 'test', path: '/spec/containers/0/name', value: 'c'}, JSONPatch{op: 'add', path: '/spec/hostIPC', value: true}]",
]
ON_WIDGETS_EXPRESSIONS = [
    "Object{spec: Object.spec{size: 5}}", "Object{spec: Object.spec{size: 'x'}}", "Object{spec: Object.spec{list: ['b']}}", "Object{spec: Object.spec{set: ['y']}}", "Object{spec: Object.spec{items: [Object.spec.items{name: 'j', value: 2}]}}",
    "Object{spec: Object.spec{items: [Object.spec.items{name: 'i', value: 3}]}}", "Object{spec: Object.spec{wrong: 5}}", "Object{spec: Object.spec{open: Object.spec.open{q: 2}}}", "Object{spec: Object.spec{size: 500}}",
    "Object{metadata: Object.metadata{labels: {'a': 'b'}}}", "Object{wrong: 1}", "[JSONPatch{op: 'add', path: '/spec/size', value: 6}]", "[JSONPatch{op: 'add', path: '/spec/size', value: 'x'}]", "[JSONPatch{op: 'add', path: '/spec/wrong', value: 6}]",
    "[JSONPatch{op: 'add', path: '/spec/open/z', value: {'a': [1]}}]", "[JSONPatch{op: 'remove', path: '/spec'}]", "[JSONPatch{op: 'add', path: '/spec/list/0', value: 'first'}]", "[JSONPatch{op: 'add', path: '/status', value: {'a': 1}}]",
    "Object{spec: null}", "Object{spec: Object.spec{size: null}}", "Object{spec: Object.spec{list: null}}", "Object{spec: Object.spec{open: null}}", "[JSONPatch{op: 'replace', path: '/kind', value: 'Other'}]",
    "[JSONPatch{op: 'replace', path: '/apiVersion', value: 'policy.test/v2'}]", "[JSONPatch{op: 'remove', path: '/kind'}]", "[JSONPatch{op: 'add', path: '/spec/items/-', value: Object.spec.items{name: 'z'}}]",
]


def mutation_cases():
    more = {'variables': variables(v="{'z': 'v'}", k="'key'")}
    for i, expression in enumerate(ON_MAPS):
        for failure in ('Fail', 'Ignore'):
            yield 'y%03d%s' % (i, failure[0].lower()), [mutating(expression, failurePolicy=failure, **more)], ONE
    for i, expression in enumerate(ON_PODS_EXPRESSIONS):
        yield 'o%03d' % i, [mutating(expression, rules=ON_PODS)], POD
    for i, expression in enumerate(ON_WIDGETS_EXPRESSIONS):
        yield 'w%03d' % i, [mutating(expression, rules=ON_WIDGETS)], WIDGET
    yield 'y-writes', [mutating("Object{data: {'z': request.operation}}")], UPDATES
    yield 'y-two', [mutating("Object{data: {'z': '1'}}", "Object{data: {'y': object.data.z}}", "[JSONPatch{op: 'add', path: '/data/x', value: object.data.y}]")], ONE
    yield 'y-fails-late', [mutating("Object{data: {'z': '1'}}", "Object{data: {'y': object.data.q}}", failurePolicy='Ignore')], ONE
    yield 'y-twice', [mutating("Object{data: {'z': object.data.?z.orValue('') + '1'}}", reinvocation='IfNeeded'),
                      mutating("Object{data: {'y': object.data.?y.orValue('') + '2'}}", reinvocation='IfNeeded')], ONE
    yield 'y-once', [mutating("Object{data: {'z': object.data.?z.orValue('') + '1'}}", reinvocation='Never'),
                     mutating("Object{data: {'y': object.data.?y.orValue('') + '2'}}", reinvocation='IfNeeded')], ONE
    yield 'y-idempotent', [mutating("Object{data: {'z': '1'}}", reinvocation='IfNeeded'), mutating("Object{data: {'y': object.data.?z.orValue('none')}}", reinvocation='IfNeeded')], ONE
    yield 'y-depends', [mutating("Object{data: {'y': object.data.?z.orValue('none')}}", reinvocation='IfNeeded'), mutating("Object{data: {'z': '1'}}")], ONE
    yield 'y-bindings', [mutating("Object{data: {'z': object.data.?z.orValue('') + '1'}}", bindings=[{}, {}], reinvocation='IfNeeded')], ONE
    yield 'y-params', [mutating("Object{data: {params.metadata.name: params.data.max}}", paramKind=MAP_KIND, binding=ref(selector={'matchLabels': {'role': 'param'}}),
                                rules=[rule(operations=('UPDATE',))])], [*PARAMS, ('PUT', MAPS + '/p3', configmap('p3', {'b': 'c'}))]
    for i, (name, action) in enumerate((('none', 'Deny'), ('none', 'Allow'))):
        for failure in ('Fail', 'Ignore'):
            yield 'y-param-%d%s' % (i, failure[0].lower()), [mutating("Object{data: {'z': '1'}}", paramKind=MAP_KIND, failurePolicy=failure,
                                                                       binding=ref(name=name, parameterNotFoundAction=action))], ONE
    yield 'y-unknown', [mutating("Object{data: {'z': '1'}}", paramKind={'apiVersion': 'none.test/v1', 'kind': 'X'}, binding=ref(name='x'))], ONE
    yield 'y-then-refused', [mutating("Object{data: {'a': '9'}}"), validating({'expression': "object.data.a != '9'", 'message': 'nine'})], ONE
    yield 'y-equivalent', [mutating("Object{spec: Object.spec{size: object.spec.size + 10}}", rules=[rule(('widgets',), groups=('policy.test',), versions=('v1',), operations=('CREATE', 'UPDATE'))])], VERSIONS
    yield 'y-exact', [mutating("Object{spec: Object.spec{size: 9}}", match={'matchPolicy': 'Exact'}, rules=[rule(('widgets',), groups=('policy.test',), versions=('v1',), operations=('CREATE', 'UPDATE'))])], VERSIONS
    yield 'y-template', [mutating("Object{spec: Object.spec{template: Object.spec.template{metadata: Object.spec.template.metadata{labels: {'x': 'y'}}}, replicas: 4}}", rules=ON_DEPLOYMENTS)], DEPLOYMENT
    yield 'y-selector', [mutating("Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'x': 'y'}}}}", rules=ON_DEPLOYMENTS)], DEPLOYMENT
    yield 'y-scale', [mutating("Object{spec: Object.spec{replicas: 3}}", rules=[rule(('deployments/scale',), groups=('apps',), operations=('UPDATE',))])], [
        *DEPLOYMENT, ('PUT', DEPLOYMENTS + '/d/scale', SCALE), ('PATCH', DEPLOYMENTS + '/d/scale', {'spec': {'replicas': 9}}), ('GET', DEPLOYMENTS + '/d', None)]
    yield 'y-status', [mutating("Object{status: Object.status{replicas: 3}}", rules=[rule(('deployments/status',), groups=('apps',), operations=('UPDATE',))])], [
        *DEPLOYMENT, ('PATCH', DEPLOYMENTS + '/d/status', {'status': {'replicas': 1}})]
    yield 'y-apply', [mutating("Object{data: {'z': 'p'}}")], [(APPLY, MAPS + '/a?fieldManager=me', configmap('a', {'z': 'mine'})), (APPLY, MAPS + '/a?fieldManager=other', configmap('a', {'z': 'x'}))]
    yield 'y-dry', [mutating("Object{data: {'z': string(request.dryRun)}}")], [('POST', MAPS + '?dryRun=All', configmap('a'))]
    yield 'y-delete', [mutating("Object{data: {'z': '1'}}", rules=[rule(operations=('DELETE',))])], ONE
    yield 'y-connect', [mutating("Object{data: {'z': '1'}}", rules=[rule(operations=('CONNECT',))])], ONE
    yield 'y-binding', [mutating("Object{metadata: Object.metadata{labels: {'x': 'y'}}}", rules=[rule(('pods/binding',), operations=('CREATE',))])], [
        *POD, ('POST', PODS + '/p/binding', {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'p'}, 'target': {'kind': 'Node', 'name': 'n'}})]
    yield 'y-eviction', [mutating("Object{metadata: Object.metadata{labels: {'x': 'y'}}}", rules=[rule(('pods/eviction',), operations=('CREATE',))])], [
        *POD, ('POST', PODS + '/p/eviction', {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'p'}})]
    yield 'y-exec', [mutating("Object{container: 'd'}", rules=[rule(('pods/exec',), operations=('CONNECT',))])], [*POD, ('POST', PODS + '/p/exec?container=c&command=ls', None)]
    yield 'y-exec-patch', [mutating("[JSONPatch{op: 'replace', path: '/container', value: 'none'}]", rules=[rule(('pods/exec',), operations=('CONNECT',))])], [
        *POD, ('POST', PODS + '/p/exec?container=c&command=ls', None)]
    yield 'y-scale-patch', [mutating("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 3}]", rules=[rule(('deployments/scale',), groups=('apps',), operations=('UPDATE',))])], [
        *DEPLOYMENT, ('PUT', DEPLOYMENTS + '/d/scale', SCALE), ('GET', DEPLOYMENTS + '/d', None)]
    yield 'y-any', [mutating("Object{data: {'z': '1'}}", rules=[rule(operations=('*',))])], ONE
    yield 'y-none', [mutating()], ONE
    yield 'y-namespace', [mutating("Object{metadata: Object.metadata{labels: {'from': namespaceObject.metadata.name}}}")], ONE
    yield 'y-authorizer', [mutating("Object{data: {'z': string(authorizer.group('').resource('pods').check('get').allowed())}}")], ONE
    yield 'y-cost', [mutating("Object{data: {'z': string(lists.range(900000).all(i, i >= 0))}}")], ONE
    yield 'y-type', [('Mutating', dict(mutating()[1], mutations=[{'patchType': 'Other'}, {'patchType': 'JSONPatch'}, {'patchType': 'ApplyConfiguration', 'jsonPatch': {'expression': '[]'}},
                                                                 {'patchType': 'JSONPatch', 'jsonPatch': {'expression': ''}}]), [{}])], ONE
    yield 'y-generated', [mutating("Object{data: {'z': object.metadata.?generateName.orValue('-') + object.metadata.?name.orValue('-')}}")], [
        ('POST', MAPS, {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'generateName': 'g-'}})]
