"""Random roles, bindings and changes, and reviews of them. There are few names, so that a review often matches a rule."""
from rights_users import RBAC, RBAC_PATH, account, binding, path_of, role

VERBS = ('get', 'list', 'create', 'delete', 'impersonate', '*')
GROUPS = ('', 'apps', 'example.com', '*')
RESOURCES = ('pods', 'pods/log', 'pods/*', '*/log', '*/scale', 'secrets', 'deployments', 'deployments/scale', 'things', '*')
NAMES = ('one', 'two', 'system:three')
URLS = ('/healthz', '/healthz/*', '/metrics', '/a*', '/a/b', '*', '/*')
PATHS = ('/healthz', '/healthz/ping', '/metrics', '/a', '/abc', '/a/b', '/a/b/c', '/')
SPACES = ('work', 'other')
SUBJECTS = [('User', name) for name in ('u1', 'u2', account('x', 'work'), 'system:anonymous')] + [('Group', name) for name in (
    'g1', 'g2', 'system:serviceaccounts', 'system:serviceaccounts:work', 'system:authenticated-twice')] + [('ServiceAccount', name)
    for name in ('x', 'y')]
USERS = [('u1', []), ('u2', ['g1']), ('u3', ['g1', 'g2']), (account('x', 'work'), ['system:serviceaccounts', 'system:serviceaccounts:work']),
    (account('x', 'other'), []),
         (account('y', 'other'), ['system:serviceaccounts']), ('system:anonymous', []), ('u4', [])]
ROLES = 24
BINDINGS = 30


def some(rng, words, most=3):
    return rng.sample(words, rng.randint(1, most))


def rule(rng, cluster):
    out = {'verbs': some(rng, VERBS, 2)}
    if cluster and rng.random() < 0.25:
        return dict(out, nonResourceURLs=some(rng, URLS))
    out.update(apiGroups=some(rng, GROUPS, 2), resources=some(rng, RESOURCES))
    return dict(out, resourceNames=some(rng, NAMES, 2)) if rng.random() < 0.3 else out


def rules(rng, cluster):
    return [rule(rng, cluster) for _ in range(rng.randint(0, 3))]


def subject(rng):
    kind, name = rng.choice(SUBJECTS)
    if kind == 'ServiceAccount':
        return {'kind': kind, 'name': name, 'namespace': rng.choice(SPACES)}
    return {'kind': kind, 'name': name, 'apiGroup': RBAC}


def random_binding(rng, number):
    namespace = rng.choice((None, *SPACES))
    kind = 'Role' if namespace and rng.random() < 0.5 else 'ClusterRole'
    # One in ten refers to a role that does not exist.
    item = binding('random-%d' % number, 'random-%d' % rng.randrange(ROLES + ROLES // 10), namespace=namespace, kind=kind)
    return dict(item, subjects=[subject(rng) for _ in range(rng.randint(0, 3))])


def objects(rng):
    for number in range(ROLES):
        yield role('random-%d' % number, rules(rng, True))
        for namespace in SPACES:
            yield role('random-%d' % number, rules(rng, False), 'Role', namespace)
    for number in range(BINDINGS):
        item = random_binding(rng, number)
        yield item


def changes(rng):
    """(method, path, body) on some of the roles."""
    for number in rng.sample(range(ROLES), ROLES // 2):
        namespace = rng.choice((None, *SPACES))
        item = role('random-%d' % number, [], 'Role' if namespace else 'ClusterRole', namespace)
        if rng.random() < 0.2:
            yield ('DELETE', '%s/%s' % (path_of(item), item['metadata']['name']), None)
        else:
            yield ('PATCH', '%s/%s' % (path_of(item), item['metadata']['name']), {'rules': rules(rng, not namespace)})
    for name in ('view', 'edit'):
        yield ('PATCH', RBAC_PATH + 'namespaces/work/rolebindings/' + name, {'metadata': {'labels': {'changed': 'yes'}}})


def review(rng):
    user, groups = rng.choice(USERS)
    if rng.random() < 0.2:
        return {'user': user, 'groups': groups, 'nonResourceAttributes': {'verb': rng.choice(VERBS), 'path': rng.choice(PATHS)}}
    resource, _, subresource = rng.choice(RESOURCES).partition('/')
    attributes = {'verb': rng.choice(VERBS), 'group': rng.choice(GROUPS), 'resource': resource, 'subresource': subresource,
                  'namespace': rng.choice(('', *SPACES)), 'name': rng.choice(('', *NAMES, 'four'))}
    return {'user': user, 'groups': groups, 'resourceAttributes': attributes}
