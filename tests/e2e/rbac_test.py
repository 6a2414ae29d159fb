"""RBAC and impersonation: rights by roles, escalation, and requests that are served as another user."""
import json
import threading
import unittest

from harness import Server, kubectls, main, wait_for

RBAC = '/apis/rbac.authorization.k8s.io/v1'
REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
MERGE = {'Content-Type': 'application/merge-patch+json'}
APPLY = {'Content-Type': 'application/apply-patch+yaml'}


def rule(verbs, resources, groups=('',), names=None):
    out = {'verbs': list(verbs), 'apiGroups': list(groups), 'resources': list(resources)}
    return dict(out, resourceNames=list(names)) if names else out


class Rbac(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server('--authorization-mode=RBAC')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        self.ns = self.id().rsplit('.', 1)[1].replace('_', '-')[:50]
        self.made = []
        self.create('/api/v1/namespaces', 'v1', 'Namespace', self.ns)

    def tearDown(self):
        for path in self.made:
            self.server.request('DELETE', path)

    def ask(self, user, method, path, body=None, headers=None, groups=()):
        """(code, message) of a request that the administrator makes as `user`."""
        connection = self.server.connect()
        connection.putrequest(method, path)
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else b''
        send = {'Content-Type': 'application/json', 'Content-Length': str(len(raw)), 'Impersonate-User': user, **(headers or {})}
        for name, value in send.items():
            connection.putheader(name, value)
        for group in groups:
            connection.putheader('Impersonate-Group', group)
        connection.endheaders(raw)
        response = connection.getresponse()
        answer = response.read().decode()
        connection.close()
        try:
            return response.status, json.loads(answer).get('message', '')
        except ValueError:
            return response.status, answer

    def create(self, path, version, kind, name, **fields):
        code, _, answer = self.server.request('POST', path, {'apiVersion': version, 'kind': kind, 'metadata': {'name': name}, **fields})
        self.assertIn(code, (201, 409), answer)
        if kind.startswith('Cluster'):
            self.made.append('%s/%s' % (path, name))
        return answer

    def path(self, resource):
        return RBAC + ('/' if resource.startswith('cluster') else '/namespaces/%s/' % self.ns) + resource

    def role(self, name, *rules, kind='Role'):
        return self.create(self.path(kind.lower() + 's'), 'rbac.authorization.k8s.io/v1', kind, name, rules=list(rules))

    def bind(self, name, user, kind='RoleBinding', role_kind='Role'):
        """Binds the role `name` to the user."""
        self.create(self.path(kind.lower() + 's'), 'rbac.authorization.k8s.io/v1', kind, name, **self.binding(name, user, role_kind))

    @staticmethod
    def binding(role, user, role_kind='Role'):
        return {'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': role_kind, 'name': role},
                'subjects': [{'kind': 'User', 'name': user, 'apiGroup': 'rbac.authorization.k8s.io'}]}

    def give(self, user, *rules, cluster=False):
        """Grants this to the user, and waits until it takes effect."""
        name = 'r-' + user + '-' + self.ns
        if cluster:
            self.role(name, *rules, kind='ClusterRole')
            self.bind(name, user, 'ClusterRoleBinding', 'ClusterRole')
        else:
            self.role(name, *rules)
            self.bind(name, user)
        first = rules[0]
        attributes = {'verb': first['verbs'][0], 'group': first['apiGroups'][0], 'resource': first['resources'][0]}
        if not cluster:
            attributes['namespace'] = self.ns
        if 'resourceNames' in first:
            attributes['name'] = first['resourceNames'][0]
        self.wait_allowed(user, attributes)

    def review(self, user, attributes, groups=()):
        spec = {'user': user, 'groups': list(groups), 'resourceAttributes': attributes}
        return self.server.request('POST', REVIEWS, {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SubjectAccessReview',
                                                     'spec': spec})[2]['status']

    def wait_allowed(self, user, attributes, allowed=True):
        wait_for(lambda: self.review(user, attributes)['allowed'] == allowed)

    def test_reviews_name_the_binding(self):
        self.give('reader', rule(['get', 'list'], ['configmaps', 'pods/log']))
        name = 'r-reader-' + self.ns
        attributes = {'verb': 'get', 'resource': 'pods', 'subresource': 'log', 'namespace': self.ns}
        self.assertEqual(self.review('reader', attributes),
                         {'allowed': True, 'reason': 'RBAC: allowed by RoleBinding "%s/%s" of Role "%s" to User "reader"' %
                                                     (name, self.ns, name)})
        self.assertEqual(self.review('reader', dict(attributes, subresource='')), {'allowed': False})
        self.assertEqual(self.review('other', attributes), {'allowed': False})
        self.server.request('DELETE', self.path('roles') + '/' + name)
        self.wait_allowed('reader', attributes, False)
        self.assertEqual(self.review('reader', attributes),
                         {'allowed': False, 'reason': 'RBAC: role.rbac.authorization.k8s.io "%s" not found' % name})
        self.assertEqual(self.ask('reader', 'GET', '/api/v1/namespaces/%s/configmaps' % self.ns),
                         (403, 'configmaps is forbidden: User "reader" cannot list resource "configmaps" in API group "" in the namespace '
                               '"%s": RBAC: role.rbac.authorization.k8s.io "%s" not found' % (self.ns, name)))

    def test_a_role_is_granted_only_by_users_with_its_rules(self):
        self.give('owner', rule(['create', 'update', 'patch', 'get'], ['roles'], ['rbac.authorization.k8s.io']),
                  rule(['get'], ['configmaps']))
        roles = self.path('roles')
        role = {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'Role', 'metadata': {'name': 'x'},
                'rules': [rule(['get'], ['configmaps'])]}
        self.assertEqual(self.ask('owner', 'POST', roles, role)[0], 201)
        more = dict(role, rules=[rule(['get', 'list'], ['configmaps', 'secrets'])])
        missing = ('roles.rbac.authorization.k8s.io "x" is forbidden: user "owner" (groups=["system:authenticated"]) is attempting to '
                   'grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["list"]}\n'
                   '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}')
        self.assertEqual(self.ask('owner', 'POST', roles, dict(more, metadata={'name': 'x'})), (403, missing))
        self.assertEqual(self.ask('owner', 'PUT', roles + '/x', more), (403, missing))
        self.assertEqual(self.ask('owner', 'PATCH', roles + '/x', {'rules': more['rules']}, MERGE), (403, missing))
        apply = '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"x"},"rules":%s}' % str(more['rules']).replace("'", '"')
        self.assertEqual(self.ask('owner', 'PATCH', roles + '/x?fieldManager=m&force=true', apply, APPLY), (403, missing))
        self.assertEqual(self.ask('owner', 'PATCH', roles + '/y?fieldManager=m&force=true', apply.replace('"x"', '"y"'), APPLY)[0], 403)
        # Without the verb `list` on configmaps the role may still lose its finalizers and owners.
        self.server.request('PATCH', roles + '/x', {'rules': more['rules']}, headers=MERGE)
        self.assertEqual(self.ask('owner', 'PATCH', roles + '/x', {'metadata': {'finalizers': ['a.b/c']}}, MERGE)[0], 200)
        self.assertEqual(self.ask('owner', 'PATCH', roles + '/x', {'metadata': {'finalizers': None}}, MERGE)[0], 200)
        self.assertEqual(self.ask('owner', 'PATCH', roles + '/x', {'metadata': {'labels': {'a': 'b'}}}, MERGE)[0], 403)
        # Masters and owners of `escalate` may grant everything.
        self.assertEqual(self.ask('owner', 'PUT', roles + '/x', more, groups=['system:masters'])[0], 200)
        self.give('climber', rule(['escalate'], ['roles'], ['rbac.authorization.k8s.io'], ['x']),
                  rule(['update', 'create'], ['roles'], ['rbac.authorization.k8s.io']))
        self.assertEqual(self.ask('climber', 'PUT', roles + '/x', dict(more, rules=[rule(['*'], ['*'])]))[0], 200)
        self.assertEqual(self.ask('climber', 'POST', roles, dict(more, metadata={'name': 'z'}))[0], 403, 'a new object has no name yet')

    def test_a_binding_is_created_only_by_users_with_its_role(self):
        self.give('binder', rule(['create', 'patch', 'update'], ['rolebindings'], ['rbac.authorization.k8s.io']),
                  rule(['get'], ['pods']))
        bindings = self.path('rolebindings')
        self.role('pods', rule(['get'], ['pods']))
        self.role('secrets', rule(['get'], ['secrets']))
        def make(role, role_kind='Role'):
            body = {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'RoleBinding', 'metadata': {'name': 'b-' + role},
                    **self.binding(role, 'joe', role_kind)}
            return self.ask('binder', 'POST', bindings, body)
        self.assertEqual(make('pods')[0], 201)
        self.assertEqual(make('secrets'),
                         (403, 'rolebindings.rbac.authorization.k8s.io "b-secrets" is forbidden: user "binder" '
                               '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
                               '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'))
        self.assertEqual(make('gone'), (404, 'rolebindings.rbac.authorization.k8s.io "gone" not found'))
        self.assertEqual(make('gone', 'ClusterRole'), (404, 'rolebindings.rbac.authorization.k8s.io "gone" not found'))
        self.assertEqual(make('cluster-admin', 'ClusterRole')[0], 403)
        code, message = self.ask('binder', 'PATCH', bindings + '/b-pods', {'roleRef': {'name': 'secrets'}}, MERGE)
        self.assertEqual(code, 403, message)
        self.give('delegate', rule(['bind'], ['clusterroles'], ['rbac.authorization.k8s.io'], ['view']),
                  rule(['create'], ['rolebindings'], ['rbac.authorization.k8s.io']))
        body = {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'RoleBinding', 'metadata': {'name': 'view'}}
        self.assertEqual(self.ask('delegate', 'POST', bindings, dict(body, **self.binding('view', 'joe', 'ClusterRole')))[0], 201)
        self.assertEqual(self.ask('delegate', 'POST', bindings, dict(body, **self.binding('cluster-admin', 'joe', 'ClusterRole')))[0], 403)

    def test_the_role_of_a_binding_is_fixed(self):
        self.role('a', rule(['get'], ['pods']))
        self.bind('a', 'joe')
        code, _, answer = self.server.request('PATCH', self.path('rolebindings') + '/a', {'roleRef': {'name': 'b'}}, headers=MERGE)
        self.assertEqual((code, answer['details']['causes'][0]['field']), (422, 'roleRef'))
        self.assertIn('cannot change roleRef', answer['message'])

    def test_aggregation_rules_need_everything(self):
        self.give('gatherer', rule(['create', 'update', 'patch', 'get'], ['clusterroles'], ['rbac.authorization.k8s.io']), cluster=True)
        role = {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRole', 'metadata': {'name': 'gathered'},
                'aggregationRule': {'clusterRoleSelectors': [{'matchLabels': {'a': 'b'}}]}}
        self.made.append(self.path('clusterroles') + '/gathered')
        self.assertEqual(self.ask('gatherer', 'POST', self.path('clusterroles'), role),
                         (403, 'clusterroles.rbac.authorization.k8s.io "gathered" is forbidden: must have cluster-admin privileges to use '
                               'the aggregationRule'))
        self.assertEqual(self.server.request('POST', self.path('clusterroles'), role)[0], 201)
        self.assertEqual(self.ask('gatherer', 'PATCH', self.path('clusterroles') + '/gathered', {'aggregationRule': None}, MERGE)[0], 403)

    def test_a_put_that_creates_needs_create(self):
        self.give('writer', rule(['update', 'patch'], ['leases'], ['coordination.k8s.io']))
        lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'l'}}
        path = '/apis/coordination.k8s.io/v1/namespaces/%s/leases/l' % self.ns
        message = ('leases.coordination.k8s.io "l" is forbidden: User "writer" cannot create resource "leases" in API group '
                   '"coordination.k8s.io" in the namespace "%s"' % self.ns)
        self.assertEqual(self.ask('writer', 'PUT', path, lease), (403, message))
        self.assertEqual(self.ask('writer', 'PATCH', path + '?fieldManager=m', str(lease).replace("'", '"'), APPLY), (403, message))
        self.assertEqual(self.ask('writer', 'DELETE', path)[0], 403)

    def test_impersonation_needs_permission(self):
        self.give('actor', rule(['impersonate'], ['users'], names=['jane']), cluster=True)
        pods = '/api/v1/namespaces/%s/pods' % self.ns
        self.assertTrue(self.review('actor', {'verb': 'impersonate', 'resource': 'users', 'name': 'jane'})['allowed'])
        self.assertFalse(self.review('actor', {'verb': 'impersonate', 'resource': 'users', 'name': 'joe'})['allowed'])
        self.assertEqual(self.ask('jane', 'GET', pods),
                         (403, 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "%s"' % self.ns))
        self.assertEqual(self.ask('jane', 'GET', pods, groups=['system:masters'])[0], 200)
        code, message = self.ask('', 'GET', pods, headers={'Impersonate-Group': 'x'})
        self.assertEqual(code, 400, message)

    def test_rules_are_listed_once_for_each_binding(self):
        self.give('lister', rule(['get'], ['pods']))
        code, _, answer = self.server.request(
            'POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
            {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectRulesReview', 'spec': {'namespace': self.ns}},
            headers={'Impersonate-User': 'lister'})
        self.assertEqual(code, 201)
        status = answer['status']
        self.assertFalse(status['incomplete'])
        self.assertEqual(status['resourceRules'].count({'verbs': ['get'], 'apiGroups': [''], 'resources': ['pods']}), 1)
        self.assertIn({'verbs': ['create'], 'apiGroups': ['authorization.k8s.io'],
                       'resources': ['selfsubjectaccessreviews', 'selfsubjectrulesreviews']}, status['resourceRules'])

    def test_kubectl_acts_as_another_user(self):
        self.give('as', rule(['get'], ['configmaps']))
        for binary in kubectls():
            self.assertEqual(self.server.kubectl(binary, 'auth', 'can-i', 'get', 'configmaps', '--as', 'as', '-n', self.ns).strip(), 'yes')
            listed = self.server.kubectl(binary, 'auth', 'can-i', '--list', '--as', 'as', '-n', self.ns)
            self.assertRegex(listed, r'configmaps +\[\] +\[\] +\[get\]')
            refused = self.server.kubectl(binary, 'get', 'secrets', '--as', 'as', '-n', self.ns, check=False)
            self.assertIn('secrets is forbidden: User "as" cannot list resource "secrets"', refused.stderr)

    def test_anonymous_reads_health_and_version_only(self):
        for path, code in (('/healthz', 200), ('/livez', 200), ('/readyz', 200), ('/version', 200), ('/api', 403), ('/metrics', 403),
                           ('/apis', 403), ('/api/v1/pods', 403)):
            self.assertEqual(self.server.request('GET', path, client_certificate=False)[0], code, path)

    def test_decisions_are_counted_by_authorizer(self):
        self.give('counted', rule(['get'], ['pods']))
        metrics = self.server.request('GET', '/metrics')[2]
        self.assertIn('apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"}', metrics)
        self.ask('counted', 'GET', '/api/v1/namespaces/%s/pods/x' % self.ns)
        metrics = self.server.request('GET', '/metrics')[2]
        self.assertIn('apiserver_impersonation_attempts_total{decision="allowed",mode="user-info"}', metrics)

    def test_many_clients_while_bindings_change(self):
        self.give('steady', rule(['get'], ['configmaps']))
        path = '/api/v1/namespaces/%s/configmaps/none' % self.ns
        codes = []
        workers = [threading.Thread(target=lambda: codes.extend(self.ask('steady', 'GET', path)[0] for _ in range(40))) for _ in range(3)]
        for worker in workers:
            worker.start()
        for i in range(40):
            self.bind('other-%d' % i, 'steady')
        for worker in workers:
            worker.join()
        self.assertEqual(set(codes), {404})


if __name__ == '__main__':
    main()
