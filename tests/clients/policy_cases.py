"""Tables of admission policies and writes, for policies_test.py. A case is (name, policies, writes). It has a separate namespace NS,

which its bindings select by default.  "NS" in texts is
replaced by its name.  Writes are (method, path, body), sent to both servers in their order."""

MAPS = '/api/v1/namespaces/NS/configmaps'
DEPLOYMENTS = '/apis/apps/v1/namespaces/NS/deployments'
PODS = '/api/v1/namespaces/NS/pods'
WIDGETS = '/apis/policy.test/%s/namespaces/NS/widgets'
IN_CASE = {'matchLabels': {'kubernetes.io/metadata.name': 'NS'}}
APPLY = 'APPLY'


def rule(resources=('configmaps',), operations=('*',), groups=('',), versions=('v1',), **more):
    return dict({'apiGroups': list(groups), 'apiVersions': list(versions), 'operations': list(operations), 'resources': list(resources)}, **more)


def alone(spec, match):
    """A policy whose paramKind does not exist refuses all writes that its rules match, regardless of its bindings."""
    return dict({'namespaceSelector': IN_CASE} if 'paramKind' in spec else {}, **(match or {}))


def validating(*validations, binding=None, bindings=None, actions=('Deny',), rules=None, match=None, **spec):
    """A policy: validations are expressions or complete objects."""
    whole = [{'expression': each} if isinstance(each, str) else each for each in validations]
    made = dict({'matchConstraints': dict({'resourceRules': rules or [rule()]}, **alone(spec, match))}, **spec)
    if whole:
        made['validations'] = whole
    plain = {'validationActions': list(actions), 'matchResources': {'namespaceSelector': IN_CASE}}
    return 'Validating', made, [dict(plain, **each) for each in bindings or [binding or {}]]


def mutating(*mutations, binding=None, bindings=None, rules=None, match=None, reinvocation='Never', **spec):
    """A policy: mutations are ApplyConfiguration ("Object{…}") or JSONPatch ("[…]") expressions."""
    whole = [{'patchType': 'JSONPatch', 'jsonPatch': {'expression': each}} if each.startswith('[') else
             {'patchType': 'ApplyConfiguration', 'applyConfiguration': {'expression': each}} for each in mutations]
    made = dict({'matchConstraints': dict({'resourceRules': rules or [rule(operations=('CREATE', 'UPDATE'))]}, **alone(spec, match)),
                 'reinvocationPolicy': reinvocation, 'mutations': whole}, **spec)
    plain = {'matchResources': {'namespaceSelector': IN_CASE}}
    return 'Mutating', made, [dict(plain, **each) for each in bindings or [binding or {}]]


def configmap(name='m', data=None, **meta):
    labels = {'app': 'web', 'tier': 'front'}
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': dict({'name': name, 'labels': labels, 'annotations': {'a.b/c': 'd'}}, **meta),
            'data': {'a': '1', 'b': 'x', 'n': '12'} if data is None else data}


def maps(*data):
    """Creates configmaps with these data."""
    return [('POST', MAPS, configmap('m%d' % i, each)) for i, each in enumerate(data)]


def pod(name='p', **spec):
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name, 'labels': {'app': 'web'}},
            'spec': dict({'containers': [{'name': 'c', 'image': 'example.com/c:1', 'ports': [{'containerPort': 80}]},
                                         {'name': 'd', 'image': 'example.com/d:1', 'args': ['x', 'y'],
                                          'env': [{'name': 'A', 'value': 'a'}, {'name': 'B', 'value': 'b'}]}]}, **spec)}


def deployment(name='d', replicas=2, **more):
    template = {'metadata': {'labels': {'app': name}}, 'spec': pod(**more)['spec']}
    return {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': name}, 'spec': {
        'replicas': replicas, 'selector': {'matchLabels': {'app': name}}, 'template': template}}


def widget(name='w', version='v1', **spec):
    return {'apiVersion': 'policy.test/' + version, 'kind': 'Widget', 'metadata': {'name': name}, 'spec': spec}


ONE = maps(None)
UPDATES = [('POST', MAPS, configmap('u')), ('PUT', MAPS + '/u', configmap('u', {'a': '2'})), ('PATCH', MAPS + '/u', {'data': {'c': '3'}}),
           (APPLY, MAPS + '/u2?fieldManager=me', configmap('u2', {'z': 'z'})), ('DELETE', MAPS + '/u', None), ('DELETE', MAPS, None)]


def said(expression, writes=None, **policy):
    """Refuses with the expression's value as the message."""
    return [validating({'expression': 'false', 'messageExpression': expression}, **policy)], writes or ONE


# ---- one expression each, on one object
EXPRESSIONS = """
object.data.a == '1'
object.data.a == '2'
object.data.missing == '1'
object.missing.deeper == 1
has(object.data.a)
has(object.data.missing)
has(object.missing.deeper)
has(object.metadata.labels.app) && object.metadata.labels.app == 'db'
object.data.a + 1 > 0
int(object.data.b) > 0
int(object.data.n) > 12
object.data.n > 11
object.data['a.b'] == '1'
object.data.all(k, object.data[k] != '1')
object.data.exists(k, object.data[k] == 'q')
object.data.exists_one(k, k == 'a')
object.data.all(k, v, v != 'x')
object.data.map(k, int(object.data[k])).size() > 0
object.data.filter(k, object.data[k].matches('^[0-9]+$')).size() == 3
object.data == {'a': '1', 'b': 'x', 'n': '12'}
object.data == {'a': '1'}
object == null
oldObject == null
oldObject != null
oldObject.data.a == 'x'
has(oldObject.data)
object.metadata.name.startsWith('x')
object.metadata.namespace == 'NS'
object.metadata.namespace != 'NS'
has(object.metadata.uid)
has(object.metadata.creationTimestamp)
has(object.metadata.resourceVersion)
has(object.metadata.generation)
has(object.metadata.managedFields)
object.metadata.managedFields[0].manager == 'x'
object.kind == 'ConfigMap' && object.apiVersion == 'v2'
timestamp(object.metadata.creationTimestamp) > timestamp('2200-01-01T00:00:00Z')
duration('1h') > duration(object.data.b)
object.?data.missing.orValue('none') == 'other'
object.?data.?a.hasValue() && object.data[?'a'].value() == '5'
object[?'nothing'].value() == 1
optional.none().value() == 1
object.?spec.replicas.orValue(3) < 3
1 / (int(object.data.a) - 1) == 0
9223372036854775807 + int(object.data.a) > 0
int(object.data.a) % 0 == 1
[1, 2, 3][int(object.data.n)] == 1
{'a': 1}[object.data.b] == 1
object.data.a ? true : false
dyn(object.data.a)
dyn(1) == 1 ? dyn('x') : dyn(false)
!object.data.a
object.data.a || true
true || object.data.a
object.data.a && false
object.data.missing == '1' || true
object.data.missing == '1' && false
[object.data.missing == '1', true].exists(x, x)
[object.data.a == '2', object.data.missing == '1'].exists(x, x)
request.operation == 'UPDATE'
request.name == 'other'
request.namespace == 'other'
request.dryRun == true
request.kind.kind == 'Pod'
request.resource.resource == 'pods'
request.subResource == 'status'
has(request.subResource)
has(request.requestSubResource)
has(request.userInfo.uid)
has(request.userInfo.extra)
request.userInfo.username == 'nobody'
'system:masters' in request.userInfo.groups && !('system:authenticated' in request.userInfo.groups)
request.userInfo.extra['a'].size() == 1
request.options.kind == 'UpdateOptions'
request.options.fieldManager == 'tester'
has(request.options.fieldValidation)
request.options.missing == 1
namespaceObject.metadata.name == 'other'
namespaceObject.metadata.labels.env == 'prod'
namespaceObject.metadata.labels['kubernetes.io/metadata.name'] != 'NS'
namespaceObject.status.phase == 'Gone'
namespaceObject.spec.finalizers == ['x']
has(namespaceObject.metadata.uid)
has(namespaceObject.metadata.annotations)
namespaceObject.metadata.annotations.x == 'y'
has(namespaceObject.status.conditions)
authorizer.group('').resource('pods').namespace('NS').check('get').allowed() == false
authorizer.group('').resource('pods').check('get').reason() == 'x'
authorizer.requestResource.check('create').allowed() == false
authorizer.requestResource.check('create').reason() == 'x'
authorizer.requestResource.check('create').errored()
authorizer.serviceAccount('NS', 'sa').group('').resource('pods').namespace('NS').check('get').allowed()
authorizer.serviceAccount('', 'sa').group('').resource('pods').check('get').allowed()
authorizer.serviceAccount('Bad Name', 'sa').group('').resource('pods').check('get').allowed()
authorizer.path('/healthz').check('get').allowed() == false
authorizer.path('').check('get').allowed()
authorizer.group('apps').resource('deployments').subresource('scale').name('x').check('update').errored()
authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c in (d)').check('list').allowed() == false
authorizer.group('').resource('pods').fieldSelector('=').labelSelector('(').check('list').error() == 'x'
quantity(object.data.n).isGreaterThan(quantity('1k'))
quantity(object.data.b).isGreaterThan(quantity('1k'))
isQuantity(object.data.b)
url('https://example.com:80/path?x=1').getHost() == object.data.b
url(object.data.b).getHost() == 'x'
ip('127.0.0.1').family() == 6
ip(object.data.b).family() == 4
cidr('10.0.0.0/8').containsIP('11.0.0.1')
isIP(object.data.a)
semver('1.2.3').isLessThan(semver('1.2.0'))
semver(object.data.b).major() == 1
format.dns1123Label().validate(object.data.b).hasValue()
format.dns1123Label().validate('Bad Name').value() == ['x']
!format.named('nope').hasValue()
'%s-%d'.format([object.data.b, 3]) == 'y'
'%d'.format([object.data.b]) == 'y'
'a,b'.split(',').join('+') == object.data.b
object.data.b.charAt(7) == 'x'
object.data.b.substring(0, 9) == 'x'
'abc'.find(object.data.b) == 'y'
'abc'.findAll('[a-').size() == 1
object.data.b.matches('[')
object.data.b.matches(object.data.b + '[')
sets.contains([1, 2], [3])
[3, 1, 2].isSorted()
[1, 2].sum() == int(object.data.n)
[].min() == 1
[1, 2].indexOf(2) == 2
[1, [2, 3]].flatten().size() == 2
lists.range(3) == [1, 2]
[1, 2, 3].slice(2, 9) == [1]
math.greatest(1, 2) == 3
base64.decode('eA==') == b'y'
cel.bind(x, 1, x == 2)
b'abc' == bytes(object.data.b)
type(object.data.a) == int
type(object) == type(oldObject)
string(object.metadata.labels.size()) == object.data.b
uint(object.data.n) == 13u
double(object.data.n) / 0.0 > 0.0
bool(object.data.b)
object.data.a in ['2', '3']
'q' in object.data
object.data.b.lowerAscii().upperAscii() == 'Y'
object.data.b.replace('x', 'z', -1) == 'y'
object.data.b.reverse() == 'y'
'TacoCat'.lastIndexOf('C') == 3
variables.nothing == 1
params == null
unknown == 1
object.data.
object.data.a === 1
1
'text'
object.data
null
request.object.data.a == '1'
request.nothing == 'x'
namespaceObject.metadata.uids == 'x'
authorizer.nothing('x')
jsonpatch.escapeKey('a/b') == 'x'
Object{} == object
JSONPatch{op: 'add'} == object
""".strip().split('\n')

# ---- values of variables, shown by message expressions; by writes
SEEN = [
    ("object.metadata.map(k, k).sort().join(',')", UPDATES),
    ("oldObject == null ? 'null' : oldObject.metadata.map(k, k).sort().join(',')", UPDATES),
    ("object == null ? 'null' : object.map(k, k).sort().join(',')", UPDATES),
    ("request.operation + request.name + '/' + request.namespace", UPDATES),
    ("request.options.map(k, k + '=' + string(request.options[k])).sort().join(',')",
     [('POST', MAPS + '?fieldManager=me&fieldValidation=Warn&dryRun=All', configmap()), ('PATCH', MAPS + '/none?force=true', {}),
      (APPLY, MAPS + '/a?fieldManager=me&force=true', configmap('a')), (APPLY, MAPS + '/a?fieldManager=me', configmap('a'))]),
    ("request.userInfo.groups.join(',') + request.userInfo.username", ONE),
    ("request.kind.group + '/' + request.kind.version + '/' + request.kind.kind + ' ' + request.requestKind.kind + ' ' + "
     "request.resource.resource + ' ' + request.requestResource.version", ONE),
    ("string(request.dryRun) + string(has(request.uid))", [('POST', MAPS + '?dryRun=All', configmap()), *ONE]),
    ("namespaceObject.metadata.labels.map(k, k).sort().join(',') + namespaceObject.metadata.name", ONE),
    ("string(type(object.metadata.creationTimestamp)) + string(type(object.data))", ONE),
    ("object.metadata.labels.app + ' x ' + object.data.a", ONE),
]


def expression_cases():
    for i, expression in enumerate(EXPRESSIONS):
        yield 'e%03d' % i, [validating(expression)], ONE
    for i, (expression, writes) in enumerate(SEEN):
        yield ('s%03d' % i, *said(expression, writes))


LONG = 'y' * 5120
MESSAGES = [
    {'message': 'plain'}, {'message': '  padded  '}, {'message': ''}, {'message': ' '}, {'message': 'two\nlines'}, {'message': 'end\n'},
    {'messageExpression': "'from ' + object.data.a"}, {'messageExpression': "'from ' + object.data.missing"},
    {'messageExpression': "'from ' + object.data.missing", 'message': 'fallback'}, {'messageExpression': "''", 'message': 'fallback'},
    {'messageExpression': "'   '"}, {'messageExpression': "'a\\nb'", 'message': 'fallback'}, {'messageExpression': "'a\\nb'"},
    {'messageExpression': "'\\n a \\n'"}, {'messageExpression': "'a\\rb'"}, {'messageExpression': "'%s'" % LONG},
    {'messageExpression': "'%sx'" % LONG}, {'messageExpression': "'%sx'" % LONG, 'message': 'fallback'}, {'messageExpression': '1'},
    {'messageExpression': 'object.data.a'}, {'messageExpression': 'object.data'}, {'messageExpression': 'object.nope'},
    {'messageExpression': "authorizer.path('/x').check('get').allowed() ? 'a' : 'b'"}, {'messageExpression': 'oldObject.data.a'},
    {'messageExpression': "request.name + namespaceObject.metadata.name"}, {'messageExpression': ' '}, {'messageExpression': "'ünï'"},
    {'messageExpression': "'tab\\tquote\"'"},
    {'reason': 'Unauthorized'}, {'reason': 'Forbidden'}, {'reason': 'Invalid'}, {'reason': 'RequestEntityTooLarge'}, {'reason': 'NotFound'},
    {'reason': 'Conflict'}, {'reason': ''}, {'reason': 'whatever'},
    {'expression': "  object.data.a == '7'\n  && true  "}, {'expression': ' '}, {'expression': "object.data.x == 'y'", 'message': 'unused'},
]


def message_cases():
    for i, each in enumerate(MESSAGES):
        yield 'm%03d' % i, [validating(dict({'expression': "object.data.a == '9'"}, **each))], ONE
    yield 'm-two', [validating("object.data.a == '9'", {'expression': 'object.data.n == 1', 'message': 'second'}, 'object.data.q == 1')], ONE
    yield 'm-late', [validating('true', 'object.data.q == 1', {'expression': 'false', 'message': 'third'})], ONE
    yield 'm-ignored', [validating('object.data.q == 1', {'expression': 'false', 'message': 'second'}, failurePolicy='Ignore')], ONE
    # kube-apiserver visits several policies, and several bindings of one, in the random order of a map: only one of each refuses here.
    yield 'm-policies', [validating({'expression': 'false', 'message': 'one'}), validating({'expression': 'true', 'message': 'two'})], ONE
    yield 'm-bindings', [validating({'expression': 'false', 'message': 'one'}, bindings=[{}, {'validationActions': ['Warn', 'Audit']}])], ONE


def variables(**expressions):
    return [{'name': name, 'expression': expression} for name, expression in expressions.items()]


VARIABLES = [
    (['variables.x == 2'], variables(x='1')), (['variables.y == 2'], variables(x='1', y='variables.x + 2')),
    (['variables.x == 2'], variables(x='variables.y', y='1')), (['true'], variables(x='object.data.missing')),
    (['variables.x == 2'], variables(x='object.data.missing')), (['variables.x == 2 || true'], variables(x='object.data.missing')),
    (['variables.y == 2'], variables(x='object.data.missing', y='variables.x')), (['variables.x.a == 2'], variables(x='object.data')),
    (["variables.x.exists(k, k == 'z')"], variables(x='object.data.map(k, k)')), (['variables.x'], variables(x="object.data.a == '2'")),
    (['variables.x'], variables(x='1')), (['variables.x'], variables(x='object.data.a')), (['has(variables.x)'], variables(x='object.data.q')),
    (['has(variables.q)'], variables(x='1')), (['variables.x.y == 1'], variables(x="{'y': 2}")), (['variables.x[0] == 1'], variables(x='[2]')),
    (['variables.x == null'], variables(x='null')), (['variables.x > timestamp("2200-01-01T00:00:00Z")'], variables(x='timestamp("2020-01-01T00:00:00Z")')),
    (['variables.x == duration("1h")'], variables(x='duration("2h")')), (['variables.x.isGreaterThan(quantity("3"))'], variables(x='quantity("2")')),
    (['variables.x.allowed()'], variables(x="authorizer.group('').resource('pods').check('nope')")),
    (['variables.x.orValue(1) == 2'], variables(x='optional.none()')), (['variables.x == 1u'], variables(x='2u')), (["variables.x == b'a'"], variables(x="b'b'")),
    (['variables.x == 1.5'], variables(x='2.5')), (['variables.x == int'], variables(x='type(1)')),
    (['variables.x == 1'], [{'name': 'x', 'expression': '2'}, {'name': 'x', 'expression': '3'}]),
    (['variables.x == 1'], [{'name': '1x', 'expression': '2'}]), (['variables.x == 1'], [{'name': 'x', 'expression': ''}]),
    (['variables.x == 1'], [{'name': '', 'expression': '1'}]), (['variables.x == 1'], variables(x='object.')), (['variables.x == 1'], variables(x='nope')),
    (["variables.namespace == 'x'"], variables(namespace='object.metadata.namespace')), (['variables.x.size() == 1'], variables(x='object.metadata.labels')),
    (['variables.int == 1'], variables(int='2')), (['variables.in == 1'], [{'name': 'in', 'expression': '2'}]),
    (["variables.l.all(x, x > 1)"], variables(l='[1, 2]')), (["variables.m.all(k, v, v > 1)"], variables(m="{'a': 1}")),
    (["variables.x.metadata.name == 'x'"], variables(x='object')), (["variables.x.metadata.name == 'x'"], variables(x='namespaceObject')),
    (["variables.x.name == 'x'"], variables(x='request')), (["variables.o.metadata == 1"], variables(o='oldObject')),
]
CONDITIONS = [
    ("object.data.a == '1'",), ("object.data.a == '2'",), ("object.data.q == '1'",), ("object.data.q == '1'", "object.data.a == '2'"),
    ("object.data.q == '1'", "object.data.r == '1'"), ("object.data.a == '2'", "object.data.q == '1'"), ("request.name == 'm0'",),
    ("authorizer.group('').resource('pods').check('get').allowed()",), ("namespaceObject.metadata.name == 'NS'",), ("namespaceObject == null",),
    ("variables.x == 1",), ("variables.bad == 1",), ("variables.bad == 1 || true",), ("1",), ("'x'",), ("object.data",), ("object.",), ("params == null",), ("oldObject == null",),
    ("object.data.a",), ("request.userInfo.username.startsWith('k')",), ("",), ("int(object.data.b) == 1",), ("1 / 0 == 1",),
]


def chain_cases():
    for i, (expressions, names) in enumerate(VARIABLES):
        yield 'v%03d' % i, [validating(*expressions, variables=names)], ONE
    for i, conditions in enumerate(CONDITIONS):
        named = [{'name': 'c%d' % n, 'expression': each} for n, each in enumerate(conditions)]
        for failure in ('Fail', 'Ignore'):
            yield 'c%03d%s' % (i, failure[0].lower()), [validating({'expression': 'false', 'message': 'matched'}, matchConditions=named,
                                                                    failurePolicy=failure, variables=variables(x='1', bad='object.data.bad'))], ONE
    yield 'c-names', [validating('false', matchConditions=[{'name': 'a', 'expression': 'true'}, {'name': 'a', 'expression': 'true'}])], ONE
    yield 'c-many', [validating('false', matchConditions=[{'name': 'a%d' % i, 'expression': 'true'} for i in range(65)])], ONE
    yield 'c-mutating', [mutating("Object{data: {'z': '1'}}", matchConditions=[{'name': 'a', 'expression': 'object.data.q == 1'}])], ONE
    yield 'c-mutating-ignored', [mutating("Object{data: {'z': '1'}}", failurePolicy='Ignore',
                                          matchConditions=[{'name': 'a', 'expression': 'object.data.q == 1'}])], ONE
