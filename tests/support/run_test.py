"""Runs a unittest script for ctest: `run_test.py SCRIPT ARGUMENTS…`.

unittest exits with 0 if tests are skipped.  This runner exits with 77 (ctest's SKIP_RETURN_CODE) if every test was skipped, prints each skip
as `SKIPPED NAME: REASON`, and fails if the reason names a program that BACKPLANE_REQUIRE lists (etcd, go, kubectl, openssl, network,
clients, store_file)."""
import os
import re
import runpy
import sys
import unittest

SKIPPED = 77
# Requirement → the text in the reason of a skip if it is missing.
REASONS = {
    'etcd': r'\betcd\b',
    'go': r'\bgo\b|cannot be built|\bmodules? |nothing to compare with',
    'kubectl': r'\bkubectl\b',
    'openssl': r'\bopenssl\b',
    'network': r'\bno address|unshare',
    'clients': r' client cannot be had|helm',
    'store_file': r'store_file',
}

skips = []


class Result(unittest.TextTestResult):
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        skips.append((str(test), reason))


def required():
    names = [name for name in os.environ.get('BACKPLANE_REQUIRE', '').replace(' ', '').split(',') if name]
    unknown = set(names) - set(REASONS)
    if unknown:
        sys.exit('BACKPLANE_REQUIRE: unknown: %s; known: %s' % (', '.join(sorted(unknown)), ', '.join(sorted(REASONS))))
    return names


def run(arguments):
    """The exit code of the script, and whether any test ran to its end."""
    results = []
    original = unittest.TextTestRunner.run

    def counted(runner, test):
        result = original(runner, test)
        results.append(result)
        return result

    unittest.TextTestRunner.resultclass = Result
    unittest.TextTestRunner.run = counted
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    code = 0
    try:
        runpy.run_path(arguments[0], run_name='__main__')
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
        if not isinstance(end.code, (int, type(None))):
            print(end.code, file=sys.stderr)
    ran = sum(result.testsRun - len(result.skipped) for result in results)
    return code, ran > 0


def main():
    names = required()
    code, ran = run(sys.argv[1:])
    missing = set()
    for test, reason in skips:
        print('SKIPPED %s: %s' % (test, reason), flush=True)
        missing.update(name for name in names if re.search(REASONS[name], reason, re.IGNORECASE))
    if missing:
        sys.exit('BACKPLANE_REQUIRE lists %s, but tests were skipped without it' % ', '.join(sorted(missing)))
    sys.exit(SKIPPED if code == 0 and skips and not ran else code)


if __name__ == '__main__':
    main()
