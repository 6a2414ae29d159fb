"""rules.tsv has every place of kube-apiserver's sources that reports an error of an object, for the files that it names (the core group's): one row a report, by
the Go module k8s.io/kubernetes (skipped if the module is not available)."""
import functools
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'clients')]
import clients  # noqa: E402
import rules  # noqa: E402

REPORT = re.compile(r'field\.(?:Invalid|Required|Forbidden|NotSupported|Duplicate|TooManyMaxItems|TooMany|TooLongMaxLength|TooLong|NotFound|'
                    r'InternalError|TypeInvalid)(?:\[[\w.]+\])?\(')
FUNCTION = re.compile(r'^func (?:\([^)]*\) )?(\w+)', re.M)


@functools.lru_cache(None)
def folder(module):
    module = module if module.startswith('k8s.io/') else 'k8s.io/' + module
    done = subprocess.run(['go', 'list', '-m', '-f', '{{.Dir}}', module], cwd=clients.BUILD_DIR, env=clients.module(), capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout.strip():
        raise clients.Missing('the module %s cannot be had: %s' % (module, done.stderr.strip()[-300:]))
    return done.stdout.strip()


def reports(text):
    """{function: how many errors it reports}"""
    functions = [(m.start(), m.group(1)) for m in FUNCTION.finditer(text)]
    out = {}
    for m in REPORT.finditer(text):
        line = text.rfind('\n', 0, m.start()) + 1
        names = [name for start, name in functions if start < m.start()]
        if names and not text[line:m.start()].lstrip().startswith('//'):
            out[names[-1]] = out.get(names[-1], 0) + 1
    return out


class Upstream(unittest.TestCase):
    maxDiff = None

    def test_every_report_of_the_files_is_a_row(self):
        listed = {}
        for _, row in rules.rows_of('rules.tsv'):
            place, _, number = row['upstream'].partition('#')
            file, function = place.rsplit(':', 1)
            listed.setdefault(file, {}).setdefault(function, set()).add(int(number or 1))
        wrong = []
        for file, functions in listed.items():
            module, _, path = file.partition('@/') if '@/' in file else ('k8s.io/kubernetes', '', file)
            try:
                with open(os.path.join(folder(module), path), encoding='utf-8') as f:
                    there = reports(f.read())
            except clients.Missing as why:
                self.skipTest(str(why))
            for function, count in there.items():
                lacks = set(range(1, count + 1)) - functions.get(function, set())
                if lacks:
                    wrong.append('%s:%s reports %d errors, rules.tsv lacks %s' % (file, function, count, sorted(lacks)))
            wrong += ['%s has no report %s of %s' % (file, sorted(numbers), function) for function, numbers in functions.items()
                      if max(numbers) > there.get(function, 0)]
        self.assertEqual(wrong, [], '\n'.join(wrong[:40]))


if __name__ == '__main__':
    unittest.main()
