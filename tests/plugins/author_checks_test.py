"""`backplane plugin test --sanitizer`, `--fuzz` and `--replay`, and the tests of the guide's examples with backplane/testing/host.hpp, with the
installed SDK alone. Each seeded bug (tests/plugins/seeded) is found by the option that is for it, and the same plugin without it passes."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ['BACKPLANE_BUILD']
HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / 'docs/examples'
CLANG = next(filter(None, map(shutil.which, ('clang', 'clang-14', 'clang-19'))), None)


def gcc_library(name):
    """Whether gcc has this library."""
    if not shutil.which('gcc'):
        return False
    found = subprocess.run(['gcc', '-print-file-name=' + name], capture_output=True, text=True, check=False).stdout.strip()
    return os.path.isabs(found) and os.path.exists(found)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix='backplane-checks-'))
        cls.addClassCleanup(shutil.rmtree, cls.dir, True)
        cls.prefix = cls.dir / 'prefix'
        subprocess.run(['cmake', '--install', BUILD, '--prefix', cls.prefix], check=True, capture_output=True)
        cls.binary = cls.prefix / 'bin/backplane'
        # The tests find the installation by their library, and the compiler is gcc, whose sanitizers can be preloaded.
        cls.env = {**os.environ, 'CC': 'gcc', 'CXX': 'g++', 'CFLAGS': '', 'CXXFLAGS': ''}
        for name in ('BACKPLANE', 'BACKPLANE_PLUGINS'):
            cls.env.pop(name, None)

    def run_in(self, folder, *command, code=0):
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', check=False,
                              env=self.env, timeout=900)
        self.assertEqual(done.returncode, code, '%s\n%s' % (' '.join(map(str, command)), done.stdout))
        return done.stdout


@unittest.skipUnless(shutil.which('gcc'), 'no gcc')
class Seeded(Installed):
    def folder(self, bug):
        folder = self.dir / bug.lower()
        if not folder.exists():
            shutil.copytree(HERE / 'seeded', folder)
            (folder / 'bug.h').write_text('#define BUG_%s\n' % bug, encoding='utf-8')
        return folder

    def check(self, bug, *options, code=1):
        return self.run_in(self.folder(bug), self.binary, 'plugin', 'test', *options, code=code)

    def test_a_plugin_without_a_bug_passes_all(self):
        sanitizer = ['--sanitizer=address'] if gcc_library('libasan.so') else []
        output = self.check('NONE', '--fuzz=2s', *sanitizer, code=0)
        self.assertRegex(output, r'\d+ checks, 0 failed, in .*\n\d+ altered bodies, 0 findings\n')
        if gcc_library('libubsan.so'):
            self.check('NONE', '--sanitizer=undefined', code=0)

    @unittest.skipUnless(gcc_library('libtsan.so'), 'no ThreadSanitizer')
    def test_a_plugin_without_a_race_passes_the_thread_sanitizer(self):
        self.assertRegex(self.check('NONE', '--sanitizer=thread', code=0), r'\d+ requests at once, 0 findings')

    @unittest.skipUnless(gcc_library('libasan.so'), 'no AddressSanitizer')
    def test_the_address_sanitizer_finds_an_overflow(self):
        output = self.check('OVERFLOW', '--sanitizer=address')
        self.assertIn('AddressSanitizer: heap-buffer-overflow', output)
        self.assertIn('seeded.c', output)

    @unittest.skipUnless(gcc_library('libtsan.so'), 'no ThreadSanitizer')
    def test_the_thread_sanitizer_finds_a_race(self):
        output = self.check('RACE', '--sanitizer=thread')
        self.assertIn('ThreadSanitizer: data race', output)
        self.assertIn('look_at', output)

    @unittest.skipUnless(gcc_library('libubsan.so'), 'no UndefinedBehaviorSanitizer')
    def test_the_sanitizer_of_undefined_behaviour_finds_a_sum_that_does_not_fit(self):
        self.assertIn('runtime error: signed integer overflow', self.check('UNDEFINED', '--sanitizer=undefined'))

    def test_odd_bodies_find_a_crash_and_their_file_replays_it(self):
        output = self.check('DECODE', '--fuzz=30s')
        self.assertIn('FOUND', output)
        self.assertIn('fatal signal=SIGABRT plugin=example.com/seeded', output)
        findings = sorted((self.folder('DECODE') / 'fuzz-findings').glob('*.json'))
        self.assertTrue(findings)
        # Each connection that was open when the server crashed has a finding; one of them is the cause.
        self.assertTrue(any(subprocess.run([self.binary, 'plugin', 'test', '--replay', path], cwd=self.folder('DECODE'), env=self.env, capture_output=True,
                                           check=False).returncode == 1 for path in findings))
        for path in findings:
            request = json.loads(path.read_text(encoding='utf-8'))['requests'][-1]
            self.assertIn(request['method'], ('POST', 'PUT', 'PATCH', 'GET'))

    def test_what_cannot_be_is_refused_with_the_flag(self):
        for options, words in ((['--sanitizer=memory'], '--sanitizer: must be'), (['--fuzz=soon'], '--fuzz: must be'), (['--fuzz=0s'], '--fuzz: must be'),
                               (['--sanitizer=address', '--kubeconfig=x'], 'cannot be combined with --kubeconfig'),
                               (['--replay', 'bug.h'], 'bug.h: not a finding')):
            self.assertIn(words, self.check('NONE', *options))

    @unittest.skipUnless(CLANG, 'no clang')
    def test_a_build_of_clang_is_refused(self):
        for sanitizer in ('address', 'thread', 'undefined'):
            folder = self.dir / ('clang-' + sanitizer)
            shutil.copytree(HERE / 'seeded', folder)
            result = subprocess.run([self.binary, 'plugin', 'test', '--sanitizer=' + sanitizer], cwd=folder, env={**self.env, 'CC': CLANG}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stdout.splitlines()[-1], r'^Error: --sanitizer=%s: .*clang.* is Clang, not gcc; remove .*/build-%s and build with gcc' % (sanitizer, sanitizer))


class Hosts(Installed):
    """The tests of the examples of the stable tier, which start servers with backplane/testing/host.h; guide_test.py runs the library's."""

    def ctest_of(self, example):
        folder = self.dir / example
        shutil.copytree(self.prefix / 'share/doc/backplane-plugin-sdk/examples' / example, folder)
        flags = os.environ.get('CXXFLAGS', '')
        self.run_in(folder, 'cmake', '-G', 'Ninja', '-S', '.', '-B', 'build', '-DCMAKE_PREFIX_PATH=%s' % self.prefix, '-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror ' + flags,
                    '-DCMAKE_C_FLAGS=-Wall -Wextra -Werror', '-DCMAKE_CXX_COMPILER=' + os.environ['CXX'])
        self.run_in(folder, 'cmake', '--build', 'build')
        self.assertIn('100% tests passed, 0 tests failed out of 1', self.run_in(folder, 'ctest', '--test-dir', 'build', '--output-on-failure'))

    def test_the_stock_of_the_stable_tier_in_cpp(self):
        self.ctest_of('stable-cpp')

    def test_the_stock_of_the_stable_tier_in_c(self):
        self.ctest_of('stable-c')

    @unittest.skipUnless(gcc_library('libasan.so') and not os.environ.get('CXXFLAGS'), 'no AddressSanitizer, or a host that has one')
    def test_a_plugin_of_the_native_tier_runs_under_the_address_sanitizer(self):
        self.run_in(self.dir, self.binary, 'plugin', 'new', 'widgets', '--group', 'widgets.example.com', '--kind', 'Widget')
        output = self.run_in(self.dir / 'widgets', self.binary, 'plugin', 'test', '--sanitizer=address')
        self.assertRegex(output.splitlines()[-1], r'^\d+ checks, 0 failed, in')
        output = self.run_in(self.dir / 'widgets', self.binary, 'plugin', 'check', 'build-address/widgets.so', code=1)
        self.assertIn('PLG-ABI-010', output)


if __name__ == '__main__':
    unittest.main()
