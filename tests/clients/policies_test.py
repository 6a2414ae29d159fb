"""A real kube-apiserver and the built server with the same admission policies and requests: codes, bodies, warnings and audit annotations

are equal. All policies exist before the first write, each for the namespace of its case. POLICY_CASES takes names of cases ("y-", "e012"): only those."""
import http.client
import itertools
import json
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../conformance')]
import policy_cases as cases  # noqa: E402
from kube_apiserver import SideBySide, harness  # noqa: E402
from policy_matching_cases import PARAMS, action_cases, match_cases, param_cases, subresource_cases  # noqa: E402
from policy_mutation_cases import mutation_cases  # noqa: E402
from recordings_test import differences, in_any_order, parsed, scrub  # noqa: E402

GROUP = '/apis/admissionregistration.k8s.io/v1/'
AUDIT = {'apiVersion': 'audit.k8s.io/v1', 'kind': 'Policy', 'omitStages': ['RequestReceived', 'ResponseStarted'], 'rules': [{'level': 'Metadata'}]}
MEDIA = {'PATCH': 'application/merge-patch+json', 'APPLY': 'application/apply-patch+yaml'}
SENTINEL = cases.validating({'expression': 'false', 'message': 'in force'})
UNSHARED = ('apiserver.latency.k8s.io/', 'authorization.k8s.io/', 'pod-security.kubernetes.io/')


def typed(**properties):
    return {'type': 'object', 'properties': properties}


INT, TEXT = {'type': 'integer'}, {'type': 'string'}
SPEC = typed(limit=INT, size={'type': 'integer', 'maximum': 100}, list={'type': 'array', 'items': TEXT},
             set={'type': 'array', 'items': TEXT, 'x-kubernetes-list-type': 'set'},
             items={'type': 'array', 'items': dict(typed(name=TEXT, value=INT), required=['name']), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name']},
             open={'type': 'object', 'x-kubernetes-preserve-unknown-fields': True})


def definition(kind, scope, versions):
    plural = kind.lower() + 's'
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.policy.test'}, 'spec': {
        'group': 'policy.test', 'scope': scope, 'names': {'kind': kind, 'plural': plural},
        'versions': [{'name': name, 'served': True, 'storage': name == 'v1', 'schema': {'openAPIV3Schema': typed(spec=SPEC)}} for name in versions]}}


DEFINITIONS = [definition('Widget', 'Namespaced', ('v1', 'v2')), definition('Limit', 'Cluster', ('v1',))]


def all_cases():
    wanted = os.environ.get('POLICY_CASES', '').split()
    for case in itertools.chain(cases.expression_cases(), cases.message_cases(), cases.chain_cases(), param_cases(), match_cases(), action_cases(),
                                subresource_cases(), mutation_cases()):
        if not wanted or case[0].startswith(tuple(wanted)):
            yield case


def placed(value, space):
    return json.loads(json.dumps(value).replace('NS', space))


class Policies(SideBySide):
    @classmethod
    def start_flags(cls):
        path = os.path.join(cls.pki.dir, 'audit-policy.json')
        with open(path, 'w', encoding='utf-8') as out:
            json.dump(AUDIT, out)
        return ('--audit-policy-file=' + path, '--feature-gates=MutatingAdmissionPolicy=true')

    @classmethod
    def own_flags(cls, name):
        return ('--audit-log-path=' + os.path.join(cls.pki.dir, name + '.audit'), '--audit-log-mode=blocking-strict')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rows, cls.reports = list(all_cases()), []
        cls.made = [cls.prepare(server) for server in cls.servers]

    @classmethod
    def prepare(cls, server):
        """The responses to the creation of policies and bindings, in the order of the cases; returns when the last is in effect."""
        for body in DEFINITIONS:
            server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body)
        harness.wait_for(lambda: all(server.request('GET', '/apis/policy.test/v1/' + plural)[0] == 200 for plural in ('widgets', 'limits')), 60)
        server.request('POST', '/apis/policy.test/v1/limits', {'apiVersion': 'policy.test/v1', 'kind': 'Limit', 'metadata': {'name': 'l1'}, 'spec': {'limit': 1}})
        made = {}
        for name, policies, writes in [*cls.rows, ('sentinel', [SENTINEL], [])]:
            space = 'case-' + name
            server.request('POST', '/api/v1/namespaces', harness.namespace(space))
            if writes[:len(PARAMS)] == PARAMS:
                for method, path, body in placed(PARAMS, space):
                    server.request(method, path, body)
            made[name] = [answer for number, policy in enumerate(policies) for answer in cls.put(server, space, number, policy)]
        path, body = placed([cases.MAPS + '?dryRun=All', cases.configmap()], 'case-sentinel')
        if not harness.wait_for(lambda: server.request('POST', path, body)[0] == 422, 120):
            raise AssertionError('%s does not put policies in force: %s' % (server.name, server.request('POST', path, body)))
        return made

    @classmethod
    def put(cls, server, space, number, policy):
        kind, spec, bindings = policy
        name = '%s-%d' % (space, number)
        rows = [('AdmissionPolicy', name, spec)] + [('AdmissionPolicyBinding', '%s-b%d' % (name, n), dict({'policyName': name}, **each)) for n, each in enumerate(bindings)]
        for suffix, title, whole in rows:
            body = {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': kind + suffix, 'metadata': {'name': title}, 'spec': placed(whole, space)}
            resource = (kind + suffix).lower().replace('policybinding', 'policybindings')
            yield cls.said(server, 'POST', GROUP + (resource if resource.endswith('bindings') else resource[:-1] + 'ies'), body, title)

    @staticmethod
    def said(server, method, path, body, audit):
        """Code, warnings and body; how often the connection was closed instead."""
        headers = {'User-Agent': 'tester/1', 'Audit-ID': audit, 'Content-Type': MEDIA.get(method, 'application/json')}
        for attempt in range(3):
            server.connection = server.connection or server.connect()
            try:
                server.connection.request('PATCH' if method == 'APPLY' else method, path, body and json.dumps(body), headers)
                response = server.connection.getresponse()
                data = response.read()
                break
            except (OSError, http.client.HTTPException) as error:
                server.connection = None
                failure = repr(error)
        else:
            return {'status': failure}
        return {'status': response.status, 'warnings': sorted(response.headers.get_all('Warning') or []),
                'body': in_any_order(parsed(response.getheader('Content-Type'), data))}

    def annotations(self, server):
        """{Audit-ID: annotations} of the audit log."""
        out = {}
        with open(os.path.join(self.pki.dir, server.name + '.audit'), encoding='utf-8') as log:
            for event in map(json.loads, log):
                # Of several policies that match, the one that a random order visits first is recorded.
                out[event['auditID']] = {key: re.sub(r'case-r\d+-0', 'case-r-0', scrub(value)) for key, value in (event.get('annotations') or {}).items() if not key.startswith(UNSHARED)}
        return out

    def compare(self, what, want, got):
        found = sorted(differences(want, got), key=lambda text: '/message:' not in text)
        if found:
            self.reports.append('%s: %s' % (what, '; '.join(found[:3])))

    def test_policies_are_stored_and_decide_alike(self):
        ids, asked = [], 0
        for name, _, writes in self.rows:
            for number, pair in enumerate(zip(*(made[name] for made in self.made))):
                self.compare('%s made %d' % (name, number), *pair)
            writes = writes[len(PARAMS):] if writes[:len(PARAMS)] == PARAMS else writes
            for number, write in enumerate(writes):
                ids.append('%s-%d' % (name, number))
                asked += 1
                self.compare('%s %d %s' % (name, number, write[0]),
                             *(self.said(server, *placed(write, 'case-' + name), ids[-1]) for server in self.servers))
        want, got = (self.annotations(server) for server in self.servers)
        for each in ids:
            self.compare(each + ' audited', want.get(each), got.get(each))
        print('%d cases, %d writes, %d differences' % (len(self.rows), asked, len(self.reports)), *self.reports, sep='\n  ', file=sys.stderr)
        self.assertEqual(self.reports, [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
