"""Compares rules.tsv (see rules.py) with the schemas, the code and the built server. A row without a place (-) must have no passing

example: an implemented rule needs its place.  RULES_ONLY in the environment: rows
whose upstream column contains it."""
import functools
import json
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'e2e')]
import rules  # noqa: E402
from harness import ONLY_LIFECYCLE, Server, namespace  # noqa: E402

# Kinds and fields behind gates have rules too.
GATES = ('ClusterTrustBundle DRADeviceTaintRules DRAListTypeAttributes DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims '
         'GangScheduling GenericWorkload HPAScaleToZero MaxUnavailableStatefulSet PodCertificateRequest StorageVersionMigrator '
         'TopologyAwareWorkloadScheduling WorkloadAwarePreemption').split()
FLAGS = ('--service-cluster-ip-range=10.0.0.0/16', ONLY_LIFECYCLE, '--allow-privileged=true', '--enable-namespace-controller=false',
         '--runtime-config=api/all=true', '--feature-gates=' + ','.join(gate + '=true' for gate in GATES))
PLACE = re.compile(r'^(?P<file>[\w./-]+)(?:#(?P<pointer>\S*)|:(?P<name>\w+))$')
# The type is the whole message, or the message is built from a list or a limit of the schema.
GENERAL = {'Required', 'NotSupported', 'Duplicate', 'TooLong', 'TooMany', 'NotFound'}


@functools.lru_cache(None)
def text(file):
    with open(os.path.join(rules.ROOT, file), encoding='utf-8') as f:
        return f.read()


@functools.lru_cache(None)
def document(file):
    return json.loads(text(file))


def at_pointer(value, pointer):
    for part in pointer.split('/')[1:]:
        part = part.replace('~1', '/').replace('~0', '~')
        value = value[int(part) if isinstance(value, list) else part]
    return value


def place_problem(place):
    """The reason why the place is invalid; None if it is valid."""
    found = PLACE.match(place)
    if not found or not os.path.exists(os.path.join(rules.ROOT, found['file'])):
        return place + ' is no place'
    if found['name']:
        return None if re.search(r'\b%s\b' % found['name'], text(found['file'])) else '%s has no %s' % (found['file'], found['name'])
    try:
        at_pointer(document(found['file']), found['pointer'])
    except (KeyError, IndexError, ValueError, TypeError):
        return '%s has nothing at %s' % (found['file'], found['pointer'])
    return None


def texts_at(place):
    """The text at the place: for C++ the whole file with joined literals."""
    found = PLACE.match(place)
    if found['name']:
        return re.sub(r'"\s*\n\s*"', '', text(found['file'])).replace('\\"', '"')
    return json.dumps(at_pointer(document(found['file']), found['pointer']), ensure_ascii=False).replace('\\"', '"')


def has_message(row):
    """Whether one of the row's places has all fixed parts of the row's message."""
    if row['type'] in GENERAL and not row['message']:
        return True
    parts = [part for part in row['message'].split('{}') if part.strip()]
    return any(all(part in texts_at(place) for part in parts) for place in row['here'].split())


class Rules(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        only = os.environ.get('RULES_ONLY', '')
        cls.rows = [(number, row) for number, row in rules.rows() if only in row['upstream']]

    def test_every_row_is_well_formed(self):
        seen, wrong = set(), []
        for number, row in self.rows:
            if not row['upstream'] or not row['condition']:
                wrong.append('%s: a rule has an upstream place and a condition' % number)
            if set(row['verb'].split(',')) - rules.VERBS or row['type'] not in rules.TYPES:
                wrong.append('%s: no verb or type: %s, %s' % (number, row['verb'], row['type']))
            key = (row['upstream'], row['path'], row['verb'], row['message'], row['type'])
            if key in seen:
                wrong.append('%s stands there twice' % number)
            seen.add(key)
        self.assertEqual(wrong, [])

    def test_every_place_exists_and_says_the_message(self):
        wrong = []
        for number, row in self.rows:
            if row['here'] == '-' or row['here'].startswith('n/a: '):
                continue
            problems = [problem for problem in map(place_problem, row['here'].split()) if problem]
            wrong += ['%s: %s' % (number, problem) for problem in problems]
            if not problems and not row['example'] and not has_message(row):
                wrong.append('%s: without an example, the message stands at the place: %s' % (number, row['message']))
        self.assertEqual(wrong, [], '\n' + '\n'.join(wrong[:50]))

    def test_every_example_is_refused_with_those_messages(self):
        known = rules.bases()
        wrong = []
        with Server(*FLAGS) as server:
            self.assertEqual(server.request('POST', '/api/v1/namespaces', namespace(rules.NAMESPACE))[0], 201)
            connection = server.connect()

            def request(method, path, body=None):
                return server.request(method, path, body, connection=connection)
            for number, row in self.rows:
                if not row['example']:
                    continue
                problem = rules.Example(json.loads(row['example']), number, known).problem(request)
                if (problem is None) == (row['here'] == '-'):
                    wrong.append('%s (%s): %s' % (number, row['upstream'], problem or 'holds: name its place'))
        missing = sum(row['here'] == '-' for _, row in self.rows)
        print('%d rules, %d with an example, %d missing' % (len(self.rows), sum(bool(row['example']) for _, row in self.rows), missing))
        self.assertEqual(wrong, [], '%d rows do not hold:\n%s' % (len(wrong), '\n'.join(wrong[:40])))


if __name__ == '__main__':
    unittest.main()
