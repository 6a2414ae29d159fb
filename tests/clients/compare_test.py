"""A real kube-apiserver and the built server get the same requests: objects of the recordings with random changes of a fixed seed.

Each object is posted, and put back, with one to three changes: members removed, emptied, of a wrong type, with invalid values. Both
responses are compared like recordings (../conformance/recordings_test.py).  COMPARE_CHANGES and COMPARE_SEED set their number and the seed."""
import json
import os
import random
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../conformance')]
from kube_apiserver import SideBySide  # noqa: E402
from recordings_test import differences, edited  # noqa: E402

CHANGES = int(os.environ.get('COMPARE_CHANGES', '12'))
SEED = int(os.environ.get('COMPARE_SEED', '1'))
MOST = 0.02  # share of responses that may differ: those of ../../docs/compatibility.md, and of rules that are not known yet
TEXTS = ('', 'Bad Value!', 'other-value', 'a' * 64, 'a' * 300, 'UPPER', 'a.b', 'a/b', '-', '1', '100m', '50%', '10.0.0.1', 'example.com/x', 'None')
NUMBERS = (-1, 0, 1, 7, 100, 101, 65536, 70000, 1 << 40)
OTHERS = (None, {}, [], [''], 7, 'x', True, 1.5)
# Requests that crash a kube-apiserver, and objects whose responses depend on the client.
CRASHING = ('Job', 'CRD')
UNSHARED = ('CSR', 'SelfSubjectReview', 'TokenReview')


def tables(name):
    with open(os.path.join(HERE, '../conformance/recordings/%s.jsonl' % name), encoding='utf-8') as lines:
        cases = [json.loads(line) for line in lines]
    return [case for case in cases if case['id'].split('/')[1].split('-')[0] not in CRASHING + UNSHARED]


def places(value, at=''):
    """[(pointer, value)] of all values in an object."""
    out = [(at, value)] if at else []
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key != 'managedFields':
            out += places(below, '%s/%s' % (at, str(key).replace('~', '~0').replace('/', '~1')))
    return out


def change(rng, found):
    at, value = rng.choice(found)
    chance = rng.random()
    if chance < 0.2:
        return at, 'del', None
    if chance < 0.3 and isinstance(value, list) and value:
        return at, 'dup', None
    if chance < 0.35 and isinstance(value, dict):
        return at + '/unknownMember', 'set', 1
    if chance < 0.5:
        return at, 'set', rng.choice(OTHERS)
    return at, 'set', rng.choice(NUMBERS if isinstance(value, int) and not isinstance(value, bool) else TEXTS)


def changed(rng, objects):
    """The objects, each with the same changes, and the changes; None if one of them cannot be applied."""
    made = [change(rng, places(objects[0])) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    try:
        for row in made:
            objects = [edited(each, *row) for each in objects]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None, made
    return objects, made


class Compare(SideBySide):
    def prepare(self, steps):
        for step in steps:
            for server in self.servers:
                if 'do' in step:
                    server.request(*step['do'].split(' ', 1), step.get('b'), step.get('h'))

    def compare(self, name):
        rng = random.Random(SEED)
        asked, reports = 0, []
        for case in tables(name):
            self.prepare(case.get('setup', []))
            method, path = case['do'].split(' ', 1)
            bases = [case.get('base') or server.request('GET', case['live'])[2] for server in self.servers]
            for _ in range(CHANGES):
                bodies, rows = changed(rng, bases)
                if bodies is None:
                    continue
                asked += 1
                want, got = (self.answer(server, method, path, body) for server, body in zip(self.servers, bodies))
                found = differences(want, got)
                if found:
                    reports.append('%s %s: %s' % (case['id'], json.dumps(rows)[:200], '; '.join(found[:2])))
            self.prepare(case.get('teardown', []))
        print('%s: %d of %d answers differ' % (name, len(reports), asked), *reports, sep='\n  ', file=sys.stderr)
        self.assertGreater(asked, 0)
        self.assertLessEqual(len(reports) / asked, MOST, '\n'.join(reports))

    def test_the_roles_and_bindings_that_every_server_has_are_the_same(self):
        for kind in ('clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'):
            theirs, ours = (server.request('GET', '/apis/rbac.authorization.k8s.io/v1/' + kind)[2]['items'] for server in self.servers)
            for item in theirs + ours:
                del item['metadata']['uid'], item['metadata']['resourceVersion'], item['metadata']['creationTimestamp']
                for entry in item['metadata']['managedFields']:
                    del entry['time']
            self.assertEqual(ours, theirs)

    def test_wrong_objects_are_refused_with_the_same_messages(self):
        self.compare('wrong')

    def test_changed_objects_get_the_same_responses(self):
        self.compare('update')


if __name__ == '__main__':
    unittest.main(verbosity=2)
