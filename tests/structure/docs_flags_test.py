"""Flags in README and docs/ exist: those of code that begins with `--` or `backplane` are backplane's, those after `kubectl` are kubectl's."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BACKPLANE = os.environ['BACKPLANE']
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
FLAG = re.compile(r'(?<![\w-])--([a-z][a-z0-9-]*)(\*?)')
# Flags of other programs, in code that begins with the flag.
OTHERS = {'as': 'kubectl', 'mark-compacted': 'etcdutl', 'leader-elect': 'kube-controller-manager', 'use-service-account-credentials': 'kube-controller-manager'}


def code_of(page):
    """(line, code) for each span in backticks and each line of a fenced block."""
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith('```'):
            fenced = not fenced
        elif fenced:
            for part in re.split(r'[|;]|&&', line.split(' #')[0]):
                yield number, part.strip()
        else:
            for span in re.findall(r'`([^`]+)`', line):
                yield number, span.strip()


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def flags_in(text):
    return set(re.findall(r'(?<![\w-])--([a-z][a-z0-9-]*)', text))


class DocsFlagsTest(unittest.TestCase):
    def unknown(self, wanted, known_for):
        missing = []
        for page in PAGES:
            for number, code in code_of(page):
                if not wanted(code):
                    continue
                known = known_for(code)
                for name, star in FLAG.findall(code):
                    fits = any(flag.startswith(name) for flag in known) if star or name.endswith('-') else name in known
                    if not fits and OTHERS.get(name) is None:
                        missing.append('%s:%d: --%s' % (page.relative_to(ROOT), number, name))
        return missing

    def test_backplanes_flags_are_those_of_its_help(self):
        known = {'': flags_in(output(BACKPLANE, '--help')) | {'help', 'version'}}
        for command in (('plugin', 'check'), ('plugin', 'list'), ('plugin', 'reload'), ('plugin', 'upgrade'), ('plugin', 'rollback'),
                        ('plugin', 'disable'), ('plugin', 'enable'), ('plugin', 'forget'), ('plugin', 'new'), ('plugin', 'build'),
                        ('plugin', 'run'), ('plugin', 'test'), ('store', 'copy'), ('store', 'release'), ('store', 'reencrypt'), ('store', 'snapshot'),
                        ('store', 'restore'), ('store', 'check'), ('store', 'stat')):
            known[' '.join(command)] = flags_in(output(BACKPLANE, *command, '--help'))
        self.assertIn('plugin-dir', known['store copy'])
        known['doctor'] = known[''] | flags_in(output(BACKPLANE, 'doctor', '--help'))
        with tempfile.TemporaryDirectory() as folder:
            runner = os.path.join(folder, 'backplane-runner')
            os.symlink(os.path.abspath(BACKPLANE), runner)
            known['-runner'] = known[''] | flags_in(output(runner, '--help'))
        everything = set().union(*known.values())

        def of(code):
            words = code.split()
            if code.startswith('backplane-runner '):
                return known['-runner']
            command = ' '.join(words[1:2] if words[1:2] == ['doctor'] else words[1:3])
            return known.get(command, known['']) if code.startswith('backplane ') else everything
        self.assertEqual(self.unknown(lambda code: code.startswith(('--', 'backplane ', 'backplane-runner ')), of), [])

    @unittest.skipUnless(shutil.which('kubectl'), 'no kubectl')
    def test_kubectls_flags_are_those_of_its_help(self):
        options = flags_in(output('kubectl', 'options'))
        helps = {}

        def of(code):
            words = [word for word in code.split()[1:] if re.fullmatch(r'[a-z-]+', word) and not word.startswith('-')]
            verbs = words[1:] if code.split()[1:2] == ['-n'] else words
            for command in (tuple(verbs[:2]), tuple(verbs[:1])):
                if command not in helps:
                    helps[command] = flags_in(output('kubectl', *command, '--help'))
                if helps[command]:
                    return helps[command] | options
            return options
        self.assertEqual(self.unknown(lambda code: code.startswith('kubectl '), of), [])


if __name__ == '__main__':
    unittest.main()
