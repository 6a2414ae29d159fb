"""Published documents of definitions of well-known projects: discovery in both forms, OpenAPI v3 and v2, in a real kube-apiserver and in the
built server.

Whole documents are compared, except descriptions that no definition has and each server words itself (docs/compatibility.md). A
definition passes if all its parts of the documents are equal."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../conformance'), os.path.join(HERE, '../e2e')]
from harness import wait_for  # noqa: E402
from kube_apiserver import SideBySide  # noqa: E402
from real_definitions_test import DOCUMENTED, documents, module, said  # noqa: E402

CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
YAML = {'Content-Type': 'application/yaml'}
META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'


def undescribed(value, names=False):
    """Without descriptions.  `names`: the members of this object are names, and not words."""
    if isinstance(value, list):
        return [undescribed(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: undescribed(each, key == 'properties' and not names) for key, each in value.items() if names or key != 'description'}


def own(schema):
    """A definition's schema, with the descriptions that are its author's."""
    properties = {name: undescribed(each) if name in ('apiVersion', 'kind', 'metadata') else with_authors(each)
                  for name, each in schema.get('properties', {}).items()}
    return dict(schema, properties=properties) if properties else schema


def with_authors(schema):
    """Embedded resources have members that are described by the server."""
    if isinstance(schema, list):
        return [with_authors(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: with_authors(each) for key, each in schema.items()}
    if schema.get('x-kubernetes-embedded-resource') is True and 'properties' in schema:
        out['properties'] = own(schema)['properties']
    return out


def item(items, **wanted):
    return next((each for each in items or () if all(each.get(key) == value for key, value in wanted.items())), None)


class Documents:
    """The documents of one server, each requested once."""

    def __init__(self, server):
        self.server, self.known = server, {}

    def get(self, path, accept='application/json'):
        if (path, accept) not in self.known:
            self.known[path, accept] = self.server.request('GET', path, headers={'Accept': accept})[2]
        return self.known[path, accept]

    @staticmethod
    def of_paths(paths, root, plural):
        """Those of a resource, by path."""
        starts = tuple(root + space + '/' + plural + '/' for space in ('', '/namespaces/{namespace}'))
        return {path: undescribed(each) for path, each in paths.items() if (path + '/').startswith(starts)}

    def reports(self, crd):
        """{what: part of a document} of a definition."""
        spec, out = crd['spec'], {}
        group, plural, names = spec['group'], spec['names']['plural'], crd['status']['acceptedNames']
        out['group'] = self.get('/apis/' + group)
        groups = self.get('/apis', AGGREGATED)['items']
        aggregated = next((each for each in groups if each['metadata']['name'] == group), {'versions': []})
        reverse = '.'.join(reversed(group.split('.')))
        v2 = self.get('/openapi/v2')
        out['v2 DeleteOptions'] = undescribed(v2['definitions'].get(META + 'DeleteOptions'))
        for version in (each['name'] for each in spec['versions'] if each['served']):
            root = '/apis/%s/%s' % (group, version)
            kinds = ['%s.%s.%s' % (reverse, version, names[kind]) for kind in ('kind', 'listKind')]
            listed = self.get(root)
            out[version + ' discovery'] = [each for each in listed['resources'] if each['name'].split('/')[0] == plural]
            out[version + ' discovery head'] = {key: value for key, value in listed.items() if key != 'resources'}
            entry = item(aggregated['versions'], version=version) or {}
            out[version + ' aggregated'] = item(entry.get('resources'), resource=plural), entry.get('freshness')
            v3 = self.get('/openapi/v3' + root)
            out[version + ' v3 head'] = {key: value for key, value in v3.items() if key not in ('paths', 'components')}
            out[version + ' v3 paths'] = self.of_paths(v3['paths'], root, plural)
            schemas = v3['components']['schemas']
            out[version + ' v3 components'] = sorted(v3['components']), sorted(schemas)
            out[version + ' v3 shared'] = {name: undescribed(each) for name, each in schemas.items() if name.startswith('io.k8s.apimachinery')}
            for where, held in (('v3', schemas), ('v2', v2['definitions'])):
                out['%s %s kind' % (version, where)] = own(held.get(kinds[0]) or {})
                out['%s %s list' % (version, where)] = undescribed(held.get(kinds[1]))
            out[version + ' v2 paths'] = self.of_paths(v2['paths'], root, plural)
        return out


def difference(want, got, path=''):
    """The first place where they differ."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in list(want) + [key for key in got if key not in want]:
            if key not in want or key not in got:
                return '%s.%s: %s' % (path, key, 'missing' if key in want else 'too much')
            if want[key] != got[key]:
                return difference(want[key], got[key], '%s.%s' % (path, key))
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)) and len(want) == len(got):
        for i, (one, other) in enumerate(zip(want, got)):
            if one != other:
                return difference(one, other, '%s[%d]' % (path, i))
    return '%s: want %.300r, got %.300r' % (path, want, got)


class DefinitionDocuments(SideBySide):
    def define(self, project):
        """The definitions of a project, as kube-apiserver has them."""
        at, version, patterns = DOCUMENTED[project]
        made = []
        for _, text in documents(module(at, version), *patterns):
            if said(text, 'kind') != 'CustomResourceDefinition' or '{{' in text:
                continue
            codes = [server.raw('POST', CRDS, text.encode(), YAML)[0] for server in self.servers]
            self.assertEqual(codes[0], codes[1])
            if codes[0] == 201:
                made.append(said(text.partition('metadata:')[2].replace('\n  ', '\n'), 'name'))
        return made

    def established(self, server, name):
        crd = server.request('GET', CRDS + '/' + name)[2]
        return crd if any(each['type'] == 'Established' and each['status'] == 'True' for each in crd['status'].get('conditions') or ()) else None

    def published(self, server, crds):
        """Whether the documents of the definitions are complete."""
        v2 = server.request('GET', '/openapi/v2')[2]['definitions']
        def all_there(crd):
            reverse = '.'.join(reversed(crd['spec']['group'].split('.')))
            return all('%s.%s.%s' % (reverse, each['name'], crd['spec']['names']['kind']) in v2 for each in crd['spec']['versions'] if each['served'])
        if not all(all_there(crd) for crd in crds):
            return False
        documents = Documents(server)
        for crd in crds:
            for each in crd['spec']['versions']:
                root = '/apis/%s/%s' % (crd['spec']['group'], each['name'])
                if each['served'] and not (isinstance(documents.get('/openapi/v3' + root), dict) and any(
                        path.startswith(root) and '/' + crd['spec']['names']['plural'] in path for path in documents.get('/openapi/v3' + root)['paths'])):
                    return False
        return True

    def test_all_that_documents_say_of_definitions(self):
        crds, missing = [], []
        for project in DOCUMENTED:
            try:
                names = self.define(project)
            except unittest.SkipTest as why:
                missing.append(str(why))
                continue
            for server in self.servers:
                for name in names:
                    self.assertTrue(wait_for(lambda server=server, name=name: self.established(server, name), 60), name)
            crds += [self.established(self.servers[0], name) for name in names]
        if not crds:
            self.skipTest('; '.join(missing))
        for server in self.servers:
            self.assertTrue(wait_for(lambda server=server: self.published(server, crds), 120), server.name)
        both = [Documents(server) for server in self.servers]
        wrong = []
        for crd in crds:
            want, got = (each.reports(crd) for each in both)
            if want != got:
                wrong.append('%s: %s' % (crd['metadata']['name'], difference(want, got)))
        print('documents agree on %d of %d definitions; not had: %s' % (len(crds) - len(wrong), len(crds), missing or 'none'), file=sys.stderr)
        self.assertEqual(wrong, [], '\n'.join(wrong))


if __name__ == '__main__':
    unittest.main(verbosity=2)
