"""Requests whose responses depend on rights, with their users.  Rows are (method, path, body)."""
import itertools

from rights_users import (AUTHENTICATION, CLUSTER_ROLES, DEFAULT_USERS, RBAC, READ_PODS, binding, path_of, role, rule, users)

MERGE = 'application/merge-patch+json'
WORK = '/api/v1/namespaces/work/'
REVIEWS = '/apis/authorization.k8s.io/v1/'
WHOAMI = ('POST', '/apis/%s/v1/selfsubjectreviews' % AUTHENTICATION, {'apiVersion': AUTHENTICATION + '/v1', 'kind': 'SelfSubjectReview'})
DRY = '?dryRun=All'

# Names that no object has: 404 shows that the request was allowed.
REQUESTS = [('GET', path, None) for path in (
    '/', '/healthz', '/livez/ping', '/version', '/api', '/apis', '/apis/apps/v1', '/openapi/v2x', '/metrics', '/logs/x', '/nothing',
    '/api/v1/pods', WORK + 'pods', WORK + 'pods/none', WORK + 'pods/none/log', WORK + 'pods/none/status', '/api/v1/namespaces/other/pods/none',
    WORK + 'secrets', WORK + 'secrets/none', '/api/v1/nodes', '/api/v1/nodes/none', '/api/v1/namespaces', '/api/v1/namespaces/work',
    WORK + 'services/none/proxy', '/api/v1/nodes/none/proxy/metrics', WORK + 'pods?labelSelector=a%3Db&fieldSelector=spec.nodeName%3Dn1',
    '/apis/apps/v1/namespaces/work/deployments/none/scale', '/apis/rbac.authorization.k8s.io/v1/clusterroles/none',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/work/roles', '/apis/example.com/v1/things', '/apis/storage.k8s.io/v1/csinodes/none',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler',
)] + [
    ('POST', WORK + 'pods' + DRY, {}), ('POST', WORK + 'pods/none/exec?command=x', {}), ('POST', WORK + 'pods/none/eviction', {}),
    ('POST', WORK + 'pods/none/binding', {}), ('POST', WORK + 'serviceaccounts/none/token', {}), ('POST', '/api/v1/namespaces' + DRY, {}),
    ('POST', WORK + 'events' + DRY, {}), ('PUT', '/api/v1/nodes/none/status', {}), ('PATCH', WORK + 'configmaps/none', {}),
    ('DELETE', WORK + 'pods/none', None), ('DELETE', '/api/v1/namespaces/none', None),
    ('DELETE', WORK + 'secrets?labelSelector=a%3Dnone&dryRun=All', None),
    ('PUT', '/apis/certificates.k8s.io/v1/certificatesigningrequests/none/approval', {}), ('OPTIONS', WORK + 'pods', None),
    ('HEAD', WORK + 'pods/none', None),
    ('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {'spec': {'token': 'x'}}), ('POST', '/healthz', {}),
    ('TRACE', WORK + 'pods/none', None)]

# Attributes of SubjectAccessReviews, with words of the API that requests cannot have all of.
RESOURCES = [(verb, group, resource, subresource, namespace, name) for (group, resource, subresource), verb, (namespace, name) in itertools.product(
    (('', 'pods', ''), ('', 'pods', 'log'), ('', 'secrets', ''), ('', 'nodes', ''), ('', 'serviceaccounts', 'token'), ('apps', 'deployments', ''),
     ('apps', 'deployments', 'scale'), (RBAC, 'clusterroles', ''), ('coordination.k8s.io', 'leases', ''), ('*', '*', '*')),
    ('get', 'watch', 'create', 'deletecollection', 'impersonate', '*'), (('', ''), ('work', ''), ('work', 'one'), ('kube-system', 'one')))]
URLS = list(itertools.product(('get', 'post', '*'), ('/', '/healthz', '/healthz/etcd', '/metrics', '/apis', '/apis/x/y', '/logs/a', '*')))


def review_specs():
    for verb, group, resource, subresource, namespace, name in RESOURCES:
        attributes = {'verb': verb, 'group': group, 'resource': resource, 'subresource': subresource, 'namespace': namespace, 'name': name}
        yield {'resourceAttributes': {key: value for key, value in attributes.items() if value}}
    for verb, path in URLS:
        yield {'nonResourceAttributes': {'verb': verb, 'path': path}}


def reviews():
    """(user, groups, spec): all of the default users, and every seventh of each other user, another one each time."""
    known = {'system:anonymous': ('system:unauthenticated',), 'system:serviceaccount:work': (), 'system:serviceaccount:kube-system:': ()}
    for place, (user, groups) in enumerate({**users(), **known}.items()):
        for number, spec in enumerate(review_specs()):
            if user in DEFAULT_USERS or user in known or (number + place) % 7 == 0:
                yield user, groups, spec


# Invalid reviews, and selectors.
ODD_REVIEWS = [
    {}, {'user': 'jane'}, {'resourceAttributes': {}, 'nonResourceAttributes': {}, 'user': 'jane'}, {'resourceAttributes': {}, 'user': 'jane'},
    {'nonResourceAttributes': {}, 'user': 'jane'}, {'resourceAttributes': {'verb': 'get'}, 'groups': ['']},
    {'groups': ['system:masters'], 'resourceAttributes': {'verb': 'x'}},
    {'user': 'system:node:n1', 'groups': ['system:nodes'], 'resourceAttributes': {'verb': 'list', 'resource': 'pods',
    'fieldSelector': {'rawSelector': 'spec.nodeName=n1'}}},
    {'user': 'system:node:n1', 'groups': ['system:nodes'], 'resourceAttributes': {'verb': 'list', 'resource': 'pods',
    'fieldSelector': {'rawSelector': 'spec.nodeName=n2'}}},
    {'user': 'system:node:n1', 'groups': ['system:nodes'], 'resourceAttributes': {'verb': 'list', 'resource': 'pods',
    'fieldSelector': {'requirements': [
        {'key': 'spec.nodeName', 'operator': 'In', 'values': ['n1']}]}}},
    {'user': 'system:node:n1', 'groups': ['system:nodes'], 'resourceAttributes': {'verb': 'list', 'resource': 'pods',
    'fieldSelector': {'requirements': [
        {'key': 'spec.nodeName', 'operator': 'In', 'values': ['n1', 'n2']}]}}},
    {'user': 'x', 'resourceAttributes': {'verb': 'list', 'resource': 'pods', 'fieldSelector': {'rawSelector': 'a=b',
    'requirements': [{'key': 'a', 'operator': 'Exists'}]}}},
    {'user': 'x', 'resourceAttributes': {'verb': 'list', 'resource': 'pods', 'fieldSelector': {'requirements': [{'key': '', 'operator': 'In',
    'values': []}]}}},
    {'user': 'x', 'resourceAttributes': {'verb': 'list', 'resource': 'pods', 'labelSelector': {'requirements': [{'key': 'a',
    'operator': 'Nonsense', 'values': ['x']}]}}},
    {'user': 'x', 'resourceAttributes': {'verb': 'list', 'resource': 'pods', 'labelSelector': {'rawSelector': 'a in (b'}}},
    {'user': 'x', 'resourceAttributes': {'verb': 'list', 'resource': 'pods', 'labelSelector': {'requirements': [{'key': 'a', 'operator': 'In',
    'values': ['%%%']}]}}},
    {'user': 'granter', 'extra': {'a': ['b']}, 'uid': 'x', 'resourceAttributes': {'verb': 'list', 'resource': 'pods', 'version': '*'}},
    {'user': 'lost', 'resourceAttributes': {'verb': 'list', 'resource': 'secrets'}},
]

# Headers of impersonation; a user of rights_users and a request are added to each.
HEADERS = [[('Impersonate-' + key, value) for key, value in row] for row in (
    [('User', 'alice')], [('User', 'bob')], [('User', 'alice'), ('Group', 'dev')], [('User', 'alice'), ('Group', 'dev'), ('Group', 'ops')],
    [('User', 'alice'), ('Group', 'other')], [('User', 'alice'), ('Group', '')], [('User', 'alice'), ('Group', 'system:masters')],
    [('User', 'alice'), ('Group', 'system:authenticated')], [('User', 'alice'), ('Group', 'system:unauthenticated')],
    [('User', 'alice'), ('Uid', 'u1')], [('User', 'alice'), ('Extra-Scopes', 'view')], [('User', 'alice'), ('Extra-Scopes', 'view'),
    ('Extra-Scopes', 'edit')],
    [('User', 'alice'), ('Extra-Scopes', 'delete')], [('User', 'alice'), ('Extra-Example.com%2fScopes', 'view')],
    [('User', 'alice'), ('Extra-Example.com%2fScopes', '')],
    [('User', 'alice'), ('Extra-Other', 'x')], [('User', 'alice'), ('Extra-', 'x')], [('User', 'alice'), ('Extra-A%2', 'x')],
    [('User', 'alice'), *(('Group', name) for name in ('dev', 'ops', 'a', 'b'))], [('User', 'alice'),
    *(('Extra-Scopes', name) for name in ('view', 'edit', 'a', 'b'))],
    [('User', 'system:anonymous')], [('User', 'system:anonymous'), ('Group', 'dev')], [('User', 'system:serviceaccount:work:default')],
    [('User', 'system:serviceaccount:other:default')], [('User', 'system:serviceaccount:work:default'), ('Group', 'dev')],
    [('User', 'system:serviceaccount:work:default'), ('Uid', 'u1')], [('User', 'system:serviceaccount:work')],
    [('User', 'system:serviceaccount:Work:X')],
    [('User', 'system:node:n1')], [('User', 'system:node:n2')], [('User', 'system:node:n1'), ('Group', 'system:nodes')],
    [('User', 'system:node:')], [('User', 'system:node:Upper')],
    [('User', 'kubernetes-admin')], [('User', '')], [('Group', 'dev')], [('Uid', 'u1')], [('Extra-Scopes', 'x')],
    [('User', ''), ('Group', 'dev'), ('Uid', 'u1')],
    [('Uid', 'u1'), ('Group', 'dev'), ('Extra-Scopes', 'a')],
)]
IMPERSONATORS = [name for name in CLUSTER_ROLES if any('impersonate' in verb for each in CLUSTER_ROLES[name] for verb in each['verbs'])]
IMPERSONATORS += ['work-accounts', 'kubernetes-admin', 'nobody', 'admin-in-work', 'edit-everywhere', 'everything']
IMPERSONATED = [WHOAMI, ('GET', WORK + 'pods', None), ('GET', WORK + 'configmaps/none', None), ('GET', '/healthz', None)]

# Requests of a service account that acts as the node of the pod to which its token is bound.
AS_NODE = [(headers, row) for headers in (
    [('Impersonate-User', 'system:node:n1')], [('Impersonate-User', 'system:node:n2')], [('Impersonate-User', 'system:node:n1'),
    ('Impersonate-Group', 'system:nodes')],
    [('Impersonate-User', 'system:node:n1'), ('Impersonate-Uid', 'x')], [('Impersonate-User', 'alice')],
    [('Impersonate-User', 'system:serviceaccount:work:runner')])
    for row in (WHOAMI, ('GET', WORK + 'pods/one', None), ('GET', WORK + 'pods?fieldSelector=spec.nodeName%3Dn1', None),
    ('GET', WORK + 'pods', None),
                ('GET', WORK + 'secrets/used', None), ('GET', '/healthz', None))]

# Roles that a user may or may not write.
RULES = [
    [], [READ_PODS], [rule(['get'], ['pods'])], [rule(['get', 'delete'], ['pods'])], [rule(['get'], ['pods', 'secrets'])], [rule(['*'], ['pods'])],
    [rule(['get'], ['*'])], [rule(['get'], ['pods'], ['*'])], [rule(['get'], ['pods'], names=['x'])], [rule(['get'], ['configmaps'], names=['a'])],
    [rule(['get'], ['configmaps'], names=['a', 'c'])], [rule(['get'], ['configmaps'])], [rule(['get'], ['pods/log', 'pods/exec'])],
    [rule(['get'], ['*/log'])],
    [rule(['get'], ['*/scale'], ['apps'])], [rule(['get'], ['deployments/scale', 'deployments/status'], ['apps'])],
    [rule(['delete', 'get'], ['secrets', 'configmaps'], ['', 'apps']), rule(['list'], ['nodes']), READ_PODS],
    [rule(['bind', 'escalate'], ['roles'], [RBAC])],
    [rule(['*'], ['*'], ['*'])], [rule(['*'], ['*'], ['*'], names=['x'])],
    [rule(['get', 'list'], ['secrets']), rule(['get'], ['secrets'], names=['z', 'y'])], [rule(['impersonate'], ['users'])],
]
URL_RULES = [[rule(['get'], urls=[url])] for url in ('/logs/x', '/logs/*', '/logs', '/metrics', '/*',
    '*')] + [[rule(['get', 'post'], urls=['/logs/a', '/b'])]]
GRANTERS = ('granter', 'escalator', 'named-escalator', 'binder', 'work-granter', 'admin-in-work', 'edit-in-work', 'cluster-admin-in-work',
    'admin-everywhere',
            'cluster-admin-everywhere', 'everything', 'kubernetes-admin', 'lost',
            'system:serviceaccount:kube-system:clusterrole-aggregation-controller')
AGGREGATION = {'aggregationRule': {'clusterRoleSelectors': [{'matchLabels': {'a': 'b'}}]}}
BOUND = [('ClusterRole', name) for name in ('view', 'edit', 'cluster-admin', 'granter', 'urls', 'missing')] + [
    ('Role', 'secret-reader'), ('Role', 'work-granter'), ('Role', 'missing')]


def posts(item):
    return ('POST', path_of(item) + DRY, item)


def grants():
    """Roles that are created, and changed."""
    for rules in RULES:
        yield posts(role('new', rules, 'Role', 'work'))
        yield posts(role('new', rules))
    for rules in URL_RULES:
        yield posts(role('mine', rules))
    yield posts(role('new', [], **AGGREGATION))
    for name in ('granter', 'urls'):
        path = path_of(role(name, [])) + '/' + name + DRY
        yield ('PUT', path, role(name, CLUSTER_ROLES[name]))
        yield ('PUT', path, role(name, CLUSTER_ROLES[name][:1]))
        yield ('PUT', path, role(name, CLUSTER_ROLES[name] + [rule(['get'], ['nodes'])]))
        yield ('PATCH', path, {'metadata': {'labels': {'a': 'b'}}})
        yield ('PATCH', path, {'rules': [rule(['get'], ['nodes'])]})
        yield ('PATCH', path, AGGREGATION)
        yield ('APPLY', path + '&fieldManager=t', role(name, [rule(['list'], ['nodes'])]))
    yield ('APPLY', path_of(role('new', [])) + '/new' + DRY + '&fieldManager=t', role('new', [rule(['list'], ['nodes'])]))
    yield ('PUT', path_of(role('new', [])) + '/missing' + DRY, role('missing', [READ_PODS]))


def bindings():
    """Bindings that are created, and changed."""
    for kind, name in BOUND:
        yield posts(binding('new', name, 'jane', namespace='work', kind=kind))
        if kind == 'ClusterRole':
            yield posts(binding('new', name, 'jane'))
    path = path_of(binding('view', 'view', namespace='work')) + '/view' + DRY
    for to in ('view', 'edit'):
        yield ('PUT', path, binding('view', to, 'jane', namespace='work'))
    yield ('PUT', path, binding('view', 'view', 'view-in-work', namespace='work'))
    yield ('PATCH', path, {'subjects': [{'kind': 'ServiceAccount', 'name': 'x', 'namespace': 'work'}]})
    yield ('PATCH', path, {'metadata': {'labels': {'a': 'b'}}})
    yield ('PUT', path.replace('/view?', '/missing?'), binding('missing', 'view', 'jane', namespace='work'))
    yield ('APPLY', path.replace('/view?', '/new?') + '&fieldManager=t', binding('new', 'edit', 'jane', namespace='work'))
