"""Definitions of well-known projects, in a real kube-apiserver and in the built server: the responses of both for them and for objects of their kinds.

The projects' own samples, and random objects of the schemas with a fixed seed, are created, changed, put back, applied, patched,
listed and deleted; every response is compared like recordings. COMPARE_CHANGES and COMPARE_SEED set their number and the seed."""
import json
import os
import random
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../conformance'), os.path.join(HERE, '../e2e')]
from harness import wait_for  # noqa: E402
from kube_apiserver import SideBySide  # noqa: E402
from real_definitions_test import PROJECTS, documents, module, said  # noqa: E402
from recordings_test import differences, edited  # noqa: E402
from schema_objects import change, value_of  # noqa: E402

CHANGES = int(os.environ.get('COMPARE_CHANGES', '8'))
SEED = int(os.environ.get('COMPARE_SEED', '1'))
MOST = 0.03  # share of responses that may differ: those of ../../docs/compatibility.md
CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
JSON, YAML = 'application/json', 'application/yaml'
UNTYPED = 'failed to create typed patch object'
APPLY, MERGE = 'application/apply-patch+yaml', 'application/merge-patch+json'


class Kind:
    def __init__(self, crd, version):
        names, group = crd['spec']['names'], crd['spec']['group']
        self.api_version, self.kind = group + '/' + version['name'], names['kind']
        spaced = 'namespaces/default/' if crd['spec']['scope'] == 'Namespaced' else ''
        self.everywhere = '/apis/%s/%s' % (self.api_version, names['plural'])
        self.path = '/apis/%s/%s%s' % (self.api_version, spaced, names['plural'])
        self.schema = version['schema']['openAPIV3Schema']
        self.has_status = 'status' in version.get('subresources', {})

    def object(self, rng, name):
        out = {'apiVersion': self.api_version, 'kind': self.kind, 'metadata': {'name': name}}
        chance = rng.choice((0.02, 0.1, 0.35, 0.6))
        for member, below in self.schema.get('properties', {}).items():
            if member not in out and (member != 'status' or rng.random() < 0.3):
                out[member] = value_of(below, rng, chance)
        return out


class Definitions(SideBySide):
    def setUp(self):
        self.asked, self.mismatches = 0, []

    @staticmethod
    def answer(*args):
        out = SideBySide.answer(*args)
        if isinstance(out['body'], dict) and str(out['body'].get('message')).startswith(UNTYPED):
            out['body']['message'] = UNTYPED  # kube-apiserver visits members in random order, and reports those before an unknown one
        return out

    def both(self, what, method, path, bodies=(None, None), kind=JSON):
        """Whether both have accepted it."""
        self.asked += 1
        want, got = (self.answer(server, method, path, body, kind) for server, body in zip(self.servers, bodies))
        found = differences(want, got)
        if found:
            self.mismatches.append('%s %s %s: %s' % (method, path, what, '; '.join(found[:2])[:600]))
        return want['status'] < 300 and got['status'] < 300

    def define(self, folder, patterns):
        kinds = []
        for name, text in documents(folder, *patterns):
            if said(text, 'kind') != 'CustomResourceDefinition' or '{{' in text:
                continue
            self.both(name, 'POST', CRDS, (text, text), YAML)
            crd = self.servers[0].request('GET', CRDS + '/' + said(text.partition('metadata:')[2].replace('\n  ', '\n'), 'name'))[2]
            # In the stored version: in another version, kube-apiserver treats members that it does not store as a change on every write.
            kinds += [Kind(crd, version) for version in crd['spec']['versions'] if version['served'] and version['storage']]
        for kind in kinds:
            for server in self.servers:
                self.assertTrue(wait_for(lambda kind=kind, server=server: server.request('GET', kind.everywhere)[0] == 200), kind.everywhere)
        return {(kind.api_version, kind.kind): kind for kind in kinds}

    def samples(self, folder, patterns, kinds):
        """Those that a kube-apiserver reads, as JSON, by kind."""
        out = {key: [] for key in kinds}
        for _, text in documents(folder, *patterns):
            key = said(text, 'apiVersion'), said(text, 'kind')
            if key not in out:
                continue
            text = '\n'.join(line for line in text.splitlines() if not line.startswith('  namespace:'))
            self.both('', 'POST', kinds[key].path + '?dryRun=All', (text, text), YAML)
            status, _, answer = self.servers[0].request('POST', kinds[key].path + '?dryRun=All', text.encode(), {'Content-Type': YAML})
            if status == 201:
                meta = {name: value for name, value in answer['metadata'].items() if name in ('name', 'labels', 'annotations')}
                out[key].append(dict(answer, metadata=meta))
        return out

    def changed(self, rng, kind, objects):
        made = []
        try:
            for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
                made.append(change(rng, objects[0], kind.schema))
                objects = [edited(each, *made[-1]) for each in objects]
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return None, made
        return objects, made

    def one_change(self, rng, kind, seeds, live):
        chance = rng.random()
        if chance < 0.55 or not live:
            seed = rng.choice(seeds)
            bodies, made = self.changed(rng, kind, (seed, seed))
            if bodies:
                self.both(made, 'POST', kind.path + '?dryRun=All&fieldValidation=' + rng.choice(('Warn', 'Strict', 'Ignore')), bodies)
            return
        path = kind.path + '/' + rng.choice(live)
        if chance < 0.75:
            bodies, made = self.changed(rng, kind, [server.request('GET', path)[2] for server in self.servers])
            if bodies:
                self.both(made, 'PUT', path + rng.choice(('', '?dryRun=All')), bodies)
        elif chance < 0.87:
            seed = dict(rng.choice(seeds), metadata={'name': path.rpartition('/')[2]})
            bodies, made = self.changed(rng, kind, (seed, seed))
            if bodies:
                self.both(made, 'PATCH', path + '?fieldManager=m%d&force=%s' % (rng.choice((1, 2)), rng.choice(('true', 'false'))), bodies, APPLY)
        else:
            try:
                pointer, operation, value = change(rng, self.servers[0].request('GET', path)[2], kind.schema)
            except IndexError:
                return  # there is nothing in it
            patch = value if operation == 'set' else None
            parts = pointer.split('/')[1:]
            for part in reversed(parts):
                patch = {part.replace('~1', '/').replace('~0', '~'): patch}
            # kube-apiserver forgets managers when a member of a list is patched away from a subresource that does not take it.
            place = '/status' if parts[0] == 'status' and kind.has_status else rng.choice(('', '?dryRun=All'))
            if not any(part.isdigit() for part in parts):
                self.both(patch, 'PATCH', path + place, (patch, patch), MERGE)

    def compare(self, name):
        rng = random.Random(SEED)
        at, version, definitions, samples = PROJECTS[name]
        folder = module(at, version)
        kinds = self.define(folder, definitions)
        if not kinds:
            self.skipTest('its definitions are templates')
        for key, found in self.samples(folder, samples, kinds).items():
            kind, live = kinds[key], []
            seeds = found + [kind.object(rng, 'made-%d' % i) for i in range(6)]
            for seed in seeds:
                if self.both('', 'POST', kind.path + '?fieldValidation=' + rng.choice(('Warn', 'Strict')), (seed, seed)):
                    live.append(seed['metadata']['name'])
            for _ in range(CHANGES):
                self.one_change(rng, kind, seeds, live)
            self.both('', 'GET', kind.path)
            self.both('', 'DELETE', kind.path)
        print('%s: %d of %d answers differ' % (name, len(self.mismatches), self.asked), *self.mismatches, sep='\n  ', file=sys.stderr)
        self.assertLessEqual(len(self.mismatches) / self.asked, MOST, '\n'.join(self.mismatches))


for project in PROJECTS:
    setattr(Definitions, 'test_' + project, lambda self, project=project: self.compare(project))

if __name__ == '__main__':
    unittest.main(verbosity=2)
