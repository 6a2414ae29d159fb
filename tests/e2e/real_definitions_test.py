"""Definitions as well-known projects ship them: accepted without a warning, established, served, explained; their samples are created,
and their invalid samples are refused.

They are read from the projects' Go modules: from the module cache, or fetched with `go mod download` where there is a go command."""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import Server, kubectls, main, namespace, wait_for

CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
YAML = {'Content-Type': 'application/yaml'}
# name: module, version, definitions, samples that come with them
PROJECTS = {
    'gateway_api': ('sigs.k8s.io/gateway-api', 'v1.4.1', ('config/crd/standard/*.yaml',), ('examples/standard/**/*.yaml',)),
    'gateway_api_experimental': ('sigs.k8s.io/gateway-api', 'v1.4.1', ('config/crd/experimental/*.yaml',), ('examples/experimental/**/*.yaml',)),
    'istio': ('istio.io/api', 'v1.27.3', ('kubernetes/customresourcedefinitions.gen.yaml',), ()),
    'cert_manager': ('github.com/cert-manager/cert-manager', 'v1.18.2', ('deploy/crds/*.yaml',), ('test/fixtures/cert-manager-resources.yaml',)),
    'cluster_api': ('sigs.k8s.io/cluster-api', 'v1.11.1', ('config/crd/bases/*.yaml',), ()),
    'prometheus_operator': ('github.com/prometheus-operator/prometheus-operator', 'v0.85.0', ('example/prometheus-operator-crd/*.yaml',),
                            ('example/user-guides/alerting/*.yaml', 'example/user-guides/getting-started/*.yaml')),
    'argo_cd': ('github.com/argoproj/argo-cd/v3', 'v3.1.0', ('manifests/crds/*-crd.yaml',),
                ('docs/operator-manual/project.yaml', 'applicationset/examples/list-generator/*.yaml',
                 'applicationset/examples/git-generator-directory/*.yaml', 'applicationset/examples/cluster/*.yaml')),
    'crossplane': ('github.com/crossplane/crossplane/v2', 'v2.0.2', ('cluster/crds/*.yaml',), ()),
}
# name: module, version, definitions; their documents are compared with kube-apiserver's (../clients/documents_test.py).
DOCUMENTED = {
    **{name: (at, version, definitions) for name, (at, version, definitions, _) in PROJECTS.items() if name != 'gateway_api'},
    'knative_serving': ('knative.dev/serving', 'v0.51.0', ('config/core/300-resources/*.yaml',)),
    'kueue': ('sigs.k8s.io/kueue', 'v0.17.0', ('config/components/crd/bases/*.yaml',)),
    'external_snapshotter': ('github.com/kubernetes-csi/external-snapshotter/client/v8', 'v8.7.0', ('config/crd/*.yaml',)),
    'keda': ('github.com/kedacore/keda/v2', 'v2.21.0', ('config/crd/bases/*.yaml',)),
    'contour': ('github.com/projectcontour/contour', 'v1.33.8', ('examples/contour/01-crds.yaml',)),
    'kyverno': ('github.com/kyverno/kyverno', 'v1.19.1', ('config/crds/*/*.yaml',)),
}
# kube-apiserver does not support that format either.
WARNINGS = {'istio': ('299 - "unrecognized format \\"binary\\""',)}


def cache():
    known = os.environ.get('GOMODCACHE')
    if not known and shutil.which('go'):
        known = subprocess.run(['go', 'env', 'GOMODCACHE'], capture_output=True, text=True, check=False).stdout.strip()
    return known or os.path.expanduser('~/go/pkg/mod')


def module(path, version):
    """The module's folder."""
    folder = os.path.join(cache(), path + '@' + version)
    if not os.path.isdir(folder) and shutil.which('go'):
        try:
            subprocess.run(['go', 'mod', 'download', path + '@' + version], capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            pass
    if not os.path.isdir(folder):
        raise unittest.SkipTest('the module %s@%s is not in %s, and could not be fetched' % (path, version, cache()))
    return folder


def documents(folder, *patterns):
    """(file, text) of each YAML document."""
    files = sorted({name for pattern in patterns for name in glob.glob(os.path.join(folder, pattern), recursive=True)})
    for name in files:
        for text in re.split(r'^---.*$', pathlib.Path(name).read_text(encoding='utf-8'), flags=re.M):
            if re.search(r'^kind:', text, flags=re.M):
                yield os.path.relpath(name, folder), text


def said(text, key):
    found = re.search(r'^%s:\s*"?([^\s"]+)' % key, text, flags=re.M)
    return found[1] if found else ''


class RealDefinitions(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.stop)

    def define(self, folder, *patterns, warnings=()):
        """Creates the definitions; (group, version, kind) -> (plural, namespaced)."""
        kinds, names = {}, []
        for name, text in documents(folder, *patterns):
            if said(text, 'kind') != 'CustomResourceDefinition':
                continue
            text = re.sub(r'^.*\{\{.*$', '', text, flags=re.M)  # values that a chart would set
            code, headers, crd = self.server.request('POST', CRDS, text.encode(), YAML)
            self.assertEqual(code, 201, '%s: %s' % (name, crd))
            self.assertEqual([value for key, value in headers.items() if key.lower() == 'warning' and value not in warnings], [], name)
            names.append(crd['metadata']['name'])
            for version in crd['spec']['versions']:
                if version['served']:
                    kinds[crd['spec']['group'], version['name'], crd['spec']['names']['kind']] = (
                        crd['spec']['names']['plural'], crd['spec']['scope'] == 'Namespaced')
        self.assertTrue(names, 'no definitions in ' + folder)
        for name in names:
            self.assertTrue(wait_for(lambda name=name: self.established(name)), name)
        for (group, version, _), (plural, _) in kinds.items():
            code, _, body = self.server.request('GET', '/apis/%s/%s/%s' % (group, version, plural))
            self.assertEqual((code, body.get('items')), (200, []), (plural, body))
        self.check_documents(kinds)
        return kinds

    def established(self, name):
        conditions = self.server.request('GET', CRDS + '/' + name)[2].get('status', {}).get('conditions') or []
        return any(each['type'] == 'Established' and each['status'] == 'True' for each in conditions)

    def check_documents(self, kinds):
        for group, version in {key[:2] for key in kinds}:
            code, _, document = self.server.request('GET', '/openapi/v3/apis/%s/%s' % (group, version))
            self.assertEqual(code, 200)
            shown = {(each['group'], each['version'], each['kind']) for schema in document['components']['schemas'].values()
                     for each in schema.get('x-kubernetes-group-version-kind', [])}
            for key in kinds:
                if key[:2] == (group, version):
                    self.assertIn(key, shown)

    def create(self, kinds, text):
        """(code, body) of the sample's creation; None if it has none of the kinds."""
        group, _, version = said(text, 'apiVersion').partition('/')
        known = kinds.get((group, version, said(text, 'kind')))
        if known is None:
            return None
        place = re.search(r'^  namespace:\s*"?([-\w]+)', text, flags=re.M)
        ns = place[1] if place else 'default'
        if known[1] and ns != 'default':
            self.server.request('POST', '/api/v1/namespaces', namespace(ns))
        code, _, body = self.server.request('POST', '/apis/%s/%s%s/%s' % (group, version, '/namespaces/' + ns if known[1] else '', known[0]), text.encode(), YAML)
        return code, body

    def create_all(self, kinds, folder, *patterns):
        """{(group, version, kind, namespace, name): (path, text)} of the samples."""
        made = {}
        for name, text in documents(folder, *patterns):
            answer = self.create(kinds, text)
            if answer is None or answer[1].get('reason') == 'AlreadyExists':
                continue
            if not re.search(r'^  (name|generateName):', text, flags=re.M):
                self.assertEqual(answer[0], 422, name)  # kubectl would not send it either
                continue
            self.assertEqual(answer[0], 201, '%s: %s' % (name, json.dumps(answer[1])[:2000]))
            group, _, version = answer[1]['apiVersion'].partition('/')
            meta = answer[1]['metadata']
            plural, spaced = kinds[group, version, answer[1]['kind']]
            place = '/apis/%s/%s%s/%s/%s' % (group, version, '/namespaces/' + meta['namespace'] if spaced else '', plural, meta['name'])
            made[group, version, answer[1]['kind'], meta.get('namespace'), meta['name']] = place, text
        self.assertTrue(made or not patterns, 'no samples in ' + folder)
        return made

    def refuse_all(self, kinds, folder, *patterns):
        refused = 0
        for name, text in documents(folder, *patterns):
            answer = self.create(kinds, text)
            if answer is None:
                continue
            self.assertEqual((answer[0], answer[1].get('reason')), (422, 'Invalid'), '%s: %s' % (name, json.dumps(answer[1])[:2000]))
            refused += 1
        self.assertTrue(refused, 'nothing wrong in ' + folder)

    def live(self, kinds, folder, *patterns):
        """Samples are explained, created, applied server-side, listed and deleted."""
        kubectl = kubectls()[0]
        made = self.create_all(kinds, folder, *patterns)
        for (group, version, kind), (plural, _) in kinds.items():
            said_of = self.server.kubectl(kubectl, 'explain', '--recursive', '--api-version=%s/%s' % (group, version), plural)
            self.assertIn(kind, said_of)
        for name, (place, text) in made.items():
            headers = {'Content-Type': 'application/apply-patch+yaml'}
            code, _, body = self.server.request('PATCH', '%s?fieldManager=tester&force=true' % place, text.encode(), headers)
            self.assertEqual((code, body.get('kind')), (200, name[2]), '%s: %s' % (place, json.dumps(body)[:2000]))
            self.assertIn('Apply', [each['operation'] for each in body['metadata']['managedFields']])
        for group, kind in {(name[0], name[2]) for name in made}:
            version = next(name[1] for name in made if (name[0], name[2]) == (group, kind))
            collection = '/apis/%s/%s/%s' % (group, version, kinds[group, version, kind][0])
            names = sorted(name[3:] for name in made if (name[0], name[2]) == (group, kind))
            listed = [each['metadata'] for each in self.server.request('GET', collection)[2]['items']]
            self.assertEqual(sorted((each.get('namespace'), each['name']) for each in listed), names, collection)
            for name, (place, _) in made.items():
                if (name[0], name[2]) == (group, kind):
                    code, _, body = self.server.request('DELETE', place)
                    self.assertEqual(code, 200, place)
                    if body.get('metadata', {}).get('finalizers'):
                        self.server.request('PATCH', place, {'metadata': {'finalizers': None}}, {'Content-Type': 'application/merge-patch+json'})
            self.assertTrue(wait_for(lambda collection=collection: not self.server.request('GET', collection)[2]['items']), collection)

    def test_what_is_wrong_in_gateway_api_is_refused(self):
        folder = module(*PROJECTS['gateway_api'][:2])
        self.refuse_all(self.define(folder, *PROJECTS['gateway_api'][2]), folder, 'hack/invalid-examples/standard/**/*.yaml')


def check(name):
    def run(self):
        at, version, definitions, samples = PROJECTS[name]
        folder = module(at, version)
        kinds = self.define(folder, *definitions, warnings=WARNINGS.get(name, ()))
        self.live(kinds, folder, *samples)
    return run


for project in PROJECTS:
    setattr(RealDefinitions, 'test_' + project, check(project))

if __name__ == '__main__':
    main()
