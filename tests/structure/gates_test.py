"""The table of feature gates is correct: gates with an effect are those that a source or a schema evaluates."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / 'host/app/feature_gate_table.cpp'
GATES = ROOT / 'host/app/schema/feature_gates.tsv'
# Gates that only change roles of the bootstrap policy; their other behaviour is absent.
ROLES_ALONE = {'KubeletServiceAccountTokenForCredentialProviders'}
ASKED = re.compile(r'gate|enabled\(', re.I)


def listed(name):
    body = re.search(name + r'\[\] = \{(.*?)\n\};', TABLE.read_text(), re.S)[1]
    return set(re.findall(r'"(\w+)"', body))


def known():
    return {line.split('\t')[0] for line in GATES.read_text().splitlines() if line and not line.startswith('#')}


def asked():
    """Gates in lines of sources or schemas that evaluate gates."""
    found = set()
    names = known()
    for folder in ('host', 'plugin-sdk/src', 'plugin-sdk/schema', 'plugin-sdk/workload/src', 'plugins'):
        for path in (ROOT / folder).rglob('*'):
            if path.suffix not in ('.cpp', '.hpp', '.json') or path == TABLE or path.name.endswith(('_test.cpp', '_test_kit.hpp')):
                continue
            for line in path.read_text().splitlines():
                if ASKED.search(line):
                    found |= names & set(re.findall(r'[".](\w+)"', line))
    return found


class GatesTest(unittest.TestCase):
    def test_the_lists_name_gates_that_there_are_and_each_once(self):
        lists = [listed(name) for name in ('kSwitchedGates', 'kAlwaysOnGates', 'kUnimplementedGates')]
        self.assertEqual(set().union(*lists) - known(), set())
        self.assertEqual(sum(map(len, lists)), len(set().union(*lists)))

    def test_gates_that_are_asked_for_switch_something_and_no_others(self):
        switched = listed('kSwitchedGates')
        stages = {'AllAlpha', 'AllBeta'}
        self.assertEqual(asked() - switched - ROLES_ALONE - stages, set(), 'asked for, and not in kSwitchedGates')
        self.assertEqual(switched - asked(), set(), 'in kSwitchedGates, and asked for by none')


if __name__ == '__main__':
    unittest.main()
