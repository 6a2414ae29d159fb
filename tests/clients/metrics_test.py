"""/metrics and deprecation warnings compared with kube-apiserver: after the same requests both show the same series with the same counts."""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kube_apiserver import SideBySide  # noqa: E402

# Metrics that differ by process: the runtime, and calls between components.
RUNTIME = re.compile(r'^(go_|process_|grpc_)')
MERGE, APPLY = 'application/merge-patch+json', 'application/apply-patch+yaml'


def secret(name, data='x'):
    return {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': name}, 'stringData': {'k': data}}


# Method, path, body, content type.  On resources that neither server requests itself.
SCRIPT = [
    ('POST', '/api/v1/namespaces/m/secrets', secret('a'), None),
    ('POST', '/api/v1/namespaces/m/secrets', secret('a'), None),
    ('POST', '/api/v1/namespaces/m/secrets?dryRun=All', secret('b'), None),
    ('POST', '/api/v1/namespaces/m/secrets?dryRun=Some', secret('b'), None),
    ('POST', '/api/v1/namespaces/m/secrets', secret('BAD_NAME'), None),
    ('GET', '/api/v1/namespaces/m/secrets/a', None, None),
    ('HEAD', '/api/v1/namespaces/m/secrets/a', None, None),
    ('GET', '/api/v1/namespaces/m/secrets/none', None, None),
    ('GET', '/api/v1/namespaces/m/secrets', None, None),
    ('GET', '/api/v1/namespaces/m/secrets?watch=1&timeoutSeconds=1', None, None),
    ('GET', '/api/v1/watch/namespaces/m/secrets?timeoutSeconds=1', None, None),
    ('GET', '/api/v1/namespaces/m/secrets?watch=false', None, None),
    ('PUT', '/api/v1/namespaces/m/secrets/a', secret('a', 'y'), None),
    ('PATCH', '/api/v1/namespaces/m/secrets/a', {'stringData': {'z': '1'}}, MERGE),
    ('PATCH', '/api/v1/namespaces/m/secrets/a?fieldManager=t&force=true', secret('a', 'z'), APPLY),
    ('PATCH', '/api/v1/namespaces/m/secrets/a', {}, 'text/plain'),
    ('DELETE', '/api/v1/namespaces/m/secrets/a', None, None),
    ('DELETE', '/api/v1/namespaces/m/secrets', None, None),
    ('GET', '/api/v1/limitranges', None, None),
    ('GET', '/api/v1/namespaces/m/pods/none/log', None, None),
    ('GET', '/api/v1/namespaces/m/services/none/proxy/x', None, None),
    ('GET', '/apis/apps/v1/namespaces/m/deployments/none/scale', None, None),
    ('GET', '/apis/apps/v1/namespaces/m/deployments/none/status', None, None),
    ('GET', '/apis/nothing.example.com/v1/things', None, None),
    ('GET', '/api/v1/namespaces/m/nothing', None, None),
    ('PUT', '/api/v1/namespaces/m/secrets', {}, None),
    ('GET', '/api/v1/componentstatuses', None, None),
]
# Requests of the servers' components during the test.
OWN = re.compile('scope="cluster",subresource="",verb="WATCH"|resource="services",scope="[a-z]*",subresource=""')
COUNTED = {'secrets', 'limitranges', 'pods', 'services', 'deployments', 'things', 'nothing', 'componentstatuses'}


def announced(warning):
    """Without warnings for later releases: a kube-apiserver without a version also shows these."""
    later = warning and re.search(r'is deprecated in v1\.(\d+)\+', warning)
    return None if later and int(later[1]) > 36 else warning


def series(server, name):
    """Label text → value, of one family; the labels are in the order in which Prometheus shows them."""
    text = server.raw('GET', '/metrics')[2].decode()
    return dict(re.findall(r'^%s\{([^}]*)\} (\S+)$' % name, text, re.M))


def families(server):
    """Name → (type, level)."""
    text = server.raw('GET', '/metrics')[2].decode()
    found = {}
    for name, help_text, kind in re.findall(r'^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$', text, re.M):
        level = re.match(r'\[(\w+)\]', help_text)
        found[name] = (kind, level and level[1])
    return found


def of_script(server, name):
    """The increase of each series by the script."""
    before = series(server, name)
    for method, path, body, kind in SCRIPT:
        server.raw(method, path, None if body is None else json.dumps(body), {'Content-Type': kind or 'application/json'})
    after = series(server, name)
    found = {}
    for labels, value in after.items():
        namespaced = re.search(r'resource="([^"]*)"', labels)[1] in COUNTED
        added = float(value) - float(before.get(labels, 0))
        if namespaced and added and not OWN.search(labels):
            found[labels] = added
    return found


class Metrics(SideBySide):
    flags = ('--runtime-config=api/all=true',)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for server in cls.servers:
            server.request('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'm'}})

    def both(self, look):
        right, ours = (look(server) for server in self.servers)
        self.maxDiff = None
        self.assertEqual(ours, right)

    def test_requests_are_counted_alike(self):
        self.both(lambda server: of_script(server, 'apiserver_request_total'))

    def test_durations_have_the_same_series_and_buckets(self):
        for name in ('apiserver_request_duration_seconds', 'apiserver_request_sli_duration_seconds'):
            with self.subTest(name=name):
                self.both(lambda server: of_script(server, name + '_count'))
                self.both(lambda server: sorted({re.search(r'le="([^"]*)"', labels)[1] for labels in series(server, name + '_bucket')}))

    def test_sizes_of_answers_are_of_the_same_reads(self):
        self.both(lambda server: of_script(server, 'apiserver_response_sizes_count'))

    def test_every_deprecated_kind_warns_and_is_counted(self):
        def look(server):
            found = {}
            groups = [group for group in server.request('GET', '/apis')[2]['groups'] if group['name'] != 'plugins.backplane.dev']
            for group in groups + [{'versions': [{'groupVersion': 'v1'}]}]:
                for version in group['versions']:
                    root = ('/api/' if '/' not in version['groupVersion'] else '/apis/') + version['groupVersion']
                    document = server.request('GET', root)[2]
                    self.assertIsInstance(document, dict, root)
                    for resource in document['resources']:
                        if '/' in resource['name']:
                            continue
                        middle, none = '/namespaces/m/' if resource['namespaced'] else '/', resource['name'] + '/none'
                        for verb, needed, path in (('GET', 'list', resource['name']), ('GET', 'get', none), ('DELETE', 'delete', none),
                                                   ('GET', 'get', none + '/status')):
                            if needed in resource['verbs']:
                                status, headers, _ = server.raw(verb, root + middle + path)
                                found[verb, root, path] = status, announced(headers.get('Warning'))
            return found
        self.both(look)

        def counted(server):
            found = series(server, 'apiserver_requested_deprecated_apis')
            # For versions that will be removed in 1.40 or later, the deprecation is only announced.
            return {labels: value for labels, value in found.items() if not re.search('removed_release="1.4[0-9]"', labels)}
        self.both(counted)

    def test_families_that_both_have_are_of_one_type_and_level(self):
        right, ours = (families(server) for server in self.servers)
        shared = {name for name in right if name in ours and not RUNTIME.match(name)}
        self.assertGreater(len(shared), 60, (sorted(right), sorted(ours)))
        self.assertEqual({name: ours[name] for name in shared}, {name: right[name] for name in shared})
        self.assertEqual([name for name, (_, level) in ours.items() if level is None and not RUNTIME.match(name)], [])
        promised = {name for name, (_, level) in right.items() if level in ('STABLE', 'BETA') and not RUNTIME.match(name)}
        self.assertEqual(promised - set(ours) - LEFT_OUT, set())

    def test_the_encodings_are_named_alike(self):
        for accept in ('*/*', 'text/plain', 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited',
                       'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5', 'application/json',
                       'text/plain;version=0.0.4;escaping=allow-utf-8'):
            with self.subTest(accept=accept):
                self.both(lambda server: server.raw('GET', '/metrics', None, {'Accept': accept})[1]['Content-Type'])


# STABLE and BETA families that docs/compatibility.md says are not shown.
LEFT_OUT = {'apiserver_validation_declarative_validation_mismatch_total', 'apiserver_validation_declarative_validation_panic_total'}


if __name__ == '__main__':
    unittest.main()
