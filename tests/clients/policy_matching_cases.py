"""More tables for policies_test.py: parameters, matching, actions, annotations, costs, subresources, deletions."""
from policy_cases import APPLY, DEPLOYMENTS, IN_CASE, MAPS, ONE, PODS, UPDATES, WIDGETS, configmap, deployment, maps, pod, rule, said, validating, variables, widget

MAP_KIND = {'apiVersion': 'v1', 'kind': 'ConfigMap'}
WIDGET_KIND = {'apiVersion': 'policy.test/v1', 'kind': 'Widget'}
LIMIT_KIND = {'apiVersion': 'policy.test/v1', 'kind': 'Limit'}  # cluster-scoped
PARAMS = [('POST', MAPS, configmap('p1', {'max': '1'}, labels={'role': 'param'})), ('POST', MAPS, configmap('p2', {'max': '2'}, labels={'role': 'param'})),
          ('POST', MAPS, configmap('p3', {'other': '3'}, labels={'role': 'odd'})), ('POST', WIDGETS % 'v1', widget('w1', limit=5)),
          ('POST', WIDGETS % 'v1', widget('w2', limit=7))]


def ref(**fields):
    return {'paramRef': dict({'parameterNotFoundAction': 'Deny'}, **fields)}


REFS = [  # (paramKind, paramRef)
    (MAP_KIND, ref(name='p1')), (MAP_KIND, ref(name='p1', namespace='NS')), (MAP_KIND, ref(name='p1', namespace='default')),
    (MAP_KIND, ref(name='none')), (MAP_KIND, ref(name='none', parameterNotFoundAction='Allow')), (MAP_KIND, ref(selector={'matchLabels': {'role': 'param'}})),
    (MAP_KIND, ref(selector={})), (MAP_KIND, ref(selector={'matchLabels': {'role': 'none'}})),
    (MAP_KIND, ref(selector={'matchLabels': {'role': 'none'}}, parameterNotFoundAction='Allow')),
    (MAP_KIND, ref(selector={'matchExpressions': [{'key': 'role', 'operator': 'In', 'values': ['odd']}]})), (MAP_KIND, ref(name='p1', selector={})),
    (MAP_KIND, ref()), (MAP_KIND, {}), (MAP_KIND, ref(name='p1', parameterNotFoundAction='Other')), (MAP_KIND, {'paramRef': {'name': 'p1'}}),
    (WIDGET_KIND, ref(name='w1')), (WIDGET_KIND, ref(selector={})), (LIMIT_KIND, ref(name='l1')), (LIMIT_KIND, ref(name='l1', namespace='NS')),
    (LIMIT_KIND, ref(selector={})), (LIMIT_KIND, ref(name='none')), ({'apiVersion': 'policy.test/v1', 'kind': 'Nothing'}, ref(name='p1')),
    ({'apiVersion': 'none.test/v1', 'kind': 'Nothing'}, ref(name='p1', parameterNotFoundAction='Allow')), ({'apiVersion': 'a/b/c', 'kind': 'X'}, ref(name='p1')),
    ({'apiVersion': 'v1', 'kind': ''}, ref(name='p1')), (None, ref(name='p1')), ({'apiVersion': 'v1', 'kind': 'Namespace'}, ref(name='NS')),
    (MAP_KIND, ref(selector={'matchExpressions': [{'key': 'role', 'operator': 'Bad'}]})),
]


def param_cases():
    read = "has(params.data) ? (has(params.data.max) ? params.data.max : 'no max') : 'no data'"
    for i, (kind, binding) in enumerate(REFS):
        for failure in ('Fail', 'Ignore'):
            spec = {'paramKind': kind} if kind else {}
            yield 'p%03d%s' % (i, failure[0].lower()), [validating(
                {'expression': "params != null && object.metadata.name.startsWith('q')" if kind else 'false', 'messageExpression': read if kind else "'x'"},
                binding=binding, failurePolicy=failure, rules=[rule(operations=('UPDATE',))], **spec)], [
                    *PARAMS, ('POST', MAPS, configmap('m')), ('PUT', MAPS + '/m', configmap('m', {'b': 'c'})), ('PUT', MAPS + '/m?dryRun=All', configmap('m', {'b': 'd'}))]
    yield 'p-null', [validating("params == null && object.data.a == '3'", paramKind=MAP_KIND)], ONE
    yield 'p-limit', [validating('object.spec.size < params.spec.limit', paramKind=WIDGET_KIND, binding=ref(name='w1'),
                                 rules=[rule(('widgets',), groups=('policy.test',), operations=('UPDATE',))])], [
        *PARAMS, ('PUT', WIDGETS % 'v1' + '/w2', widget('w2', limit=7, size=9)), ('PATCH', WIDGETS % 'v1' + '/w2', {'spec': {'size': 3}})]
    yield 'p-cluster', [validating('params.data.max == "1"', paramKind=MAP_KIND, binding=dict(ref(name='p1'), matchResources={'objectSelector': {'matchLabels': {'case': 'NS'}}}),
                                   rules=[rule(('clusterroles',), groups=('rbac.authorization.k8s.io',))])], [
        ('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRole',
                                                                     'metadata': {'name': 'NS', 'labels': {'case': 'NS'}}, 'rules': []})]
    yield 'p-variables', [validating('variables.x == "9"', variables=variables(x='params.data.max'), paramKind=MAP_KIND, binding=ref(name='p1'),
                                     rules=[rule(operations=('UPDATE',))], matchConditions=[{'name': 'a', 'expression': "params.data.max == '1'"}])], [
        *PARAMS, ('PUT', MAPS + '/p3', configmap('p3', {'b': 'c'}))]


def where(**match):
    return {'matchResources': match}


SELECTED = {'objectSelector': {'matchLabels': {'app': 'web'}}, 'namespaceSelector': IN_CASE}
MATCHES = [  # (rules of the policy, more of its match, matchResources of the binding)
    ([rule(operations=('CREATE',))], {}, {}), ([rule(operations=('UPDATE',))], {}, {}), ([rule(operations=('DELETE',))], {}, {}),
    ([rule(operations=('CREATE', 'DELETE'))], {}, {}), ([rule(operations=('CONNECT',))], {}, {}), ([rule(('*',), groups=('*',), versions=('*',))], {}, {}),
    ([rule(('*/*',), groups=('*',), versions=('*',))], {}, {}), ([rule(('configmaps/*',))], {}, {}), ([rule(versions=('v2',))], {}, {}),
    ([rule(scope='Cluster')], {}, {}), ([rule(scope='Namespaced')], {}, {}), ([rule(scope='*')], {}, {}), ([rule(resourceNames=['u'])], {}, {}),
    ([rule(resourceNames=['other'])], {}, {}), ([rule(), rule(operations=('CONNECT',))], {}, {}),
    ([rule()], {'excludeResourceRules': [rule(operations=('UPDATE',))]}, {}), ([rule()], {'excludeResourceRules': [rule(resourceNames=['u'])]}, {}),
    ([rule()], {'excludeResourceRules': [rule(('*',), groups=('*',), versions=('*',))]}, {}),
    ([rule()], {'objectSelector': {'matchLabels': {'app': 'web'}}}, {}), ([rule()], {'objectSelector': {'matchLabels': {'app': 'db'}}}, {}),
    ([rule()], {'objectSelector': {'matchExpressions': [{'key': 'app', 'operator': 'NotIn', 'values': ['web']}]}}, {}),
    ([rule()], {'objectSelector': {'matchExpressions': [{'key': 'app', 'operator': 'DoesNotExist'}]}}, {}),
    ([rule()], {'namespaceSelector': {'matchLabels': {'no': 'label'}}}, {}), ([rule()], {'namespaceSelector': {'matchExpressions': [{'key': 'x', 'operator': 'DoesNotExist'}]}}, {}),
    ([rule()], {}, {'resourceRules': [rule(operations=('DELETE',))], 'namespaceSelector': IN_CASE}),
    ([rule()], {}, {'excludeResourceRules': [rule(operations=('CREATE',))], 'namespaceSelector': IN_CASE}), ([rule()], {}, SELECTED),
    ([rule()], {}, {'objectSelector': {'matchLabels': {'app': 'db'}}, 'namespaceSelector': IN_CASE}),
    ([rule()], {}, {'resourceRules': [rule(('pods',))], 'namespaceSelector': IN_CASE}),
    ([rule()], {}, {'resourceRules': [rule(resourceNames=['u'])], 'namespaceSelector': IN_CASE}),
    ([rule()], {'matchPolicy': 'Exact'}, {}), ([rule()], {'matchPolicy': 'Other'}, {}), ([rule(operations=('OTHER',))], {}, {}), ([rule(scope='Other')], {}, {}),
    ([rule(())], {}, {}), ([rule(('a/b/c',))], {}, {}), ([rule(('configmaps', '*'))], {}, {}), ([rule(groups=())], {}, {}), ([rule(operations=())], {}, {}),
    ([rule(('Pods',))], {}, {}), ([rule()], {'objectSelector': {'matchExpressions': [{'key': 'app', 'operator': 'Bad'}]}}, {}),
    ([rule()], {'namespaceSelector': {'matchLabels': {'a b': 'c'}}}, {}),
]
VERSIONS = [('POST', WIDGETS % 'v1', widget('one', size=1)), ('POST', WIDGETS % 'v2', widget('two', 'v2', size=2)),
            ('PATCH', WIDGETS % 'v2' + '/two', {'spec': {'size': 3}}), ('PATCH', WIDGETS % 'v1' + '/two', {'spec': {'size': 4}}), ('DELETE', WIDGETS % 'v2' + '/two', None)]
SHOWS = ("(object == null ? oldObject : object).apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version + ' ' + request.resource.version "
         "+ ' ' + request.requestResource.version + ' ' + string((object == null ? oldObject : object).spec.size)")


def match_cases():
    for i, (rules, more, binding) in enumerate(MATCHES):
        yield 'r%03d' % i, [validating({'expression': 'false', 'message': 'matched'}, rules=rules, match=more, actions=('Warn', 'Audit'),
                                       binding=where(**binding) if binding else {})], UPDATES
    for i, policy in enumerate(('Exact', 'Equivalent', None)):
        for version in ('v1', 'v2'):
            policies, _ = said(SHOWS, actions=('Warn',), rules=[rule(('widgets',), groups=('policy.test',), versions=(version,))],
                               match={'matchPolicy': policy} if policy else {})
            yield 'r-version-%d%s' % (i, version), policies, VERSIONS
        policies, _ = said("request.kind.group + '/' + request.kind.version + ' ' + request.requestKind.group + ' ' + request.resource.group", actions=('Warn',),
                           rules=[rule(('events',), groups=('events.k8s.io',))], match={'matchPolicy': policy} if policy else {})
        yield 'r-group-%d' % i, policies, [('POST', '/api/v1/namespaces/NS/events', {
            'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'e'}, 'involvedObject': {'namespace': 'NS'}, 'type': 'Normal', 'reason': 'x', 'message': 'y'})]
    policies, _ = said(SHOWS, actions=('Warn',), rules=[rule(('widgets',), groups=('policy.test',), versions=('*',))])
    yield 'r-version-any', policies, VERSIONS
    yield 'r-binding-version', said(SHOWS, actions=('Warn',), rules=[rule(('widgets',), groups=('policy.test',), versions=('v1',))],
                                    binding=where(namespaceSelector=IN_CASE, resourceRules=[rule(('widgets',), groups=('policy.test',), versions=('v2',))]))[0], VERSIONS
    cluster = where(objectSelector={'matchLabels': {'case': 'NS'}})
    space = {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'NS-more', 'labels': {'case': 'NS'}}}
    spaces = [('POST', '/api/v1/namespaces', space), ('PATCH', '/api/v1/namespaces/NS-more', {'metadata': {'labels': {'x': 'y'}}}), ('DELETE', '/api/v1/namespaces/NS-more', None)]
    seen = "string(namespaceObject == null) + request.namespace + '/' + request.name"
    for scope in ('Cluster', 'Namespaced', '*'):
        yield 'r-space-' + {'*': 'any'}.get(scope, scope.lower()), said(seen, actions=('Warn',), rules=[rule(('namespaces',), scope=scope)], binding=cluster)[0], spaces
    yield 'r-space-selector', said("'seen'", actions=('Warn',), rules=[rule(('namespaces',))], binding=where(namespaceSelector={'matchLabels': {'case': 'NS'}}))[0], spaces
    yield 'r-reviews', said("'seen'", actions=('Warn',), rules=[rule(('*',), groups=('*',), versions=('*',), operations=('CREATE',))],
                            binding=where(objectSelector={'matchLabels': {'case': 'NS'}}))[0], [
        ('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectAccessReview',
                                                                            'metadata': {'labels': {'case': 'NS'}}, 'spec': {'nonResourceAttributes': {'path': '/', 'verb': 'get'}}}),
        ('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRole',
                                                                     'metadata': {'name': 'NS', 'labels': {'case': 'NS'}}, 'rules': []})]


ACTIONS = [('Deny',), ('Warn',), ('Audit',), ('Warn', 'Audit'), ('Audit', 'Deny'), ('Deny', 'Warn'), (), ('Other',), ('Warn', 'Warn'), ('Audit', 'Warn')]
ANNOTATIONS = [
    [{'key': 'k', 'valueExpression': "'value ' + object.data.a"}], [{'key': 'k', 'valueExpression': 'null'}], [{'key': 'k', 'valueExpression': "''"}],
    [{'key': 'k', 'valueExpression': 'object.data.missing'}], [{'key': 'k', 'valueExpression': '1'}], [{'key': 'k', 'valueExpression': "object.data.a == '1' ? 'x' : null"}],
    [{'key': 'a', 'valueExpression': "'1'"}, {'key': 'b', 'valueExpression': "'2'"}], [{'key': 'a', 'valueExpression': "'1'"}, {'key': 'a', 'valueExpression': "'2'"}],
    [{'key': 'Bad Key', 'valueExpression': "'1'"}], [{'key': '', 'valueExpression': "'1'"}], [{'key': 'k', 'valueExpression': ''}], [{'key': 'k', 'valueExpression': "'%s'" % ('z' * 6000)}],
    [{'key': 'k', 'valueExpression': "object.data.n + '%s'" % ('z' * 5000)}], [{'key': 'k', 'valueExpression': "' padded '"}], [{'key': 'k', 'valueExpression': "'two\\nlines'"}],
    [{'key': 'k', 'valueExpression': "authorizer.path('/').check('get').allowed() ? 'a' : 'b'"}], [{'key': 'k', 'valueExpression': 'object.data.a'}],
    [{'key': 'k', 'valueExpression': "[1, 2].map(i, string(i)).join('%s')" % ('q' * 5100)}], [{'key': 'k%d' % i, 'valueExpression': "'x'"} for i in range(21)],
    [{'key': 'k', 'valueExpression': 'variables.x'}], [{'key': 'k', 'valueExpression': "lists.range(3000).map(i, 'abcd').join(',')"}],
]
BIG = configmap('big', {'k%d' % i: 'v' * 40 for i in range(300)})
COSTS = ["object.data.all(k, object.data.all(l, object.data.all(m, k + l + m != 'x')))", "lists.range(100000).all(i, lists.range(1000).all(j, i + j >= 0))",
         "lists.range(900000).all(i, i >= 0)", "object.data.all(k, object.data.all(l, k + l != 'x'))"]


def action_cases():
    for i, actions in enumerate(ACTIONS):
        yield 'a%03d' % i, [validating({'expression': "object.data.a == '9'", 'message': 'said "so"\tthere'}, 'object.data.q == 1', actions=actions)], ONE
    for i, annotations in enumerate(ANNOTATIONS):
        for failure in ('Fail', 'Ignore'):
            yield 'n%03d%s' % (i, failure[0].lower()), [validating("true", auditAnnotations=annotations, failurePolicy=failure, variables=variables(x="'v'"))], ONE
    yield 'n-only', [validating(auditAnnotations=[{'key': 'k', 'valueExpression': "'x'"}])], ONE
    yield 'n-none', [validating()], ONE
    yield 'n-bindings', [validating('true', auditAnnotations=[{'key': 'k', 'valueExpression': "object.metadata.name"}], bindings=[{}, {}])], ONE
    yield 'n-params', [validating("params.data.max == '1'", auditAnnotations=[{'key': 'k', 'valueExpression': 'params.metadata.name'}], paramKind=MAP_KIND, actions=('Warn', 'Audit'),
                                  binding=ref(selector={'matchLabels': {'role': 'param'}}), rules=[rule(operations=('UPDATE',))])], [
        *PARAMS, ('PUT', MAPS + '/p3', configmap('p3', {'b': 'c'}))]
    for i, expression in enumerate(COSTS):
        for failure in ('Fail', 'Ignore'):
            yield 'x%03d%s' % (i, failure[0].lower()), [validating(expression, {'expression': 'false', 'message': 'after'}, failurePolicy=failure)], [('POST', MAPS, BIG)]
        yield 'x%03d-condition' % i, [validating('false', matchConditions=[{'name': 'c', 'expression': expression}, {'name': 'd', 'expression': expression}])], [('POST', MAPS, BIG)]
        yield 'x%03d-variable' % i, [validating('variables.x', 'variables.x', variables=variables(x=expression))], [('POST', MAPS, BIG)]
        if i in (0, 3):  # others take a kube-apiserver longer than the request timeout
            yield 'x%03d-many' % i, [validating(*[expression] * 12)], [('POST', MAPS, BIG)]
        yield 'x%03d-message' % i, [validating({'expression': 'false', 'messageExpression': "%s ? 'a' : 'b'" % expression})], [('POST', MAPS, BIG)]
        yield 'x%03d-note' % i, [validating('true', auditAnnotations=[{'key': 'k', 'valueExpression': "%s ? 'a' : 'b'" % expression}])], [('POST', MAPS, BIG)]


SUB = "request.subResource + ' ' + request.kind.kind + ' ' + (object == null ? 'null' : object.kind) + ' ' + (oldObject == null ? 'null' : oldObject.kind)"
SCALE = {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {'name': 'd', 'namespace': 'NS'}, 'spec': {'replicas': 5}}


def subresource_cases():
    writes = [('POST', DEPLOYMENTS, deployment()), ('PUT', DEPLOYMENTS + '/d/scale', SCALE), ('PATCH', DEPLOYMENTS + '/d/scale', {'spec': {'replicas': 7}}),
              ('PATCH', DEPLOYMENTS + '/d/status', {'status': {'replicas': 1}}), ('DELETE', DEPLOYMENTS + '/d', None)]
    for i, resource in enumerate(('deployments', 'deployments/scale', 'deployments/status', 'deployments/*', '*/scale', '*')):
        rules = [rule((resource,), groups=('apps',))]
        yield 'b%03d' % i, said('request.operation + ' + SUB.replace('request.subResource', "(has(request.subResource) ? request.subResource : '-')"), actions=('Warn',), rules=rules)[0], writes
    yield 'b-scale-spec', [validating('object.spec.replicas < 6 && oldObject.spec.replicas < 6', rules=[rule(('deployments/scale',), groups=('apps',))])], writes
    yield 'b-scale-kind', said("request.kind.group + request.requestKind.group", actions=('Warn',), rules=[rule(('deployments/scale',), groups=('apps',))], match={'matchPolicy': 'Exact'})[0], writes
    pods = [('POST', PODS, pod()), ('POST', PODS + '/p/eviction', {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'p'}}),
            ('POST', PODS, pod('q')), ('POST', PODS + '/q/binding', {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': 'q'}, 'target': {'kind': 'Node', 'name': 'n'}}),
            ('PATCH', PODS + '/q/status', {'status': {'phase': 'Running'}}), ('PATCH', PODS + '/q/ephemeralcontainers', {'spec': {'ephemeralContainers': [{'name': 'e', 'image': 'x'}]}}),
            ('PATCH', PODS + '/q/resize', {'spec': {'containers': [{'name': 'c', 'resources': {'requests': {'cpu': '1'}}}]}}),
            ('DELETE', PODS + '/q?gracePeriodSeconds=0', None)]
    show = "request.operation + ' ' + (has(request.subResource) ? request.subResource : '-') + ' ' + request.kind.kind + ' ' + (object == null ? 'null' : object.kind) + ' ' + (oldObject == null ? 'null' : oldObject.kind)"
    yield 'b-pods', said(show, actions=('Warn', 'Audit'), rules=[rule(('pods', 'pods/*'))])[0], pods
    connect = said("request.operation + ' ' + request.subResource + ' ' + object.kind + ' ' + object.container + ' ' + string(oldObject == null)", rules=[rule(('pods/exec', 'pods/attach', 'pods/portforward'), operations=('CONNECT',))])[0]
    yield 'b-connect', connect, [('POST', PODS, pod()), ('POST', PODS + '/p/exec?container=c&command=ls', None), ('POST', PODS + '/p/attach?container=c', None), ('POST', PODS + '/p/portforward', None)]
    yield 'b-proxy', said("request.options == null ? 'null' : 'options'", rules=[rule(('pods/proxy', 'services/proxy'), operations=('CONNECT',))])[0], [('POST', PODS, pod()), ('GET', PODS + '/p/proxy/x', None)]
    yield 'b-token', said("object.kind + string(object.spec.expirationSeconds)", rules=[rule(('serviceaccounts/token',))])[0], [
        ('POST', '/api/v1/namespaces/NS/serviceaccounts', {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'a'}}),
        ('POST', '/api/v1/namespaces/NS/serviceaccounts/a/token', {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {}})]
    gone = [('POST', MAPS, configmap('x')), ('DELETE', MAPS + '/x?dryRun=All', None),
            ('DELETE', MAPS + '/x', {'apiVersion': 'v1', 'kind': 'DeleteOptions', 'propagationPolicy': 'Background', 'gracePeriodSeconds': 0}), ('DELETE', MAPS + '/none', None)]
    for i, expression in enumerate(("oldObject.data.a == '2'", 'object == null && false', 'object.data.a == "1"', 'has(object.data)', "request.options.propagationPolicy == 'Foreground'",
                                    'request.options.gracePeriodSeconds == 1', "request.name == 'y'", 'request.dryRun')):
        yield 'd%03d' % i, [validating(expression, rules=[rule(operations=('DELETE',))])], gone
    yield 'd-collection', said('request.name + string(oldObject.data.size())', rules=[rule(operations=('DELETE',))], actions=('Warn',))[0], [
        ('POST', MAPS, configmap('x')), ('POST', MAPS, configmap('y')), ('DELETE', MAPS + '?labelSelector=app%3Dweb', None)]
    yield 'd-finalizer', said("request.operation + (object == null ? '' : string(size(object.metadata.?finalizers.orValue([]))))", actions=('Warn',))[0], [
        ('POST', MAPS, configmap('x', finalizers=['a.b/c'])), ('DELETE', MAPS + '/x', None), ('PATCH', MAPS + '/x', {'metadata': {'finalizers': None}})]
    yield 'd-apply', [validating("object.data.z != 'no'")], [(APPLY, MAPS + '/a?fieldManager=me', configmap('a', {'z': 'no'})), (APPLY, MAPS + '/a?fieldManager=me', configmap('a', {'z': 'yes'})),
                                                             (APPLY, MAPS + '/a?fieldManager=me', configmap('a', {'z': 'no'}))]
