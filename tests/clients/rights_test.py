"""A real kube-apiserver and the built server, both with --authorization-mode=Node,RBAC, get the same requests of the same users: rights
by roles, reads of nodes, impersonation, escalation.  Status, reason and message of each answer are equal.  Differences are printed.

RIGHTS_SEED sets the random roles, RIGHTS_REVIEWS the number of decisions."""
import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rights_nodes  # noqa: E402
import rights_random  # noqa: E402
import rights_tables as tables  # noqa: E402
import rights_users  # noqa: E402
from rights_servers import AGAIN, RightsSideBySide, differences, harness  # noqa: E402

SEED = int(os.environ.get('RIGHTS_SEED', '1'))
REVIEWS = int(os.environ.get('RIGHTS_REVIEWS', '600'))  # decisions before the changes, and as many after them


class Rights(RightsSideBySide):
    def test_what_upstreams_users_may_request(self):
        self.compare([(user, row, ()) for user in rights_users.upstream_users() for row in tables.REQUESTS])

    def test_what_anonymous_users_and_wrong_tokens_may_request(self):
        self.compare([(user, row, ()) for user in (None, 'no-such-token', 'a.b.c') for row in tables.REQUESTS])

    def test_access_reviews(self):
        def review(user, groups, spec):
            return {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SubjectAccessReview',
                    'spec': dict(spec, user=user, groups=[*groups, 'system:authenticated'])}
        self.compare([('kubernetes-admin', ('POST', tables.REVIEWS + 'subjectaccessreviews', review(user, groups, spec)), ())
                      for user, groups, spec in tables.reviews()])

    def test_odd_access_reviews(self):
        rows = []
        for spec in tables.ODD_REVIEWS:
            for resource, kind in (('subjectaccessreviews', 'SubjectAccessReview'), ('selfsubjectaccessreviews', 'SelfSubjectAccessReview')):
                own = {key: value for key, value in spec.items() if key.endswith('Attributes')} if kind.startswith('Self') else spec
                rows.append(('kubernetes-admin', ('POST', tables.REVIEWS + resource, {'apiVersion': 'authorization.k8s.io/v1', 'kind': kind,
                    'spec': own}), ()))
            for namespace in ('work', 'other'):
                local = json.loads(json.dumps(spec))
                local.get('resourceAttributes', {})['namespace'] = 'work'
                rows.append(('kubernetes-admin', ('POST', tables.REVIEWS + 'namespaces/%s/localsubjectaccessreviews' % namespace, {
                    'apiVersion': 'authorization.k8s.io/v1', 'kind': 'LocalSubjectAccessReview', 'metadata': {'namespace': namespace},
                    'spec': local}), ()))
        self.compare(rows)

    def test_random_roles(self):
        """Roles and bindings of a fixed seed, and changes to them: decisions are the same."""
        rng = random.Random(SEED)
        for item in rights_random.objects(rng):
            for server in self.servers:
                code, _, answer = server.request('POST', rights_users.path_of(item), item)
                self.assertEqual(code, 201, (server.name, item, answer))
        self.compare_decisions(rng, REVIEWS)
        for method, path, body in rights_random.changes(rng):
            for server in self.servers:
                code, _, answer = server.request(method, path, body, {'Content-Type': tables.MERGE})
                self.assertEqual(code, 200, (server.name, method, path, answer))
        self.compare_decisions(rng, REVIEWS)

    def compare_decisions(self, rng, count):
        reports, allowed = [], 0
        for spec in [rights_random.review(rng) for _ in range(count)]:
            body = {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SubjectAccessReview', 'spec': spec}
            decisions = lambda body=body: [self.ask(server, 'kubernetes-admin', 'POST', tables.REVIEWS + 'subjectaccessreviews',
                body).body['status']['allowed']
                                           for server in self.servers]
            if not harness.wait_for(lambda decisions=decisions: len(set(decisions())) == 1, AGAIN):
                reports.append('%s: %s' % (json.dumps(spec), decisions()))
            allowed += decisions()[0]
        print('%s: %d of %d decisions differ, %d are to allow' % (self.id().rsplit('.', 1)[1], len(reports), count, allowed), *reports, sep='\n  ',
            file=sys.stderr)
        self.assertEqual(reports, [])
        self.assertGreater(allowed, count // 20)

    def test_rules_reviews(self):
        """kube-apiserver lists bindings in the order of its caches' maps."""
        reports = []
        for user in rights_users.users():
            for namespace in ('work', 'kube-system', ''):
                body = {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectRulesReview', 'spec': {'namespace': namespace}}
                want, got = (self.ask(server, user, 'POST', tables.REVIEWS + 'selfsubjectrulesreviews', body) for server in self.servers)
                for answer in (want, got):
                    for rules in ('resourceRules', 'nonResourceRules'):
                        if answer.status == 201:
                            answer.body['status'][rules] = sorted(answer.body['status'][rules], key=json.dumps)
                reports += ['%s in %s: %s' % (user, namespace, text) for text in differences(want._asdict(), got._asdict())[:3]]
        self.assertEqual(reports, [])

    def test_what_nodes_may_request(self):
        self.compare([(user, row, ()) for user in rights_nodes.NODES for row in rights_nodes.requests()])

    def test_permissions_to_impersonate(self):
        self.compare([(user, row, headers) for user in tables.IMPERSONATORS for headers in tables.HEADERS for row in tables.IMPERSONATED])

    def test_an_account_acts_as_the_node_of_its_pod(self):
        tokens = {}
        for server in self.servers:
            uid = server.request('GET', tables.WORK + 'pods/one')[2]['metadata']['uid']
            code, _, made = server.request('POST', tables.WORK + 'serviceaccounts/runner/token', {
                'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {'boundObjectRef': {'apiVersion': 'v1', 'kind': 'Pod',
                'name': 'one', 'uid': uid}}})
            self.assertEqual(code, 201, made)
            tokens[server.name] = made['status']['token']
        for server in self.servers:
            user = self.ask(server, tokens, *tables.WHOAMI, [('Impersonate-User', 'system:node:n1')]).body['status']['userInfo']
            self.assertEqual((user['username'], user['groups']), ('system:node:n1', ['system:nodes', 'system:authenticated']))
        self.compare([(tokens, row, headers) for headers, row in tables.AS_NODE])

    def test_users_who_may_grant_roles(self):
        self.compare([(user, row, ()) for user in tables.GRANTERS for row in tables.grants()])

    def test_users_who_may_bind_roles(self):
        self.compare([(user, row, ()) for user in tables.GRANTERS for row in tables.bindings()])


if __name__ == '__main__':
    unittest.main(verbosity=2)
