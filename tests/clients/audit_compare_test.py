"""A real kube-apiserver and the built server with one audit policy get the same requests: their audit logs have the same events.  An event is found by
the Audit-ID that its request has sent; times, uids and versions are replaced before the comparison."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rights_tables as tables  # noqa: E402
from rights_nodes import named  # noqa: E402
from rights_servers import RightsSideBySide, differences, harness  # noqa: E402
from recordings_test import scrub  # noqa: E402

CONFIGMAPS = tables.WORK + 'configmaps'
POLICY = {'apiVersion': 'audit.k8s.io/v1', 'kind': 'Policy', 'metadata': {}, 'omitStages': [], 'rules': [
    {'level': 'None', 'nonResourceURLs': ['/healthz*', '/version']},
    {'level': 'None', 'resources': [{'group': '', 'resources': ['nodes']}]},
    {'level': 'Metadata', 'resources': [{'group': '', 'resources': ['secrets', 'serviceaccounts/token']}, {'group': 'authentication.k8s.io'}]},
    {'level': 'RequestResponse', 'users': ['kubernetes-admin'], 'resources': [{'group': '', 'resources': ['configmaps']}],
    'omitManagedFields': True},
    {'level': 'RequestResponse', 'resources': [{'group': '', 'resources': ['configmaps', 'pods']}, {'group': 'rbac.authorization.k8s.io'}]},
    {'level': 'Request', 'verbs': ['create', 'update', 'patch', 'delete', 'deletecollection'], 'omitStages': ['RequestReceived']},
    {'level': 'Metadata', 'userGroups': ['system:authenticated'], 'omitStages': ['RequestReceived']},
    {'level': 'Metadata'}]}
USERS = ('kubernetes-admin', 'system:node:n1', 'system:kube-scheduler', 'edit-in-work', 'view-everywhere', 'nobody', None, 'no-such-token')
AS = [[('Impersonate-User', 'alice')], [('Impersonate-User', 'alice'), ('Impersonate-Group', 'dev'), ('Impersonate-Extra-Scopes', 'view'),
    ('Impersonate-Uid', 'u1')],
      [('Impersonate-User', 'system:serviceaccount:work:default')], [('Impersonate-User', 'system:node:n1')], [('Impersonate-Group', 'dev')]]
ACTORS = ('kubernetes-admin', 'as-all', 'user-info', 'user-info-groups', 'mode-account', 'arbitrary-node', 'nobody')


def configmap(name, **fields):
    return named('v1', 'ConfigMap', name, data={'a': 'b'}, **fields)


# The writes, in their order.
WRITES = [
    ('POST', CONFIGMAPS, configmap('one')), ('POST', CONFIGMAPS, configmap('one')), ('POST', CONFIGMAPS, {}),
    ('POST', CONFIGMAPS, named('v1', 'Secret', 'x')),
    ('POST', CONFIGMAPS + '?dryRun=All&fieldManager=me&fieldValidation=Strict', configmap('two', unknown=1)),
    ('POST', CONFIGMAPS, configmap('Bad Name')),
    ('POST', CONFIGMAPS, named('v1', 'ConfigMap', '', data={'generated': 'x'})), ('PUT', CONFIGMAPS + '/one', configmap('one', immutable=False)),
    ('PUT', CONFIGMAPS + '/none', configmap('none')),
    ('PATCH', CONFIGMAPS + '/one', {'data': {'c': 'd'}}), ('PATCH', CONFIGMAPS + '/none', {'data': {}}),
    ('APPLY', CONFIGMAPS + '/applied?fieldManager=me', configmap('applied')),
    ('GET', CONFIGMAPS + '/one', None), ('GET', CONFIGMAPS + '?limit=1', None), ('GET', CONFIGMAPS + '?watch=1&timeoutSeconds=1&resourceVersion=0',
    None),
    ('DELETE', CONFIGMAPS + '/one', {'apiVersion': 'v1', 'kind': 'DeleteOptions', 'propagationPolicy': 'Background'}),
    ('DELETE', CONFIGMAPS + '/one', None),
    ('DELETE', CONFIGMAPS + '?labelSelector=a%3Db', None), ('POST', tables.WORK + 'secrets',
    named('v1', 'Secret', 'audited', stringData={'password': 'hidden'})),
    ('PATCH', tables.WORK + 'secrets/audited', {'stringData': {'password': 'hidden'}}), ('GET', tables.WORK + 'secrets/audited', None),
    ('POST', tables.WORK + 'serviceaccounts/runner/token', {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {}}),
    ('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview',
    'spec': {'token': 'hidden'}}),
    ('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectAccessReview',
    'spec': {
        'resourceAttributes': {'verb': 'list', 'resource': 'pods'}}}),
    ('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/work/roles', named('rbac.authorization.k8s.io/v1', 'Role', 'audited', rules=[])),
    ('POST', tables.WORK + 'pods', named('v1', 'Pod', 'audited', spec={'containers': [{'name': 'c', 'image': 'example.com/c:1'}]})),
    ('DELETE', tables.WORK + 'pods/audited?gracePeriodSeconds=0', None), ('GET', '/apis/apps/v1beta1/deployments', None),
    ('POST', '/apis/apps/v1/namespaces/work/deployments', {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'a'}})]
UNSHARED = ('requestReceivedTimestamp', 'stageTimestamp', 'auditID')


class Audit(RightsSideBySide):
    @classmethod
    def start_flags(cls):
        path = os.path.join(cls.pki.dir, 'policy.json')
        with open(path, 'w', encoding='utf-8') as out:
            json.dump(POLICY, out)
        return (*super().start_flags(), '--audit-policy-file=' + path)

    @classmethod
    def own_flags(cls, name):
        return ('--audit-log-path=' + os.path.join(cls.pki.dir, name + '.audit'),)

    def events(self, server):
        """{(Audit-ID, stage): event} of this test's requests."""
        out = {}
        with open(os.path.join(self.pki.dir, server.name + '.audit'), encoding='utf-8') as log:
            for line in log:
                event = json.loads(line) if line.endswith('\n') else {}
                if event.get('auditID', '').startswith('row-'):
                    out[event['auditID'], event['stage']] = event
        return out

    @staticmethod
    def compared(event):
        event = scrub({key: value for key, value in event.items() if key not in UNSHARED})
        annotations = event.get('annotations', {})
        # Only requests of half a second have these annotations, and any of several allowing bindings may be named.
        for key in [key for key in annotations if key.startswith('apiserver.latency.k8s.io/')]:
            del annotations[key]
        if annotations.get('authorization.k8s.io/reason', '').startswith('RBAC: allowed by'):
            annotations['authorization.k8s.io/reason'] = 'RBAC: allowed by'
        # Compared as text, which includes the order of members.
        return dict(event, requestObject=json.dumps(event.get('requestObject')))

    def compare_logs(self, rows):
        """Rows: (user, (method, path, body), headers)."""
        name = self.id().rsplit('.', 1)[1]
        for number, (user, row, headers) in enumerate(rows):
            for server in self.servers:
                self.ask(server, user, *row, [*headers, ('Audit-ID', 'row-%s-%d' % (name, number))])
        reports = []
        mine = lambda server: {key: event for key, event in self.events(server).items() if key[0].startswith('row-%s-' % name)}
        # An event is written after its response.
        harness.wait_for(lambda: len({frozenset(mine(server)) for server in self.servers}) == 1, 10)
        want, got = (mine(server) for server in self.servers)
        for key in sorted(set(want) | set(got)):
            number = int(key[0].rsplit('-', 1)[1])
            found = differences(*(self.compared(events[key]) if key in events else {'event': 'none'} for events in (want, got)))
            reports += ['%s %s %s: %s' % (key[1], rows[number][0], ' '.join(map(str, rows[number][1]))[:150], '; '.join(found[:3]))] if found else []
        print('%s: %d of %d events differ' % (name, len(reports), len(want)), *reports, sep='\n  ', file=sys.stderr)
        self.assertGreater(len(want), len(rows) // 3)
        self.assertEqual(reports, [])

    def test_requests_of_many_users(self):
        self.compare_logs([(user, row, ()) for user in USERS for row in tables.REQUESTS])

    def test_writes(self):
        self.compare_logs([('kubernetes-admin', row, ()) for row in WRITES] + [('edit-in-work', row, ()) for row in WRITES])

    def test_impersonation(self):
        self.compare_logs([(user, row, headers) for user in ACTORS for headers in AS for row in tables.IMPERSONATED[:2]])


if __name__ == '__main__':
    unittest.main(verbosity=2)
